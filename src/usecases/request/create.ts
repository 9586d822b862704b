import { changedElsewhereError } from '../../domain/submission/states.ts'
import type { OrderServices } from './send.ts'
import { runSingle, type SingleRun } from '../batch/runner.ts'
import type { RequestBody } from '../../contract/request.ts'
import type { Created, CreateOptions } from '../../domain/request/result.ts'
import { type Outcome, outcomeText } from '../../domain/submission/outcome.ts'
import {
  conflictInError,
  duplicateError,
  reconcileHint,
  conflictMessage,
  repeatedOrderText,
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
import { isSamePerson } from '../../domain/submission/identity.ts'
import { localTime } from '../../domain/wording/time.ts'
import { capitalize, personName } from '../../domain/wording/text.ts'
import type { Prompter } from '../../prompt/prompter.ts'

const nothingOrderedMessage = 'interrupted; nothing was ordered'

export interface OrderOptions extends CreateOptions {
  /** Asks whether to order although a similar person was ordered; undefined without a terminal. */
  onSimilar?: ((conflict: Conflict) => Promise<boolean>) | undefined
}

/**
 * Orders one check, at most once (src/docs/ordering.md, section 2). The order is journaled before it is sent and its
 * outcome before it is printed. Throws
 * - DuplicateError: it was ordered before, or may have been; nothing was sent,
 * - the service's refusal (InvalidInputError with its field, NotFoundError, UnauthenticatedError, ForbiddenError),
 * ThrottledError or UnavailableError: nothing was ordered, and the order can be made again,
 * - OutcomeUnknownError: it may have been ordered; the same order is refused until the row is reconciled,
 * - InterruptedError: `signal` was aborted; the message states whether it was ordered,
 * - IoError, UsageError: the store refuses the order.
 */
export async function createRequest(
  ports: OrderServices,
  order: RequestBody,
  options: OrderOptions,
): Promise<Created> {
  const { ledger, clock, random, signal, onEvent } = ports
  if (signal?.aborted) throw new InterruptedError(nothingOrderedMessage)
  const batch = { id: random.uuid(), kind: 'single' } as const
  const lease = await ledger.acquire(batch)
  if (lease === undefined) throw new InternalError('a new batch is held by somebody else')
  try {
    const submissions = await ledger.recover(clock.now())
    if (submissions.length > 0) onEvent?.({ name: 'recovered', submissions })
    await addOrder(ports, batch, order, options)
    return await sendSingle(ports, batch.id, order, { waitBudgetMs: options.waitBudgetMs })
  } finally {
    await lease.release()
  }
}

async function addOrder(
  ports: OrderServices,
  batch: { id: string; kind: 'single' },
  order: RequestBody,
  options: OrderOptions,
): Promise<void> {
  const { ledger } = ports
  const newBatch = singleOrder(ports, batch, order)
  const released: Conflict['order'][] = []
  for (let conflict = await ledger.add(newBatch, options); conflict !== undefined;) {
    await requireConfirmation(ports, conflict, options)
    released.push(conflict.order)
    conflict = await ledger.add(newBatch, { ...options, released })
  }
}

/**
 * Asks about each earlier order for a similar person. Throws a DuplicateError unless the user confirms the
 * order.
 */
async function requireConfirmation(
  { api: { baseUrl } }: OrderServices,
  conflict: Conflict,
  { onSimilar }: OrderOptions,
): Promise<void> {
  if (!canBeConfirmed(conflict) || onSimilar === undefined) throw duplicateError(conflict, baseUrl)
  if (await onSimilar(conflict)) return
  const { message } = duplicateError(conflict, baseUrl)
  throw new DuplicateError(message, {
    hint: 'Nothing was ordered.',
    order: conflictInError(conflict),
    isUserChoice: true,
  })
}

/**
 * Sends a pending single order and returns the accepted one. The caller has the lease of its batch. `attemptId`: the
 * earlier attempt of the order. Throws as `createRequest` does.
 */
export async function sendSingle(
  ports: OrderServices,
  batchId: string,
  order: Pick<RequestBody, 'package_id' | 'recipient'>,
  { waitBudgetMs, attemptId }: { waitBudgetMs: number; attemptId?: string | undefined },
): Promise<Created> {
  const run = await runSingle(ports, batchId, waitBudgetMs, attemptId)
  const { outcome, conflict, row } = run
  if (conflict !== undefined) {
    throw await cancelRow(ports, row, duplicateError(conflict, ports.api.baseUrl))
  }
  switch (outcome?.kind) {
    case 'accepted': {
      const { requestId, requestStatus: status, haltError } = outcome
      return { requestId, status, batchId, interruption: interruptionError(ports, outcome) ?? haltError }
    }
    case 'rejected':
      throw interruptionError(ports, outcome) ?? outcome.error
    case 'unknown':
      throw unknownOutcomeError(ports, batchId, order, outcome)
    case 'halted':
      throw await cancelRow(ports, row, interruptionError(ports, outcome) ?? outcome.error)
    case 'throttled':
    case 'unsent':
    case undefined:
      throw await cancelRow(ports, row, interruptionError(ports, outcome) ?? unsentError(run))
  }
}

function unknownOutcomeError(
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
    interruptionError(ports, outcome, { hint, order }) ??
    new OutcomeUnknownError(message, { hint, status, order, cause })
  )
}

/** Returns the error because of which the order was not sent, or not sent again. */
function unsentError({ end, outcome }: SingleRun): RefcheckError {
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
 * Cancels the row and returns the error to throw: a single order that was not made must not conflict with the next
 * one.
 */
async function cancelRow(
  { ledger, clock }: OrderServices,
  row: RowVersion,
  error: RefcheckError,
): Promise<RefcheckError> {
  const change = { to: 'cancelled', at: clock.now(), reason: error.message } as const
  // If this fails, the next command cancels the row. `error` is more useful than an error of the store.
  await ledger.move(row, change).catch(() => false)
  return error
}

function interruptionError(
  { signal }: OrderServices,
  outcome: Outcome | undefined,
  details?: ErrorDetails,
): InterruptedError | undefined {
  if (signal?.aborted !== true) return undefined
  return new InterruptedError(
    outcome === undefined ? nothingOrderedMessage : `interrupted; ${outcomeText(outcome)}`,
    details,
  )
}

/** Returns the order as a new batch of one row. */
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

/** Conflicts that flags of the command line allow. */
interface Allowances {
  allowDuplicate: boolean
  allowSimilar: boolean
}

/**
 * Asks whether to order although a similar person was ordered (default No; `--yes` does not confirm it): as soon as
 * the person is known if more questions follow, in the final question of the review if there is one, or else in a
 * separate question.
 */
export class SimilarQuestion {
  readonly #openServices: () => Promise<OrderServices>
  readonly #prompter: Prompter | undefined
  readonly #allowances: Allowances
  #shownConflict: Conflict | undefined
  /** Whether the user has confirmed the order of a similar person. */
  #isSimilarConfirmed = false

  constructor(
    openServices: () => Promise<OrderServices>,
    prompter: Prompter | undefined,
    allowances: Allowances,
  ) {
    this.#openServices = openServices
    this.#prompter = prompter
    this.#allowances = allowances
  }

  /** Returns the conflict that an order would have now. Orders and stores nothing. */
  async previewConflict(order: RequestBody): Promise<Conflict | undefined> {
    const services = await this.#openServices()
    return services.ledger.previewConflict(unstoredOrder(services, order), this.#allowances)
  }

  /**
   * Called as soon as the person is known. Throws a DuplicateError if no other answer could make the order possible.
   * If more questions follow, asks about a similar person first; throws an InterruptedError if the user declines.
   */
  async checkEarly(order: RequestBody, baseUrl: string, isMoreAsked: boolean): Promise<void> {
    const conflict = await this.previewConflict(order)
    if (conflict === undefined) return
    if (!canBeConfirmed(conflict)) throw duplicateError(conflict, baseUrl)
    if (!isMoreAsked) return
    const sentences = [await this.#describeHeldRow(order), conflictSentence(conflict), 'Go on all the same?']
    const message = sentences.filter((each) => each !== undefined).join(' ')
    const question = { message, isDestructive: true }
    if ((await this.#prompter?.confirm(question)) !== true)
      throw new InterruptedError('cancelled; nothing was ordered')
  }

  /** Returns the warning for the final question of the review; undefined if there is none. */
  async orderWarning(order: RequestBody): Promise<string | undefined> {
    const conflict = await this.previewConflict(order)
    this.#shownConflict = conflict !== undefined && canBeConfirmed(conflict) ? conflict : undefined
    const repeatedOrderSentence = await this.describeRepeatedOrder(order)
    const heldSentence = await this.#describeHeldRow(order)
    if (conflict !== undefined || repeatedOrderSentence !== undefined || heldSentence !== undefined) {
      const conflictText = this.#shownConflict && conflictSentence(this.#shownConflict)
      const sentences = [repeatedOrderSentence, heldSentence, conflictText]
      return sentences.filter((each) => each !== undefined).join(' ') || undefined
    }
    const services = await this.#openServices()
    // Finds a person with the same full name and another e-mail and phone.
    const orderedAt = await services.ledger.findNamesake(unstoredOrder(services, order))
    const name = personName(order.recipient)
    return orderedAt === undefined
      ? undefined
      : `A person named ${name} was ordered ${localTime(orderedAt)} with another e-mail and phone.`
  }

  /** Returns a sentence about the order of the same person that --allow-duplicate repeats; undefined if there is none. */
  async describeRepeatedOrder(order: RequestBody): Promise<string | undefined> {
    if (!this.#allowances.allowDuplicate) return undefined
    const services = await this.#openServices()
    const allowances = { allowDuplicate: false, allowSimilar: true }
    const conflict = await services.ledger.previewConflict(unstoredOrder(services, order), allowances)
    if (conflict === undefined || conflict.order.state !== 'accepted') return undefined
    return conflict.reason === 'unmatched_request'
      ? conflictSentence(conflict)
      : repeatedOrderText(conflict, order.recipient)
  }

  /** Asks whether to order in spite of the conflict, unless the review has shown it. */
  async isConfirmed(conflict: Conflict, order: RequestBody): Promise<boolean> {
    const isShown = this.#shownConflict !== undefined && isSameConflict(this.#shownConflict, conflict)
    const sentences = [await this.#describeHeldRow(order), conflictSentence(conflict), 'Order anyway?']
    const message = sentences.filter((each) => each !== undefined).join(' ')
    this.#isSimilarConfirmed =
      isShown || (await this.#prompter?.confirm({ message, initial: false, isDestructive: true })) === true
    return this.#isSimilarConfirmed
  }

  /** Returns a sentence about a held row of the same person and package; undefined if there is none. */
  async #describeHeldRow({
    recipient: person,
    package_id: packageId,
  }: RequestBody): Promise<string | undefined> {
    const { ledger, api, account = '' } = await this.#openServices()
    const heldRows = await ledger.list({ email: person.email, account, states: ['held'] })
    const row = heldRows.find(
      ({ recipient, ...each }) =>
        recipient !== undefined &&
        isSamePerson(recipient, person) &&
        each.packageId === packageId &&
        each.baseUrl === api.baseUrl,
    )
    return row === undefined
      ? undefined
      : `${personName(person)} is held in a batch and waits for a decision: refcheck batch release ${row.batchId.slice(0, 8)}.`
  }

  /** Returns the flags with which the same order needs no question about duplicates and similar people. */
  allowFlags(): string[] {
    const { allowDuplicate, allowSimilar } = this.#allowances
    const allowsSimilar = allowSimilar || this.#isSimilarConfirmed
    return [...(allowDuplicate ? ['--allow-duplicate'] : []), ...(allowsSimilar ? ['--allow-similar'] : [])]
  }
}

const unstoredOrder = (services: OrderServices, order: RequestBody): NewBatch =>
  singleOrder(services, { id: services.random.uuid(), kind: 'single' }, order)

function isSameConflict(one: Conflict, other: Conflict): boolean {
  return (
    one.order.batchId === other.order.batchId &&
    one.order.row === other.order.row &&
    one.reason === other.reason
  )
}

function conflictSentence(conflict: Conflict): string {
  return `${capitalize(conflictMessage(conflict))}.`
}
