import { terminalStatuses } from '../../contract/statuses.ts'
import { type Named, namesPerson } from '../../domain/store/forget.ts'
import { columnsWith, statesLeft } from '../../domain/store/forgetting.ts'
import type { Forgotten, Purged } from '../../domain/store/told.ts'
import { waitingStates } from '../../domain/submission/states.ts'
import { machineName } from '../../host/machine-name.ts'
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
import { sqlList } from './submission-rows.ts'

export interface PurgeOptions {
  dryRun: boolean
  /** The fingerprints too: an old file would order the person again. */
  completely: boolean
}

/** The attempt logs of this machine. */
export interface ErasableLog {
  removeFingerprints(attemptIds: ReadonlySet<string>): Promise<void>
}

/** Set while older versions of rows may hold what was removed. */
const unscrubbedName = 'unscrubbed'

/** Attempts whose fingerprints this machine has still to remove from its attempt log. */
const erasedName = (): string => `erased on ${machineName()}`

const hasPerson = `(s.first_name IS NOT NULL OR s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL)`

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
  { log, scrub }: { log: ErasableLog; scrub: () => Promise<Purged['isLeftTo']> },
  who: Forgotten,
  options: PurgeOptions,
): Promise<Purged> {
  const rows = chooseRows(engine.dialect, who)
  const events = chooseEvents(engine.dialect, who)
  if (options.dryRun) {
    const { isScrubbed, ...found } = await engine.snapshot(() => countAll(rows, events))
    return { ...found, isScrubbed, isLeftTo: isScrubbed ? undefined : 'another process' }
  }
  const isPerson = !('endedBefore' in who)
  const erase = () => eraseRows(rows, events, { isPerson, completely: options.completely })
  const found = await engine.transaction(erase)
  await finishErasure(engine, log)
  const isLeftTo = await scrub()
  if (isLeftTo === undefined) await engine.run(setMeta(unscrubbedName, undefined))
  return { ...found, isScrubbed: isLeftTo === undefined, isLeftTo }
}

/**
 * Removes from this machine's attempt log the fingerprints that are gone from the store: after the commit, because a rollback
 * would leave the log without what the store still has. A process that dies in between leaves that to the next one.
 */
export async function finishErasure(engine: Engine, log: ErasableLog): Promise<void> {
  const name = erasedName()
  const text = await engine.run(metaText(name))
  if (text === undefined) return
  await log.removeFingerprints(new Set(JSON.parse(text) as string[]))
  await engine.run(setMeta(name, undefined))
}

function* countAll(rows: ChosenRows, events: Chosen): Work<Found & { isScrubbed: boolean }> {
  return {
    rows: yield* countRows(`submissions s WHERE ${rows.erased} AND ${hasPerson}`, rows.values),
    events: yield* countRows(`events e WHERE ${events.where}`, events.values),
    kept: yield* countRows(`submissions s WHERE ${rows.left}`, rows.values),
    isScrubbed: (yield* metaText(unscrubbedName)) === undefined,
  }
}

function* countRows(from: string, values: Values): Work<number> {
  return (yield* get<{ count: number }>(`SELECT count(*) AS count FROM ${from}`, values))?.count ?? 0
}

function* eraseRows(
  rows: ChosenRows,
  events: Chosen,
  { isPerson, completely }: { isPerson: boolean; completely: boolean },
): Work<Found> {
  const { isScrubbed: _, ...found } = yield* countAll(rows, events)
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
  if (completely) yield* rememberErased(erased, values)
  yield* run(`DELETE FROM events AS e WHERE ${events.where}`, events.values)
  yield* emptyRows(erased, values, completely)
  if (found.rows + found.events > 0) yield* setMeta(unscrubbedName, '1')
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

function* rememberErased(erased: string, values: Values): Work<void> {
  const attempts = yield* all<{ id: string }>(
    `SELECT a.id FROM attempts a JOIN submissions s ON s.batch_id = a.batch_id AND s.row_number = a.row_number
      WHERE ${erased}`,
    values,
  )
  if (attempts.length === 0) return
  const before = JSON.parse((yield* metaText(erasedName())) ?? '[]') as string[]
  const ids = new Set([...before, ...attempts.map(({ id }) => id)])
  yield* setMeta(erasedName(), JSON.stringify([...ids]))
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

function chooseRows({ sameEmail }: Dialect, who: Forgotten): ChosenRows {
  const { where, values } = ((): Chosen => {
    if ('requestId' in who)
      return { where: 's.request_id = :request_id', values: { request_id: who.requestId.toLowerCase() } }
    if ('email' in who) return { where: sameEmail('s.email', ':email'), values: { email: who.email } }
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
function chooseEvents({ sameEmail }: Dialect, who: Forgotten): Chosen {
  if ('requestId' in who)
    return { where: 'e.request_id = :request_id', values: { request_id: who.requestId.toLowerCase() } }
  if ('email' in who) {
    return {
      where: `e.request_id IN (
        SELECT request_id FROM submissions WHERE ${sameEmail('email', ':email')} AND request_id IS NOT NULL)`,
      values: { email: who.email },
    }
  }
  return { where: `e.received_at < :before AND e.forward <> 'waiting'`, values: { before: who.endedBefore } }
}
