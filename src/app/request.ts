import { basename } from 'node:path'

import type { App } from './app.ts'
import type { Package } from '../contract/package.ts'
import type { RequestResource } from '../contract/request.ts'
import { checksText } from '../domain/request/listed-request.ts'
import { formatCount } from '../domain/wording/text.ts'
import { RefcheckError, type UnavailableError, UnauthenticatedError } from '../errors/kinds.ts'
import { progressLine } from '../output/terminal.ts'
import { createEventText } from '../output/views/events.ts'
import type { OrderServices } from '../usecases/request/send.ts'
import type { Services } from '../usecases/services.ts'
import { isEndedWithoutResult, unlistedText } from '../domain/overview/attention.ts'
import { unreadText } from '../domain/submission/submission.ts'
import { serviceOf } from '../domain/submission/identity.ts'
import { variable } from '../host/process.ts'
import { sanitize } from '../host/text.ts'

/** A wait for the quota that is longer than this is reported. */
const minReportedPauseSeconds = 5

/** Returns the services for placing an order. */
export async function createOrderServices(app: App, signal: AbortSignal): Promise<OrderServices> {
  return {
    ...(await app.services('api', 'ledger', 'batches', 'account', 'governor', 'schemas', 'clock', 'random')),
    signal,
    onEvent(event) {
      const text = createEventText(event)
      if (text !== undefined) app.note(text)
    },
    onStopInFlight: () =>
      app.note(
        'An order is in flight; waiting for its answer. Press Ctrl-C again to stop at once; its outcome is then unknown. See how to continue with: refcheck status',
      ),
  }
}

/** Returns the services for placing an order and waiting for its result. */
export async function createOrderAndWaitServices(app: App, signal: AbortSignal) {
  const { budgetMs, unmatched, ...services } = await app.services(
    'inbox',
    'waitingApi',
    'budgetMs',
    'unmatched',
  )
  const ordering = await createOrderServices(app, signal)
  return {
    ...ordering,
    ...services,
    waitBudgetMs: budgetMs,
    async readUnmatched() {
      const ids = await services.inbox.listUnmatchedIds(ordering.api.baseUrl)
      if (ids.length === 0) return 0
      const { readUnmatchedRequests } = await import('../usecases/batch/reconcile.ts')
      try {
        const unreadCount = await readUnmatchedRequests({ ...ordering, unmatched }, ids, false)
        if (unreadCount > 0) app.reporter.warn(unreadText(unreadCount))
        return unreadCount
      } catch (error) {
        // The order that follows reports an interruption, and what the service refuses.
        if (!(error instanceof RefcheckError) || error.code === 'io') throw error
        return 0
      }
    },
    onStatus: statusNote(app),
  }
}

/** Stores which packages were replaced, each with its likely successor, for conflict detection. */
export const storePackageSuccessors =
  (app: App) =>
  async (packages: readonly Package[]): Promise<void> => {
    const { findSuccessors } = await import('../domain/batch/package-replacement.ts')
    const { heldRows, api, clock } = await app.services('heldRows', 'api', 'clock')
    await heldRows.recordLikelySuccessors(api.baseUrl, findSuccessors(packages), clock.now())
  }

/** Returns the services for waiting for requests: a share of the quota, the inbox and messages. */
export async function createWaitServices(app: App) {
  return {
    ...(await app.services('clock', 'governor', 'inbox')),
    onStatus: statusNote(app),
    onTrouble: (error: UnavailableError, seconds: number) =>
      app.note(`${error.message}; retrying in ${seconds} s`),
    onQuotaWait: pauseNote(app),
  }
}

/**
 * Returns the services for a wait that shows its progress. `whenStored` resolves when all statuses that were read are
 * stored.
 */
export async function createMeteredWaitServices(app: App, total: number) {
  const [{ WaitMeter }, { recordRead }, services] = await Promise.all([
    import('../output/views/progress.ts'),
    import('../usecases/request/read-requests.ts'),
    createWaitServices(app),
  ])
  const meter = new WaitMeter(app.reporter, total)
  const { ledger, session } = await app.services('ledger', 'session')
  const records: Promise<void>[] = []
  const recordedStatuses = new Map<string, string>()
  return {
    ...services,
    onSleep: meter.onSleep,
    onQuotaWait: app.reporter.isLive ? meter.onSleep : services.onQuotaWait,
    onStatus: meter.onStatus,
    onRead(request: RequestResource): void {
      const { request_id: id, status } = request
      const checks = checksText(request.checks)
      if (recordedStatuses.get(id) === `${status} ${checks}`) return
      recordedStatuses.set(id, `${status} ${checks}`)
      // An error of the store does not fail the wait.
      const at = app.context.clock.now()
      records.push(recordRead(ledger, session.baseUrl, request, at).catch(() => undefined))
    },
    whenStored: async (): Promise<void> => void (await Promise.all(records)),
  }
}

const weekMs = 7 * 24 * 60 * 60 * 1000

/**
 * Updates results files with the statuses that were read in the last seven days, and names those that cannot be updated
 * although this command has read statuses of their requests.
 */
export async function updateStatusesInResults(app: App): Promise<void> {
  try {
    const services = await app.services('batches', 'files')
    const { updateStatuses } = await import('../usecases/batch/results-file.ts')
    const newlyRead = new Set(await services.batches.findReadSince(app.startedAt))
    const leftOut: string[] = []
    const updated = await updateStatuses(services, app.context.clock.now() - weekMs, (batch) => {
      if (newlyRead.has(batch.id)) leftOut.push(basename(batch.resultsFile ?? ''))
    })
    const listNames = (names: readonly string[]): string => names.map((name) => sanitize(name)).join(', ')
    if (updated.length > 0) app.note(`Statuses updated in ${listNames(updated)}`)
    if (leftOut.length > 0)
      app.note(
        `Statuses not updated in ${listNames(leftOut)}: the file of people has changed since, or is gone. See them with: refcheck request list`,
      )
  } catch (error) {
    // The results files are only a copy, so their errors do not fail the command.
    if (!(error instanceof RefcheckError)) throw error
  }
}

/** Returns a function that shows the progress of reading requests. */
export function readMeter(app: App): (done: number, total: number) => void {
  const progress = app.progress()
  return (done, total) =>
    progress.show(progressLine(done / total, `${done} of ${formatCount(total, 'request')} read`))
}

/**
 * Stores the statuses of requests that were read, after the output. `isSeenByUser`: the output shows the requests to a
 * person, so finished ones are removed from the list of `status`.
 */
export function recordReads(
  app: App,
  baseUrl: string,
  requests: readonly RequestResource[],
  isSeenByUser = false,
): void {
  app.beforeClose(async () => {
    try {
      const ledger = await app.service('ledger')
      const at = app.context.clock.now()
      const { recordRead } = await import('../usecases/request/read-requests.ts')
      const removedFromStatus: RequestResource[] = []
      for (const request of requests) {
        const { request_id: id, status } = request
        await recordRead(ledger, baseUrl, request, at)
        // A completed request is listed until its report is downloaded.
        if (!isSeenByUser || !isEndedWithoutResult(status)) continue
        if (await isUnacknowledged(ledger, baseUrl, id)) removedFromStatus.push(request)
        await ledger.acknowledge(baseUrl, id, at)
      }
      if (removedFromStatus.length > 0) app.note(unlistedText(removedFromStatus))
    } catch (error) {
      // An error of the store does not fail the read.
      if (!(error instanceof RefcheckError)) throw error
    }
  })
}

async function isUnacknowledged(
  ledger: Pick<Services['ledger'], 'list'>,
  baseUrl: string,
  requestId: string,
): Promise<boolean> {
  const orders = await ledger.list({ requestId, states: ['accepted'] })
  return orders.some(
    (order) => serviceOf(order.baseUrl) === serviceOf(baseUrl) && order.acknowledgedAt === undefined,
  )
}

/** Returns a function that reports a wait of the given seconds before the next read, if it is long. */
export const pauseNote =
  (app: App) =>
  (seconds: number): void => {
    if (seconds > minReportedPauseSeconds)
      app.note(`The next read is in ${Math.ceil(seconds)} s, to stay within the quota.`)
  }

const statusNote =
  (app: App) =>
  ({ request_id, status }: Pick<RequestResource, 'request_id' | 'status'>): void =>
    app.note(`${request_id}  ${status}`)

/**
 * Returns a function that estimates the seconds until a number of creates is sent: by the quota of the current key if
 * it is for this service, or else by an unused quota.
 */
export async function createSendTimeEstimate(
  app: App,
  baseUrl: string,
): Promise<(creates: number) => Promise<number>> {
  const currentSession = await app.services('session').catch((error: unknown) => {
    if (error instanceof UnauthenticatedError) return undefined
    throw error
  })
  if (currentSession?.session.baseUrl !== baseUrl) {
    const [{ secondsForCreates, emptyBook }, { windowsFor }] = await Promise.all([
      import('../domain/quota/book.ts'),
      import('../domain/quota/windows.ts'),
    ])
    const { clock, env } = app.context
    const windows = windowsFor(baseUrl, variable(env, 'REFCHECK_QUOTA'))
    return async (creates) => secondsForCreates(emptyBook(windows), creates, clock.now())
  }
  const governor = await app.service('governor')
  return async (creates) => {
    // Another process runs the batch, and its use of the quota is in the store.
    await governor.status()
    return governor.secondsFor(creates)
  }
}
