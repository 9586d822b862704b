import type { NewRow, RowList } from './batch.ts'
import type { HiddenRows } from './columns.ts'
import type { RowReading } from './row.ts'
import { serviceOf } from '../submission/identity.ts'
import type { RequestBody } from '../../contract/request.ts'
import type { ExternalResult } from '../submission/external-results.ts'

/** Returns the row that the store records. The store then compares it with other orders. */
export function newRow(reading: RowReading): NewRow {
  const { row, source, body, packageId, person, problems, invalidDetails, duplicateOf } = reading
  if (body !== undefined) {
    const { package_id, recipient } = body
    return {
      row,
      line: source.line,
      state: 'pending',
      packageId: package_id,
      recipient,
      body: new TextEncoder().encode(JSON.stringify(body)),
    }
  }
  const [first] = problems
  const reason = problems.map(({ column, problem }) => `${column} ${problem}`).join('; ')
  return {
    row,
    state: duplicateOf === undefined ? 'invalid' : 'duplicate',
    packageId,
    person,
    invalidDetails,
    reason: reason === '' ? `is the same order as row ${duplicateOf ?? row}` : reason,
    field: first?.column,
    matchesRow: duplicateOf,
  }
}

/**
 * The key by which the store finds the batch of a file: its bytes, account, service and package. The file's
 * name is not part of it. `reading` is given only if these bytes are a batch already and are now read with
 * other options: they are then a separate batch.
 */
export function fileIdentity(
  { account, baseUrl }: { account: string; baseUrl: string },
  sha256: string,
  packageId: number | undefined,
  reading?: FileReading,
): string {
  const readingPart = reading === undefined ? [] : [readingText(reading)]
  return JSON.stringify(['file', account, serviceOf(baseUrl), sha256, packageId ?? null, ...readingPart])
}

/** How a file was read, so that a later run can detect different options. */
export interface FileReading {
  sheet: string | null
  map: Readonly<Record<string, string>>
  ignore: readonly string[]
  default_country: string | null
  header_row?: number | null
  encoding?: string | null
  hidden?: HiddenRows | null
  accept_lines?: readonly number[]
}

/**
 * Returns a text that identifies a reading. Options that are absent are left out, so that the text is equal to that of
 * versions without them.
 */
export function readingText({ sheet, map, ignore, default_country, ...more }: FileReading): string {
  const { header_row, encoding, hidden, accept_lines = [] } = more
  return JSON.stringify({
    sheet,
    map: Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))),
    ignore: [...ignore].sort(),
    default_country: default_country?.toUpperCase() ?? null,
    header_row: header_row ?? undefined,
    encoding: encoding?.toLowerCase(),
    hidden: hidden ?? undefined,
    accept_lines: accept_lines.length === 0 ? undefined : [...accept_lines].sort((a, b) => a - b),
  })
}

const pageBytes = 256 * 1024

/**
 * The rows of a checked file. Pending rows are stored as the bytes of their bodies, outside the heap, and decoded at
 * each read: as objects, 100,000 of them take more than 100 MB.
 */
export class PackedRows implements RowList {
  readonly #pages: Uint8Array[] = []
  #usedBytes = pageBytes
  /** For each row: its number, its line, and the start of its body; -1 for a row that is not pending. */
  readonly #numbers: number[] = []
  readonly #lines: (number | undefined)[] = []
  readonly #starts: number[] = []
  readonly #lengths: number[] = []
  /** Rows that are not pending, by position. */
  readonly #notPending = new Map<number, NewRow>()
  readonly #resultsByPosition = new Map<number, readonly ExternalResult[]>()
  readonly #ignoresResults: boolean

  /** `ignoresResults` marks all external results as ignored. */
  constructor({ ignoresResults = false }: { ignoresResults?: boolean } = {}) {
    this.#ignoresResults = ignoresResults
  }

  push(row: NewRow): void {
    this.#numbers.push(row.row)
    if (row.state !== 'pending') {
      this.#notPending.set(this.#starts.length, row)
      this.#lines.push(undefined)
      this.#starts.push(-1)
      this.#lengths.push(0)
      return
    }
    this.#lines.push(row.line)
    this.#starts.push(this.#store(row.body))
    this.#lengths.push(row.body.length)
  }

  /** Sets the external results for the person of the row at `position`. */
  setResults(position: number, results: readonly ExternalResult[]): void {
    const isIgnored = this.#ignoresResults
    this.#resultsByPosition.set(
      position,
      isIgnored ? results.map((each) => ({ ...each, isIgnored })) : results,
    )
  }

  at(position: number): NewRow | undefined {
    const start = this.#starts[position]
    const externalResults = this.#resultsByPosition.get(position)
    if (start === undefined || start === -1) {
      const row = this.#notPending.get(position)
      return row === undefined || externalResults === undefined ? row : { ...row, externalResults }
    }
    const offset = start % pageBytes
    const page = this.#pages[Math.floor(start / pageBytes)] as Uint8Array
    const body = page.subarray(offset, offset + (this.#lengths[position] as number))
    const { package_id, recipient } = JSON.parse(decoder.decode(body)) as RequestBody
    return {
      row: this.#numbers[position] as number,
      line: this.#lines[position],
      state: 'pending',
      packageId: package_id,
      recipient,
      body,
      ...(externalResults === undefined ? {} : { externalResults }),
    }
  }

  *[Symbol.iterator](): Generator<NewRow> {
    for (let position = 0; position < this.#starts.length; position += 1) yield this.at(position) as NewRow
  }

  #store(body: Uint8Array): number {
    if (this.#usedBytes + body.length > pageBytes) {
      this.#pages.push(new Uint8Array(Math.max(pageBytes, body.length)))
      this.#usedBytes = 0
    }
    const page = this.#pages.length - 1
    this.#pages[page]?.set(body, this.#usedBytes)
    const start = page * pageBytes + this.#usedBytes
    this.#usedBytes += body.length
    return start
  }
}

const decoder = new TextDecoder()

/** Yields the rows in arrays of at most `size`; the last array may be empty. */
export function* pagesOf(rows: Iterable<NewRow>, size: number): Generator<NewRow[]> {
  let page: NewRow[] = []
  for (const row of rows) {
    if (page.push(row) < size) continue
    yield page
    page = []
  }
  yield page
}
