import type { Columns, ColumnType } from './engine.ts'
import { fingerprintKeyName, storeIdName } from './fingerprints.ts'

/** A table that a store takes along when it is moved. */
export interface Table {
  name: string
  /** What its rows are read by, one page after the other: as they were added, or by its key. */
  order: 'added' | readonly string[]
  columns: Columns
}

/** The values of a row, by the columns of its table. */
export type Row = readonly (string | number | Uint8Array | null)[]

/** Under this name a store keeps what machines have still to remove from their attempt logs; see purge.ts. */
export const erasedName = 'erased_attempts'

/** What a store keeps of itself under names and takes along; the rest is about the place where it is. */
export const keptNames: readonly string[] = [
  fingerprintKeyName,
  storeIdName,
  'orphans',
  'generation',
  'former_generations',
  'ignored_logs',
  erasedName,
]

/** Under this name a store says why it takes no orders. */
export const closedName = 'closed'

/** Names of columns, with blanks between. */
function columns(names: Partial<Record<ColumnType, string>>): Table['columns'] {
  const found = Object.entries(names) as [ColumnType, string][]
  return Object.fromEntries(found.flatMap(([kind, text]) => text.split(' ').map((name) => [name, kind])))
}

/** All that a store knows, the same in both engines; each table after those that it refers to. */
export const tables: readonly Table[] = [
  { name: 'meta', order: ['name'], columns: columns({ text: 'name', bytes: 'value' }) },
  {
    name: 'batches',
    order: 'added',
    columns: columns({
      text: 'id kind base_url user_email name identity sha256 path results_file reading halt_code halt_message halt_hint account shared',
      number: 'added_at package_id allow_duplicate halted_at allow_similar queued_at',
    }),
  },
  {
    name: 'submissions',
    order: ['batch_id', 'row_number'],
    columns: columns({
      text: 'batch_id state attempt_id first_name last_name email phone body_sha256 fingerprint request_id request_status offered_id reason field matches_batch person_print email_print phone_print held_for shares witnesses checks',
      number: 'row_number changed_at package_id request_status_at matches_row',
      bytes: 'body',
    }),
  },
  {
    name: 'attempts',
    order: 'added',
    columns: columns({
      text: 'id batch_id user_email body_sha256 became reason account log_id',
      number: 'row_number began_at ended_at answer_status number',
      real: 'began_monotonic',
    }),
  },
  {
    name: 'request_rows',
    order: ['service', 'request_id'],
    columns: columns({ text: 'service request_id batch_id', number: 'row_number' }),
  },
  {
    name: 'decisions',
    order: ['id'],
    columns: columns({ text: 'batch_id attempt_id became made_by why', number: 'id row_number made_at' }),
  },
  {
    name: 'releases',
    order: ['batch_id', 'row_number', 'other_batch', 'other_row'],
    columns: columns({ text: 'batch_id other_batch made_by', number: 'row_number other_row made_at' }),
  },
  {
    name: 'joined_packages',
    order: ['service', 'package_id', 'successor_id', 'how'],
    columns: columns({ text: 'service how', number: 'package_id successor_id since' }),
  },
  {
    name: 'joined_services',
    order: ['one', 'other'],
    columns: columns({ text: 'one other said_by', number: 'same said_at' }),
  },
  { name: 'quota', order: ['account'], columns: columns({ text: 'account state' }) },
  {
    name: 'events',
    order: ['id'],
    columns: {
      ...columns({
        text: 'identity signature request_id status event forward last_answer',
        number: 'id received_at repeats due_at attempts forwarded_at',
        bytes: 'body',
      }),
      oddity: 'text',
      base_url: 'text',
    },
  },
  {
    name: 'accounts',
    order: ['name'],
    columns: columns({ text: 'name head_attempt_id', number: 'added_at head_number' }),
  },
  {
    name: 'attempt_logs',
    order: ['id'],
    columns: columns({ text: 'id host machine path reported_for', number: 'last_attempt_at is_excluded' }),
  },
]

/**
 * Those that tell of people: one who fills a place finds them empty, and one that is left takes no row more. What is there
 * may be changed, so that people can be removed.
 */
export const peopleTables: readonly string[] = tables
  .map(({ name }) => name)
  .filter((name) => name !== 'meta' && name !== 'quota')

const pageRows = 1_000

/** A page of a table's rows after one of them; both engines read it. `added`: what stands for the order of adding. */
export function selectPage({ name, order, columns: known }: Table, added: string, isFirst: boolean): string {
  const by = order === 'added' ? [added] : order
  const names = Object.keys(known)
  const after = `(${by.join(', ')}) > (${by.map((_, at) => `:after${at}`).join(', ')})`
  const kept = name === 'meta' ? `name IN (${keptNames.map((each) => `'${each}'`).join(', ')})` : 'TRUE'
  return `SELECT ${names.join(', ')}${order === 'added' ? `, ${added} AS added` : ''} FROM ${name}
WHERE ${kept}${isFirst ? '' : ` AND ${after}`} ORDER BY ${by.join(', ')} LIMIT ${pageRows}`
}

type Found = Record<string, string | number | Uint8Array | null>

/** What the page after this one begins behind. */
export function placeAfter({ order }: Table, last: Found): Found {
  const by = order === 'added' ? ['added'] : order
  return Object.fromEntries(by.map((column, at) => [`after${at}`, last[column] ?? null]))
}

export function rowOf(table: Table, found: Found): Row {
  return Object.keys(table.columns).map((column) => found[column] ?? null)
}
