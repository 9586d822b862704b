import { signatureHeader } from '../../contract/headers.ts'
import { sign, signingKey } from '../../contract/signature.ts'
import {
  type Delivery,
  type SendingResult,
  eventName,
  eventText,
  isAccepted,
  type Reply,
  type SentDelivery,
  excerptOf,
  withoutQuery,
  createUnreachableError,
} from '../../domain/webhook/delivery.ts'
import { IncompleteError, UnavailableError, UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'
import type { HttpClient } from '../../http/client.ts'

interface SendOptions extends DeliveryOptions {
  random: Random
  /** Status in the event; COMPLETED by default. */
  status?: string | undefined
  requestId?: string | undefined
  errorReason?: string | undefined
  /** Number of times that the event is sent. */
  times: number
  /** Whether COMPLETED, PARTIAL and IN_PROGRESS of one request are sent, in this order. */
  outOfOrder: boolean
  /** Whether the signature, in the right form, is made with another secret. */
  badSignature: boolean
}

/** "within 10 seconds" (API document, "Events", rule 2). */
export const acknowledgementMs = 10_000

const outOfOrderStatuses = ['COMPLETED', 'PARTIAL', 'IN_PROGRESS']

const defaultReason = 'The request could not be processed.'

/**
 * Sends made-up events to a receiver, one after another and without retries. The result is a failure if the receiver
 * refuses an event or accepts a bad signature. Stops if no server responds.
 */
export async function sendEvents(options: SendOptions): Promise<SendingResult> {
  const { url, secret, badSignature, random } = options
  requireValidOptions(options)
  const key = signingKey(badSignature ? random.bytes(32) : secret)
  const request_id = options.requestId ?? random.uuid()
  const statuses = options.outOfOrder ? outOfOrderStatuses : [options.status ?? 'COMPLETED']
  const deliveries: SentDelivery[] = []
  for (const status of statuses) {
    const reason = status === 'ERROR' ? (options.errorReason ?? defaultReason) : undefined
    const body = Buffer.from(eventText({ event: eventName, request_id, status, error_reason: reason }))
    for (let count = 0; count < options.times; count += 1) {
      const reply = await postEvent({ body, signatures: [sign(body, key)] }, options)
      deliveries.push({
        request_id,
        status,
        signature: badSignature ? 'bad' : 'good',
        answered: reply.status,
        milliseconds: Math.round(reply.milliseconds),
        accepted: isAccepted(reply),
        said: reply.failure ?? reply.excerpt,
      })
      if (reply.status === null)
        return { to: withoutQuery(url), deliveries, failure: createUnreachableError(url, reply) }
    }
  }
  return { to: withoutQuery(url), deliveries, failure: findFailure(deliveries, badSignature) }
}

function requireValidOptions({ status, errorReason, outOfOrder }: SendOptions): void {
  if (outOfOrder && status !== undefined) {
    throw new UsageError('--status and --out-of-order cannot be combined', {
      hint: `--out-of-order sends ${outOfOrderStatuses.join(', ')} of one request.`,
    })
  }
  if (errorReason !== undefined && status !== 'ERROR') {
    throw new UsageError('--error-reason requires --status ERROR', {
      hint: 'The service sends a reason only when the status is ERROR.',
    })
  }
}

function findFailure(
  deliveries: readonly SentDelivery[],
  badSignature: boolean,
): IncompleteError | undefined {
  const wrongCount = deliveries.filter(({ accepted }) => (badSignature ? accepted : !accepted)).length
  if (wrongCount === 0) return undefined
  const eventsText = deliveries.length === 1 ? 'the event' : `${wrongCount} of ${deliveries.length} events`
  return badSignature
    ? new IncompleteError(`the receiver accepted ${eventsText} with a bad signature`, {
        hint: 'Anybody could send it events. It has to verify the signature over the exact bytes.',
      })
    : new IncompleteError(`the receiver refused ${eventsText}`, {
        hint: 'It has to answer 2xx. Check that it has the same secret, and find the cause with: refcheck webhook check-receiver URL',
      })
}

export interface DeliveryOptions {
  http: HttpClient
  clock: Clock
  /** An https URL, or an http URL of this machine. */
  url: string
  /** Maximum time in milliseconds for the whole exchange; the 10 seconds of the API document by default. */
  timeoutMs?: number | undefined
  /** The secret, which is removed from the excerpt of a response. */
  secret: string
  signal?: AbortSignal | undefined
}

/**
 * Posts a delivery on a new connection, as the service does. If there is no answer, `failure` is the reason.
 * If the signal ended the exchange, throws its reason. Rethrows every other error that is not an UnavailableError.
 */
export async function postEvent(delivery: Delivery, options: DeliveryOptions): Promise<Reply> {
  const { http, clock, url, timeoutMs = acknowledgementMs, signal } = options
  const { body, signatures, chunked, signatureName = signatureHeader } = delivery
  const startedAt = clock.monotonic()
  try {
    const headers = signatures.length > 0 ? { [signatureName]: signatures } : {}
    const limits = {
      totalMs: timeoutMs,
      idleMs: timeoutMs,
      connectMs: timeoutMs,
      maxBytes: 1024 * 1024,
    }
    const requestBase = { url, signal, limits }
    const answer =
      delivery.method === 'GET'
        ? await http.send({ ...requestBase, method: 'GET', headers })
        : await http.sendOnce({
            ...requestBase,
            method: 'POST',
            headers: { 'content-type': delivery.contentType ?? 'application/json', ...headers },
            body,
            chunked,
          })
    const { status, milliseconds } = answer
    const excerpt = excerptOf(answer.body, options.secret)
    return { status, milliseconds, failure: null, reached: true, excerpt }
  } catch (error) {
    signal?.throwIfAborted()
    if (!(error instanceof UnavailableError)) throw error
    // The result contains the host already, so it is removed from the message.
    const failure = error.message.replace(`${new URL(url).host}: `, '')
    const reached = 'sent' in error && error.sent === true
    return { status: null, milliseconds: clock.monotonic() - startedAt, failure, reached, excerpt: '' }
  }
}
