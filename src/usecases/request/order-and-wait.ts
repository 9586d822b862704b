import type { Services } from '../services.ts'
import type { RequestResource } from '../../contract/request.ts'
import { createRequest, type OrderOptions } from './create.ts'
import type { Created, Order } from '../../domain/request/result.ts'
import { checksText } from '../../domain/request/listed-request.ts'
import { RefcheckError, InterruptedError, InvalidInputError } from '../../errors/kinds.ts'
import { loadSchema } from '../form/package.ts'
import type { OrderServices } from './send.ts'
import { waitForRequests, type WaitOptions } from './wait.ts'

export interface OrderAndWaitOptions
  extends OrderServices, Pick<Services, 'waitingApi'>, Pick<OrderOptions, 'onSimilar'> {
  allowDuplicate: boolean
  allowSimilar?: boolean | undefined
  /** Maximum time in milliseconds that retries and waits on a 429 may take together. */
  waitBudgetMs: number
  /** Whether to wait until the request has a final status. */
  shouldWait: boolean
  /**
   * The inbox in which a receiver on this store keeps webhook events. While a receiver runs, a request without new
   * events is read less often.
   */
  inbox?: WaitOptions['inbox']
  /**
   * Reads requests that events name and that this store did not order, so that the order is compared with them. Returns
   * the number of those that were not read.
   */
  readUnmatched?: (() => Promise<number>) | undefined
  onStatus?: ((request: RequestResource) => void) | undefined
  /** Called once the order was accepted, before any wait. */
  onAccepted?: (() => Promise<void>) | undefined
}

export interface FollowedOrder {
  /** `unread`: the number of requests with which the order was not compared; absent if it is 0. */
  result: { request_id: string; status: string; unread?: number }
  /** An error that sets the exit code although the order was accepted. */
  failure: RefcheckError | undefined
}

/** Orders at most once, and waits for the request if `shouldWait` is set. */
export async function placeOrder(order: Order, options: OrderAndWaitOptions): Promise<FollowedOrder> {
  const unread = (await options.readUnmatched?.()) ?? 0
  const created = await createOrExplain(order, options)
  const result = { request_id: created.requestId, status: created.status, ...(unread > 0 && { unread }) }
  await options.onAccepted?.()
  if (created.interruption !== undefined || !options.shouldWait)
    return { result, failure: created.interruption }
  try {
    return await waitForOrder(result, options)
  } catch (error) {
    // The order was accepted, so its id is returned with the error. Only bugs, which are not RefcheckErrors, are thrown.
    return { result, failure: waitError(error, result.request_id, options) }
  }
}

async function waitForOrder(
  result: FollowedOrder['result'],
  options: OrderAndWaitOptions,
): Promise<FollowedOrder> {
  const { requests, failure } = await waitForRequests(options.waitingApi, [result.request_id], {
    goal: 'terminal',
    timeoutMs: Number.POSITIVE_INFINITY,
    clock: options.clock,
    governor: options.governor,
    inbox: options.inbox,
    signal: options.signal,
    onStatus: options.onStatus,
  })
  const [request] = requests
  if (request === undefined) return { result, failure }
  const { status, checks } = request
  const { ledger, clock, waitingApi } = options
  await ledger.recordStatus(waitingApi.baseUrl, result.request_id, status, clock.now(), checksText(checks))
  return { result: { ...result, status }, failure }
}

/** Returns the error that ended a wait. Rethrows bugs, that is, every error that is not a RefcheckError. */
function waitError(error: unknown, requestId: string, { signal }: OrderAndWaitOptions): RefcheckError {
  if (signal?.aborted) {
    return new InterruptedError('interrupted while waiting; the order was accepted', {
      hint: `Continue waiting with: refcheck request wait ${requestId}`,
      cause: error,
    })
  }
  if (error instanceof RefcheckError) return error
  throw error
}

async function createOrExplain(order: Order, options: OrderAndWaitOptions): Promise<Created> {
  try {
    return await createRequest(options, order.body, options)
  } catch (error) {
    if (error instanceof InvalidInputError && error.status === 400) {
      throw await explainRefusal(error, order, options)
    }
    throw error
  }
}

/**
 * Adds a hint if the schema has changed: "If creating a request returns 400 for an unknown or missing field,
 * fetch the schema again" (API document).
 */
async function explainRefusal(
  error: InvalidInputError,
  order: Order,
  { api, schemas, signal }: OrderAndWaitOptions,
): Promise<InvalidInputError> {
  const { id } = order.schema
  const isFieldProblem = error.field?.startsWith('additional_information') ?? false
  if (!isFieldProblem) return error
  try {
    const freshSchema = await loadSchema(id, { api, schemas, refresh: true, signal })
    if (JSON.stringify(freshSchema.fields) === JSON.stringify(order.schema.fields)) return error
  } catch {
    // The refusal is more important than the error of this read.
    return error
  }
  return new InvalidInputError(error.message, {
    status: error.status,
    field: error.field,
    cause: error,
    hint: `Nothing was ordered. The package’s schema has changed and was read again. Show it with: refcheck schema show ${id}`,
  })
}
