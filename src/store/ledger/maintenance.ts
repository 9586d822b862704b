import { terminalStatuses } from '../../contract/statuses.ts'
import { columnsWithRule, containsPersonName, statesNotErased } from '../../domain/store/erasure.ts'
import type {
  ErasureTarget,
  FilesToErase,
  PersonNames,
  PurgeResult,
  StoreInfo,
  StoreServer,
  PersonTraces,
} from '../../domain/store/types.ts'
import { withoutFile } from '../../domain/submission/external-results.ts'
import { emailIdentity } from '../../domain/submission/identity.ts'
import { type SubmissionState, submissionStates, waitingStates } from '../../domain/submission/states.ts'
import type { RowId } from '../../domain/submission/submission.ts'
import { StoreBusyError } from '../../errors/kinds.ts'
import {
  type Values,
  type Work,
  all,
  get,
  insertRows,
  metaText,
  run,
  setMeta,
  together,
  updateRows,
} from './engine.ts'
import type { Fingerprint, StoreKey } from './fingerprints.ts'
import type { RollbackDetection } from './rollback-detection.ts'
import type { StoreContext } from './store-part.ts'
import { erasureName, readClosing, readLogs } from './store-state.ts'
import {
  type StoredOrderRow,
  allOrders,
  listDamage,
  parseExternalResults,
  sqlIsOfService,
  sqlList,
  sqlMayBeSent,
} from './submission-rows.ts'

/** The maximum number of rows in memory at the same time. */
const pageRows = 2_000

const selectTotals = `
SELECT count(*) AS batches, min(added_at) AS oldest, max(added_at) AS newest,
  (SELECT count(*) FROM events) AS events
FROM batches`

const selectStates = 'SELECT state, count(*) AS count FROM submissions GROUP BY state'

const selectOrderPage = `
SELECT s.*, b.base_url, b.account FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE (s.batch_id, s.row_number) > (CAST(:batchId AS text), CAST(:row AS bigint))
ORDER BY s.batch_id, s.row_number LIMIT :limit`

const selectDangling = `
SELECT s.batch_id, s.row_number FROM submissions s
WHERE s.state = 'accepted' AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.id = s.attempt_id)`

type Totals = Pick<StoreInfo, 'batches' | 'events' | 'oldest' | 'newest'>

/** The maintenance functions that differ between a file and a server. */
export interface Upkeep {
  /** Returns the size, the format and the engine. Its statements run in the snapshot in which the rows are counted. */
  figures(): Work<Pick<StoreInfo, 'bytes' | 'format' | 'engine'>>
  server?(): Promise<StoreServer>
  /** Returns the problems of the file, or of the tables in a database, as sentences. */
  checkTables(): Work<string[]>
  /**
   * Removes older versions of rows. Returns what prevents the removal; undefined if nothing does. If another process
   * has the store locked, waits for that process if `isPatient`, else throws a StoreBusyError.
   */
  scrub(isPatient: boolean): Promise<PurgeResult['isLeftTo']>
  /** Copies the store to a new file (0600). The copy is a store that takes no orders until the user accepts it. */
  backup(path: string): Promise<void>
  /** Returns the problems of the file itself; empty if it is sound. */
  problems(): Promise<string[]>
  /** Makes every insert into a table fail with an error that names `to`, the location to which the store is moved. */
  blockInserts(table: string, to: string): Work<unknown>
  allowInserts(table: string): Work<unknown>
  /** Returns the highest number that an event ever had; 0 if there was no event. */
  newestEvent(): Work<number>
  /** Makes later rows get higher numbers than the rows that were copied. */
  continueNumbers(newestEvent: number): Work<unknown>
}

export interface PurgeOptions {
  dryRun: boolean
  /** Whether fingerprints are removed too; an old file would then order the person again. */
  completely: boolean
  /** Files of this machine that are erased after the commit; default none. */
  files?: FilesToErase | undefined
}

/** Set while older versions of rows may contain removed data; each purge increments it. */
const unscrubbedName = 'unscrubbed'

/** The data that still has to be removed. */
interface RemainingErasure {
  /** By the id of a log, the attempts whose fingerprints its machine has to remove from it. */
  logs: Record<string, string[]>
  /** By the location of a machine's files. */
  files: Record<string, FilesToErase[]>
}

export type EraseFiles = (files: FilesToErase) => Promise<void>

const hasPerson = `(s.first_name IS NOT NULL OR s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL)`
const hasPersonOrFingerprints = `(${hasPerson} OR s.person_print IS NOT NULL)`

/** Conditions that select rows (all, those that are not changed, and those that are erased), events and requests. */
interface ErasureConditions {
  all: string
  kept: string
  erased: string
  events: string
  requests: string
  /** The parameters of all conditions. */
  values: Values
}

interface ErasureCounts {
  rows: number
  events: number
  kept: number
}

export interface MaintenanceParts extends Pick<StoreContext, 'engine'> {
  key: Pick<StoreKey, 'fingerprint'>
  rollbacks: Pick<RollbackDetection, 'idsOnThisMachine' | 'removeFingerprints'>
  upkeep: Upkeep
  /** The location of this machine's files, which distinguishes it from other machines that use the store. */
  location: string
}

/** Describes and checks a store, and erases people's data from it, its attempt logs and its files. */
export class Maintenance {
  /** Whether an interrupted purge left files on this machine that have to be erased. */
  hasFilesToErase = false
  readonly #parts: MaintenanceParts

  constructor(parts: MaintenanceParts) {
    this.#parts = parts
  }

  async info(): Promise<StoreInfo> {
    const { engine, upkeep } = this.#parts
    const server = await upkeep.server?.()
    const info = await engine.snapshot(function* () {
      const stateCounts = yield* all<{ state: SubmissionState; count: number }>(selectStates)
      const counts = new Map(stateCounts.map(({ state, count }) => [state, count]))
      const rows = Object.fromEntries(submissionStates.map((state) => [state, counts.get(state) ?? 0]))
      const { batches, ...totals } = (yield* get<Totals>(selectTotals)) as Totals
      return {
        location: engine.location,
        ...(yield* upkeep.figures()),
        batches,
        rows: rows as StoreInfo['rows'],
        ...totals,
        closed: yield* readClosing(),
      }
    })
    return server === undefined ? info : { ...info, server }
  }

  /** Returns the problems of the store, as sentences; empty if it is sound. */
  check(): Promise<string[]> {
    const { engine, key, upkeep } = this.#parts
    return engine.snapshot(function* () {
      const problems = yield* upkeep.checkTables()
      for (let last: RowId | undefined = { batchId: '', row: 0 }; last !== undefined;) {
        const page: StoredOrderRow[] = yield* allOrders(selectOrderPage, { ...last, limit: pageRows })
        for (const row of page) problems.push(...listDamage(row, key.fingerprint))
        last = page.at(-1)
      }
      for (const { batchId, row } of yield* all<RowId>(selectDangling)) {
        problems.push(`row ${row} of batch ${batchId} was accepted by an attempt that is not recorded`)
      }
      return problems
    })
  }

  /**
   * Removes people's data: recipient, body, remarks, received events. None of this data is left in the
   * database or its journal. The keyed fingerprints stay, so that an old file that is run again does not
   * order a person twice; `completely` removes them too. With `dryRun` it only counts.
   */
  async purge(target: ErasureTarget, options: PurgeOptions, eraseFiles?: EraseFiles): Promise<PurgeResult> {
    const { completely, files } = options
    const { engine, location } = this.#parts
    const conditions = createConditions(this.#parts.key.fingerprint, target)
    if (options.dryRun) {
      return engine.snapshot(function* () {
        const found = yield* countAll(conditions, completely)
        const areStoreFilesClean = (yield* metaText(unscrubbedName)) === undefined
        return {
          ...found,
          areStoreFilesClean,
          isLeftTo: areStoreFilesClean ? undefined : 'another process',
          logsLeft: [],
        }
      })
    }
    const isPerson = !('endedBefore' in target)
    const found = await engine.transaction(function* () {
      if (files !== undefined)
        yield* changeRemaining((remaining) => {
          remaining.files[location] = [...(remaining.files[location] ?? []), files]
        })
      return yield* eraseRows(conditions, completely, isPerson)
    })
    const isLeftTo = await this.finishErasure(eraseFiles, true)
    const logs = await engine.run(findRemainingLogs())
    return { ...found, areStoreFilesClean: isLeftTo === undefined, isLeftTo, logsLeft: logs }
  }

  /**
   * Returns what identifies a person in files: the batches, request ids and names of the person's rows, also of rows
   * that were erased before. The results file of a batch names the person too if a row of the batch is held as similar
   * to the person; the path of the input is then undefined, because the input does not contain the person.
   */
  findTraces(target: ErasureTarget): Promise<PersonTraces> {
    const { erased, values } = createConditions(this.#parts.key.fingerprint, target)
    const rows = `
SELECT DISTINCT s.request_id, s.first_name, s.last_name, s.email, b.base_url
FROM submissions s JOIN batches b ON b.id = s.batch_id WHERE ${erased}`
    const batches = `
SELECT b.id, CASE WHEN max(named.is_own) = 1 THEN b.path END AS path, b.results_file,
  CASE WHEN min(named.is_own) = 0 THEN 1 END AS named_as_similar FROM (
  SELECT s.batch_id, 1 AS is_own FROM submissions s JOIN batches b ON b.id = s.batch_id WHERE ${erased}
  UNION ALL
  SELECT h.batch_id, 0 FROM submissions s JOIN batches b ON b.id = s.batch_id
  JOIN submissions h ON h.matches_batch = s.batch_id AND h.matches_row = s.row_number AND h.state = 'held'
  WHERE ${erased}) named
JOIN batches b ON b.id = named.batch_id
WHERE b.kind = 'file' GROUP BY b.id, b.path, b.results_file ORDER BY b.id`
    return this.#parts.engine.snapshot(function* () {
      return { batches: yield* all(batches, values), rows: yield* all(rows, values) }
    })
  }

  /**
   * Completes a purge after its commit: removes the fingerprints from the attempt logs of this machine, then
   * files and older versions of rows. This must not happen before the commit: after a rollback, a log would
   * lack fingerprints that the store has. If the process is killed, the next start continues, also with the
   * purges of other machines. `isPatient`: waits for other processes. Returns what prevents the removal of
   * older versions of rows; undefined if nothing does.
   */
  async finishErasure(eraseFiles?: EraseFiles, isPatient = false): Promise<PurgeResult['isLeftTo']> {
    const { engine, location, rollbacks, upkeep } = this.#parts
    const [erasure, unscrubbed] = await engine.snapshot(() =>
      together([metaText(erasureName), metaText(unscrubbedName)]),
    )
    const remaining = parseRemaining(erasure)
    const logIds = await rollbacks.idsOnThisMachine(Object.keys(remaining.logs))
    if (logIds.length > 0)
      await rollbacks.removeFingerprints(new Set(logIds.flatMap((id) => remaining.logs[id] ?? [])))
    const files = remaining.files[location] ?? []
    for (const each of files) await eraseFiles?.(each)
    const erasedFiles = eraseFiles === undefined ? [] : files
    if (logIds.length + erasedFiles.length > 0)
      await engine.transaction(() =>
        changeRemaining((current) => {
          for (const id of logIds) removeErased(current.logs, id, remaining.logs[id])
          removeErased(current.files, location, erasedFiles)
        }),
      )
    this.hasFilesToErase = files.length > erasedFiles.length
    if (this.hasFilesToErase || unscrubbed === undefined) return undefined
    const isLeftTo = await upkeep.scrub(isPatient).catch((error: unknown) => {
      if (error instanceof StoreBusyError) return 'another process' as const
      throw error
    })
    if (isLeftTo === undefined) {
      // Another purge may have committed in between.
      const values = { name: unscrubbedName, value: Buffer.from(unscrubbed) }
      await engine.run(run('DELETE FROM meta WHERE name = :name AND value = :value', values))
    }
    return isLeftTo
  }
}

/** Returns the logs of other machines that still contain fingerprints. */
function* findRemainingLogs(): Work<PurgeResult['logsLeft']> {
  const { logs } = parseRemaining(yield* metaText(erasureName))
  const registered = yield* readLogs()
  return registered.filter(({ id }) => id in logs).map(({ host, path }) => ({ host, path }))
}

function* countAll(
  { erased, events, kept, values }: ErasureConditions,
  completely: boolean,
): Work<ErasureCounts> {
  const count = (from: string): string => `(SELECT count(*) FROM ${from})`
  const rows = count(`submissions s WHERE ${erased} AND ${completely ? hasPersonOrFingerprints : hasPerson}`)
  const select = `SELECT ${rows} AS rows, ${count(`events e WHERE ${events}`)} AS events,
    ${count(`submissions s WHERE ${kept}`)} AS kept`
  return (yield* get<ErasureCounts>(select, values)) as ErasureCounts
}

function* eraseRows(
  conditions: ErasureConditions,
  completely: boolean,
  isPerson: boolean,
): Work<ErasureCounts> {
  const found = yield* countAll(conditions, completely)
  const { erased, values } = conditions
  // The waiting rows of a removed person are not sent any more.
  const cancel = `UPDATE submissions AS s SET state = 'cancelled', reason = NULL
    WHERE ${conditions.all} AND s.state IN ${sqlList(waitingStates)} AND NOT ${sqlMayBeSent('s')}`
  if (isPerson) yield* run(cancel, values)
  yield* removeFileNames(erased, values)
  // A value that the user allowed several rows to share may be the person's e-mail or phone; such rows are held again.
  const ofBatches = `SELECT s.batch_id FROM submissions s WHERE ${erased}`
  yield* run(`UPDATE batches SET shared = '[]' WHERE id IN (${ofBatches})`, values)
  if (completely) yield* recordErasedAttempts(erased, values)
  yield* run(`DELETE FROM events AS e WHERE ${conditions.events}`, values)
  const emptiedRequests = completely ? yield* emptyRequests(conditions) : 0
  yield* emptyRows(erased, values, completely)
  if (found.rows + found.events + emptiedRequests > 0)
    yield* setMeta(unscrubbedName, String(Number((yield* metaText(unscrubbedName)) ?? 0) + 1))
  return found
}

/** Removes the file names of batches if they contain the person's name. */
function* removeFileNames(erased: string, values: Values): Work<void> {
  const select = `
SELECT DISTINCT b.id, b.name, b.path, b.results_file, b.halt_message, s.first_name, s.last_name, s.email
FROM submissions s JOIN batches b ON b.id = s.batch_id WHERE ${erased}`
  const rows = yield* all<
    PersonNames & Record<'id' | 'name' | 'path' | 'resultsFile' | 'haltMessage', string>
  >(select, values)
  for (const { id, name, path, resultsFile, haltMessage, ...person } of rows) {
    const texts: (string | undefined)[] = [name, path, resultsFile, haltMessage]
    if (texts.some((text) => text !== undefined && containsPersonName(text, person)))
      yield* emptyBatches('b.id = :id', columnsWithRule('batches', 'emptied'), { id })
  }
}

/** Records the erased attempts for every registered log, because a machine may have copies of other machines' logs. */
function* recordErasedAttempts(erased: string, values: Values): Work<void> {
  const select = `
SELECT a.id FROM attempts a JOIN submissions s ON s.batch_id = a.batch_id AND s.row_number = a.row_number
WHERE ${erased} AND s.person_print IS NOT NULL`
  const attempts = yield* all<{ id: string }>(select, values)
  const logs = yield* readLogs()
  if (attempts.length === 0 || logs.length === 0) return
  const ids = attempts.map(({ id }) => id)
  yield* changeRemaining((remaining) => {
    for (const { id } of logs) remaining.logs[id] = [...new Set([...(remaining.logs[id] ?? []), ...ids])]
  })
}

/** Removes the erased items from the list of a name. Other processes may have added items to it since it was read. */
function removeErased<T>(lists: Record<string, T[]>, name: string, erased: readonly T[] = []): void {
  const texts = new Set(erased.map((each) => JSON.stringify(each)))
  const remaining = (lists[name] ?? []).filter((each) => !texts.has(JSON.stringify(each)))
  if (remaining.length === 0) delete lists[name]
  else lists[name] = remaining
}

function* changeRemaining(change: (remaining: RemainingErasure) => void): Work<void> {
  // Without a row, nothing could be locked.
  const row = { name: erasureName, value: Buffer.from('{}') }
  yield* insertRows('meta', [row], 'ON CONFLICT (name) DO NOTHING')
  const remaining = parseRemaining(yield* metaText(erasureName, '{lockRows meta}'))
  change(remaining)
  const isOver = Object.keys(remaining.logs).length + Object.keys(remaining.files).length === 0
  yield* setMeta(erasureName, isOver ? undefined : JSON.stringify(remaining))
}

function parseRemaining(text: string | undefined): RemainingErasure {
  return { logs: {}, files: {}, ...(JSON.parse(text ?? '{}') as Partial<RemainingErasure>) }
}

/** Empties unmatched requests. They stay recorded as read, because another read would restore the fingerprints. */
function* emptyRequests({ requests, values }: ErasureConditions): Work<number> {
  const columns = emptyAssignments(columnsWithRule('unmatched_requests', 'emptied with --completely'))
  const where = `u.person_print IS NOT NULL AND (${requests})`
  return yield* run(`UPDATE unmatched_requests AS u SET ${columns} WHERE ${where}`, values)
}

function* emptyRows(erased: string, values: Values, completely: boolean): Work<void> {
  const rows = `SELECT s.batch_id, s.row_number FROM submissions s WHERE ${erased}`
  yield* run(`UPDATE attempts SET reason = NULL WHERE (batch_id, row_number) IN (${rows})`, values)
  yield* run(`UPDATE decisions SET why = 'removed' WHERE (batch_id, row_number) IN (${rows})`, values)
  yield* emptyResults(erased, values)
  const columns = columnsWithRule('submissions', 'emptied')
  if (completely) columns.push(...columnsWithRule('submissions', 'emptied with --completely'))
  yield* run(`UPDATE submissions AS s SET ${emptyAssignments(columns)} WHERE ${erased}`, values)
  const named = `SELECT 1 FROM submissions s
    WHERE s.batch_id = b.id AND (s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL)`
  const isEmpty = `b.kind = 'file' AND NOT EXISTS (${named})`
  const last = columnsWithRule('batches', 'emptied with the last person')
  yield* emptyBatches(isEmpty, [...columnsWithRule('batches', 'emptied'), ...last], {})
}

/** Removes the names of results files, which may name a person, and keeps only results that name an order. */
function* emptyResults(erased: string, values: Values): Work<void> {
  const select = `SELECT s.batch_id, s.row_number, s.external_results FROM submissions s
    WHERE ${erased} AND s.external_results IS NOT NULL`
  for (const { batchId, row, externalResults } of yield* all<RowId & { externalResults: string }>(
    select,
    values,
  )) {
    const results = parseExternalResults(externalResults)?.map((each) => withoutFile(each))
    yield* updateRows('submissions', { externalResults: JSON.stringify(results) }, { batchId, row })
  }
}

function* emptyBatches(where: string, columns: readonly string[], values: Values): Work<void> {
  yield* run(`UPDATE batches AS b SET ${emptyAssignments(columns)} WHERE ${where}`, values)
}

/** Expressions that replace values of columns which must not be NULL. Each erased row gets a different fingerprint. */
const replacements = new Map([
  [
    'fingerprint',
    `CASE WHEN fingerprint IS NULL THEN NULL ELSE 'erased ' || batch_id || ' ' || CAST(row_number AS text) END`,
  ],
  ['shared', "'[]'"],
])

function emptyAssignments(columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${replacements.get(column) ?? 'NULL'}`).join(', ')
}

function createConditions(fingerprint: Fingerprint, target: ErasureTarget): ErasureConditions {
  const isNotErased = `(s.state IN ${sqlList(statesNotErased(target))} OR ${sqlMayBeSent('s')})`
  const toConditions = (
    rows: string,
    others: Pick<ErasureConditions, 'events' | 'requests' | 'values'>,
  ): ErasureConditions => ({
    all: rows,
    kept: `${rows} AND ${isNotErased}`,
    erased: `${rows} AND NOT ${isNotErased}`,
    ...others,
  })
  if ('requestId' in target) {
    const service = 'CAST(:baseUrl AS text)'
    const rows = `s.request_id = :requestId AND ${sqlIsOfService('s', service)}`
    const isSame = (column: string): string =>
      `(${service} IS NULL OR ${column} IS NULL OR ${column} = ${service})`
    return toConditions(rows, {
      events: `e.request_id = :requestId AND ${isSame('e.base_url')}`,
      requests: `u.request_id = :requestId AND ${isSame('u.service')}
        OR u.person_print IN (SELECT s.person_print FROM submissions s WHERE ${rows} AND NOT ${isNotErased})`,
      values: { requestId: target.requestId.toLowerCase(), baseUrl: target.baseUrl },
    })
  }
  if ('email' in target) {
    // A row whose recipient was removed earlier still has the fingerprint of the e-mail. The e-mail of an invalid row may
    // be mistyped, so that such a row of the same name and phone is the person's too.
    const rows = `({sameEmail s.email, :email} OR s.email_print = :emailPrint OR (s.state = 'invalid' AND EXISTS (
      SELECT 1 FROM submissions n WHERE {sameEmail n.email, :email} AND n.name_print = s.name_print AND n.phone_print = s.phone_print)))`
    return toConditions(rows, {
      events: `EXISTS (SELECT 1 FROM submissions s WHERE ${rows} AND s.request_id = e.request_id AND ${sqlIsOfService('s', 'e.base_url')})`,
      requests: 'u.email_print = :emailPrint',
      values: { email: target.email, emailPrint: fingerprint(emailIdentity(target.email)) },
    })
  }
  return toConditions(
    `s.changed_at < :before AND (s.state <> 'accepted' OR s.request_status IN ${sqlList(terminalStatuses)})`,
    {
      events: `e.received_at < :before AND e.forward <> 'waiting'`,
      requests: 'u.read_at < :before',
      values: { before: target.endedBefore },
    },
  )
}
