import { signatureHeader } from '../../contract/headers.ts'
import { type Delivery, type Reply, shortly } from '../../domain/webhook/delivery.ts'
import { UnavailableError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { HttpClient } from '../../http/client.ts'

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
    const answer = await http.sendOnce({
      method: 'POST',
      url,
      headers: {
        'content-type': parcel.contentType ?? 'application/json',
        ...(signatures.length > 0 && { [signatureName]: signatures }),
      },
      body,
      chunked,
      signal,
      limits: { totalMs: patienceMs, idleMs: patienceMs, connectMs: patienceMs, maxBytes: 1024 * 1024 },
    })
    const { status, milliseconds } = answer
    return { status, milliseconds, failure: null, reached: true, said: shortly(answer.body, options.secret) }
  } catch (error) {
    signal?.throwIfAborted()
    if (!(error instanceof UnavailableError)) throw error
    // The host stands in front of every message of the wire, and is known here.
    const failure = error.message.replace(`${new URL(url).host}: `, '')
    const reached = 'sent' in error && error.sent === true
    return { status: null, milliseconds: clock.monotonic() - startedAt, failure, reached, said: '' }
  }
}
