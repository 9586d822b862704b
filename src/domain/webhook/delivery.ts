import { UnavailableError } from '../../errors/kinds.ts'
import { cutText } from '../wording/cut-text.ts'

/** A delivery as it goes to a receiver, right or wrong. */
export interface Delivery {
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

/** "The receiver must return a 2xx" ("Events", rule 2). */
export function isAccepted({ status }: Pick<Reply, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}

const mostSaid = 120

export function shortly(body: Buffer, secret: string): string {
  const said = body.toString('utf8', 0, 2048)
  const text = secret === '' ? said : said.replaceAll(secret, '***')
  const line = text.replace(/\s+/g, ' ').trim()
  return cutText(line, mostSaid)
}

/** Nobody was there: the failure of a command that could not do its work at all. */
export function unreachable(url: string, { failure }: Reply): UnavailableError {
  const isUntrusted = failure?.includes('certificate') === true
  return new UnavailableError(`${new URL(url).host}: ${failure}`, {
    hint: isUntrusted
      ? 'If the certificate is your own, set its authority with: NODE_EXTRA_CA_CERTS=FILE'
      : 'Check the URL, and that the receiver is running.',
  })
}

/** A URL as it is told: without its query, which may hold a token. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
