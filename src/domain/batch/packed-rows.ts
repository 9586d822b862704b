import type { RequestBody } from '../../contract/request-body.ts'
import type { Witness } from '../submission/witness.ts'
import type { NewRow, RowList } from './batch.ts'

const pageBytes = 256 * 1024

/**
 * Rows of a checked file. Those that may be sent are stored as the bytes of their bodies, outside the heap, and decoded
 * each time they are read: as objects, 100,000 of them take more than 100 MB.
 */
export class PackedRows implements RowList {
  readonly #pages: Uint8Array[] = []
  #used = pageBytes
  /** Of each row: its number, its line, and where its body starts; -1 for one that is not pending. */
  readonly #numbers: number[] = []
  readonly #lines: (number | undefined)[] = []
  readonly #starts: number[] = []
  readonly #lengths: number[] = []
  /** Rows that are not pending, by position. */
  readonly #others = new Map<number, NewRow>()
  readonly #results = new Map<number, readonly Witness[]>()
  readonly #noResults: boolean

  /** `ignoresResults`: nothing that results files contain applies to the rows. */
  constructor({ ignoresResults = false }: { ignoresResults?: boolean } = {}) {
    this.#noResults = ignoresResults
  }

  push(row: NewRow): void {
    this.#numbers.push(row.row)
    if (row.state !== 'pending') {
      this.#others.set(this.#starts.length, row)
      this.#lines.push(undefined)
      this.#starts.push(-1)
      this.#lengths.push(0)
      return
    }
    this.#lines.push(row.line)
    this.#starts.push(this.#store(row.body))
    this.#lengths.push(row.body.length)
  }

  /** Sets what results files say of the person of the row at a position. */
  setResults(position: number, results: readonly Witness[]): void {
    this.#results.set(position, results)
  }

  at(position: number): NewRow | undefined {
    const start = this.#starts[position]
    if (start === undefined || start === -1) return this.#others.get(position)
    const from = start % pageBytes
    const page = this.#pages[Math.floor(start / pageBytes)] as Uint8Array
    const body = page.subarray(from, from + (this.#lengths[position] as number))
    const { package_id, recipient } = JSON.parse(decoder.decode(body)) as RequestBody
    const witnesses = this.#noResults ? [] : this.#results.get(position)
    return {
      row: this.#numbers[position] as number,
      line: this.#lines[position],
      state: 'pending',
      packageId: package_id,
      recipient,
      body,
      ...(witnesses === undefined ? {} : { witnesses }),
    }
  }

  *[Symbol.iterator](): Generator<NewRow> {
    for (let position = 0; position < this.#starts.length; position += 1) yield this.at(position) as NewRow
  }

  #store(body: Uint8Array): number {
    if (this.#used + body.length > pageBytes) {
      this.#pages.push(new Uint8Array(Math.max(pageBytes, body.length)))
      this.#used = 0
    }
    const page = this.#pages.length - 1
    this.#pages[page]?.set(body, this.#used)
    const start = page * pageBytes + this.#used
    this.#used += body.length
    return start
  }
}

const decoder = new TextDecoder()

/** Rows so many at a time. */
export function* pagesOf(rows: Iterable<NewRow>, size: number): Generator<NewRow[]> {
  let page: NewRow[] = []
  for (const row of rows) {
    if (page.push(row) < size) continue
    yield page
    page = []
  }
  yield page
}
