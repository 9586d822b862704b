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
  comparePersonDigests,
  isEvidence,
  type ExternalResult,
} from '../../domain/submission/external-results.ts'
import { waitingStates } from '../../domain/submission/states.ts'
import { InvalidInputError, RefcheckError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { HeldRows } from '../../store/ledger/held-rows.ts'
import { type BatchFile, openBatchFile, openFileOfBatch, type BatchEventListener } from './read-file.ts'
import type { FileSource } from '../services.ts'
import { findRow } from './read-batch.ts'
import { findForeignResults, hasFormatOfResults } from './results-file.ts'

export interface ExternalResultServices
  extends BatchEventListener, Pick<Services, 'api' | 'batches' | 'ledger' | 'governor'> {
  signal?: AbortSignal | undefined
}

/** A results file, with its rows by position and by person. */
interface ResultsFile {
  name: string
  /**
   * The rows of the results file. Each has the index that its row has in the file that the results were
   * written for.
   */
  rows: readonly (ResultsRow | undefined)[]
  /** The rows that are evidence, by person; of several for one package, service and account, the last. */
  byPerson: ReadonlyMap<string, ReadonlyMap<string, ResultsRow>>
}

/**
 * Opens the sources of external results about the rows of a file (src/docs/ordering.md, section 4): the
 * columns of the file itself if it is a results file, and results files next to it that another store wrote.
 * Returns undefined if there are no such sources. Throws InvalidInputError if one of them cannot be read, because orders
 * of the people of this file may be in it.
 */
export async function openExternalResults(
  ports: ExternalResultServices,
  files: FileSource,
  { name, path, sheet }: BatchFile,
): Promise<ExternalResults | undefined> {
  const ownReader = resultsReader(sheet.columns)
  const neighbourFiles =
    path === undefined
      ? []
      : await readNeighbours(files, await findForeignResults(ports.batches, path), (resultsPath, why) => {
          const resultsName = basename(resultsPath)
          // A file in another format is a copy that a user made, or the output of a command.
          if (!hasFormatOfResults(resultsPath, path)) {
            if (why !== emptyText) ports.onBatchEvent({ name: 'results-unread', file: resultsName, why })
            return
          }
          const advice =
            why === emptyText
              ? `Wait until that run has ended. If no store has a batch of ${name} (refcheck batch list), delete ${resultsName}.`
              : `Repair ${resultsName}, or move it away if it has nothing to do with ${name}.`
          throw new InvalidInputError(
            `${resultsName} could not be read, so orders that it may name cannot be compared: ${why}`,
            { hint: `Nothing was sent. ${advice}\nTo order without it, add: --ignore-results` },
          )
        })
  if (ownReader === undefined && neighbourFiles.length === 0) return undefined
  return new ExternalResults(
    ports,
    ownReader && ((row) => ownReader(row.source.cells, { file: name, line: row.source.line })),
    neighbourFiles,
  )
}

/**
 * Compares the pending rows of a batch with the results files next to its file, and with the file itself:
 * these files may have been written since the batch was made, and a request that could not be read then may
 * be readable now. `openedFile`: the batch's file, if the caller has opened it.
 */
export async function updateExternalResults(
  ports: ExternalResultServices & { clock: Clock; heldRows: Pick<HeldRows, 'updateExternalResults'> },
  files: FileSource,
  batch: Batch,
  openedFile?: BatchFile,
): Promise<void> {
  const { id, resultsFile, holder } = batch
  // The process that runs the batch has read the results files at its start.
  if (holder !== undefined) return
  const paths = new Set<string>()
  for (const filePath of [openedFile?.path, batch.path]) {
    if (filePath === undefined) continue
    // Includes the path of this batch's own results: another store may write a file there before this batch does.
    for (const resultsPath of await findForeignResults(ports.batches, filePath, resultsFile))
      paths.add(resultsPath)
  }
  const resultsFiles = await readNeighbours(files, paths, (resultsPath, why) => {
    // The results file of this batch is empty while its first rows are sent.
    if (resultsPath === resultsFile && why === emptyText) return
    ports.onBatchEvent({ name: 'results-unread', file: basename(resultsPath), why })
  })
  const file = openedFile ?? (await openFileOfBatch(files, batch))
  const ownResults = file && (await readSheetResults(file.sheet, file.name))
  if (ownResults !== undefined) resultsFiles.push(ownResults)
  if (resultsFiles.length === 0) return
  const resultsByRow = await new ExternalResults(ports, undefined, resultsFiles).findForRows(
    ports.batches.rows(id, { states: waitingStates }),
  )
  await ports.heldRows.updateExternalResults(
    id,
    resultsByRow,
    new Set(resultsFiles.map(({ name }) => name)),
    ports.clock.now(),
  )
}

/** Why an empty results file cannot be read. */
const emptyText = 'it is empty, as long as another run orders the people of this file'

/**
 * Reads the results files at these paths. `onUnreadable` is called for a file that cannot be read, or is empty: its store
 * writes it at the end of its run.
 */
async function readNeighbours(
  files: FileSource,
  paths: Iterable<string>,
  onUnreadable: (path: string, why: string) => void,
): Promise<ResultsFile[]> {
  const resultsFiles: ResultsFile[] = []
  for (const path of paths) {
    const found = await readResults(files, path)
    if (typeof found === 'string') onUnreadable(path, found)
    else if (found !== undefined) resultsFiles.push(found)
  }
  return resultsFiles
}

/** Returns the results in a file, or why it cannot be read; undefined for a file that has no results. */
async function readResults(files: FileSource, path: string): Promise<ResultsFile | string | undefined> {
  try {
    const found = await stat(path).catch(() => undefined)
    // The file was deleted meanwhile.
    if (found === undefined) return undefined
    if (found.size === 0) return emptyText
    const { sheet } = await openBatchFile(files, path)
    return await readSheetResults(sheet, basename(path))
  } catch (error) {
    if (error instanceof RefcheckError) return error.message
    throw error
  }
}

async function readSheetResults(sheet: Sheet, name: string): Promise<ResultsFile | undefined> {
  const readRow = resultsReader(sheet.columns)
  if (readRow === undefined) return undefined
  const rows: (ResultsRow | undefined)[] = []
  const byPerson = new Map<string, Map<string, ResultsRow>>()
  for await (const { cells, line } of sheet.rows()) {
    const row = readRow(cells, { file: name, line })
    rows.push(row)
    if (row?.digests === undefined || !isEvidence(row)) continue
    const key = createPersonKey(row.digests)
    const rowsOfPerson = byPerson.get(key) ?? new Map<string, ResultsRow>()
    byPerson.set(key, rowsOfPerson.set(`${row.packageId} ${row.baseUrl} ${row.account}`, row))
  }
  return { name, rows, byPerson }
}

const createPersonKey = ({ name, email, phone }: NonNullable<ResultsRow['digests']>): string =>
  `${name}${email}${phone}`

export class ExternalResults {
  readonly #ports: ExternalResultServices
  readonly #readOwnRow: ((reading: RowReading) => ResultsRow | undefined) | undefined
  readonly #resultsFiles: readonly ResultsFile[]
  readonly #resultsByRow = new Map<number, ResultsRow[]>()
  /** Result rows whose person is in the file, at any position. */
  readonly #matchedByPerson = new Set<ResultsRow>()
  /** Data of requests that were read for rows without digests; `failed` if a request could not be read. */
  readonly #readRequests = new Map<string, Partial<ResultsRow> | 'failed'>()

  constructor(
    ports: ExternalResultServices,
    readOwnRow: ((reading: RowReading) => ResultsRow | undefined) | undefined,
    resultsFiles: readonly ResultsFile[],
  ) {
    this.#ports = ports
    this.#readOwnRow = readOwnRow
    this.#resultsFiles = resultsFiles
  }

  /**
   * Collects the external results about a row. `ordinal`: position of the row among those read from the file, from 0.
   */
  collect(reading: RowReading, ordinal: number): void {
    if (reading.body === undefined) return
    const results = this.#resultsFor(reading.body.recipient, ordinal, this.#readOwnRow?.(reading))
    if (results.length > 0) this.#resultsByRow.set(reading.row, results)
  }

  /**
   * Attaches to each row the external results about its person, and reports the number of results about other people.
   */
  async attach(rows: PackedRows): Promise<void> {
    const otherPeopleCounts = new Map<string, number>()
    let position = -1
    for (const row of rows) {
      position += 1
      const results = row.state === 'pending' ? this.#resultsByRow.get(row.row) : undefined
      if (row.state !== 'pending' || results === undefined) continue
      const found = await this.#resultsAbout(row.recipient, results, (each) => {
        if (!this.#matchedByPerson.has(each))
          otherPeopleCounts.set(each.file, (otherPeopleCounts.get(each.file) ?? 0) + 1)
      })
      if (found.length > 0) rows.setResults(position, found)
    }
    for (const [file, count] of otherPeopleCounts)
      this.#ports.onBatchEvent({ name: 'results-of-others', file, rows: count })
  }

  /** Returns the external results about rows of the store, by row. */
  async findForRows(rows: AsyncIterable<BatchRow>): Promise<Map<number, ExternalResult[]>> {
    const found = new Map<number, ExternalResult[]>()
    for await (const { row, recipient } of rows) {
      if (recipient === undefined) continue
      const results = await this.#resultsAbout(recipient, this.#resultsFor(recipient, row - 1, undefined))
      if (results.length > 0) found.set(row, results)
    }
    return found
  }

  #resultsFor(recipient: Recipient, ordinal: number, ownRow: ResultsRow | undefined): ResultsRow[] {
    const key = this.#resultsFiles.length === 0 ? '' : createPersonKey(personDigests(recipient))
    const results = [ownRow]
    for (const { rows, byPerson } of this.#resultsFiles) {
      // Rows may have been inserted or sorted since, so the person has precedence over the position. All results of the
      // person count, because each of them may be for another package.
      const matched = [...(byPerson.get(key)?.values() ?? [])]
      for (const each of matched) this.#matchedByPerson.add(each)
      results.push(...(matched.length > 0 ? matched : [rows[ordinal]]))
    }
    return results.filter((each) => each !== undefined && isEvidence(each)) as ResultsRow[]
  }

  async #resultsAbout(
    recipient: Recipient,
    results: readonly ResultsRow[],
    onOtherPerson?: (resultsRow: ResultsRow) => void,
  ): Promise<ExternalResult[]> {
    const found: ExternalResult[] = []
    for (const each of results) {
      if (await this.#isKnown(each)) continue
      const result = resultAbout(recipient, await this.#completeFromRequest(each))
      if (result !== undefined) found.push(result)
      else onOtherPerson?.(each)
    }
    return found
  }

  /** Whether this store has the order itself; then its own data has precedence. */
  async #isKnown({ batchId, row, requestId }: ResultsRow): Promise<boolean> {
    const { ledger, batches } = this.#ports
    if (batchId !== undefined && row !== undefined) {
      if ((await findRow(batches, batchId, row))?.recipient !== undefined) return true
    }
    if (requestId === undefined) return false
    return (await ledger.list({ requestId })).some(({ recipient }) => recipient !== undefined)
  }

  /** Completes the results row of an erased person, which has only the request id, by reading the request once. */
  async #completeFromRequest(resultsRow: ResultsRow): Promise<ResultsRow> {
    const { requestId } = resultsRow
    if (resultsRow.digests !== undefined || requestId === undefined) return resultsRow
    const request = this.#readRequests.get(requestId) ?? (await this.#readRequest(requestId))
    this.#readRequests.set(requestId, request)
    return request === 'failed' ? resultsRow : { ...resultsRow, ...request }
  }

  async #readRequest(requestId: string): Promise<Partial<ResultsRow> | 'failed'> {
    const { api, governor, signal } = this.#ports
    // The read has the priority of a create, because orders wait for it.
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

/** Returns the result of a results row for the person of a row; undefined if it is about another person. */
function resultAbout(recipient: Recipient, resultsRow: ResultsRow): ExternalResult | undefined {
  const { digests, batchId: _, row: __, ...rest } = resultsRow
  if (digests === undefined) return { ...rest, person: 'unclear', shares: [] }
  const shared = comparePersonDigests(personDigests(recipient), digests)
  return shared && { ...rest, ...shared }
}
