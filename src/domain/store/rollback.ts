import type { Head, LogEntry, LogOutcome } from './attempt-log.ts'
import type { CloseReason } from './closing.ts'
import type { SubmissionState } from '../submission/states.ts'

/**
 * Rollback detection (src/docs/ordering.md, section 6). An attempt is committed, then appended to the attempt log and
 * flushed, and then its request is sent. So an entry that the store lacks proves that the store lost attempts.
 */

/** A store's identity in time: accepting an older copy of it begins a new generation. */
interface Generations {
  current: string
  former: readonly string[]
}

/** What distinguishes a database from any other, and from an older state of itself; each value as text. */
export interface Epoch {
  /** The identifier of the server's cluster. */
  system: string
  /** It changes when a standby takes over. */
  timeline: string
  /** Object identifiers of the database and of the table of attempts: a restore makes both anew. */
  database: string
  table: string
}

/** The highest number that is known of each account. Two attempts under one number both count: a store has only one. */
export type KnownHeads = Map<string, Head[]>

export function learnHead(known: KnownHeads, head: Head): void {
  const before = known.get(head.account) ?? []
  const number = before[0]?.number ?? 0
  if (head.number < number || before.some(({ attemptId }) => attemptId === head.attemptId)) return
  known.set(head.account, head.number === number ? [...before, head] : [head])
}

/** Undefined where the database is the one that it was. */
export function changeOfEpoch(before: Epoch, now: Epoch): 'server' | 'restored' | undefined {
  if (before.database !== now.database || before.table !== now.table) return 'restored'
  return before.system !== now.system || before.timeline !== now.timeline ? 'server' : undefined
}

/** What a claim's transaction found in the store. */
export interface Fence {
  isOpen: boolean
  /** Whether the database has the epoch that the store has recorded. */
  isSameEpoch: boolean
  generation: string
  /** Whether every head that was sent along is in the store under its number. */
  hasHeads: boolean
}

export type FenceFailure = 'closed' | 'epoch' | 'generation' | 'head'

/** Undefined where the claim may go on. `generation`: the one that the process last compared its logs with. */
export function fenceFailure(fence: Fence, generation: string): FenceFailure | undefined {
  if (!fence.isOpen) return 'closed'
  if (!fence.isSameEpoch) return 'epoch'
  if (fence.generation !== generation) return 'generation'
  return fence.hasHeads ? undefined : 'head'
}

type GenerationAge = 'same' | 'former' | 'unknown'

export function ageOfGeneration(generation: string, { current, former }: Generations): GenerationAge {
  if (generation === current) return 'same'
  return former.includes(generation) ? 'former' : 'unknown'
}

/** A log that names the store, or another one at its path or address, as it was compared with it. */
export interface ComparedLog {
  /** Whether the store has registered it. */
  isRegistered: boolean
  hasSameKey: boolean
  isDamaged: boolean
  /** The store of this log was moved from here. */
  isMoved: boolean
  /** All generations of its attempts and notes, and of its header unless it has none of these. */
  generations: readonly string[]
  /** Entries whose attempt the store lacks. */
  missing: readonly LogEntry[]
  /** Whether the store lacks a head of its generation that the log noted. */
  lacksHead: boolean
  /** Ids of the attempts that are these heads. */
  notedIds: readonly string[]
}

export interface StoreFacts {
  generations: Generations
  isBackup: boolean
  /** Of the database, since the store recorded its epoch. */
  change: 'server' | 'restored' | undefined
  /** The store waits for the reports of its machines already. */
  isReporting: boolean
  /** Attempts without any log are a loss: the store is a file, which no other machine orders with. */
  requiresLog: boolean
  hasAttempts: boolean
  /** How many registered logs of this machine are not where they were. */
  missingLogs: number
}

interface Rollback {
  /** None where the store is as it was left. */
  reasons: CloseReason[]
  /** Entries to be recovered, in the order of their attempts, each once. */
  missing: LogEntry[]
}

export function detectRollback(store: StoreFacts, logs: readonly ComparedLog[]): Rollback {
  const own = logs.filter(({ hasSameKey }) => hasSameKey)
  const missing = new Map<string, LogEntry>()
  for (const entry of own.flatMap((log) => log.missing)) missing.set(entry.attemptId, entry)
  const isUnknown = (generation: string): boolean =>
    ageOfGeneration(generation, store.generations) === 'unknown'
  const isUnknownLog = own.some(({ generations }) => generations.some(isUnknown))
  // After a failover or a restore, recovering what is missing is the report of this machine, not a reason of its own. The
  // same holds for attempts of a former generation: the store was accepted without them.
  const isReporting = store.isReporting || store.change !== undefined
  const isOlder = [...missing.values()].some(
    ({ generation }) => ageOfGeneration(generation, store.generations) !== 'former',
  )
  const otherKey = logs.filter((log) => !log.hasSameKey && log.missing.length > 0)
  const reasons: [CloseReason, boolean][] = [
    ['server', store.change === 'server'],
    ['restored', store.change === 'restored'],
    ['generation', (isUnknownLog && store.hasAttempts) || own.some(({ isMoved }) => isMoved)],
    ['replaced', (isUnknownLog && !store.hasAttempts) || otherKey.some((log) => !log.isRegistered)],
    ['older', !isReporting && (isOlder || own.some(({ lacksHead }) => lacksHead))],
    ['backup', store.isBackup],
    ['log_missing', store.missingLogs > 0 || (store.requiresLog && store.hasAttempts && own.length === 0)],
    ['log_damaged', own.some(({ isDamaged }) => isDamaged)],
    ['key', otherKey.some((log) => log.isRegistered)],
  ]
  return {
    reasons: reasons.filter(([, isMet]) => isMet).map(([reason]) => reason),
    missing: [...missing.values()].sort((one, other) => one.at - other.at || one.number - other.number),
  }
}

/** A row that an entry names, as the store has it. */
export interface ExistingRow {
  state: SubmissionState
  attemptId: string | undefined
}

/** What an entry that the store lacks becomes. */
export interface RecoveredRow {
  /** The row that it names, or one of its own: the row it names was ordered by another attempt. */
  target: 'named row' | 'own row'
  state: 'accepted' | 'rejected' | 'unknown' | 'cancelled'
  requestId: string | undefined
  isPossibleDuplicate: boolean
}

/**
 * `isRequestTaken`: another row has the request that the outcome names. An attempt that went back to `pending` was never
 * sent: its row is left as it is, or is made as cancelled where it is gone.
 */
export function recoverEntry(
  outcome: Pick<LogOutcome, 'state' | 'requestId'> | undefined,
  row: ExistingRow | undefined,
  isRequestTaken: boolean,
): RecoveredRow | 'attempt alone' {
  const wasSent = outcome?.state !== 'pending'
  if (!wasSent && row !== undefined) return 'attempt alone'
  const isOrdered = row?.state === 'accepted' || row?.state === 'sending'
  const isAccepted = outcome?.state === 'accepted' && outcome.requestId !== undefined && !isRequestTaken
  const state = isAccepted ? 'accepted' : outcome?.state === 'rejected' ? 'rejected' : 'unknown'
  // Another attempt of the row may have been accepted: one that was rejected must not make it free to be sent again.
  if (state === 'rejected' && (row?.state === 'unknown' || row?.state === 'dropped')) return 'attempt alone'
  return {
    target: isOrdered ? 'own row' : 'named row',
    state: wasSent ? state : 'cancelled',
    requestId: isAccepted ? outcome.requestId : undefined,
    isPossibleDuplicate: isOrdered && state !== 'rejected',
  }
}
