import type { Head, LogEntry, LogHeader, RegisteredLog } from '../../domain/store/attempt-log.ts'
import { type Closing, type LogReport, mergeRegisters } from '../../domain/store/closing.ts'
import { findEpochChange, type Epoch, type StoreFacts } from '../../domain/store/rollback.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { relatedPackages } from '../../domain/submission/conflicts.ts'
import { ensureAccount } from './accounts.ts'
import { all, get, insertRows, metaText, metaValue, run, setMeta, type Work } from './engine.ts'
import { fingerprintKeyBytes, fingerprintKeyName, storeIdName } from './fingerprints.ts'
import type { Random } from '../../host/random.ts'

/**
 * Names of values in the table `meta` that describe the store itself. The value `closed` is the reason why the store
 * takes no orders, as JSON.
 */
export const closedName = 'closed'
/** The data that machines still have to remove from their attempt logs and files (Maintenance). */
export const erasureName = 'erasure'
const generationName = 'generation'
const formerName = 'former_generations'
const epochName = 'epoch'
export const backupName = 'backup'
/** The ids of logs that the user accepted although they are damaged or belong to another store. */
const ignoredName = 'ignored_logs'
/** The ids of logs that the user accepted as lost: copies of the register do not add them again. */
const dismissedName = 'dismissed_logs'
export const withoutLogName = 'without_log'
export const replicatedName = 'replicated'

/** The state of a store at one moment, as rollback detection needs it. */
export interface StoreState extends Omit<StoreFacts, 'isReporting' | 'requiresLog' | 'missingLogs'> {
  closing: Closing | undefined
  epochNow: string | undefined
  logs: LogReport[]
  ignoredLogs: ReadonlySet<string>
  mayBeWithoutLog: boolean
  /** Whether each commit waits for a second server now, and whether each did when the store was last used. */
  isReplicated: boolean
  wasReplicated: boolean
  /** Whether all heads that were given to `readState` are in the store, each under its number. */
  hasHeads: boolean
}

const headRows = '{rows heads, account text, number integer, attemptId text}'

/** An expression: how many of the parameter `heads` are in the store, each under its number. */
const headCount = `(SELECT count(*) FROM ${headRows}
  JOIN attempts a ON a.account = came.account AND a.number = came.number AND a.id = came.attempt_id)`

const selectLogs = `
SELECT l.id, l.host, l.machine, l.path, l.reported_for, l.is_excluded, l.last_attempt_at,
  (SELECT max(a.began_at) FROM attempts a WHERE a.log_id = l.id) AS newest_attempt_at
FROM attempt_logs l ORDER BY l.id`

/** Reads the state of a store. `heads`: attempts that the store must have. */
export function* readState(heads: readonly Head[] = []): Work<StoreState> {
  const facts = yield* get<{
    epochNow: string | undefined
    isReplicated: boolean | 0
    hasAttempts: boolean | 0 | 1
    heads: number
  }>(
    `SELECT {epoch} AS epoch_now, {isReplicated} AS is_replicated,
      EXISTS (SELECT 1 FROM attempts) AS has_attempts, ${headCount} AS heads`,
    { heads },
  )
  const epochNow = facts?.epochNow
  const epoch = yield* metaText(epochName)
  return {
    generations: {
      current: (yield* metaText(generationName)) ?? '',
      former: yield* readList(formerName),
    },
    closing: yield* readClosing(),
    isBackup: (yield* metaText(backupName)) !== undefined,
    change: epochNow === undefined ? undefined : findEpochChange(epochOf(epoch ?? ''), epochOf(epochNow)),
    epochNow,
    hasAttempts: Boolean(facts?.hasAttempts),
    hasHeads: facts?.heads === heads.length,
    isReplicated: Boolean(facts?.isReplicated),
    wasReplicated: (yield* metaText(replicatedName)) !== undefined,
    logs: yield* readLogs(),
    ignoredLogs: new Set(yield* readList(ignoredName)),
    mayBeWithoutLog: (yield* metaText(withoutLogName)) !== undefined,
  }
}

export function* readClosing(): Work<Closing | undefined> {
  const text = yield* metaText(closedName)
  return text === undefined ? undefined : (JSON.parse(text) as Closing)
}

export function* writeClosing(closing: Closing | undefined): Work<void> {
  yield* setMeta(closedName, closing && JSON.stringify(closing))
}

export function* readLogs(): Work<LogReport[]> {
  const rows = yield* all<Omit<LogReport, 'isExcluded'> & { isExcluded: number; newestAttemptAt?: number }>(
    selectLogs,
  )
  return rows.map(({ newestAttemptAt = 0, ...log }) =>
    Object.assign(log, {
      lastAttemptAt: Math.max(log.lastAttemptAt, newestAttemptAt),
      isExcluded: log.isExcluded === 1,
    }),
  )
}

/** Registers the log with which this machine sends, and ends its exclusion. */
export function* registerLog({ id, origin }: Pick<LogHeader, 'id' | 'origin'>): Work<void> {
  const dismissedIds = yield* readList(dismissedName)
  if (dismissedIds.includes(id))
    yield* setMeta(dismissedName, JSON.stringify(dismissedIds.filter((each) => each !== id)))
  const { host, machine, path } = origin
  const ending = 'ON CONFLICT (id) DO UPDATE SET is_excluded = 0'
  yield* insertRows('attempt_logs', [{ id, host, machine, path }], ending)
}

/**
 * Adds the registrations that logs contain as copies of the register, because a store that lost attempts also lost
 * registrations.
 */
export function* mergeRegister(copies: readonly RegisteredLog[]): Work<void> {
  const dismissedIds = yield* readList(dismissedName)
  const copiesToMerge = copies.filter(({ id }) => !dismissedIds.includes(id))
  const merged = mergeRegisters(yield* readLogs(), copiesToMerge).map(withoutReport)
  const ending = 'ON CONFLICT (id) DO UPDATE SET last_attempt_at = excluded.last_attempt_at'
  yield* insertRows('attempt_logs', merged, ending)
}

/** Removes from a log's registration the fields that belong to a closing of the store. */
export function withoutReport(log: RegisteredLog & Partial<LogReport>): RegisteredLog {
  const { reportedFor: _, isExcluded: __, ...registered } = log
  return registered
}

/** Records that the user accepted these logs: they are no longer compared, and may be missing. */
export function* ignoreLogs(logIds: readonly string[]): Work<void> {
  yield* addToList(ignoredName, logIds)
  yield* unregisterLogs(logIds)
}

/** Removes logs from the register, so that they may be missing. */
export function* unregisterLogs(logIds: readonly string[]): Work<void> {
  yield* addToList(dismissedName, logIds)
  for (const id of logIds) yield* run('DELETE FROM attempt_logs WHERE id = :id', { id })
}

/**
 * Writes the values that describe a new store. `formerKey` returns the fingerprint key of a store that was at
 * the same path or address, so that the new store recognises the same people.
 */
export function* beginStore(random: Random, formerKey?: () => Uint8Array | undefined): Work<void> {
  yield* setMeta(fingerprintKeyName, formerKey?.() ?? random.bytes(fingerprintKeyBytes))
  yield* setMeta(storeIdName, random.uuid())
  yield* beginGeneration(random.uuid())
}

function* beginGeneration(id: string): Work<void> {
  const database = yield* get<{ epoch: string | undefined }>('SELECT {epoch} AS epoch')
  yield* setMeta(generationName, id)
  yield* setMeta(epochName, database?.epoch)
}

/** Gives an accepted backup its own id and an empty register: it is another store than its original. */
export function* becomeAnotherStore(storeId: string): Work<void> {
  yield* setMeta(storeIdName, storeId)
  yield* run('DELETE FROM attempt_logs')
}

/**
 * Opens a closed store with a new generation, the present epoch of its database, and numbers above those of all logs.
 * `known`: the generations in logs, which become former generations.
 */
export function* openAgain(
  state: StoreState,
  { id, known, heads }: { id: string; known: readonly string[]; heads: readonly Omit<Head, 'attemptId'>[] },
): Work<void> {
  yield* addToList(formerName, [state.generations.current, ...known])
  yield* setMeta(generationName, id)
  yield* setMeta(epochName, state.epochNow)
  yield* setMeta(backupName, undefined)
  yield* writeClosing(undefined)
  for (const { account, number } of heads) {
    yield* ensureAccount(account, 0)
    yield* run(
      'UPDATE accounts SET head_number = :number WHERE name = :account AND head_number < CAST(:number AS bigint)',
      { account, number },
    )
  }
}

/** Begins a generation for a store that was filled by a move. Copies of its origin do not have this generation. */
export function* beginMovedGeneration(id: string): Work<void> {
  yield* addToList(formerName, [(yield* metaText(generationName)) ?? ''])
  yield* beginGeneration(id)
}

/** Reads the newest attempt of each account. */
export function* readHeads(): Work<Head[]> {
  return yield* all<Head>(
    `SELECT c.name AS account, a.number, a.id AS attempt_id
      FROM accounts c JOIN attempts a ON a.id = c.head_attempt_id AND a.account = c.name`,
  )
}

/**
 * An expression: the packages that count as one because of a move, each as `service package successor`, joined by
 * commas.
 */
const selectMoved = `(
  SELECT string_agg(service || ' ' || package_id || ' ' || successor_id, ',') FROM joined_packages WHERE how = 'moved')`

/** Returns the other packages of the service that count as the same package. `moved`: the value of `selectMoved`. */
export function relatedPackageIds(
  moved: string | undefined,
  { baseUrl, packageId }: Pick<LogEntry, 'baseUrl' | 'packageId'>,
): number[] {
  if (moved === undefined) return []
  const pairs = moved.split(',').map((pair) => pair.split(' '))
  const pairsOfService = pairs.filter(([service]) => service === serviceOf(baseUrl))
  const relations = pairsOfService.map(([, one, other]) => [Number(one), Number(other)] as const)
  const relatedIds = relatedPackages(packageId, relations)
  relatedIds.delete(packageId)
  return [...relatedIds]
}

/** A row of `selectFence`. */
export interface SelectedFence
  extends
    Record<'closed' | 'key' | 'generation' | 'epoch', Uint8Array | undefined>,
    Record<'epochNow' | 'moved' | 'openedBy', string | undefined> {
  heads: number
  isReplicated: boolean | 0
  openedAt: number | undefined
}

/** Selects the facts about the store that a claim of a row of the batch depends on. */
export const selectFence = `
SELECT {sharedValue p.attempt_id} AS opened_by, {sharedValue p.at} AS opened_at,
  ${metaValue(closedName)} AS closed, ${metaValue(fingerprintKeyName)} AS key,
  ${metaValue(generationName)} AS generation, ${metaValue(epochName)} AS epoch, {epoch} AS epoch_now,
  ${headCount} AS heads, {isReplicated} AS is_replicated, ${selectMoved} AS moved
{shared FROM (SELECT 1) one LEFT JOIN batches b ON b.id = :batchId LEFT JOIN pauses p ON p.service = b.base_url}`

const selectOnlyInStore = `
SELECT a.account, a.number, a.id AS attempt_id, a.batch_id, a.row_number, b.base_url, a.user_email, s.package_id,
  a.began_at AS at, coalesce(s.person_print, '') AS person, coalesce(s.email_print, '') AS email,
  coalesce(s.phone_print, '') AS phone, ${selectMoved} AS moved
FROM attempts a JOIN submissions s ON s.batch_id = a.batch_id AND s.row_number = a.row_number
  JOIN batches b ON b.id = a.batch_id LEFT JOIN ${headRows} ON came.account = a.account
WHERE a.log_id = :logId AND a.number > coalesce(came.number, 0) ORDER BY a.account, a.number`

/**
 * Reads the attempts that the store has and the log lacks, whose numbers are above the log's heads: a process
 * was killed before it recorded them in the log, so they were not sent.
 */
export function* entriesOnlyInStore(values: {
  logId: string
  heads: readonly Head[]
}): Work<Omit<LogEntry, 'kind' | 'generation'>[]> {
  const rows = yield* all<
    Omit<LogEntry, 'kind' | 'generation' | 'relatedIds'> & { moved: string | undefined }
  >(selectOnlyInStore, values)
  return rows.map(({ moved, ...entry }) =>
    Object.assign(entry, { relatedIds: relatedPackageIds(moved, entry) }),
  )
}

function* readList(name: string): Work<string[]> {
  return JSON.parse((yield* metaText(name)) ?? '[]') as string[]
}

function* addToList(name: string, values: readonly string[]): Work<void> {
  if (values.length === 0) return
  yield* setMeta(name, JSON.stringify([...new Set([...(yield* readList(name)), ...values])]))
}

/** Parses the value of `{epoch}`. */
function epochOf(text: string): Epoch {
  const [system = '', timeline = '', database = '', table = ''] = text.split(' ')
  return { system, timeline, database, table }
}
