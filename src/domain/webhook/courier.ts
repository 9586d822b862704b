import { signatureHeader } from '../../contract/headers.ts'
import { UnavailableError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { HttpClient } from '../../http/client.ts'

/** A delivery as it goes to a receiver, right or wrong. */
export interface Parcel {
  body: Uint8Array
  /** Lines of the signature header; none leaves it out. */
  signatures: string[]
  /** In place of X-Service-Signature. */
  signatureName?: string | undefined
  /** In place of application/json. */
  contentType?: string | undefined
  chunked?: boolean | undefined
}

/** What the receiver did with it. */
export interface Reply {
  /** Null where no answer came. */
  status: number | null
  milliseconds: number
  /** Why no answer came. */
  failure: string | null
  /** Whether a connection stood. */
  reached: boolean
  /** The beginning of what it answered, on one line. */
  said: string
}

export interface CourierOptions {
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

/** "The receiver must return a 2xx" ("Events", rule 2). */
export function isTaken({ status }: Pick<Reply, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}

const mostSaid = 120

/** Posts one parcel on a connection of its own, as the service does. Throws the signal's reason alone. */
export async function carry(parcel: Parcel, options: CourierOptions): Promise<Reply> {
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

function shortly(body: Buffer, secret: string): string {
  const said = body.toString('utf8', 0, 2048)
  const text = secret === '' ? said : said.replaceAll(secret, '***')
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > mostSaid ? `${line.slice(0, mostSaid)}…` : line
}

/** Nobody was there: the failure of a command that could not do its work at all. */
export function unreachable(url: string, { failure }: Reply): UnavailableError {
  const isUntrusted = failure?.includes('certificate') === true
  return new UnavailableError(`${new URL(url).host}: ${failure}`, {
    hint: isUntrusted
      ? 'Where the certificate is your own, name its authority: NODE_EXTRA_CA_CERTS=FILE'
      : 'Check the URL, and that the receiver is running.',
  })
}

/** A URL as it is told: without its query, which may hold a token. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
