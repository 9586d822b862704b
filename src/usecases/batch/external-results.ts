import type { Services } from '../services.ts'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'

import type { Recipient } from '../../contract/request.ts'
import type { Batch, BatchRow } from '../../domain/batch/batch.ts'
import type { PackedRows } from '../../domain/batch/new-row.ts'
import { type ResultsRow, resultsReader } from '../../domain/batch/results.ts'
import type { RowReading } from '../../domain/batch/row.ts'
import {
  personDigests,
  sharedDigests,
  isEvidence,
  type ExternalResult,
} from '../../domain/submission/external-results.ts'
import { waitingStates } from '../../domain/submission/states.ts'
import { RefcheckError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { HeldRows } from '../../store/ledger/held-rows.ts'
import { type BatchFile, openBatchFile, type BatchEventListener } from './read-file.ts'
import type { FileTarget } from '../services.ts'
import { findRow } from './read-batch.ts'
import { fileOfBatch, foreignResults } from './results-file.ts'

export interface ExternalResultServices
  extends BatchEventListener, Pick<Services, 'api' | 'batches' | 'ledger' | 'governor'> {
  signal?: AbortSignal | undefined
}

/** A results file, by place and by person. */
interface ResultsFile {
  name: string
  /** Rows as they stand in the file, and as a file that they were written from has them. */
  rows: readonly (ResultsRow | undefined)[]
  byPerson: ReadonlyMap<string, ResultsRow>
}

/**
 * What results files state about the rows of a file (src/docs/ordering.md, section 4): the file's own columns, where it is
 * a results file itself, and results files next to it that another store wrote. Undefined where there are none.
 */
export async function openExternalResults(
  ports: ExternalResultServices,
  target: FileTarget,
  { name, path, sheet }: BatchFile,
): Promise<ExternalResults | undefined> {
  const own = resultsReader(sheet.columns)
  const neighbours =
    path === undefined ? [] : await readNeighbours(ports, target, await foreignResults(ports.batches, path))
  if (own === undefined && neighbours.length === 0) return undefined
  return new ExternalResults(
    ports,
    own && ((row) => own(row.source.cells, { file: name, line: row.source.line })),
    neighbours,
  )
}

/**
 * Compares the pending rows of a batch with the results files next to the file, and the file itself: they may have been
 * written since it was taken in, and an id that could not be read then may be readable now. `given`: the
 * file, where it is at hand.
 */
export async function updateExternalResults(
  ports: ExternalResultServices & { clock: Clock; waiting: Pick<HeldRows, 'updateExternalResults'> },
  target: FileTarget,
  batch: Batch,
  given?: BatchFile,
): Promise<void> {
  const { id, resultsFile, holder } = batch
  // The process that runs it read them when it began.
  if (holder !== undefined) return
  const paths = new Set<string>()
  for (const each of [given?.path, batch.path]) {
    if (each === undefined) continue
    // Two may have chosen one name, and this batch not have written it yet.
    for (const found of await foreignResults(ports.batches, each, resultsFile)) paths.add(found)
  }
  const neighbours = await readNeighbours(ports, target, paths)
  const file = given ?? (await fileOfBatch(target, batch))
  const own = file && (await resultsIn(file.sheet, file.name))
  if (own !== undefined) neighbours.push(own)
  if (neighbours.length === 0) return
  const found = await new ExternalResults(ports, undefined, neighbours).ofWaiting(
    ports.batches.rows(id, { states: waitingStates }),
  )
  await ports.waiting.updateExternalResults(
    id,
    found,
    new Set(neighbours.map(({ name }) => name)),
    ports.clock.now(),
  )
}

async function readNeighbours(
  { onBatchEvent }: BatchEventListener,
  target: FileTarget,
  paths: Iterable<string>,
): Promise<ResultsFile[]> {
  const neighbours: ResultsFile[] = []
  for (const each of paths) {
    try {
      // One that another store has chosen, and not written yet.
      if ((await stat(each)).size === 0) continue
      const found = await readResults(target, each)
      if (found !== undefined) neighbours.push(found)
    } catch (error) {
      if (!(error instanceof RefcheckError)) throw error
      onBatchEvent({ name: 'results-unread', file: basename(each), why: error.message })
    }
  }
  return neighbours
}

async function readResults(target: FileTarget, path: string): Promise<ResultsFile | undefined> {
  const { sheet } = await openBatchFile(target, path)
  return resultsIn(sheet, basename(path))
}

async function resultsIn(sheet: Sheet, name: string): Promise<ResultsFile | undefined> {
  const read = resultsReader(sheet.columns)
  if (read === undefined) return undefined
  const rows: (ResultsRow | undefined)[] = []
  const byPerson = new Map<string, ResultsRow>()
  for await (const { cells, line } of sheet.rows()) {
    const row = read(cells, { file: name, line })
    rows.push(row)
    if (row?.digests !== undefined && isEvidence(row)) byPerson.set(keyOf(row.digests), row)
  }
  return { name, rows, byPerson }
}

const keyOf = ({ name, email, phone }: NonNullable<ResultsRow['digests']>): string =>
  `${name}${email}${phone}`

export class ExternalResults {
  readonly #ports: ExternalResultServices
  readonly #own: ((reading: RowReading) => ResultsRow | undefined) | undefined
  readonly #neighbours: readonly ResultsFile[]
  readonly #found = new Map<number, ResultsRow[]>()
  /** Rows of results whose person is in the file, wherever. */
  readonly #named = new Set<ResultsRow>()
  /** Requests that were read for rows without digests; `failed`: they could not be. */
  readonly #read = new Map<string, Partial<ResultsRow> | 'failed'>()

  constructor(
    ports: ExternalResultServices,
    own: ((reading: RowReading) => ResultsRow | undefined) | undefined,
    neighbours: readonly ResultsFile[],
  ) {
    this.#ports = ports
    this.#own = own
    this.#neighbours = neighbours
  }

  /** Notes what is said of a row; `ordinal` counts the rows that the file gives out from 0, for which is at the same place. */
  collect(reading: RowReading, ordinal: number): void {
    if (reading.body === undefined) return
    const spoken = this.#resultsFor(reading.body.recipient, ordinal, this.#own?.(reading))
    if (spoken.length > 0) this.#found.set(reading.row, spoken)
  }

  /** Gives each row what is said of its person, and reports what is said of others. */
  async attach(rows: PackedRows): Promise<void> {
    const others = new Map<string, number>()
    let position = -1
    for (const row of rows) {
      position += 1
      const results = row.state === 'pending' ? this.#found.get(row.row) : undefined
      if (row.state !== 'pending' || results === undefined) continue
      const found = await this.#resultsAbout(row.recipient, results, (each) => {
        if (!this.#named.has(each)) others.set(each.file, (others.get(each.file) ?? 0) + 1)
      })
      if (found.length > 0) rows.setResults(position, found)
    }
    for (const [file, count] of others)
      this.#ports.onBatchEvent({ name: 'results-of-others', file, rows: count })
  }

  /** What is said of rows of the store. */
  async ofWaiting(rows: AsyncIterable<BatchRow>): Promise<Map<number, ExternalResult[]>> {
    const found = new Map<number, ExternalResult[]>()
    for await (const { row, recipient } of rows) {
      if (recipient === undefined) continue
      const results = await this.#resultsAbout(recipient, this.#resultsFor(recipient, row - 1, undefined))
      if (results.length > 0) found.set(row, results)
    }
    return found
  }

  #resultsFor(recipient: Recipient, ordinal: number, own: ResultsRow | undefined): ResultsRow[] {
    const key = this.#neighbours.length === 0 ? '' : keyOf(personDigests(recipient))
    // Rows may have been put in or sorted since, so whom a row names stands before where it stands.
    const named = this.#neighbours.map(({ byPerson }) => byPerson.get(key))
    for (const each of named) if (each !== undefined) this.#named.add(each)
    const results = [own, ...this.#neighbours.map(({ rows }, at) => named[at] ?? rows[ordinal])]
    return results.filter((each) => each !== undefined && isEvidence(each)) as ResultsRow[]
  }

  async #resultsAbout(
    recipient: Recipient,
    results: readonly ResultsRow[],
    onOther?: (results: ResultsRow) => void,
  ): Promise<ExternalResult[]> {
    const found: ExternalResult[] = []
    for (const each of results) {
      if (await this.#isKnown(each)) continue
      const result = about(recipient, await this.#whole(each))
      if (result !== undefined) found.push(result)
      else onOther?.(each)
    }
    return found
  }

  /** What this store knows itself it knows better. */
  async #isKnown({ batchId, row, requestId }: ResultsRow): Promise<boolean> {
    const { ledger, batches } = this.#ports
    if (batchId !== undefined && row !== undefined) {
      if ((await findRow(batches, batchId, row))?.recipient !== undefined) return true
    }
    if (requestId === undefined) return false
    return (await ledger.list({ requestId })).some(({ recipient }) => recipient !== undefined)
  }

  /** Results of a removed person name the request alone: it is read once. */
  async #whole(results: ResultsRow): Promise<ResultsRow> {
    const { requestId } = results
    if (results.digests !== undefined || requestId === undefined) return results
    const read = this.#read.get(requestId) ?? (await this.#request(requestId))
    this.#read.set(requestId, read)
    return read === 'failed' ? results : { ...results, ...read }
  }

  async #request(requestId: string): Promise<Partial<ResultsRow> | 'failed'> {
    const { api, governor, signal } = this.#ports
    await governor.claim('create', { signal })
    try {
      const { recipient, package_id, created_at, status } = await api.getRequest(requestId, signal)
      return {
        digests: personDigests(recipient),
        packageId: package_id,
        baseUrl: api.baseUrl,
        at: Date.parse(created_at),
        requestStatus: status,
      }
    } catch (error) {
      if (error instanceof RefcheckError && signal?.aborted !== true) return 'failed'
      throw error
    }
  }
}

/** What a results row states about a row's person; undefined where it is about another one. */
function about(recipient: Recipient, results: ResultsRow): ExternalResult | undefined {
  const { digests, batchId: _, row: __, ...rest } = results
  if (digests === undefined) return { ...rest, person: 'unclear', shares: [] }
  const shared = sharedDigests(personDigests(recipient), digests)
  return shared && { ...rest, ...shared }
}
