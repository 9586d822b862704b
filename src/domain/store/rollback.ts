import type { Head, LogEntry, LogOutcome } from './attempt-log.ts'
import type { CloseReason } from './closing.ts'
import type { SubmissionState } from '../submission/states.ts'

/**
 * Rollback detection (src/docs/ordering.md, section 6). An attempt is committed, then appended to the attempt log and
 * flushed, and then its request is sent. So an entry that the store lacks proves that the store lost attempts.
 */

/** The generations of a store. A new generation begins when an older copy of the store is accepted. */
interface Generations {
  current: string
  former: readonly string[]
}

/** The values that distinguish a database from any other, and from an older state of itself; all are texts. */
export interface Epoch {
  /** The identifier of the server's cluster. */
  system: string
  /** The timeline of the server, which changes when a standby takes over. */
  timeline: string
  /** Object identifiers of the database and of the table of attempts; a restore creates new ones. */
  database: string
  table: string
}

/**
 * The newest known attempt (head) of each account. If two attempts have the same highest number, both are included: a
 * store can have only one of them.
 */
export type KnownHeads = Map<string, Head[]>

export function addKnownHead(headsByAccount: KnownHeads, { account, number, attemptId }: Head): void {
  const knownHeads = headsByAccount.get(account) ?? []
  const highest = knownHeads[0]?.number ?? 0
  if (number < highest || knownHeads.some((each) => each.attemptId === attemptId)) return
  const head = { account, number, attemptId }
  headsByAccount.set(account, number === highest ? [...knownHeads, head] : [head])
}

/** Returns how the database differs from the one that was recorded; undefined if it is the same. */
export function findEpochChange(before: Epoch, now: Epoch): 'server' | 'restored' | undefined {
  if (before.database !== now.database || before.table !== now.table) return 'restored'
  return before.system !== now.system || before.timeline !== now.timeline ? 'server' : undefined
}

/** The state of the store that a claim's transaction found. */
export interface Fence {
  isOpen: boolean
  /** Whether the database has the epoch that the store has recorded. */
  isSameEpoch: boolean
  generation: string
  /** Whether the store has every head that the claim requires, with the same number and attempt id. */
  hasHeads: boolean
}

export type FenceFailure = 'closed' | 'epoch' | 'generation' | 'head'

/**
 * Returns why a claim is refused; undefined if it may proceed. `generation`: the generation with which the process
 * last compared its logs.
 */
export function findFenceFailure(fence: Fence, generation: string): FenceFailure | undefined {
  if (!fence.isOpen) return 'closed'
  if (!fence.isSameEpoch) return 'epoch'
  if (fence.generation !== generation) return 'generation'
  return fence.hasHeads ? undefined : 'head'
}

type GenerationAge = 'same' | 'former' | 'unknown'

export function compareGeneration(generation: string, { current, former }: Generations): GenerationAge {
  if (generation === current) return 'same'
  return former.includes(generation) ? 'former' : 'unknown'
}

/** A log of this store, or of another store at its location, after the comparison with the store. */
export interface ComparedLog {
  /** Whether the log is in the store's register. */
  isRegistered: boolean
  /** Whether the log has the fingerprint key of the store; a log with another key belongs to another store. */
  hasSameKey: boolean
  isDamaged: boolean
  /** Whether the log's store was moved away from this location. */
  isMoved: boolean
  /**
   * The generations of the log's attempts and notes; that of its header if it has neither. A note is a line with a head
   * that was found when the store was read.
   */
  generations: readonly string[]
  /** Entries of attempts that the store does not have. */
  missing: readonly LogEntry[]
  /** Whether a note of the log names a head of the store's current generation that the store does not have. */
  lacksHead: boolean
  /** The attempt ids of the heads in the log's notes. */
  notedIds: readonly string[]
}

export interface StoreFacts {
  generations: Generations
  isBackup: boolean
  /** How the database has changed since the store recorded its epoch. */
  change: 'server' | 'restored' | undefined
  /** Whether the store already waits for the reports of its machines. */
  isReporting: boolean
  /**
   * Whether attempts without any log mean that a log was lost: the store is a file, with which no other machine
   * orders.
   */
  requiresLog: boolean
  hasAttempts: boolean
  /** The number of registered logs of this machine that are no longer at their paths. */
  missingLogs: number
}

interface Rollback {
  /** Empty if the store has lost nothing. */
  reasons: CloseReason[]
  /** The entries to recover, each once, in the order of their attempts. */
  missing: LogEntry[]
}

export function detectRollback(store: StoreFacts, logs: readonly ComparedLog[]): Rollback {
  const logsOfStore = logs.filter(({ hasSameKey }) => hasSameKey)
  const missing = new Map<string, LogEntry>()
  for (const entry of logsOfStore.flatMap((log) => log.missing)) missing.set(entry.attemptId, entry)
  const isUnknown = (generation: string): boolean =>
    compareGeneration(generation, store.generations) === 'unknown'
  const isUnknownLog = logsOfStore.some(({ generations }) => generations.some(isUnknown))
  // After a failover or a restore, missing entries are recovered as part of this machine's report, and are no further
  // reason to close the store. Attempts of a former generation are no reason either: the store was accepted without
  // them.
  const isReporting = store.isReporting || store.change !== undefined
  const isOlder = [...missing.values()].some(
    ({ generation }) => compareGeneration(generation, store.generations) !== 'former',
  )
  const logsWithOtherKey = logs.filter((log) => !log.hasSameKey && log.missing.length > 0)
  const reasons: [CloseReason, boolean][] = [
    ['server', store.change === 'server'],
    ['restored', store.change === 'restored'],
    ['generation', (isUnknownLog && store.hasAttempts) || logsOfStore.some(({ isMoved }) => isMoved)],
    ['replaced', (isUnknownLog && !store.hasAttempts) || logsWithOtherKey.some((log) => !log.isRegistered)],
    ['older', !isReporting && (isOlder || logsOfStore.some(({ lacksHead }) => lacksHead))],
    ['backup', store.isBackup],
    [
      'log_missing',
      store.missingLogs > 0 || (store.requiresLog && store.hasAttempts && logsOfStore.length === 0),
    ],
    ['log_damaged', logsOfStore.some(({ isDamaged }) => isDamaged)],
    ['key', logsWithOtherKey.some((log) => log.isRegistered)],
  ]
  return {
    reasons: reasons.filter(([, isMet]) => isMet).map(([reason]) => reason),
    missing: [...missing.values()].sort((one, other) => one.at - other.at || one.number - other.number),
  }
}

/** The current state of a row that an entry names. */
export interface ExistingRow {
  state: SubmissionState
  attemptId: string | undefined
}

/** How an entry that the store lacks is recovered: into which row, and in which state. */
export interface RecoveredRow {
  /** `own row`: a new row, because the row that the entry names was ordered by another attempt. */
  target: 'named row' | 'own row'
  state: 'accepted' | 'rejected' | 'unknown' | 'cancelled'
  requestId: string | undefined
  isPossibleDuplicate: boolean
}

/**
 * Decides how an entry is recovered. `isRequestTaken`: another row has the request that the outcome names. An attempt
 * that went back to `pending` was never sent: its row is not changed, or is added as cancelled if it is missing.
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
  // Another attempt of the row may have been accepted, so a rejected attempt must not allow the row to be sent again.
  if (state === 'rejected' && (row?.state === 'unknown' || row?.state === 'dropped')) return 'attempt alone'
  return {
    target: isOrdered ? 'own row' : 'named row',
    state: wasSent ? state : 'cancelled',
    requestId: isAccepted ? outcome.requestId : undefined,
    isPossibleDuplicate: isOrdered && state !== 'rejected',
  }
}
