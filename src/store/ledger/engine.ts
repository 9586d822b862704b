import { columnOf, columnsOf, fieldOf } from './schema.ts'
import { IoError, NoAnswerError } from '../../errors/kinds.ts'

/**
 * A statement's parameters, by the names that it uses as `:name`. Values that the statement does not name are ignored.
 * undefined becomes NULL, and a boolean 0 or 1; a list is a parameter of `isIn` or of `rows`.
 */
export type Values = object

export interface Query {
  /**
   * `all`: answers with all rows; `get`: with the first row; `run`: with the number of changed rows. `insert`: adds the
   * objects of the parameter `rows`, which PostgreSQL adds at once. `shared`: as `run`, but only in shared stores.
   */
  kind: 'all' | 'get' | 'run' | 'insert' | 'shared'
  sql: string
  values: Values
}

/**
 * Statements in order, each yielded with `yield*` through `all`, `get` or `run`, with the decisions between them. An
 * engine runs it: SQLite to its end at once, PostgreSQL one answer at a time. A Work may run twice, so it changes
 * nothing but the database, and reads no iterator that its first run used up.
 */
export type Work<T> = Generator<Queries, T, unknown[]>

/**
 * Statements of which none needs the answer of another: they are sent to PostgreSQL together, and run in their order.
 */
export interface Queries {
  queries: readonly Query[]
  /**
   * Whether the transaction is committed along with the statements; its Work then has no further statement.
   */
  commits: boolean
}

export const oneQuery = (kind: Query['kind'], sql: string, values: Values): Queries => ({
  queries: [{ kind, sql, values }],
  commits: false,
})

/** Returns all rows of the answer as objects, with a field for each column (`fieldOf`). NULL is undefined. */
export function* all<Row = unknown>(sql: string, values: Values = {}): Work<Row[]> {
  const [rows] = yield oneQuery('all', sql, values)
  return objectsOf(sql, rows as SelectedRow[]) as Row[]
}

/** Returns the first row of the answer. */
export function* get<Row = unknown>(sql: string, values: Values = {}): Work<Row | undefined> {
  const [row] = yield oneQuery('get', sql, values)
  return objectsOf(sql, row === undefined ? [] : [row as SelectedRow])[0] as Row | undefined
}

type SelectedRow = Readonly<Record<string, unknown>>

/** The shape of a statement's rows: its columns with their fields, and an object that has all of the fields. */
interface Shape {
  columns: { column: string; field: string }[]
  empty: Record<string, unknown>
}

const shapes = new Map<string, Shape>()

function shapeOf(sql: string, row: SelectedRow): Shape {
  const cachedShape = shapes.get(sql)
  if (cachedShape !== undefined) return cachedShape
  const columns = Object.keys(row).map((column) => ({ column, field: fieldOf(column) }))
  // Copies of a parsed object are read several times faster than objects to which fields are added one by one.
  const nulls = Object.fromEntries(columns.map(({ field }) => [field, null]))
  const empty = JSON.parse(JSON.stringify(nulls)) as object
  const shape = { columns, empty: { ...empty } }
  shapes.set(sql, shape)
  return shape
}

function objectsOf(sql: string, rows: readonly SelectedRow[]): unknown[] {
  if (rows[0] === undefined) return []
  const { columns, empty } = shapeOf(sql, rows[0])
  return rows.map((row) => {
    const object = { ...empty }
    for (const { column, field } of columns) object[field] = row[column] ?? undefined
    return object
  })
}

/** Returns the number of rows that the statement changed. */
export function* run(sql: string, values: Values = {}): Work<number> {
  return (yield oneQuery('run', sql, values))[0] as number
}

type OptionalWorks = readonly (Work<unknown> | undefined)[]
type ResultOf<Each> = Each extends Work<infer Result> ? Result : undefined
type Results<Works extends OptionalWorks> = { -readonly [index in keyof Works]: ResultOf<Works[index]> }

/**
 * Runs several works: the first statement of each is sent at once, then the second of each that has one, and so on.
 * With `commits`, each work has one statement; these are the last of the transaction, and are committed with it.
 */
export function* together<const Works extends OptionalWorks>(
  works: Works,
  { commits = false } = {},
): Work<Results<Works>> {
  const steps = works.map((work) => work?.next() ?? { done: true as const, value: undefined })
  for (;;) {
    const queriesOfWorks = steps.map((step) => (step.done === true ? [] : step.value.queries))
    if (queriesOfWorks.every((each) => each.length === 0))
      return steps.map(({ value }) => value) as Results<Works>
    const isLast = commits || steps.some((step) => step.done !== true && step.value.commits)
    const answers = yield { queries: queriesOfWorks.flat(), commits: isLast }
    for (const [index, work] of works.entries()) {
      const ownAnswers = answers.splice(0, queriesOfWorks[index]?.length)
      if (work !== undefined && steps[index]?.done !== true) steps[index] = work.next(ownAnswers)
    }
  }
}

/**
 * An action that no other process may perform until the transaction ends. In SQLite only one process writes at a time
 * anyway.
 */
export type Lock =
  /** Comparing people of this account, or of the account of this batch. */
  | { account: string }
  | { accountOf: string }
  /** Adding events: their ids become visible in ascending order. */
  | 'events'
  /** Writing to any table. */
  | 'all tables'

/** Words of the schema, which have no arguments. */
type SchemaWord =
  | 'text'
  | 'integer'
  | 'real'
  | 'bytes'
  | 'serial'
  | 'newNumber'
  | 'end'
  | 'submissionColumns'
  | 'foldedEmail'

/**
 * Where the SQL of the two engines differs. A statement names a member in braces, its arguments separated by commas:
 * `{clock}`, `{isIn s.state, states}`. `schema.ts` explains the words of the schema.
 */
export interface Dialect extends Readonly<Record<SchemaWord, string>> {
  /** The column of `batches` and of `attempts` that increases with each row that is added. */
  readonly added: string
  /**
   * The end of a SELECT that locks the rows of the table with this alias, so that no other transaction may
   * change them. `others`: further options, such as SKIP LOCKED.
   */
  readonly lockRows: (alias: string, others?: string) => string
  /** The address of a row in the database, as an expression. */
  readonly addressOf: (alias: string) => string
  /** The condition that a row is at the address of the parameter `rowAddress`. */
  readonly isAtAddress: string
  /** The expression by which the index of pending rows sorts the rows of a batch. */
  readonly pendingOrder: (column: string) => string
  /** Text as JSON, for `->` and `->>`. */
  readonly json: (expression: string) => string
  /** Whether an expression is one of the values of a parameter that is a list. */
  readonly isIn: (expression: string, parameter: string) => string
  /** Whether two expressions are the same e-mail address, in any case; there is an index for `email`. */
  readonly sameEmail: (column: string, other: string) => string
  /** Wall time in ms by the clock that all processes share; NULL if the clock of each machine is used. */
  readonly clock: string
  /** A text that is different for every other database and for an older state of the same one; NULL for a file. */
  readonly epoch: string
  /** Whether each commit waits for a second server. */
  readonly isReplicated: string
  /**
   * A table `came` with these columns and types, and with `place`, the position of each object in the list
   * that is the parameter.
   */
  readonly rows: (parameter: string, ...columns: string[]) => string
  /** The source of an `insert` with these columns and types. */
  readonly values: (...columns: string[]) => string
  /** A part of a statement that applies only to shared stores; empty for others. */
  readonly shared: (...text: string[]) => string
  /**
   * An expression for shared stores; NULL for others, since a statement has the same columns in both engines
   * (`shapeOf`).
   */
  readonly sharedValue: (expression: string) => string
}

/** Returns a statement in the SQL of one engine. */
export function expandSql(dialect: Dialect, sql: string): string {
  return sql.replaceAll(/\{(\w+) ?([^{}]*)\}/g, (_, name: keyof Dialect, text: string) => {
    const member = dialect[name]
    const write: (...texts: string[]) => string = typeof member === 'string' ? () => member : member
    return write(...text.split(', '))
  })
}

/** Runs works on a database. */
export interface Engine {
  /** An absolute path, `:memory:`, or the address of a database without its password. */
  readonly location: string
  /**
   * Whether several runners send rows of one batch; then its rows have a runner, and unknown outcomes pause the
   * others.
   */
  readonly allowsSeveralRunners: boolean
  /** Identifies the connection or the open file: if it changes, the store may be another one. */
  session(): string
  /** Runs each statement in a transaction of its own. */
  run<T>(work: Work<T>): Promise<T>
  /** Makes all changes of the work or none; they are durable when this returns. PostgreSQL may run the work again. */
  transaction<T>(work: () => Work<T>, lock?: Lock): Promise<T>
  /** All reads of the work see the database at one moment. */
  snapshot<T>(work: () => Work<T>): Promise<T>
  /**
   * Runs work in a transaction, as `transaction` does, but asynchronous work that may also wait for other operations.
   * No other process writes meanwhile.
   */
  exclusively<T>(work: (within: Within) => Promise<T>): Promise<T>
  /** Calls back for each notification on a channel; some may be lost. */
  readonly listen?: ((channel: string, onPayload: (payload: string) => void) => Promise<void>) | undefined
}

/** Runs statements in the open transaction. */
export type Within = <T>(work: Work<T>) => Promise<T>

/** The maximum number of rows in one statement, and in one page of rows. */
export const maxRows = 500

/** Adds rows in their order; all have the fields of the first. Returns the rows of `ending`, such as RETURNING. */
export function* insertRows<Row>(table: string, rows: readonly object[], ending = ''): Work<Row[]> {
  const columns = Object.entries(columnsOf(table, Object.keys(rows[0] ?? {})))
  const names = columns.map(([field]) => columnOf(field)).join(', ')
  const values = columns.map((column) => column.join(' ')).join(', ')
  const sql = `INSERT INTO ${table} (${names}) {values ${values}} ${ending}`
  const allEndingRows: Row[] = []
  for (let start = 0; start < rows.length; start += maxRows) {
    const parameters = { rows: rows.slice(start, start + maxRows) }
    const [endingRows] = yield oneQuery('insert', sql, parameters)
    for (const row of objectsOf(sql, endingRows as SelectedRow[]) as Row[]) allEndingRows.push(row)
  }
  return allEndingRows
}

/** Sets columns in the rows whose other columns have the values of `where`. Returns the number of these rows. */
export function* updateRows(table: string, set: object, where: object): Work<number> {
  const pairs = (fields: object): string[] =>
    Object.keys(fields).map((field) => `${columnOf(field)} = :${field}`)
  const sql = `UPDATE ${table} SET ${pairs(set).join(', ')} WHERE ${pairs(where).join(' AND ')}`
  return yield* run(sql, { ...set, ...where })
}

/** Reads rows by key and page by page, so that nothing stays open between pages. `limit`: the total number of rows. */
export async function* readPages<Row>(
  { after = 0, limit = Number.POSITIVE_INFINITY }: { after?: number | undefined; limit?: number | undefined },
  readPage: (after: number, limit: number) => Promise<Row[]>,
  keyOf: (row: Row) => number,
): AsyncGenerator<Row> {
  let last = after
  for (let remaining = limit; remaining > 0;) {
    const size = Math.min(maxRows, remaining)
    const page = await readPage(last, size)
    yield* page
    const lastRow = page.at(-1)
    if (lastRow === undefined || page.length < size) return
    last = keyOf(lastRow)
    remaining -= page.length
  }
}

/** Returns the error for a store that cannot be used, with the reason and a hint. */
export function unusableStore(location: string, why: string, hint: string): IoError {
  return new IoError(`cannot use the store "${location}": ${why}`, { hint })
}

/**
 * Throws an IoError for a store from before 1.0.0 (`former`), and for one of a format that this version does not
 * know.
 */
export function requireKnownFormat(
  location: string,
  noun: 'file' | 'store',
  format: number | 'former',
  maxFormat: number,
): void {
  const otherStore = `or choose another ${noun} with REFCHECK_STORE.`
  if (format === 'former') {
    const hint = `Use the refcheck that made it, ${otherStore} Nothing was changed.`
    throw unusableStore(location, 'it was made by a refcheck from before 1.0.0', hint)
  }
  if (format <= maxFormat) return
  const why = `it was made by a newer refcheck (format ${format}; this version supports up to ${maxFormat})`
  throw unusableStore(location, why, `Update refcheck, ${otherStore}`)
}

/** Runs a statement that changes rows, but only if several runners share the store. */
export function* runShared(sql: string, values: Values = {}): Work<void> {
  yield oneQuery('shared', sql, values)
}

/** Reads a value of `meta` as text; undefined if it is not set. `lock`: the end of the SELECT. */
export function* metaText(name: string, lock = ''): Work<string | undefined> {
  const bytes = yield* metaBytes(name, lock)
  return bytes && Buffer.from(bytes).toString()
}

export function* metaBytes(name: string, lock = ''): Work<Uint8Array | undefined> {
  const select = `SELECT value FROM meta WHERE name = :name ${lock}`
  return (yield* get<{ value: Uint8Array }>(select, { name }))?.value
}

/** Returns an expression for a value of `meta`. */
export const metaValue = (name: string): string => `(SELECT value FROM meta WHERE name = '${name}')`

/** Sets a value of `meta`; undefined removes it. */
export function* setMeta(name: string, value: string | Uint8Array | undefined): Work<void> {
  if (value === undefined) {
    yield* run('DELETE FROM meta WHERE name = :name', { name })
    return
  }
  const row = { name, value: typeof value === 'string' ? Buffer.from(value) : value }
  yield* insertRows('meta', [row], 'ON CONFLICT (name) DO UPDATE SET value = excluded.value')
}

const maxTries = 5

/**
 * Makes a change, and finds its result if the commit has no answer. `lookUp` waits for the locks of the change's
 * transaction and returns the result of the change; undefined if it was not made. `lookUp` is a transaction too, so
 * that the state which it reads is also on a synchronous standby.
 */
export async function resolveAmbiguousCommit<T>(
  change: () => Promise<T>,
  lookUp: () => Promise<T | undefined>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change()
    } catch (error) {
      if (!(error instanceof NoAnswerError) || tries === maxTries) throw error
      const result = await lookUp()
      if (result !== undefined) return result
    }
  }
}
