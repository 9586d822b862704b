import type { RequestResource } from '../../contract/request.ts'
import { filingResult, type FilingEvent, type FilingResult } from '../../domain/report/filed.ts'
import type { ReportSource } from '../../domain/report/source.ts'
import type { NameTemplate } from '../../domain/report/template.ts'
import { isUnread } from '../../domain/request/result.ts'
import { addressOf } from '../../domain/submission/identity.ts'
import { hasPerson, type Submission } from '../../domain/submission/submission.ts'
import { RefcheckError, IncompleteError, NotFoundError } from '../../errors/kinds.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { ReportFolder } from '../../store/reports/folder.ts'
import { requireSameService } from '../batch/same-organisation.ts'
import type { Services } from '../services.ts'
import { recordRead } from '../request/read-requests.ts'
import { waitForRequests, type WaitOptions } from '../request/wait.ts'
import { downloadReports, type WantedRequest } from './filing.ts'
import { downloadOneReport } from './one-report.ts'

export interface FetchOptions extends Pick<Services, 'api' | 'clock'> {
  /** Opens the ledger, which is needed only for sources in the store. */
  openLedger: () => Promise<Ledger>
  folder: ReportFolder
  /** The file name of a single report, if the command line gives one. */
  file: string | undefined
  template: NameTemplate
  overwrite: boolean
  concurrency: number
  /** Maximum time in milliseconds to wait until every report is ready; undefined to not wait. */
  waitMs: number | undefined
  signal: AbortSignal
  onEvent: (event: FilingEvent) => void
  /** Returns the options that only a wait needs. */
  createWaitOptions: () => Promise<
    Pick<WaitOptions, 'governor' | 'inbox' | 'onStatus' | 'onTrouble' | 'onQuotaWait'>
  >
}

/**
 * Downloads every available report of the source to the folder, and closes the folder. `failure` is also set if the
 * manifest could not be written.
 */
export async function fetchReports(source: ReportSource, options: FetchOptions): Promise<FilingResult> {
  let result: FilingResult | undefined
  try {
    result = await fetchFromSource(source, options)
  } finally {
    const failure = await closeFolder(options.folder)
    if (result !== undefined) result.failure ??= failure
  }
  return result
}

async function fetchFromSource(source: ReportSource, options: FetchOptions): Promise<FilingResult> {
  switch (source.kind) {
    case 'ids':
    case 'url':
      return filingResult([await downloadOneReport(source, options)], {
        unfinishedCount: 0,
        notReadyCount: 0,
        failure: undefined,
      })
    case 'requests':
      return fetchNamed(source.requestIds, options)
    case 'batch':
      return fetchNamed(
        await findRequestsOfBatch(await options.openLedger(), source.batchId, options.api.baseUrl),
        options,
        true,
      )
    case 'completed':
      return fetchOfStore(options, { since: source.since, onlyStatus: 'COMPLETED', quick: false })
    case 'all':
      return fetchOfStore(options, { quick: true, isOfProfile: source.isOfProfile })
  }
}

/** Downloads the reports of requests that were named one by one; every missing report is listed. */
async function fetchNamed(
  requestIds: readonly string[],
  options: FetchOptions,
  isOfStore = false,
): Promise<FilingResult> {
  const { wanted, failure } = await waitForReports(requestIds, options)
  const onRead = isOfStore ? await createStatusRecorder(options) : undefined
  const result = await downloadReports(wanted, { ...options, isNamed: true, quick: false, onRead })
  // An error that ended the download early is more useful than that of the wait.
  const isEarly = result.failure !== undefined && result.failure.code !== 'incomplete'
  return { ...result, failure: isEarly ? result.failure : (failure ?? result.failure) }
}

async function fetchOfStore(
  options: FetchOptions,
  selection: Pick<StoreSelection, 'since' | 'isOfProfile'> & { onlyStatus?: string; quick: boolean },
): Promise<FilingResult> {
  const { api, openLedger } = options
  const rows = await findRequestsWithReports(await openLedger(), { ...selection, baseUrl: api.baseUrl })
  const onRead = await createStatusRecorder(options)
  const { onlyStatus, quick } = selection
  const openRequestIds = new Set(
    idsOfRequests(rows.filter(({ requestStatus }) => requestStatus !== 'COMPLETED')),
  )
  return downloadReports(
    idsOfRequests(rows).map((requestId) => ({
      requestId,
      isOpen: onlyStatus === undefined && openRequestIds.has(requestId),
    })),
    { ...options, isNamed: false, onlyStatus, quick, onRead },
  )
}

/** Waits until every report is ready. Returns the requests as last read, so that they are not read again. */
async function waitForReports(
  requestIds: readonly string[],
  options: FetchOptions,
): Promise<{ wanted: WantedRequest[]; failure?: RefcheckError | undefined }> {
  const { api, waitMs, clock, signal, createWaitOptions } = options
  if (waitMs === undefined) return { wanted: requestIds.map((requestId) => ({ requestId })) }
  const { results, failure } = await waitForRequests(api, requestIds, {
    ...(await createWaitOptions()),
    goal: 'report',
    timeoutMs: waitMs,
    clock,
    signal,
  })
  const wanted = results.map((each) =>
    isUnread(each) ? each : { requestId: each.requestId, read: each.request },
  )
  return { wanted, failure }
}

async function createStatusRecorder({
  api,
  openLedger,
  clock,
}: FetchOptions): Promise<(request: RequestResource) => Promise<void>> {
  const journal = await openLedger()
  return (request) => recordRead(journal, api.baseUrl, request, clock.now())
}

/** Statuses of requests that end without a report (API document, "Request status"). */
const statusesWithoutReport = new Set<string | undefined>(['CANCELLED', 'ERROR'])

/**
 * Returns the ids of a batch's accepted requests. Throws if the store has no such batch, or none of its rows was
 * accepted.
 */
export async function findRequestsOfBatch(
  ledger: Ledger,
  batchId: string,
  baseUrl: string,
): Promise<string[]> {
  const rows = await ledger.list({ batchId })
  const [first] = rows
  if (first === undefined) {
    throw new NotFoundError(`no batch ${batchId} in this store`, {
      hint: 'List the batches with: refcheck batch list',
    })
  }
  requireSameService({ id: batchId, baseUrl: first.baseUrl }, { baseUrl })
  const knownRows = rows.filter(hasPerson)
  const ids = idsOfRequests(knownRows)
  if (ids.length > 0) return ids
  if (knownRows.length === 0) {
    throw new IncompleteError(`every person of batch ${batchId} was removed from the store`, {
      hint: 'A report can still be had by its check: refcheck report download CHECK_ID',
    })
  }
  throw new IncompleteError(`no row of batch ${batchId} has been accepted yet`, {
    hint: `See its progress with: refcheck batch status ${batchId}`,
  })
}

export interface StoreSelection {
  baseUrl: string
  since?: number | undefined
  /** Limits the orders to those of one profile. */
  isOfProfile?: ((request: { baseUrl: string; userEmail: string }) => boolean) | undefined
}

/**
 * Returns the store's orders at this service that may have reports. Requests last read as CANCELLED or
 * ERROR are left out, since these statuses never change, and so are requests of erased people.
 */
async function findRequestsWithReports(
  ledger: Ledger,
  { baseUrl, since, isOfProfile }: StoreSelection,
): Promise<Submission[]> {
  const service = addressOf(baseUrl)
  const rows = await ledger.list({ states: ['accepted'], since })
  return rows.filter(
    (row) =>
      hasPerson(row) &&
      isOfProfile?.(row) !== false &&
      addressOf(row.baseUrl) === service &&
      !statusesWithoutReport.has(row.requestStatus),
  )
}

function idsOfRequests(rows: readonly Submission[]): string[] {
  return [...new Set(rows.flatMap((row) => row.requestId ?? []))]
}

async function closeFolder(folder: ReportFolder): Promise<RefcheckError | undefined> {
  try {
    await folder.close()
    return undefined
  } catch (error) {
    if (error instanceof RefcheckError) return error
    throw error
  }
}
