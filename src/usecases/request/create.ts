import { newAttempt, sendAttempt, type OrderServices, prove, settle } from './send.ts'
import type { RequestBody } from '../../contract/request-body.ts'
import { quotaUsedUp } from '../../domain/quota/windows.ts'
import type { Created, CreateOptions } from '../../domain/request/order.ts'
import { changedElsewhere, backoffMs, type Outcome, known } from '../../domain/submission/outcome.ts'
import { refusedOrder, settleHint, stopMessage } from '../../domain/submission/duplicate.ts'
import { mayBeAsked, type Stop } from '../../domain/submission/conflicts.ts'
import type { Attempt, RowVersion, BatchRef, NewBatch } from '../../domain/submission/submission.ts'
import type { ErrorDetails, RefcheckError } from '../../errors/base.ts'
import { InternalError, InterruptedError, OutcomeUnknownError, ThrottledError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'

const untouched = 'interrupted; nothing was ordered'

export interface OrderOptions extends CreateOptions {
  /** Whether it is to be ordered although somebody similar was; undefined where nobody can be asked. */
  onSimilar?: ((stop: Stop) => Promise<boolean>) | undefined
}

/**
 * Orders one check, at most once (ordering protocol, for a batch of one). Journaled before it is sent
 * and before it is told. Throws
 * - DuplicateError: it was ordered before, or may have been; nothing was sent,
 * - the service's refusal (InvalidInputError with its field, NotFoundError, UnauthenticatedError,
 *   ForbiddenError), ThrottledError or UnavailableError: nothing was ordered, and a new order is free,
 * - OutcomeUnknownError: it may have been ordered; the same order is refused until that is settled,
 * - InterruptedError: `signal` was aborted; the message says what is known,
 * - IoError, UsageError: the store refuses.
 */
export async function createRequest(
  ports: OrderServices,
  order: RequestBody,
  options: OrderOptions,
): Promise<Created> {
  const { ledger, clock, random, signal, onEvent } = ports
  if (signal?.aborted) throw new InterruptedError(untouched)
  const batch = { id: random.uuid(), kind: 'single' } as const
  const hold = await ledger.hold(batch)
  if (hold === undefined) throw new InternalError('a new batch is held by somebody else')
  try {
    const submissions = await ledger.recover(clock.now())
    if (submissions.length > 0) onEvent?.({ name: 'recovered', submissions })
    const added = await add(ports, batch, order, options)
    return await sendUntilSettled(ports, added, order, options)
  } finally {
    await hold.release()
  }
}

async function add(
  ports: OrderServices,
  batch: { id: string; kind: 'single' },
  order: RequestBody,
  options: OrderOptions,
): Promise<RowVersion> {
  const { ledger } = ports
  const newBatch = singleOrder(ports, batch, order)
  const shown: Stop['order'][] = []
  for (let stop = await ledger.add(newBatch, options); stop !== undefined;) {
    await requireYes(ports, stop, options)
    shown.push(stop.order)
    stop = await ledger.add(newBatch, { ...options, shown })
  }
  return { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined }
}

/** "Names the earlier order in its one final question (default No)": asked about each that is merely similar. */
async function requireYes(
  { api: { baseUrl } }: OrderServices,
  stop: Stop,
  { onSimilar }: OrderOptions,
): Promise<void> {
  if (!mayBeAsked(stop) || onSimilar === undefined || !(await onSimilar(stop)))
    throw refusedOrder(stop, baseUrl)
}

/** Only where it is certain that nothing was created is there another attempt. */
async function sendUntilSettled(
  ports: OrderServices,
  added: RowVersion,
  order: RequestBody,
  { waitBudgetMs }: CreateOptions,
): Promise<Created> {
  const { clock, signal, onEvent } = ports
  const deadline = clock.monotonic() + waitBudgetMs
  let version = added
  for (let attempt = 1; ; attempt += 1) {
    if (signal?.aborted) throw await cancelled(ports, version, new InterruptedError(untouched))
    const begun = await begin(ports, version, deadline)
    const tried = { attempt: begun, outcome: await sendAttempt(ports, begun) }
    const settled = await settle(ports, tried)
    const { outcome } = settled
    version = settled.version
    switch (outcome.kind) {
      case 'accepted':
        return created(ports, version, outcome)
      case 'rejected':
        throw interruption(ports, outcome) ?? outcome.error
      case 'unknown':
        return await proveOrGiveUp(ports, version, order, outcome)
      case 'halted':
        throw await cancelled(ports, version, interruption(ports, outcome) ?? outcome.error)
      case 'throttled':
      case 'unsent':
        if (outcome.kind === 'throttled') await ports.governor?.throttled(outcome.seconds, outcome.understood)
        await wait(ports, version, outcome, { attempt, leftMs: deadline - clock.monotonic() })
        onEvent?.({ name: 'retrying', attempt: attempt + 1 })
    }
  }
}

/** "Reserve a place in the quota. In the same transaction `pending → sending`" (ordering protocol, step 1). */
async function begin(ports: OrderServices, version: RowVersion, deadline: number): Promise<Attempt> {
  const { governor, ledger, clock, signal, onEvent } = ports
  for (;;) {
    const fresh = newAttempt(ports)
    const { waitMs, attempt, stop } =
      governor === undefined
        ? { waitMs: 0, attempt: await ledger.begin(version, fresh), stop: undefined }
        : await ledger.beginInQuota(version, fresh, governor.place())
    if (attempt !== undefined) return attempt
    if (stop !== undefined) {
      throw await cancelled(ports, { ...version, state: stop.becomes }, refusedOrder(stop, ports.api.baseUrl))
    }
    if (waitMs === 0) throw changedElsewhere()
    if (clock.monotonic() + waitMs > deadline) throw await cancelled(ports, version, quotaUsedUp(waitMs))
    onEvent?.({ name: 'paced', seconds: waitMs / 1000 })
    try {
      await clock.sleep(waitMs, signal)
    } catch (error) {
      throw await cancelled(ports, version, signal?.aborted ? new InterruptedError(untouched) : error)
    }
  }
}

function created(
  ports: OrderServices,
  version: RowVersion,
  {
    requestId,
    requestStatus,
    halts,
  }: Pick<Extract<Outcome, { kind: 'accepted' }>, 'requestId' | 'requestStatus' | 'halts'>,
): Created {
  const message = `interrupted; the order was accepted as request ${requestId}`
  const interrupted = ports.signal?.aborted ? new InterruptedError(message) : undefined
  return { requestId, status: requestStatus, batchId: version.batchId, interruption: interrupted ?? halts }
}

async function proveOrGiveUp(
  ports: OrderServices,
  version: RowVersion,
  order: RequestBody,
  outcome: Extract<Outcome, { kind: 'unknown' }>,
): Promise<Created> {
  const { offeredId, reason, error } = outcome
  if (offeredId !== undefined && !ports.signal?.aborted) {
    const request = await prove(ports, version, offeredId)
    if (request !== undefined) {
      const { request_id: requestId, status: requestStatus } = request
      return created(ports, version, { requestId, requestStatus })
    }
  }
  const hint = settleHint({ ...version, state: 'unknown', offeredId })
  throw (
    interruption(ports, outcome, { hint, order: { batchId: version.batchId, row: version.row } }) ??
    new OutcomeUnknownError(
      `package ${order.package_id} may or may not have been ordered for "${order.recipient.email}": ${reason}`,
      {
        hint,
        status: outcome.answerStatus,
        order: { batchId: version.batchId, row: version.row },
        cause: error,
      },
    )
  )
}

/** Sleeps until the next attempt may be made; ends the order where that is not allowed or not wanted. */
async function wait(
  ports: OrderServices,
  version: RowVersion,
  outcome: Extract<Outcome, { kind: 'throttled' | 'unsent' }>,
  { attempt, leftMs }: { attempt: number; leftMs: number },
): Promise<void> {
  const { clock, random, signal, onEvent } = ports
  const reason = outcome.error.message
  const interrupted = interruption(ports, outcome)
  if (interrupted !== undefined) throw await cancelled(ports, version, interrupted)
  const waitMs = outcome.kind === 'throttled' ? outcome.seconds * 1000 : backoffMs(attempt, random.fraction())
  const seconds = waitMs / 1000
  if (waitMs > leftMs) {
    const error = outcome.kind === 'throttled' ? throttled(seconds, outcome.error) : outcome.error
    throw await cancelled(ports, version, error)
  }
  if (outcome.kind === 'throttled') {
    onEvent?.({ name: 'waiting', cause: 'throttled', seconds, understood: outcome.understood, reason })
  } else {
    onEvent?.({ name: 'waiting', cause: 'unreachable', seconds, reason })
  }
  try {
    await clock.sleep(waitMs, signal)
  } catch (error) {
    throw await cancelled(ports, version, interruption(ports, outcome) ?? error)
  }
}

function throttled(seconds: number, cause: RefcheckError): ThrottledError {
  return new ThrottledError(cause.message, {
    status: cause.status,
    retryAfter: seconds,
    hint: `Nothing was ordered. Run it again in ${seconds} s, or wait automatically with a longer --timeout.`,
    cause,
  })
}

/**
 * `pending → cancelled`, then the error to throw: a single order that ends without having been made
 * must not stand in the way of the next one.
 */
async function cancelled(ports: OrderServices, version: RowVersion, error: unknown): Promise<unknown> {
  const reason = error instanceof Error ? error.message : 'the order was cancelled'
  const change = { to: 'cancelled', at: ports.clock.now(), reason } as const
  // A row left `pending` is cancelled by the next command, and the error at hand tells more.
  await ports.ledger.move(version, change).catch(() => false)
  return error
}

function interruption(
  { signal }: OrderServices,
  outcome: Outcome,
  details?: ErrorDetails,
): InterruptedError | undefined {
  return signal?.aborted ? new InterruptedError(`interrupted; ${known(outcome)}`, details) : undefined
}

type LookServices = Pick<OrderServices, 'api' | 'ledger' | 'account' | 'clock' | 'random'>

/** What would stand in the way of an order, with nothing ordered and nothing kept. */
export async function lookForOrder(
  ports: LookServices,
  order: RequestBody,
  guard: { allowDuplicate: boolean; allowSimilar: boolean },
): Promise<Stop | undefined> {
  const batch = { id: ports.random.uuid(), kind: 'single' } as const
  return ports.ledger.look(singleOrder(ports, batch, order), guard)
}

/** An order as a batch of one. */
function singleOrder(
  { api: { baseUrl, userEmail }, clock, account }: Pick<LookServices, 'api' | 'clock' | 'account'>,
  batch: BatchRef,
  order: RequestBody,
): NewBatch {
  const { package_id: packageId, recipient } = order
  const body = new TextEncoder().encode(JSON.stringify(order))
  return {
    ...batch,
    addedAt: clock.now(),
    baseUrl,
    userEmail,
    account,
    submissions: [{ packageId, recipient, body }],
  }
}

/**
 * Asks whether to order although somebody similar was (default No; `--yes` never says so): as soon as the person is
 * known, where more is asked, and in the final question of the review where there is one; else by itself. `look`: what stands in an order's way.
 */
export class SimilarQuestion {
  readonly #prompter: Pick<Prompter, 'confirm'> | undefined
  /** What stands in an order's way now. */
  readonly look: (order: RequestBody) => Promise<Stop | undefined>
  #shown: Stop | undefined

  constructor(
    prompter: Pick<Prompter, 'confirm'> | undefined,
    look: (order: RequestBody) => Promise<Stop | undefined>,
  ) {
    this.#prompter = prompter
    this.look = look
  }

  /**
   * As soon as the person is known: throws a DuplicateError where the order cannot be made whatever else is answered.
   * Where more is asked, it asks about somebody similar first; an InterruptedError where that is not to be ordered.
   */
  async early(order: RequestBody, baseUrl: string, isMoreAsked: boolean): Promise<void> {
    const stop = await this.look(order)
    if (stop === undefined) return
    if (!mayBeAsked(stop)) throw refusedOrder(stop, baseUrl)
    if (!isMoreAsked) return
    const question = { message: `${sentence(stop)} Go on all the same?`, isGrave: true }
    if ((await this.#prompter?.confirm(question)) !== true)
      throw new InterruptedError('cancelled; nothing was ordered')
  }

  /** For the final question of the review. */
  async doubt(order: RequestBody): Promise<string | undefined> {
    const stop = await this.look(order)
    this.#shown = stop !== undefined && mayBeAsked(stop) ? stop : undefined
    return this.#shown && sentence(this.#shown)
  }

  /** Whether the order is to be made; what the review has shown is not asked again. */
  async isConfirmed(stop: Stop): Promise<boolean> {
    if (this.#shown !== undefined && isSame(this.#shown, stop)) return true
    const question = { message: `${sentence(stop)} Order anyway?`, initial: false, isGrave: true }
    return (await this.#prompter?.confirm(question)) === true
  }
}

function isSame(one: Stop, other: Stop): boolean {
  return (
    one.order.batchId === other.order.batchId &&
    one.order.row === other.order.row &&
    one.reason === other.reason
  )
}

function sentence(stop: Stop): string {
  const text = stopMessage(stop)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
