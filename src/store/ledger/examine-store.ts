import {
  type LogEntry,
  type LogNote,
  type LogOutcome,
  isErasedFingerprint,
} from '../../domain/store/attempt-log.ts'
import {
  type ExaminedLogs,
  type Closing,
  type LogReport,
  isClosedForMissingLog,
  isReporting,
  findReopenStep,
  findUnreportedLogs,
  addLossReason,
} from '../../domain/store/closing.ts'
import {
  type ComparedLog,
  type ExistingRow,
  type RecoveredRow,
  type StoreFacts,
  compareGeneration,
  detectRollback,
  recoverEntry,
} from '../../domain/store/rollback.ts'
import type { RowVersion, Submission } from '../../domain/submission/submission.ts'
import { orderIdentity } from '../../domain/submission/identity.ts'
import { localTime } from '../../domain/wording/time.ts'
import { ensureAccount } from './accounts.ts'
import type { AttemptLogFiles, LogFile } from './attempt-log.ts'
import { type Work, all, get, insertRows, run, updateRows } from './engine.ts'
import { changeRow } from './ledger.ts'
import { recordPackageRelation } from './matching.ts'
import { mergeRegister, openAgain, readHeads, readLogs, readState, writeClosing } from './store-state.ts'
import type { Fingerprint } from './fingerprints.ts'
import { recipientOf, type SelectedRow, type StoredRecipient } from './submission-rows.ts'

const lostAttemptReason = 'the store had lost this attempt, and its log does not say whether it was accepted'

/** The reason of an accepted order that was recovered without its person. A purge, in contrast, removes reasons. */
const lostPersonReason = 'the store had lost this order, and whose it is'

const updateRow = `
UPDATE submissions
SET state = :state, attempt_id = :attemptId, changed_at = :changedAt, reason = :reason, field = NULL,
  request_id = :requestId, matches_batch = NULL, matches_row = NULL, held_for = NULL, shares = NULL,
  package_id = coalesce(package_id, :packageId), body_sha256 = coalesce(body_sha256, ''),
  fingerprint = coalesce(fingerprint, :fingerprint), person_print = coalesce(person_print, :personPrint),
  email_print = coalesce(email_print, :emailPrint), phone_print = coalesce(phone_print, :phonePrint)
WHERE batch_id = :batchId AND row_number = :row`

const selectExisting = `
SELECT state, attempt_id, body_sha256, package_id, first_name, last_name, email, phone
FROM submissions WHERE batch_id = :batchId AND row_number = :row`

const assignNumber = `
UPDATE accounts SET head_number = head_number + 1, head_attempt_id = :attemptId WHERE name = :account
RETURNING head_number AS number`

const selectRowOfRequest = `
SELECT s.batch_id, s.row_number, s.state, s.attempt_id FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE s.request_id = :requestId AND b.base_url = :baseUrl`

/**
 * Adds an attempt that the store lost under a new number; also its row, its batch and its package relations if they
 * are lost. The caller's transaction excludes claims by other processes.
 */
function* recoverAttempt(
  entry: LogEntry,
  { file, outcomes }: ReadLog,
  { now: at, fingerprint }: Pick<ExamineOptions, 'now' | 'fingerprint'>,
): Work<void> {
  const { attemptId, account, baseUrl, packageId } = entry
  const outcome = outcomes.get(attemptId)
  const namedRow = { batchId: entry.batchId, row: entry.row }
  const row = yield* get<SelectedExisting>(selectExisting, namedRow)
  const requestId = outcome?.requestId
  const rowOfRequest =
    requestId === undefined ? undefined : yield* get<RowVersion>(selectRowOfRequest, { requestId, baseUrl })
  // A person recorded the request for the row, as the provider's answer, before the log of its attempt was found.
  const isRecorded = rowOfRequest?.batchId === namedRow.batchId && rowOfRequest.row === namedRow.row
  const isRequestTaken =
    rowOfRequest !== undefined && !isRecorded && !(yield* removeRequest(rowOfRequest, outcomes, at))
  yield* ensureAccount(account, at)
  const head = yield* get<{ number: number }>(assignNumber, { account, attemptId })
  const recovered = isRecorded ? 'attempt alone' : recoverEntry(outcome, row, isRequestTaken)
  const isNamedRow = recovered === 'attempt alone' || recovered.target === 'named row'
  const targetRow = isNamedRow ? namedRow : { batchId: attemptId, row: 1 }
  if (recovered !== 'attempt alone')
    yield* recoverRow(
      entry,
      { ...targetRow, changedAt: at },
      recovered,
      row === undefined ? undefined : namedRow,
    )
  // A recorded request may be of another package than its row was.
  const recipient = row && recipientOf(row)
  if (isNamedRow && outcome?.state === 'accepted' && recipient && row.packageId !== packageId) {
    const order = orderIdentity({ account, baseUrl, packageId, recipient })
    yield* updateRows('submissions', { packageId, fingerprint: fingerprint(order) }, namedRow)
  }
  const became = outcome?.state
  const bodySha256 = (isNamedRow ? row?.bodySha256 : undefined) ?? ''
  const attemptFields = { userEmail: entry.userEmail, bodySha256, beganAt: entry.at, beganMonotonic: 0 }
  const numberFields = { account, number: head?.number ?? 0, logId: file.header.id }
  yield* insertRows('attempts', [
    { id: attemptId, ...targetRow, ...attemptFields, ...numberFields, became, endedAt: became && at },
  ])
  for (const related of entry.relatedIds)
    yield* recordPackageRelation(baseUrl, [related, packageId], 'moved', entry.at)
}

/**
 * Removes a request from the row that has it, if the log of the recovered attempt records that a read showed
 * the request to be another row's. Returns true if it was removed. The log of the row's own attempt, on
 * another machine, does not record that.
 */
function* removeRequest(row: RowVersion, outcomes: ReadLog['outcomes'], at: number): Work<boolean> {
  if (outcomes.get(row.attemptId ?? '')?.state !== 'unknown') return false
  const decision = { by: 'refcheck', why: 'an attempt log says that its request is another row’s' }
  const loss = { to: 'unknown', at, reason: 'its request was found to be another row’s', decision } as const
  return yield* changeRow(row, loss)
}

type SelectedExisting = ExistingRow & StoredRecipient & { bodySha256?: string; packageId?: number }

/** Adds or changes the row of a recovered attempt. `existing`: the row that the entry names, if the store has it. */
function* recoverRow(
  entry: LogEntry,
  key: Pick<Submission, 'batchId' | 'row' | 'changedAt'>,
  { target, state, requestId, isPossibleDuplicate }: RecoveredRow,
  existing: { batchId: string; row: number } | undefined,
): Work<void> {
  const { attemptId, packageId, baseUrl, userEmail, account } = entry
  const toStoredPrint = (fingerprint: string): string | undefined =>
    isErasedFingerprint(fingerprint) ? undefined : fingerprint
  const personPrint = toStoredPrint(entry.person)
  const order = {
    ...key,
    state,
    attemptId,
    packageId,
    requestId,
    reason:
      state === 'unknown'
        ? lostAttemptReason
        : state === 'accepted' && existing === undefined
          ? lostPersonReason
          : undefined,
    // Every complete order has a fingerprint; if the person was erased, the attempt's id replaces it.
    fingerprint: personPrint ?? attemptId,
    personPrint,
    emailPrint: toStoredPrint(entry.email),
    phonePrint: toStoredPrint(entry.phone),
  }
  if (existing !== undefined && target === 'named row') {
    yield* run(updateRow, order)
    return
  }
  const possibleDuplicateOf = isPossibleDuplicate ? existing : undefined
  const batch = { id: key.batchId, kind: 'file', baseUrl, userEmail, addedAt: entry.at, account }
  yield* insertRows('batches', [batch], 'ON CONFLICT (id) DO NOTHING')
  const matchColumns = { matchesBatch: possibleDuplicateOf?.batchId, matchesRow: possibleDuplicateOf?.row }
  yield* insertRows('submissions', [{ ...order, bodySha256: '', ...matchColumns }])
}

/** The maximum number of ids in one statement. */
const maxIds = 5_000

const selectMissing = `
SELECT came.id FROM {rows ids, id text} WHERE NOT EXISTS (SELECT 1 FROM attempts a WHERE a.id = came.id)`

/** Returns those of the attempts that the store lacks. */
function* findMissingAttempts(ids: readonly string[]): Work<Set<string>> {
  const missing = new Set<string>()
  for (let from = 0; from < ids.length; from += maxIds) {
    const page = ids.slice(from, from + maxIds).map((id) => ({ id }))
    for (const { id } of yield* all<{ id: string }>(selectMissing, { ids: page })) missing.add(id)
  }
  return missing
}

const selectRecovered = `
SELECT a.id, a.began_at, s.batch_id, s.row_number, s.package_id, s.first_name, s.last_name, s.email, s.state, s.request_id, s.matches_batch,
  s.matches_row, b.name
FROM attempts a JOIN submissions s ON s.batch_id = a.batch_id AND s.row_number = a.row_number
  JOIN batches b ON b.id = s.batch_id
WHERE {isIn a.id, ids} ORDER BY a.began_at, s.batch_id, s.row_number`

type SelectedRecovered = Pick<
  SelectedRow,
  'batchId' | 'row' | 'packageId' | 'state' | 'requestId' | 'matchesBatch' | 'matchesRow'
> &
  StoredRecipient & { beganAt: number; name: string | undefined }

/** Formats recovered attempts as sentences, with the person's name if the store still has it. */
function* formatRecovered(attemptIds: readonly string[]): Work<string[]> {
  const found = yield* all<SelectedRecovered>(selectRecovered, { ids: attemptIds })
  return found.map((row) => {
    const personText =
      row.email === undefined
        ? 'a person whose name is lost'
        : `${row.firstName} ${row.lastName} (${row.email})`
    const id =
      row.requestId === undefined ? `row ${row.row} of batch ${row.batchId}` : `request ${row.requestId}`
    const position = row.email === undefined || row.name === undefined ? id : row.name
    const duplicate =
      row.matchesBatch === undefined
        ? ''
        : `, a possible duplicate of row ${row.matchesRow} of batch ${row.matchesBatch}`
    return `${personText}: package ${row.packageId}, sent at ${localTime(row.beganAt)}, ${position}, ${row.state}${duplicate}`
  })
}

/** The records of a log. */
export interface ReadLog {
  file: LogFile
  entries: LogEntry[]
  notes: LogNote[]
  /** Outcomes by the id of the attempt. */
  outcomes: ReadonlyMap<string, LogOutcome>
  isDamaged: boolean
}

export function readLog(files: AttemptLogFiles, file: LogFile): ReadLog {
  const { records, damagedLineCount } = files.read(file)
  const outcomes = records.filter((record) => record.kind === 'outcome')
  return {
    file,
    entries: records.filter((record) => record.kind === 'entry'),
    notes: records.filter((record) => record.kind === 'note'),
    outcomes: new Map(outcomes.map((outcome) => [outcome.attemptId, outcome])),
    isDamaged: damagedLineCount > 0,
  }
}

/** Returns the highest number of an attempt of each account in the logs, in any generation. */
export function highestNumbers(logs: readonly ReadLog[]): { account: string; number: number }[] {
  const highest = new Map<string, number>()
  for (const { account, number } of logs.flatMap(({ entries, notes }) => [...entries, ...notes]))
    highest.set(account, Math.max(number, highest.get(account) ?? 0))
  return [...highest].map(([account, number]) => ({ account, number }))
}

/** Returns the generations of a log's records and of its header; empty for a log without records. */
const generationsIn = (log: ReadLog): string[] => {
  const records = [...log.entries, ...log.notes]
  if (records.length === 0) return []
  return [...new Set([...records.map(({ generation }) => generation), log.file.header.generation])]
}

interface ExamineOptions {
  /** The key of the store's fingerprints. */
  key: string
  fingerprint: Fingerprint
  /** Whether this store has to have an attempt log on this machine. */
  requiresLog: boolean
  /** Whether a store that was closed because its log was missing may be opened again. */
  mayReopen: boolean
  /** Returns the ids of registered logs of this machine that are gone. */
  findMissingIds: (logs: readonly LogReport[]) => string[]
  now: number
  newId: () => string
}

/**
 * Compares all logs with the store, recovers the attempts that it lacks, and closes it if necessary. The caller's
 * transaction excludes claims by other processes.
 */
export function* examineStore(
  logs: readonly ReadLog[],
  { key, fingerprint, requiresLog, mayReopen, findMissingIds, now, newId }: ExamineOptions,
): Work<ExaminedLogs & { recoveredCount: number; isReopened: boolean }> {
  const storeState = yield* readState()
  const unchangedResult = {
    unreported: [],
    recovered: [],
    logs: storeState.logs,
    recoveredCount: 0,
    isReopened: false,
  }
  if (storeState.closing?.move !== undefined)
    return { ...unchangedResult, closing: storeState.closing, reopenStep: 'acceptance' }
  const logsToCompare = logs.filter(({ file }) => !storeState.ignoredLogs.has(file.header.id))
  const ownLogs = logsToCompare.filter(({ file }) => file.header.key === key)
  yield* mergeRegister(ownLogs.flatMap(({ file }) => file.header.register))
  const comparedLogs: ComparedLog[] = []
  for (const log of logsToCompare) comparedLogs.push(yield* compareLog(storeState, log, key))
  const missingLogs = findMissingIds(storeState.logs)
  const { reasons, missing } = detectRollback(
    {
      ...storeState,
      isReporting: storeState.closing !== undefined && isReporting(storeState.closing),
      requiresLog: requiresLog && !storeState.mayBeWithoutLog,
      missingLogs: missingLogs.length,
    },
    comparedLogs,
  )
  for (const entry of missing) {
    const log = logsToCompare.find(({ entries }) => entries.includes(entry))
    if (log !== undefined) yield* recoverAttempt(entry, log, { now, fingerprint })
  }
  const compared = { ...unchangedResult, recoveredCount: missing.length }
  const isSound = reasons.length === 0 && missing.length === 0
  const isReopened =
    isSound &&
    mayReopen &&
    requiresLog &&
    isClosedForMissingLog(storeState.closing) &&
    (yield* haveAllHeads(ownLogs))
  if (isReopened) yield* writeClosing(undefined)
  if (isReopened || (storeState.closing === undefined && reasons.length === 0))
    return { ...compared, isReopened, closing: undefined, reopenStep: 'nothing', logs: yield* readLogs() }
  const earlierClosing: Partial<Closing> = storeState.closing ?? {}
  const { id = newId(), at = now } = earlierClosing
  // Attempts that a machine noted after a read count as missing until a log has their entry: a machine whose log is
  // unknown may have sent them.
  const notedOrMissingIds = [
    ...(earlierClosing.missing ?? []),
    ...comparedLogs.flatMap(({ notedIds }) => notedIds),
  ]
  const namedGenerations = comparedLogs.flatMap(({ hasSameKey, generations }) =>
    hasSameKey ? generations : [],
  )
  const closing = {
    id,
    at,
    reasons: unique(earlierClosing.reasons, reasons),
    recovered: unique(
      earlierClosing.recovered,
      missing.map(({ attemptId }) => attemptId),
    ),
    missing: [...(yield* findMissingAttempts(unique(notedOrMissingIds)))],
    generations: unique(earlierClosing.generations, namedGenerations),
  }
  yield* writeClosing(closing)
  // No other machine can compare a log of this machine that is gone or damaged, so the user has to decide about it.
  const reportedIds = ownLogs.flatMap(({ file }) => (file.isOriginal ? file.header.id : []))
  for (const logId of [...reportedIds, ...missingLogs])
    yield* updateRows('attempt_logs', { reportedFor: id }, { id: logId })
  const registeredLogs = yield* readLogs()
  const unreported = findUnreportedLogs(closing, registeredLogs)
  const reopenStep = findReopenStep(addLossReason(closing), registeredLogs, {
    isReplicated: storeState.wasReplicated,
  })
  if (reopenStep !== 'nothing') {
    const recovered = yield* formatRecovered(closing.recovered)
    return {
      ...compared,
      closing: addLossReason(closing),
      unreported,
      reopenStep,
      recovered,
      logs: registeredLogs,
    }
  }
  yield* openAgain(storeState, {
    id: newId(),
    known: closing.generations,
    heads: highestNumbers(logsToCompare),
  })
  return { ...compared, closing: undefined, reopenStep, logs: registeredLogs }
}

/** Whether the newest attempt of every account is in one of the logs that are undamaged and not copies. */
function* haveAllHeads(logs: readonly ReadLog[]): Work<boolean> {
  const knownIds = new Set<string>()
  for (const { file, isDamaged, entries, notes } of logs) {
    if (!file.isOriginal || isDamaged) continue
    for (const { attemptId } of [...entries, ...notes]) knownIds.add(attemptId)
  }
  return (yield* readHeads()).every(({ attemptId }) => knownIds.has(attemptId))
}

const unique = <T>(values: readonly T[] = [], more: readonly T[] = []): T[] => [
  ...new Set([...values, ...more]),
]

/** Compares one log with the store. `key`: the key of the store's fingerprints. */
function* compareLog(
  state: Pick<StoreFacts, 'generations'> & Pick<ExaminedLogs, 'logs'>,
  log: ReadLog,
  key: string,
): Work<ComparedLog> {
  const { header } = log.file
  const { current } = state.generations
  const missingIds = yield* findMissingAttempts(log.entries.map(({ attemptId }) => attemptId))
  const currentNotes = log.notes.filter(({ generation }) => generation === current)
  const { hasHeads } = yield* readState(currentNotes)
  return {
    isRegistered: state.logs.some(({ id }) => id === header.id),
    hasSameKey: header.key === key,
    isDamaged: log.isDamaged,
    // A store at the location to which it was moved has another generation.
    isMoved:
      header.movedTo !== undefined && compareGeneration(header.generation, state.generations) !== 'former',
    generations: generationsIn(log),
    missing: log.entries.filter(({ attemptId }) => missingIds.has(attemptId)),
    lacksHead: !hasHeads,
    notedIds: currentNotes.map(({ attemptId }) => attemptId),
  }
}
