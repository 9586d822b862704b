import type { RequestResource } from '../../contract/request.ts'
import { filingResult, type FilingEvent, type FilingResult } from '../../domain/report/filed.ts'
import type { ReportSource } from '../../domain/report/source.ts'
import type { NameTemplate } from '../../domain/report/template.ts'
import { checksText } from '../../domain/request/listed-request.ts'
import { isUnread } from '../../domain/request/result.ts'
import { addressOf } from '../../domain/submission/identity.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import { RefcheckError, IncompleteError, NotFoundError } from '../../errors/kinds.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { ReportFolder } from '../../store/reports/folder.ts'
import { requireSameService } from '../batch/same-organisation.ts'
import type { Services } from '../services.ts'
import { waitForRequests, type WaitOptions } from '../request/wait.ts'
import { fileReports, type WantedRequest } from './filing.ts'
import { fileOne } from './one-report.ts'

export interface FetchOptions extends Pick<Services, 'api' | 'clock'> {
  /** Asked for where the source is in the store. */
  ledger: () => Promise<Ledger>
  folder: ReportFolder
  /** The name of a single report, where one was given. */
  file: string | undefined
  template: NameTemplate
  overwrite: boolean
  concurrency: number
  /** Whether to wait until every report is ready, and for how many milliseconds at most. */
  waitMs: number | undefined
  signal: AbortSignal
  onEvent: (event: FilingEvent) => void
  /** What a wait needs besides. */
  following: () => Promise<Pick<WaitOptions, 'governor' | 'inbox' | 'onStatus' | 'onTrouble' | 'onQuotaWait'>>
}

/** Every report of the source that can be had, in the folder, which is closed; a manifest that could not be written is a failure too. */
export async function fetchReports(source: ReportSource, options: FetchOptions): Promise<FilingResult> {
  let result: FilingResult | undefined
  try {
    result = await fetched(source, options)
  } finally {
    const failure = await closed(options.folder)
    if (result !== undefined) result.failure ??= failure
  }
  return result
}

async function fetched(source: ReportSource, options: FetchOptions): Promise<FilingResult> {
  switch (source.kind) {
    case 'ids':
    case 'url':
      return filingResult([await fileOne(source, options)], {
        unfinished: 0,
        notReady: 0,
        failure: undefined,
      })
    case 'requests':
      return named(source.requestIds, options)
    case 'batch':
      return named(
        await batchRequests(await options.ledger(), source.batchId, options.api.baseUrl),
        options,
        true,
      )
    case 'completed':
      return ofStore(options, { since: source.since, only: 'COMPLETED', quick: false })
    case 'all':
      return ofStore(options, { quick: true, isOurs: source.isOurs })
  }
}

/** Requests that were named one by one: whatever they lack is reported. */
async function named(
  requestIds: readonly string[],
  options: FetchOptions,
  isOfStore = false,
): Promise<FilingResult> {
  const { wanted, failure } = await awaited(requestIds, options)
  const onRead = isOfStore ? await recorder(options) : undefined
  const result = await fileReports(wanted, { ...options, named: true, quick: false, onRead })
  // What ended the filing early says more than that the wait was in vain.
  const isEarly = result.failure !== undefined && result.failure.code !== 'incomplete'
  return { ...result, failure: isEarly ? result.failure : (failure ?? result.failure) }
}

async function ofStore(
  options: FetchOptions,
  which: Pick<WantedOfStore, 'since' | 'isOurs'> & { only?: string; quick: boolean },
): Promise<FilingResult> {
  const { api, ledger } = options
  const ids = await requestsWithReports(await ledger(), { ...which, baseUrl: api.baseUrl })
  const onRead = await recorder(options)
  const { only, quick } = which
  return fileReports(
    ids.map((requestId) => ({ requestId })),
    { ...options, named: false, only, quick, onRead },
  )
}

/** Requests as last read once every report of them is ready; they need no other read then. */
async function awaited(
  requestIds: readonly string[],
  options: FetchOptions,
): Promise<{ wanted: WantedRequest[]; failure?: RefcheckError | undefined }> {
  const { api, waitMs, clock, signal, following } = options
  if (waitMs === undefined) return { wanted: requestIds.map((requestId) => ({ requestId })) }
  const { results, failure } = await waitForRequests(api, requestIds, {
    ...(await following()),
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

async function recorder({
  api,
  ledger,
  clock,
}: FetchOptions): Promise<(request: RequestResource) => Promise<void>> {
  const journal = await ledger()
  return ({ request_id, status, checks }) =>
    journal.recordStatus(api.baseUrl, request_id, status, clock.now(), checksText(checks))
}

/** Statuses of requests that end without a report ("Request status"). */
const fruitless = new Set<string | undefined>(['CANCELLED', 'ERROR'])

/** The requests of a batch that the service took. Throws where there is no such batch here, or none of it was taken. */
export async function batchRequests(ledger: Ledger, batchId: string, baseUrl: string): Promise<string[]> {
  const rows = await ledger.list({ batchId })
  const [first] = rows
  if (first === undefined) {
    throw new NotFoundError(`no batch ${batchId} in this store`, {
      hint: 'List the batches with: refcheck batch list',
    })
  }
  requireSameService({ id: batchId, baseUrl: first.baseUrl }, { baseUrl })
  const known = rows.filter(isKnown)
  const ids = idsOfRequests(known)
  if (ids.length > 0) return ids
  if (known.length === 0) {
    throw new IncompleteError(`every person of batch ${batchId} was removed from the store`, {
      hint: 'A report can still be had by its check: refcheck report download CHECK_ID',
    })
  }
  throw new IncompleteError(`no row of batch ${batchId} has been accepted yet`, {
    hint: `See its progress with: refcheck batch status ${batchId}`,
  })
}

export interface WantedOfStore {
  baseUrl: string
  since?: number | undefined
  isOurs?: ((request: { baseUrl: string; userEmail: string }) => boolean) | undefined
}

/**
 * Requests of this service that the store knows and that may have reports: all but those last seen
 * CANCELLED or ERROR, which never change, and those of people who were removed.
 */
export async function requestsWithReports(
  ledger: Ledger,
  { baseUrl, since, isOurs }: WantedOfStore,
): Promise<string[]> {
  const service = addressOf(baseUrl)
  const rows = await ledger.list({ states: ['accepted'], since })
  return idsOfRequests(
    rows.filter(
      (row) =>
        isKnown(row) &&
        isOurs?.(row) !== false &&
        addressOf(row.baseUrl) === service &&
        !fruitless.has(row.requestStatus),
    ),
  )
}

/** What was purged stays so: their reports are not fetched again. An order that was recovered without its person has a reason. */
function isKnown({ recipient, reason }: Submission): boolean {
  return recipient !== undefined || reason !== undefined
}

function idsOfRequests(rows: readonly Submission[]): string[] {
  return [...new Set(rows.flatMap((row) => row.requestId ?? []))]
}

async function closed(folder: ReportFolder): Promise<RefcheckError | undefined> {
  try {
    await folder.close()
    return undefined
  } catch (error) {
    if (error instanceof RefcheckError) return error
    throw error
  }
}
