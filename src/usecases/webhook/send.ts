import { signatureHeader } from '../../contract/headers.ts'
import { sign, signingKey } from '../../contract/signature.ts'
import {
  type Delivery,
  type DeliveryPlan,
  eventName,
  eventText,
  isAccepted,
  type Reply,
  type SentDelivery,
  excerptOf,
  shownUrl,
  unreachable,
} from '../../domain/webhook/delivery.ts'
import { IncompleteError, UnavailableError, UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'
import type { HttpClient } from '../../http/client.ts'

interface SendOptions extends Omit<DeliveryOptions, 'patienceMs'> {
  random: Random
  status?: string | undefined
  requestId?: string | undefined
  errorReason?: string | undefined
  /** The same event so many times. */
  times: number
  /** COMPLETED, PARTIAL, IN_PROGRESS of one request, in this order. */
  outOfOrder: boolean
  /** A signature of the right form made without the secret. */
  badSignature: boolean
}

/** "within 10 seconds" ("Events", rule 2). */
const acknowledgementMs = 10_000

const wrongOrder = ['COMPLETED', 'PARTIAL', 'IN_PROGRESS']

const usualReason = 'The request could not be processed.'

/**
 * Sends made-up events to a receiver, one after the other, each once. A refusal fails it (a bad
 * signature's acceptance does); without a server it stops.
 */
export async function sendEvents(options: SendOptions): Promise<DeliveryPlan> {
  const { url, secret, badSignature, random } = options
  check(options)
  const key = signingKey(badSignature ? random.bytes(32) : secret)
  const request_id = options.requestId ?? random.uuid()
  const statuses = options.outOfOrder ? wrongOrder : [options.status ?? 'COMPLETED']
  const deliveries: SentDelivery[] = []
  for (const status of statuses) {
    const reason = status === 'ERROR' ? (options.errorReason ?? usualReason) : undefined
    const body = Buffer.from(eventText({ event: eventName, request_id, status, error_reason: reason }))
    for (let time = 0; time < options.times; time += 1) {
      const reply = await postEvent(
        { body, signatures: [sign(body, key)] },
        { ...options, patienceMs: acknowledgementMs },
      )
      deliveries.push({
        request_id,
        status,
        signature: badSignature ? 'bad' : 'good',
        answered: reply.status,
        milliseconds: Math.round(reply.milliseconds),
        accepted: isAccepted(reply),
        said: reply.failure ?? reply.excerpt,
      })
      if (reply.status === null) return { to: shownUrl(url), deliveries, failure: unreachable(url, reply) }
    }
  }
  return { to: shownUrl(url), deliveries, failure: failureOf(deliveries, badSignature) }
}

function check({ status, errorReason, outOfOrder }: SendOptions): void {
  if (outOfOrder && status !== undefined) {
    throw new UsageError('--status and --out-of-order cannot be combined', {
      hint: `--out-of-order sends ${wrongOrder.join(', ')} of one request.`,
    })
  }
  if (errorReason !== undefined && status !== 'ERROR') {
    throw new UsageError('--error-reason requires --status ERROR', {
      hint: 'The service sends a reason only when the status is ERROR.',
    })
  }
}

function failureOf(deliveries: readonly SentDelivery[], badSignature: boolean): IncompleteError | undefined {
  const wrong = deliveries.filter(({ accepted }) => (badSignature ? accepted : !accepted)).length
  if (wrong === 0) return undefined
  const of = deliveries.length === 1 ? 'the event' : `${wrong} of ${deliveries.length} events`
  return badSignature
    ? new IncompleteError(`the receiver accepted ${of} with a bad signature`, {
        hint: 'Anybody could send it events. It has to verify the signature over the exact bytes.',
      })
    : new IncompleteError(`the receiver refused ${of}`, {
        hint: 'It has to answer 2xx. Check that it has the same secret, and find the cause with: refcheck webhook check-receiver URL',
      })
}

export interface DeliveryOptions {
  http: HttpClient
  clock: Clock
  /** https, or http to this machine. */
  url: string
  /** Milliseconds for the whole exchange. */
  patienceMs: number
  /** Never repeated, should the receiver say it back. */
  secret: string
  signal?: AbortSignal | undefined
}

/** Posts one parcel on a connection of its own, as the service does. Throws the signal's reason alone. */
export async function postEvent(parcel: Delivery, options: DeliveryOptions): Promise<Reply> {
  const { http, clock, url, patienceMs, signal } = options
  const { body, signatures, chunked, signatureName = signatureHeader } = parcel
  const startedAt = clock.monotonic()
  try {
    const headers = signatures.length > 0 ? { [signatureName]: signatures } : {}
    const limits = {
      totalMs: patienceMs,
      idleMs: patienceMs,
      connectMs: patienceMs,
      maxBytes: 1024 * 1024,
    }
    const wire = { url, signal, limits }
    const answer =
      parcel.method === 'GET'
        ? await http.send({ ...wire, method: 'GET', headers })
        : await http.sendOnce({
            ...wire,
            method: 'POST',
            headers: { 'content-type': parcel.contentType ?? 'application/json', ...headers },
            body,
            chunked,
          })
    const { status, milliseconds } = answer
    const excerpt = excerptOf(answer.body, options.secret)
    return { status, milliseconds, failure: null, reached: true, excerpt }
  } catch (error) {
    signal?.throwIfAborted()
    if (!(error instanceof UnavailableError)) throw error
    // The host stands in front of every message of the wire, and is known here.
    const failure = error.message.replace(`${new URL(url).host}: `, '')
    const reached = 'sent' in error && error.sent === true
    return { status: null, milliseconds: clock.monotonic() - startedAt, failure, reached, excerpt: '' }
  }
}
