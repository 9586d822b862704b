import { InvalidInputError } from '../../errors/invalid-input.ts'
import type { HttpStream } from '../../http/types.ts'
import type { ReportAddress } from '../api.ts'
import type { ApiClient } from '../client.ts'

/** GET /v1/reports/{check_id} and /v1/reports/{check_id}/referees/{referee_id}, with the authentication headers. */
export async function openReport(
  client: ApiClient,
  address: ReportAddress,
  signal: AbortSignal | undefined,
): Promise<HttpStream> {
  const check = `/v1/reports/${encodeURIComponent(address.checkId)}`
  const { refereeId } = address
  const path = refereeId === undefined ? check : `${check}/referees/${encodeURIComponent(refereeId)}`
  return client.openAuthenticated(path, signal)
}

/** The same by a signed URL; "replaces the authentication headers", so none are sent. */
export async function openSignedReport(
  client: ApiClient,
  text: string,
  signal: AbortSignal | undefined,
): Promise<HttpStream> {
  const url = signedReportUrl(text, client.options.baseUrl)
  return client.open(url.href, { accept: 'application/pdf' }, signal)
}

const segment = '[A-Za-z0-9._~%-]+'
const reportPath = new RegExp(`^/v1/reports/${segment}(?:/referees/${segment})?$`)

/**
 * A signed URL is called only if it is exactly this service's: origin of the base URL, a report's
 * path under it, one `t` and nothing else. The message never shows the token.
 */
export function signedReportUrl(text: string, baseUrl: string): URL {
  const refuse = (why: string): InvalidInputError =>
    new InvalidInputError(`the report URL is refused: ${why}`, {
      field: 'url',
      hint: 'Read the request again for a fresh URL: refcheck request get REQUEST_ID --json',
    })
  if (text.length > 4096) throw refuse('it is longer than 4,096 characters')
  // URL() would repair these silently, and what is called must be what was read.
  if (/[\\\s\p{Cc}\p{Cf}]/u.test(text))
    throw refuse('it holds a backslash, white space or control characters')
  if (!URL.canParse(text)) throw refuse('it is not a URL')
  const url = new URL(text)
  const base = new URL(baseUrl)
  if (url.username !== '' || url.password !== '' || text.slice(0, text.indexOf('?')).includes('@')) {
    throw refuse('it has a user name in it')
  }
  if (url.origin !== base.origin) throw refuse(`it leads to ${url.origin}, not to ${base.origin}`)
  const prefix = base.pathname.replace(/\/$/, '')
  const path = url.pathname.startsWith(prefix) ? url.pathname.slice(prefix.length) : ''
  if (!reportPath.test(path) || /%2f|%5c|%2e/i.test(path)) throw refuse('its path is not that of a report')
  const names = [...url.searchParams.keys()]
  if (names.length !== 1 || names[0] !== 't' || url.searchParams.get('t') === '' || url.hash !== '') {
    throw refuse('it does not carry exactly one token "t"')
  }
  return url
}
