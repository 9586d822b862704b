import { isLoopbackUrl } from '../../contract/loopback.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

const longest = 2048

const addressHint = 'A base URL looks like https://api.example.com'

/**
 * A base URL as it is kept and called: scheme, host, perhaps a path, no trailing slash. https, or http
 * to this machine ("HTTPS only"). `source` names where it came from. The InvalidInputError repeats no
 * more of the text than a host: what stands in the wrong place may be a password or a key.
 */
export function parseBaseUrl(text: string, source = 'the base URL'): string {
  const refused = (why: string, hint: string): InvalidInputError =>
    new InvalidInputError(`${source} ${why}`, { hint, field: 'base_url' })
  const trimmed = text.trim()
  if (trimmed === '') throw refused('is empty', addressHint)
  if (trimmed.length > longest) throw refused(`is longer than ${longest} characters`, addressHint)
  if (/[\s\p{Cc}\\]/u.test(trimmed))
    throw refused('contains a space, a control character or a backslash', addressHint)
  if (!URL.canParse(trimmed)) throw refused('is not a URL', addressHint)

  const url = new URL(trimmed)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refused('does not start with https://', addressHint)
  }
  if (/^[a-z]+:\/*[^/?#]*@/i.test(trimmed)) {
    throw refused('has a user name or a password in it', 'Remove the part before the @.')
  }
  if (trimmed.includes('?')) throw refused('has a query', 'Remove the ? and what follows it.')
  if (trimmed.includes('#')) throw refused('has a fragment', 'Remove the # and what follows it.')
  if (url.protocol === 'http:' && !isLoopbackUrl(url.href)) {
    throw refused(
      `would call ${url.host} unencrypted: https is required`,
      'http is allowed for this machine only (127.0.0.1, ::1, localhost).',
    )
  }
  const path = url.pathname.replace(/(?<!\/)\/+$/, '')
  if (/\/v\d+$/.test(path)) {
    throw refused(
      `ends in ${path.slice(path.lastIndexOf('/'))}`,
      'Remove the version: it is added to every call.',
    )
  }
  return `${url.origin}${path}`
}

/** Whether a key given for one may be sent to the other. */
export function sameOrigin(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin
}
