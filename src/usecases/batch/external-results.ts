import type { Services } from '../services.ts'
import { basename } from 'node:path'

import type { Recipient } from '../../contract/request.ts'
import type { Batch, BatchRow } from '../../domain/batch/batch.ts'
import type { PackedRows } from '../../domain/batch/new-row.ts'
import type { ResultsRow } from '../../domain/batch/results.ts'
import type { RowReading } from '../../domain/batch/row.ts'
import {
  personDigests,
  comparePersonDigests,
  isEvidence,
  namesOrder,
  type ExternalResult,
} from '../../domain/submission/external-results.ts'
import { waitingStates } from '../../domain/submission/states.ts'
import { InvalidInputError, RefcheckError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { HeldRows } from '../../store/ledger/held-rows.ts'
import type { FileSource } from '../services.ts'
import { findRow } from './read-batch.ts'
import {
  type BatchEventListener,
  type BatchFile,
  createPersonKey,
  emptyText,
  type ForeignResults,
  hasFormatOfResults,
  hasNameOfResults,
  isResultsPathOfStore,
  openFileOfBatch,
  readForeignResults,
  readSheetResults,
  type ResultsFile,
} from './read-file.ts'

export interface ExternalResultServices
  extends BatchEventListener, Pick<Services, 'api' | 'batches' | 'ledger' | 'governor'> {
  signal?: AbortSignal | undefined
}

/**
 * Opens the sources of external results about the rows of a file (src/docs/ordering.md, section 4): the
 * columns of the file itself if it is a results file, and results files next to it that another store wrote.
 * Throws InvalidInputError if one of them cannot be read, because orders of the people of this file may be in it, unless
 * the user ignores results.
 */
export async function openExternalResults(
  ports: ExternalResultServices,
  files: FileSource,
  file: BatchFile,
  isIgnored: boolean,
): Promise<ExternalResults> {
  const { name, path } = file
  const found = await readNeighbours(ports, files, path)
  if (isIgnored) {
    const silentPorts = { ...ports, onBatchEvent: () => undefined }
    return new ExternalResults(silentPorts, found, await readSheetResults(file))
  }
  for (const [resultsPath, why] of found.unreadable) {
    const resultsName = basename(resultsPath)
    // A file in another format is a copy that a user made, or the output of a command.
    const isCopy = path !== undefined && !hasFormatOfResults(resultsPath, path)
    if (isCopy || (why !== emptyText && (await isResultsPathOfStore(ports.batches, resultsPath)))) {
      if (why !== emptyText) ports.onBatchEvent({ name: 'results-unread', file: resultsName, why })
      continue
    }
    const advice =
      why === emptyText
        ? `Wait until that run has ended. If no store has a batch of ${name} (refcheck batch list), delete ${resultsName}.`
        : `Repair ${resultsName}, or move it away if it has nothing to do with ${name}.`
    const ResultsError = why === emptyText ? ReservedResultsError : InvalidInputError
    throw new ResultsError(
      `${resultsName} could not be read, so orders that it may name cannot be compared: ${why}`,
      { hint: `Nothing was sent. ${advice}\nTo order without it, add: --ignore-results` },
    )
  }
  return new ExternalResults(ports, found, await readSheetResults(file))
}

const readNeighbours = async (
  { batches }: ExternalResultServices,
  files: FileSource,
  path: string | undefined,
): Promise<ForeignResults> =>
  path === undefined
    ? { resultsFiles: [], unreadable: new Map() }
    : readForeignResults({ batches, files }, path)

/** The digest of each results file, or why it cannot be read, by path. */
const statesOf = ({ resultsFiles, unreadable }: ForeignResults): Map<string | undefined, string> =>
  new Map([...resultsFiles.map(({ path, sha256 }) => [path, sha256] as const), ...unreadable])

/** The results file of another run is empty: a process has reserved it, and has sent nothing yet. */
export class ReservedResultsError extends InvalidInputError {}

const pollIntervalMs = 100
/** A process that reserved an empty results file stores its batch within seconds, also a large one. */
const maxPolls = 30

/**
 * Waits until another process of this store has added the batch whose results file it reserved. Returns undefined if it
 * does not: the file is that of another store. `findBatch` finds that batch.
 */
export async function waitForBatch(
  clock: Clock,
  findBatch: () => Promise<Batch | undefined>,
): Promise<Batch | undefined> {
  for (let polls = 0; polls < maxPolls; polls += 1) {
    const added = await findBatch()
    if (added !== undefined) return added
    await clock.sleep(pollIntervalMs)
  }
  return undefined
}

/**
 * Whether a results file has a higher number than the one of the present run. Of two runs that reserve a file at the same
 * time, the one with the lower number goes on. The other one finds it by its name, which a path that the user chose may
 * not have.
 */
function isReservedLater(resultsPath: string, claimedPath = '', path = ''): boolean {
  const areNumbered = hasNameOfResults(claimedPath, path) && hasNameOfResults(resultsPath, path)
  const difference = resultsPath.length - claimedPath.length
  return areNumbered && (difference > 0 || (difference === 0 && resultsPath > claimedPath))
}

/**
 * Throws an InvalidInputError if a results file next to a file of people was written since the file was compared with
 * them. `claimedPath`: the results file of the present run; `findBatch`: finds a batch of the same file that another
 * process of this store adds, which reserves an empty results file first. Returns such a batch.
 */
export async function requireSameResults(
  ports: ExternalResultServices & { clock: Clock },
  files: FileSource,
  { path }: Pick<BatchFile, 'path'>,
  { states }: Pick<ExternalResults, 'states'>,
  claimedPath: string | undefined,
  findBatch: () => Promise<Batch | undefined>,
): Promise<Batch | undefined> {
  for (const [resultsPath = '', state] of statesOf(await readNeighbours(ports, files, path))) {
    if (resultsPath === claimedPath || states.get(resultsPath) === state) continue
    if (state === emptyText && isReservedLater(resultsPath, claimedPath, path)) continue
    const added = state === emptyText ? await waitForBatch(ports.clock, findBatch) : await findBatch()
    if (added !== undefined) return added
    throw new InvalidInputError(
      `${basename(resultsPath)} was written by another run since this file was compared with it`,
      { hint: 'Nothing was sent. People of this file may be ordered now.', rerunLabel: 'Run it again' },
    )
  }
  return undefined
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
  const byPath = new Map<string | undefined, ResultsFile>()
  for (const filePath of new Set([openedFile?.path, batch.path])) {
    const found = await readNeighbours(ports, files, filePath)
    for (const each of found.resultsFiles) byPath.set(each.path, each)
    for (const [resultsPath, why] of found.unreadable) {
      // The results file of this batch is empty while its first rows are sent.
      if (resultsPath === resultsFile && why === emptyText) continue
      ports.onBatchEvent({ name: 'results-unread', file: basename(resultsPath), why })
    }
  }
  const file = openedFile ?? (await openFileOfBatch(files, batch))
  const results = new ExternalResults(
    ports,
    { resultsFiles: [...byPath.values()], unreadable: new Map() },
    file && (await readSheetResults(file)),
  )
  if (results.names.size === 0) return
  const resultsByRow = await results.findForRows(ports.batches.rows(id, { states: waitingStates }))
  await ports.heldRows.updateExternalResults(id, resultsByRow, results.names, ports.clock.now())
}

export class ExternalResults {
  readonly #ports: ExternalResultServices
  readonly #resultsFiles: readonly ResultsFile[]
  readonly #inputResults: ResultsFile | undefined
  /** The digest of each results file next to the file, or why it cannot be read, by path. */
  readonly states: ReadonlyMap<string | undefined, string>
  readonly names: ReadonlySet<string>
  readonly #resultsByRow = new Map<number, ResultsRow[]>()
  /** The people of result rows who are in the file, at any position. */
  readonly #matchedPeople = new Set<string>()
  /** Data of requests that were read for rows without digests; `failed` if a request could not be read. */
  readonly #readRequests = new Map<string, Partial<ResultsRow> | 'failed'>()

  /** `inputResults`: the results in the file of people itself. */
  constructor(ports: ExternalResultServices, found: ForeignResults, inputResults: ResultsFile | undefined) {
    this.#ports = ports
    this.#resultsFiles = [...found.resultsFiles, ...(inputResults === undefined ? [] : [inputResults])]
    this.#inputResults = inputResults
    this.states = statesOf(found)
    this.names = new Set(this.#resultsFiles.map(({ name }) => name))
  }

  /**
   * Collects the external results about a row. `ordinal`: position of the row among those read from the file, from 0.
   */
  collect({ body, row }: RowReading, ordinal: number): void {
    if (this.names.size === 0) return
    const ownRow = this.#inputResults?.rows[row - 1]
    const results =
      body !== undefined
        ? this.#resultsFor(body.recipient, ordinal, row)
        : ownRow !== undefined && namesOrder(ownRow)
          ? [ownRow]
          : []
    if (results.length > 0) this.#resultsByRow.set(row, results)
  }

  /**
   * Attaches to each row the external results about its person, and reports the number of results about other people.
   */
  async attach(rows: PackedRows): Promise<void> {
    const otherPeopleCounts = new Map<string, number>()
    let position = -1
    for (const row of rows) {
      position += 1
      const results = this.#resultsByRow.get(row.row)
      if (results === undefined) continue
      if (row.state !== 'pending') {
        // The request id stays with the line, so that the corrected person is compared with it.
        rows.setResults(position, results.map(unclearResult))
        continue
      }
      const found = await this.#resultsAbout(row.recipient, results, (each) => {
        if (each.digests === undefined || !this.#matchedPeople.has(createPersonKey(each.digests)))
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
      const results = await this.#resultsAbout(recipient, this.#resultsFor(recipient, row - 1, row))
      if (results.length > 0) found.set(row, results)
    }
    return found
  }

  /** `number`: the number of the row in the file, in which rows before it may be hidden, and so were not read. */
  #resultsFor(recipient: Recipient, ordinal: number, number: number): ResultsRow[] {
    const key = createPersonKey(personDigests(recipient))
    const results: (ResultsRow | undefined)[] = []
    for (const resultsFile of this.#resultsFiles) {
      // Rows may have been inserted or sorted since, so the person has precedence over the position. All results of the
      // person count, because each of them may be for another package.
      const matched = [...(resultsFile.byPerson.get(key)?.values() ?? [])]
      if (matched.length > 0) this.#matchedPeople.add(key)
      const position = resultsFile === this.#inputResults ? number - 1 : ordinal
      results.push(...(matched.length > 0 ? matched : [resultsFile.rows[position]]))
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

  /**
   * Whether this store has the order itself, or the row, unless the row repeats an order that only a results file
   * names; then its own data has precedence.
   */
  async #isKnown({ batchId, row, requestId }: ResultsRow): Promise<boolean> {
    const { ledger, batches } = this.#ports
    if (batchId !== undefined && row !== undefined) {
      const found = await findRow(batches, batchId, row)
      if (found?.recipient !== undefined && found.matches?.externalResult === undefined) return true
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
  const { digests } = resultsRow
  if (digests === undefined) return unclearResult(resultsRow)
  const shared = comparePersonDigests(personDigests(recipient), digests)
  return shared && { ...unclearResult(resultsRow), ...shared }
}

function unclearResult(resultsRow: ResultsRow): ExternalResult {
  const { digests: _, batchId: __, row: ___, ...rest } = resultsRow
  return { ...rest, person: 'unclear', shares: [] }
}
