import { dirname, resolve } from 'node:path'

import { windowsFor } from '../domain/quota/windows.ts'
import { parseAccountName } from '../domain/session/setting-keys.ts'
import type { ProvidersAnswer } from '../domain/batch/reconciliation.ts'
import type { Batch, BatchRow } from '../domain/batch/batch.ts'
import type { SubmissionState } from '../domain/submission/states.ts'
import type { Submission } from '../domain/submission/submission.ts'
import { uuid } from '../contract/request.ts'
import { InternalError, NotFoundError, UsageError } from '../errors/kinds.ts'
import { systemClock } from '../host/clock.ts'
import { processEnvironment } from '../host/process.ts'
import { currentFolder, NoHomeError, RelativeFolderError, resolvePaths } from '../host/paths.ts'
import { systemRandom } from '../host/random.ts'
import { openSqliteStore } from '../store/ledger/sqlite/store.ts'
import type { Store } from '../store/ledger/store.ts'
import { reconcile, findReconcilableRows } from '../usecases/batch/reconcile.ts'
import { orderSingleAgain, recordAnswer, requireDecidable } from '../usecases/batch/record-answer.ts'
import { createGovernor } from '../usecases/quota/governor.ts'
import { createRequest } from '../usecases/request/create.ts'
import type { OrderServices } from '../usecases/request/send.ts'
import type { Client } from './client.ts'
import {
  checkMilliseconds,
  checkText,
  invalidOption,
  runLibraryCall,
  checkOrderBody,
  internalsOf,
} from './internal/boundary.ts'
import type { Known, NewRequest, Recipient, RequestStatus } from './types.ts'

export type { ErrorCode } from '../errors/kinds.ts'
export { RefcheckError } from '../errors/kinds.ts'
export {
  DuplicateError,
  ForbiddenError,
  InternalError,
  InterruptedError,
  InvalidInputError,
  IoError,
  NotFoundError,
  OutcomeUnknownError,
  ThrottledError,
  UnauthenticatedError,
  UnavailableError,
  UsageError,
} from '../errors/kinds.ts'

export interface JournalOptions {
  /**
   * Path of an SQLite file on a local disk; the file and its folder are created if they are missing. The command line
   * uses the same file with REFCHECK_STORE.
   */
  file: string
  /**
   * Absolute path of the folder for the attempt log, best on another disk. Default: the settings folder of the
   * command line (REFCHECK_CONFIG_DIR, else that of the platform). By the log, refcheck detects that the file was
   * restored from a backup, and then orders nothing.
   */
  logFolder?: string | undefined
  /** Name of the account for which people are ordered, if the file has several. */
  account?: string | undefined
}

export interface JournalOrderOptions {
  /** Aborts waits. An exchange that has begun is completed and recorded first. */
  signal?: AbortSignal | undefined
  /**
   * Maximum number of milliseconds that waits for the quota, 429s and connections may take together; default two
   * minutes, Infinity for no limit.
   */
  waitMs?: number | undefined
  /** Orders even if this person was ordered before, but not while the outcome of an earlier order is unknown. */
  allowDuplicate?: boolean | undefined
  /** Orders even if a similar person was ordered before. */
  allowSimilar?: boolean | undefined
}

export interface JournaledRequest {
  /** A UUID. */
  request_id: string
  status: Known<RequestStatus>
  /** Id of the order's batch in the journal, for commands of refcheck. */
  batch_id: string
}

/** States of an order: section 2 of src/docs/ordering.md. */
export type OrderState = Exclude<SubmissionState, 'invalid'>

export interface JournaledOrder {
  batch_id: string
  /** The number of the order in its batch, from 1. */
  row: number
  state: OrderState
  package_id: number
  /** The person; null after the person was erased. */
  recipient: Recipient | null
  /** Id of the request; null unless the order was accepted. */
  request_id: string | null
  /** Time of the attempt (ISO 8601); null if the order was never sent. */
  attempted_at: string | null
  /** Why the order was not accepted; null if it was. */
  reason: string | null
}

export interface Reconciled {
  /** Orders that were found to be accepted and are recorded as such. */
  accepted: JournaledOrder[]
  /**
   * Orders whose outcome is still unknown. That no request was found does not mean that there is none: ask the
   * provider.
   */
  unknown: JournaledOrder[]
}

/**
 * The provider's answer about an order whose outcome is unknown. `requestId`: the order became this request.
 * `confirmEmail`: the provider has no such order, so it is ordered again, at the earliest 15 minutes after the
 * attempt; the value repeats the recipient's e-mail. `drop`: the provider cannot say, and the order is never sent
 * again.
 */
export type Decision = { requestId: string } | { confirmEmail: string } | { drop: true }

/**
 * The journal of the command line in a file: each person is ordered at most once, and no outcome is lost even if a process
 * is killed at any moment. Methods reject with a RefcheckError as those of the client do, and with
 * - DuplicateError (`duplicate`): the person was ordered before, or may have been, or is similar to one who was; nothing
 *   was sent; `order` names the earlier order,
 * - IoError (`io`): the file cannot be used; what is known of an order is in the message.
 */
export interface Journal {
  /** Absolute path of the journal's file. */
  readonly file: string
  /**
   * Orders once: compares the order with all earlier ones, records the attempt and flushes it to disk, sends the
   * order, and records the outcome before the promise is settled. After an OutcomeUnknownError, or if the process was
   * killed in flight, the same order causes a DuplicateError until it is reconciled.
   */
  order(client: Client, body: NewRequest, options?: JournalOrderOptions): Promise<JournaledRequest>
  /**
   * Searches for the requests of orders whose outcome is unknown. `requestIds` are ids from webhook events. A request
   * with the same package, person, user and time that fits only one order is evidence. Each request is read once.
   */
  reconcile(
    client: Client,
    options?: { requestIds?: readonly string[] | undefined; signal?: AbortSignal | undefined },
  ): Promise<Reconciled>
  /**
   * Records the provider's answer about an order that is `unknown` or `dropped`, after the checks that the command
   * line makes: a request is read and must match the order's package, person, user and time. Resolves with the
   * resulting order. Rejects with a UsageError if the decision is not possible, and as `order` does if the person is
   * ordered again.
   */
  decide(
    client: Client,
    order: Pick<JournaledOrder, 'batch_id' | 'row'>,
    decision: Decision,
    options?: Pick<JournalOrderOptions, 'signal' | 'waitMs'>,
  ): Promise<JournaledOrder>
  /**
   * Lists orders, oldest first; only those in `state` if it is given. An attempt of a process that died is `unknown`.
   */
  orders(filter?: { state?: OrderState | undefined }): Promise<JournaledOrder[]>
  /** Closes the journal after the calls in progress have ended. */
  close(): Promise<void>
}

/** The provider's answer, with the confirmed e-mail for an order that is sent again. */
type AnswerToRecord = Exclude<ProvidersAnswer, { kind: 'order' }> | { kind: 'order'; confirmedEmail: string }

const defaultWaitMs = 120_000

/**
 * Opens a journal; several processes may have the same file open. Throws InvalidInputError, UsageError or IoError.
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { file, logFolder, account } = checkOptions(options)
  const store = await runLibraryCall(
    undefined,
    () =>
      openSqliteStore(file, {
        ...systemServices,
        chosenAddress: file,
        cwd: dirname(file),
        paths: { config: logFolder, data: dirname(file) },
      }),
    file,
  )
  let isClosed = false
  const callsInProgress = new Set<Promise<unknown>>()
  function call<T>(signal: AbortSignal | undefined, operation: () => Promise<T>): Promise<T> {
    const promise = runLibraryCall(
      signal,
      () => {
        if (isClosed)
          throw new UsageError('the journal is closed', { hint: 'Open it again with openJournal.' })
        return operation()
      },
      file,
    )
    callsInProgress.add(promise)
    const onEnd = (): unknown => callsInProgress.delete(promise)
    promise.then(onEnd, onEnd)
    return promise
  }
  return {
    file,
    order: (client, body, orderOptions = {}) =>
      call(orderOptions.signal, async () => {
        const { signal, waitMs = defaultWaitMs, allowDuplicate = false, allowSimilar = false } = orderOptions
        checkMilliseconds(waitMs, 'waitMs')
        const services = { ...servicesFor(store, client, account), signal }
        if (account !== '') await store.accounts.check(account)
        const choices = { allowDuplicate, allowSimilar, waitBudgetMs: waitMs }
        const created = await createRequest(services, checkOrderBody(body), choices)
        return { request_id: created.requestId, status: created.status, batch_id: created.batchId }
      }),
    reconcile: (client, { requestIds = [], signal } = {}) =>
      call(signal, async () => {
        const services = { ...servicesFor(store, client, account), signal }
        await store.ledger.recover(systemClock.now())
        for (const id of requestIds) checkText(id, 'requestIds')
        const found = await reconcile(
          services,
          await findReconcilableRows(store.ledger, undefined),
          requestIds,
        )
        const reconciledBatchIds = new Set(found.settled.map(({ submission }) => submission.batchId))
        const orders = await store.ledger.list({})
        return {
          accepted: orders
            .filter(({ batchId, state }) => reconciledBatchIds.has(batchId) && state === 'accepted')
            .map(toJournaledOrder),
          unknown: orders.filter(({ state }) => state === 'unknown').map(toJournaledOrder),
        }
      }),
    decide: (client, orderId, decision, { signal, waitMs = defaultWaitMs } = {}) =>
      call(signal, async () => {
        checkMilliseconds(waitMs, 'waitMs')
        const answer = checkDecision(decision)
        const { heldRows } = store
        const services = { ...servicesFor(store, client, account), heldRows, signal, prompter: undefined }
        await store.ledger.recover(systemClock.now())
        const { batch, row } = await findOrder(store, orderId)
        requireDecidable(services, batch, row)
        if (answer.kind !== 'order') await recordAnswer(services, batch, row, answer, undefined)
        else if (batch.kind === 'single')
          await orderSingleAgain(services, batch, row, { ...answer, waitBudgetMs: waitMs })
        else
          throw new UsageError(`batch ${batch.id} is of a file: its rows are ordered by the command line`, {
            hint: `Order it again with: refcheck batch reconcile ${batch.id} --row ${row.row} --confirm-email EMAIL`,
          })
        const orders = await store.ledger.list({ batchId: batch.id })
        const order = orders.find((each) => each.row === row.row)
        if (order === undefined) throw new InternalError(`row ${row.row} of batch ${batch.id} is gone`)
        return toJournaledOrder(order)
      }),
    orders: ({ state } = {}) =>
      call(undefined, async () => {
        await store.ledger.recover(systemClock.now())
        return (await store.ledger.list(state === undefined ? {} : { states: [state] })).map(toJournaledOrder)
      }),
    async close() {
      isClosed = true
      await Promise.allSettled(callsInProgress)
      await store.close()
    },
  }
}

/** Throws an InvalidInputError unless the decision is exactly one of the three answers. */
function checkDecision(decision: Decision): AnswerToRecord {
  if (Object(decision) !== decision) throw invalidOption('decision', 'must be an object')
  const { requestId, confirmEmail, drop }: { requestId?: string; confirmEmail?: string; drop?: true } =
    decision
  if ([requestId, confirmEmail, drop].filter((each) => each !== undefined).length !== 1)
    throw invalidOption('decision', 'must have one of: requestId, confirmEmail, drop')
  if (requestId !== undefined) {
    if (!uuid.safeParse(checkText(requestId, 'requestId')).success)
      throw invalidOption('requestId', 'must be a UUID')
    return { kind: 'has', requestId }
  }
  if (confirmEmail !== undefined)
    return { kind: 'order', confirmedEmail: checkText(confirmEmail, 'confirmEmail') }
  if (drop !== true) throw invalidOption('drop', 'must be true')
  return { kind: 'leave' }
}

async function findOrder(
  { batches }: Pick<Store, 'batches'>,
  { batch_id: batchId, row: number }: Pick<JournaledOrder, 'batch_id' | 'row'>,
): Promise<{ batch: Batch; row: BatchRow }> {
  if (!Number.isSafeInteger(number) || number < 1) throw invalidOption('row', 'must be a whole number from 1')
  const batch = await batches.find(checkText(batchId, 'batch_id'))
  const rows = batch === undefined ? [] : batches.rows(batch.id, { after: number - 1, limit: 1 })
  for await (const row of rows) if (batch !== undefined && row.row === number) return { batch, row }
  throw new NotFoundError(`row ${number} of batch ${batchId} is not in this journal`, {
    hint: 'List the orders with journal.orders().',
  })
}

const systemServices = { clock: systemClock, random: systemRandom }

function checkOptions(options: JournalOptions): { file: string; logFolder: string; account: string } {
  if (Object(options) !== options) throw invalidOption('options', 'must be an object')
  const text = checkText(options.file, 'file')
  if (text.startsWith(':') || text.includes('://')) throw invalidOption('file', 'must be the path of a file')
  const { logFolder = settingsFolder(), account } = options
  if (resolve(checkText(logFolder, 'logFolder')) !== logFolder)
    throw invalidOption('logFolder', 'must be an absolute path')
  return {
    file: resolve(currentFolder(), text),
    logFolder,
    account: account === undefined ? '' : parseAccountName(checkText(account, 'account')),
  }
}

function settingsFolder(): string {
  try {
    return resolvePaths(processEnvironment()).config
  } catch (cause) {
    if (!(cause instanceof NoHomeError || cause instanceof RelativeFolderError)) throw cause
    throw new UsageError('there is no folder for the attempt log', {
      hint: 'Give one as the option logFolder, on a volume that lasts.',
      cause,
    })
  }
}

/** Returns the services that the use cases of orders need, for one client. */
function servicesFor(store: Store, client: Client, account: string): OrderServices {
  const { api, apiKey } = internalsOf(client)
  const { ledger, batches, quota } = store
  const quotaAccount = quota.account(api.baseUrl, apiKey)
  return {
    ...systemServices,
    api,
    ledger,
    batches,
    account,
    governor: createGovernor({
      quota,
      account: quotaAccount,
      windows: windowsFor(api.baseUrl, undefined),
      clock: systemClock,
    }),
    // Schemas are only read for batches.
    schemas: { get: async () => undefined, put: async () => undefined },
  }
}

function toJournaledOrder(order: Submission): JournaledOrder {
  const { attemptedAt } = order
  return {
    batch_id: order.batchId,
    row: order.row,
    state: order.state as OrderState,
    package_id: order.packageId,
    recipient: order.recipient ?? null,
    request_id: order.requestId ?? null,
    attempted_at: attemptedAt === undefined ? null : new Date(attemptedAt).toISOString(),
    reason: order.reason ?? null,
  }
}
