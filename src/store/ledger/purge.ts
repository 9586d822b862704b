import { terminalStatuses } from '../../contract/statuses.ts'
import { type Named, namesPerson } from '../../domain/store/forget.ts'
import { columnsWith, statesLeft } from '../../domain/store/forgetting.ts'
import type { Forgotten, Purged } from '../../domain/store/told.ts'
import { waitingStates } from '../../domain/submission/states.ts'
import { emailIdentity } from '../../domain/submission/identity.ts'
import {
  all,
  type Dialect,
  type Engine,
  get,
  metaText,
  run,
  setMeta,
  type Values,
  type Work,
} from './engine.ts'
import type { Fingerprint } from './fingerprints.ts'
import { readLogs } from './store-state.ts'
import { sqlList } from './submission-rows.ts'
import { erasedName } from './store-state.ts'

export interface PurgeOptions {
  dryRun: boolean
  /** The fingerprints too: an old file would order the person again. */
  completely: boolean
}

/** The attempt logs of this machine. */
export interface ErasableLogs {
  /** Of the logs with these ids, those that are on this machine. */
  idsHere(logIds: readonly string[]): Promise<string[]>
  /** From all files of this machine, copies too. */
  removeFingerprints(attemptIds: ReadonlySet<string>): Promise<void>
}

export interface PurgeParts {
  logs: ErasableLogs
  fingerprint: Fingerprint
  /** Removes older versions of rows; `isPatient`: waits for other processes. */
  scrub(isPatient: boolean): Promise<Purged['isLeftTo']>
}

/** Set while older versions of rows may hold what was removed; each purge counts it up. */
const unscrubbedName = 'unscrubbed'

/** By the id of a log, the attempts whose fingerprints its machine has still to remove from it. */
type ErasedAttempts = Record<string, string[]>

const hasPerson = `(s.first_name IS NOT NULL OR s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL)`
const hasPersonOrPrints = `(${hasPerson} OR s.person_print IS NOT NULL)`

interface Chosen {
  where: string
  values: Values
}

/** Rows, and of these the ones that are left as they are and those that are erased. */
interface ChosenRows {
  all: string
  left: string
  erased: string
  values: Values
}

interface Found {
  rows: number
  events: number
  kept: number
}

/** Removes what names a person, or what is old; see Maintenance. */
export async function purge(
  engine: Engine,
  parts: PurgeParts,
  who: Forgotten,
  options: PurgeOptions,
): Promise<Purged> {
  const { completely } = options
  const rows = chooseRows(engine.dialect, parts.fingerprint, who)
  const events = chooseEvents(engine.dialect, parts.fingerprint, who)
  if (options.dryRun) {
    return engine.snapshot(function* () {
      const found = yield* countAll(rows, events, completely)
      const isScrubbed = (yield* metaText(unscrubbedName)) === undefined
      return { ...found, isScrubbed, isLeftTo: isScrubbed ? undefined : 'another process', logsLeft: [] }
    })
  }
  const isPerson = !('endedBefore' in who)
  const found = await engine.transaction(() =>
    eraseRows(engine.dialect, rows, events, { isPerson, completely }),
  )
  const isLeftTo = await finishErasure(engine, parts, true)
  return { ...found, isScrubbed: isLeftTo === undefined, isLeftTo, logsLeft: await engine.run(logsLeft()) }
}

/**
 * What follows the commit of a purge: the fingerprints are removed from the attempt logs of this machine, because a rollback
 * would leave a log without what the store still has, and then older versions of rows. A process that is killed in between
 * leaves that to the next start of any; other machines have logs of their own. `isPatient`: waits for other processes.
 */
export async function finishErasure(
  engine: Engine,
  { logs, scrub }: Pick<PurgeParts, 'logs' | 'scrub'>,
  isPatient: boolean,
): Promise<Purged['isLeftTo']> {
  const left = await engine.run(
    all<{ name: string; value: Uint8Array }>(
      'SELECT name, value FROM meta WHERE name IN (:erased, :unscrubbed)',
      {
        erased: erasedName,
        unscrubbed: unscrubbedName,
      },
    ),
  )
  const texts = new Map(left.map(({ name, value }) => [name, Buffer.from(value).toString()]))
  const erased = JSON.parse(texts.get(erasedName) ?? '{}') as ErasedAttempts
  const here = await logs.idsHere(Object.keys(erased))
  if (here.length > 0) {
    await logs.removeFingerprints(new Set(here.flatMap((id) => erased[id] ?? [])))
    await engine.transaction(() => forgetErased(engine.dialect, erased, here))
  }
  const unscrubbed = texts.get(unscrubbedName)
  if (unscrubbed === undefined) return undefined
  const isLeftTo = await scrub(isPatient)
  if (isLeftTo === undefined) {
    // Another purge may have committed in between.
    await engine.run(
      run('DELETE FROM meta WHERE name = :name AND value = :value', {
        name: unscrubbedName,
        value: Buffer.from(unscrubbed),
      }),
    )
  }
  return isLeftTo
}

/** Logs of other machines that still hold fingerprints. */
function* logsLeft(): Work<Purged['logsLeft']> {
  const erased = JSON.parse((yield* metaText(erasedName)) ?? '{}') as ErasedAttempts
  const registered = yield* readLogs()
  return registered.filter(({ id }) => id in erased).map(({ host, path }) => ({ host, path }))
}

function* countAll(rows: ChosenRows, events: Chosen, completely: boolean): Work<Found> {
  const counted = completely ? hasPersonOrPrints : hasPerson
  return {
    rows: yield* countRows(`submissions s WHERE ${rows.erased} AND ${counted}`, rows.values),
    events: yield* countRows(`events e WHERE ${events.where}`, events.values),
    kept: yield* countRows(`submissions s WHERE ${rows.left}`, rows.values),
  }
}

function* countRows(from: string, values: Values): Work<number> {
  return (yield* get<{ count: number }>(`SELECT count(*) AS count FROM ${from}`, values))?.count ?? 0
}

function* eraseRows(
  dialect: Dialect,
  rows: ChosenRows,
  events: Chosen,
  { isPerson, completely }: { isPerson: boolean; completely: boolean },
): Work<Found> {
  const found = yield* countAll(rows, events, completely)
  const { erased, values } = rows
  if (isPerson) {
    // A person who is removed is not ordered any more.
    yield* run(
      `UPDATE submissions AS s SET state = 'cancelled', reason = NULL
        WHERE ${rows.all} AND s.state IN ${sqlList(waitingStates)}`,
      values,
    )
  }
  yield* removeFileNames(erased, values)
  // What many were said to share may be the person's own; the rest is held again.
  yield* run(
    `UPDATE batches SET shared = '[]' WHERE id IN (SELECT s.batch_id FROM submissions s WHERE ${erased})`,
    values,
  )
  if (completely) yield* rememberErased(dialect, erased, values)
  yield* run(`DELETE FROM events AS e WHERE ${events.where}`, events.values)
  yield* emptyRows(erased, values, completely)
  if (found.rows + found.events > 0)
    yield* setMeta(unscrubbedName, String(Number((yield* metaText(unscrubbedName)) ?? 0) + 1))
  return found
}

/** A file's name can be a person's. */
function* removeFileNames(erased: string, values: Values): Work<void> {
  const found = yield* all<
    Named & Record<'id' | 'name' | 'path' | 'results_file' | 'halt_message', string | null>
  >(
    `SELECT DISTINCT b.id, b.name, b.path, b.results_file, b.halt_message, s.first_name, s.last_name, s.email
      FROM submissions s JOIN batches b ON b.id = s.batch_id WHERE ${erased}`,
    values,
  )
  for (const { id, name, path, results_file, halt_message, ...person } of found) {
    const texts = [name, path, results_file, halt_message]
    if (texts.some((text) => text !== null && namesPerson(text, person)))
      yield* emptyBatches('b.id = :id', columnsWith('batches', 'emptied'), { id })
  }
}

/** In all registered logs: a machine may have copies of the logs of others. */
function* rememberErased(dialect: Dialect, erased: string, values: Values): Work<void> {
  const attempts = yield* all<{ id: string }>(
    `SELECT a.id FROM attempts a JOIN submissions s ON s.batch_id = a.batch_id AND s.row_number = a.row_number
      WHERE ${erased} AND s.person_print IS NOT NULL`,
    values,
  )
  const logs = yield* readLogs()
  if (attempts.length === 0 || logs.length === 0) return
  const ids = attempts.map(({ id }) => id)
  const before = yield* lockErased(dialect)
  for (const { id } of logs) before[id] = [...new Set([...(before[id] ?? []), ...ids])]
  yield* setMeta(erasedName, JSON.stringify(before))
}

/** These logs hold none of these fingerprints any more. */
function* forgetErased(dialect: Dialect, done: ErasedAttempts, logIds: readonly string[]): Work<void> {
  const erased = yield* lockErased(dialect)
  for (const id of logIds) {
    const removed = new Set(done[id])
    const rest = (erased[id] ?? []).filter((attempt) => !removed.has(attempt))
    if (rest.length > 0) erased[id] = rest
    else delete erased[id]
  }
  yield* setMeta(erasedName, Object.keys(erased).length === 0 ? undefined : JSON.stringify(erased))
}

function* lockErased(dialect: Dialect): Work<ErasedAttempts> {
  // From then on there is a row to lock.
  yield* run('INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING', {
    name: erasedName,
    value: Buffer.from('{}'),
  })
  const row = yield* get<{ value: Uint8Array }>(
    `SELECT value FROM meta WHERE name = :name ${dialect.lockRows('meta')}`,
    { name: erasedName },
  )
  return JSON.parse(Buffer.from(row?.value ?? '{}').toString()) as ErasedAttempts
}

function* emptyRows(erased: string, values: Values, completely: boolean): Work<void> {
  const rows = `SELECT s.batch_id, s.row_number FROM submissions s WHERE ${erased}`
  yield* run(`UPDATE attempts SET reason = NULL WHERE (batch_id, row_number) IN (${rows})`, values)
  yield* run(`UPDATE decisions SET why = 'removed' WHERE (batch_id, row_number) IN (${rows})`, values)
  const columns = columnsWith('submissions', 'emptied')
  if (completely) columns.push(...columnsWith('submissions', 'emptied with --completely'))
  yield* run(`UPDATE submissions AS s SET ${emptied(columns)} WHERE ${erased}`, values)
  const named = `SELECT 1 FROM submissions s
    WHERE s.batch_id = b.id AND (s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL)`
  const isEmpty = `b.kind = 'file' AND NOT EXISTS (${named})`
  const last = columnsWith('batches', 'emptied with the last person')
  yield* emptyBatches(isEmpty, [...columnsWith('batches', 'emptied'), ...last], {})
}

function* emptyBatches(where: string, columns: readonly string[], values: Values): Work<void> {
  yield* run(`UPDATE batches AS b SET ${emptied(columns)} WHERE ${where}`, values)
}

/** What stands in for a value that may not be missing: each row that was a whole order has a fingerprint of its own. */
const standIns = new Map([
  [
    'fingerprint',
    `CASE WHEN fingerprint IS NULL THEN NULL ELSE 'erased ' || batch_id || ' ' || CAST(row_number AS text) END`,
  ],
  ['shared', "'[]'"],
])

function emptied(columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${standIns.get(column) ?? 'NULL'}`).join(', ')
}

/** A row whose recipient was removed before still has the fingerprint of the e-mail. */
function chooseEmail({ sameEmail }: Dialect, fingerprint: Fingerprint, email: string): Chosen {
  return {
    where: `(${sameEmail('s.email', ':email')} OR s.email_print = :email_print)`,
    values: { email, email_print: fingerprint(emailIdentity(email)) },
  }
}

function chooseRows(dialect: Dialect, fingerprint: Fingerprint, who: Forgotten): ChosenRows {
  const { where, values } = ((): Chosen => {
    if ('requestId' in who)
      return { where: 's.request_id = :request_id', values: { request_id: who.requestId.toLowerCase() } }
    if ('email' in who) return chooseEmail(dialect, fingerprint, who.email)
    return {
      where: `s.changed_at < :before
        AND (s.state <> 'accepted' OR s.request_status IN ${sqlList(terminalStatuses)})`,
      values: { before: who.endedBefore },
    }
  })()
  const stays = `s.state IN ${sqlList(statesLeft(who))}`
  return { all: where, left: `${where} AND ${stays}`, erased: `${where} AND NOT ${stays}`, values }
}

/** Events of the requests of those rows, whatever they say; by age, those that were received before. */
function chooseEvents(dialect: Dialect, fingerprint: Fingerprint, who: Forgotten): Chosen {
  if ('requestId' in who)
    return { where: 'e.request_id = :request_id', values: { request_id: who.requestId.toLowerCase() } }
  if ('email' in who) {
    const { where, values } = chooseEmail(dialect, fingerprint, who.email)
    return {
      where: `e.request_id IN (SELECT s.request_id FROM submissions s WHERE ${where} AND s.request_id IS NOT NULL)`,
      values,
    }
  }
  return { where: `e.received_at < :before AND e.forward <> 'waiting'`, values: { before: who.endedBefore } }
}
