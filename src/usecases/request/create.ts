import type { OrderServices } from './send.ts'
import { runSingle, type SingleRun } from '../batch/runner.ts'
import type { RequestBody } from '../../contract/request.ts'
import type { Created, CreateOptions } from '../../domain/request/result.ts'
import { changedElsewhereError, type Outcome, outcomeText } from '../../domain/submission/outcome.ts'
import {
  conflictingOrder,
  refusedOrder,
  reconcileHint,
  conflictMessage,
} from '../../domain/submission/duplicate.ts'
import { canBeConfirmed, type Conflict } from '../../domain/submission/conflicts.ts'
import type { BatchRef, NewBatch, RowVersion } from '../../domain/submission/submission.ts'
import {
  type ErrorDetails,
  type RefcheckError,
  DuplicateError,
  InternalError,
  InterruptedError,
  OutcomeUnknownError,
  ThrottledError,
} from '../../errors/kinds.ts'
import { localTime } from '../../domain/wording/time.ts'
import { personName } from '../../domain/wording/text.ts'
import type { Prompter } from '../../prompt/prompter.ts'

const untouched = 'interrupted; nothing was ordered'

export interface OrderOptions extends CreateOptions {
  /** Whether it is to be ordered although a similar person was; undefined without a terminal. */
  onSimilar?: ((stop: Conflict) => Promise<boolean>) | undefined
}

/**
 * Orders one check, at most once (src/docs/ordering.md, section 2). Journaled before it is sent
 * and before it is printed. Throws
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
  const lock = await ledger.acquire(batch)
  if (lock === undefined) throw new InternalError('a new batch is held by somebody else')
  try {
    const submissions = await ledger.recover(clock.now())
    if (submissions.length > 0) onEvent?.({ name: 'recovered', submissions })
    await add(ports, batch, order, options)
    return await sendSingle(ports, batch.id, order, { waitBudgetMs: options.waitBudgetMs })
  } finally {
    await lock.release()
  }
}

async function add(
  ports: OrderServices,
  batch: { id: string; kind: 'single' },
  order: RequestBody,
  options: OrderOptions,
): Promise<void> {
  const { ledger } = ports
  const newBatch = singleOrder(ports, batch, order)
  const shown: Conflict['order'][] = []
  for (let stop = await ledger.add(newBatch, options); stop !== undefined;) {
    await requireConfirmation(ports, stop, options)
    shown.push(stop.order)
    stop = await ledger.add(newBatch, { ...options, shown })
  }
}

/** "Names the earlier order in its one final question (default No)": asked about each that is merely similar. */
async function requireConfirmation(
  { api: { baseUrl } }: OrderServices,
  stop: Conflict,
  { onSimilar }: OrderOptions,
): Promise<void> {
  if (!canBeConfirmed(stop) || onSimilar === undefined) throw refusedOrder(stop, baseUrl)
  if (await onSimilar(stop)) return
  const { message } = refusedOrder(stop, baseUrl)
  throw new DuplicateError(message, {
    hint: 'Nothing was ordered.',
    order: conflictingOrder(stop),
    isChosen: true,
  })
}

/** Sends an order that is pending by the runner of files, and answers what came of it. The caller holds its batch. `attemptId`: of its earlier attempt. */
export async function sendSingle(
  ports: OrderServices,
  batchId: string,
  order: Pick<RequestBody, 'package_id' | 'recipient'>,
  { waitBudgetMs, attemptId }: { waitBudgetMs: number; attemptId?: string | undefined },
): Promise<Created> {
  const run = await runSingle(ports, batchId, waitBudgetMs, attemptId)
  const { outcome, conflict, row } = run
  if (conflict !== undefined) {
    throw await cancelled(ports, row, refusedOrder(conflict, ports.api.baseUrl))
  }
  switch (outcome?.kind) {
    case 'accepted': {
      const { requestId, requestStatus: status, halts } = outcome
      return { requestId, status, batchId, interruption: interruption(ports, outcome) ?? halts }
    }
    case 'rejected':
      throw interruption(ports, outcome) ?? outcome.error
    case 'unknown':
      throw outcomeUnknown(ports, batchId, order, outcome)
    case 'halted':
      throw await cancelled(ports, row, interruption(ports, outcome) ?? outcome.error)
    case 'throttled':
    case 'unsent':
    case undefined:
      throw await cancelled(ports, row, interruption(ports, outcome) ?? whyNotSent(run))
  }
}

function outcomeUnknown(
  ports: OrderServices,
  batchId: string,
  { package_id: packageId, recipient }: Pick<RequestBody, 'package_id' | 'recipient'>,
  outcome: Extract<Outcome, { kind: 'unknown' }>,
): RefcheckError {
  const { offeredId, reason, answerStatus: status, error: cause } = outcome
  const order = { batchId, row: 1 }
  const hint = reconcileHint({ ...order, state: 'unknown', offeredId })
  const message = `package ${packageId} may or may not have been ordered for "${recipient.email}": ${reason}`
  return (
    interruption(ports, outcome, { hint, order }) ??
    new OutcomeUnknownError(message, { hint, status, order, cause })
  )
}

/** Why nothing was sent, or not again. */
function whyNotSent({ end, outcome }: SingleRun): RefcheckError {
  if (end.kind !== 'halted') return changedElsewhereError()
  if (outcome?.kind !== 'throttled' || end.error !== outcome.error) return end.error
  const { seconds, error: cause } = outcome
  return new ThrottledError(cause.message, {
    status: cause.status,
    retryAfter: seconds,
    hint: `Nothing was ordered. Run it again in ${seconds} s, or wait automatically with a longer --timeout.`,
    cause,
  })
}

/**
 * Cancels the row and answers the error to throw: a single order that ends without having been made must not conflict with
 * the next one.
 */
async function cancelled(
  { ledger, clock }: OrderServices,
  left: RowVersion,
  error: RefcheckError,
): Promise<RefcheckError> {
  const change = { to: 'cancelled', at: clock.now(), reason: error.message } as const
  // A row left `pending` is cancelled by the next command, and the error at hand tells more.
  await ledger.move(left, change).catch(() => false)
  return error
}

function interruption(
  { signal }: OrderServices,
  outcome: Outcome | undefined,
  details?: ErrorDetails,
): InterruptedError | undefined {
  if (signal?.aborted !== true) return undefined
  return new InterruptedError(
    outcome === undefined ? untouched : `interrupted; ${outcomeText(outcome)}`,
    details,
  )
}

/** An order as a batch of one. */
function singleOrder(
  { api: { baseUrl, userEmail }, clock, account }: OrderServices,
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

/** What the flags allow. */
interface Allowances {
  allowDuplicate: boolean
  allowSimilar: boolean
}

/**
 * Asks whether to order although a similar person was (default No; `--yes` does not confirm it): as soon as the person is
 * known, where more is asked, and in the final question of the review where there is one; else by itself.
 */
export class SimilarQuestion {
  readonly #services: () => Promise<OrderServices>
  readonly #prompter: Prompter | undefined
  readonly #guard: Allowances
  #shown: Conflict | undefined

  constructor(services: () => Promise<OrderServices>, prompter: Prompter | undefined, guard: Allowances) {
    this.#services = services
    this.#prompter = prompter
    this.#guard = guard
  }

  /** The conflict that an order has now, with nothing ordered and nothing stored. */
  async previewConflict(order: RequestBody): Promise<Conflict | undefined> {
    const services = await this.#services()
    return services.ledger.previewConflict(unstored(services, order), this.#guard)
  }

  /**
   * As soon as the person is known: throws a DuplicateError where the order cannot be made whatever else is answered.
   * Where more is asked, it asks about a similar person first; an InterruptedError where that is not to be ordered.
   */
  async early(order: RequestBody, baseUrl: string, isMoreAsked: boolean): Promise<void> {
    const stop = await this.previewConflict(order)
    if (stop === undefined) return
    if (!canBeConfirmed(stop)) throw refusedOrder(stop, baseUrl)
    if (!isMoreAsked) return
    const question = { message: `${sentence(stop)} Go on all the same?`, isGrave: true }
    if ((await this.#prompter?.confirm(question)) !== true)
      throw new InterruptedError('cancelled; nothing was ordered')
  }

  /** For the final question of the review. */
  async similarityWarning(order: RequestBody): Promise<string | undefined> {
    const stop = await this.previewConflict(order)
    this.#shown = stop !== undefined && canBeConfirmed(stop) ? stop : undefined
    if (stop !== undefined) return this.#shown && sentence(this.#shown)
    const services = await this.#services()
    // A person of the same full name and another e-mail and phone.
    const at = await services.ledger.findNamesake(unstored(services, order))
    const name = personName(order.recipient)
    return at === undefined
      ? undefined
      : `A person named ${name} was ordered ${localTime(at)} with another e-mail and phone.`
  }

  /** Whether the order is to be made; what the review has shown is not asked again. */
  async isConfirmed(stop: Conflict): Promise<boolean> {
    if (this.#shown !== undefined && isSame(this.#shown, stop)) return true
    const question = { message: `${sentence(stop)} Order anyway?`, initial: false, isGrave: true }
    return (await this.#prompter?.confirm(question)) === true
  }
}

const unstored = (services: OrderServices, order: RequestBody): NewBatch =>
  singleOrder(services, { id: services.random.uuid(), kind: 'single' }, order)

function isSame(one: Conflict, other: Conflict): boolean {
  return (
    one.order.batchId === other.order.batchId &&
    one.order.row === other.order.row &&
    one.reason === other.reason
  )
}

function sentence(stop: Conflict): string {
  const text = conflictMessage(stop)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
