import type { Api } from '../../api/api.ts'
import type { RequestResource } from '../../contract/request.ts'
import { filed, type FilingEvent, type FilingResult } from '../../domain/report/filed.ts'
import type { ReportSource } from '../../domain/report/source.ts'
import { checksText } from '../../domain/request/check-counts.ts'
import { isUnread } from '../../domain/request/result.ts'
import type { NameTemplate } from '../../domain/report/template.ts'
import type { RefcheckError } from '../../errors/base.ts'
import { fileReports, type WantedRequest } from './file-many.ts'
import { fileOne } from './file-one.ts'
import type { Clock } from '../../host/clock.ts'
import { waitForRequests, type WaitOptions } from '../request/wait.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { ReportFolder } from '../../store/reports/folder.ts'
import { batchRequests, requestsWithReports, type WantedOfStore } from './wanted.ts'

export interface FetchOptions {
  api: Api
  /** Asked for where the source is in the store. */
  ledger: () => Promise<Ledger>
  clock: Clock
  folder: ReportFolder
  /** The name of a single report, where one was given. */
  file: string | undefined
  template: NameTemplate
  overwrite: boolean
  concurrency: number
  /** Whether to wait until every report is ready, and for how many milliseconds at most. */
  waitMs: number | undefined
  signal?: AbortSignal | undefined
  onEvent?: ((event: FilingEvent) => void) | undefined
  /** What a wait needs besides. */
  following?:
    | (() => Promise<Pick<WaitOptions, 'governor' | 'inbox' | 'onStatus' | 'onTrouble' | 'onPaced'>>)
    | undefined
}

/** Every report of the source that can be had, in the folder. */
export async function fetchReports(source: ReportSource, options: FetchOptions): Promise<FilingResult> {
  switch (source.kind) {
    case 'ids':
    case 'url':
      return filed([await fileOne(source, options)], { unfinished: 0, failure: undefined })
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

/** Requests that were named one by one: whatever they lack is told. */
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
    ...(await following?.()),
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
