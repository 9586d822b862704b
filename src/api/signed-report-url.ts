import { InvalidInputError } from '../errors/kinds.ts'

const longest = 4096
/** Below the base URL. Of encoded characters, controls and those that a server might read as a path (% . / \\) do not pass. */
const reportPath = /^\/v1\/reports\/[\w.~-]+(?:\/referees\/(?:[\w.~:-]|%(?!2[5ef]|5c|[01]))+)?$/i

/**
 * A signed URL is called only if it is exactly this service's: origin of the base URL, a report's
 * path under it, one `t` and nothing else, and nothing that URL() would have to repair: what is called
 * is what was read. No message shows the token.
 */
export function signedReportUrl(text: string, baseUrl: string): URL {
  const base = new URL(baseUrl)
  if (text.length > longest) throw refuse(`it is longer than ${longest} characters`)
  if (!URL.canParse(text)) throw refuse('it is not a URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw refuse('it has a user name in it')
  if (url.origin !== base.origin) {
    throw refuse(`it points to ${url.protocol}//${url.host}, not to ${base.origin}`)
  }
  if (url.href !== text) throw refuse('it differs from the URLs that the service makes')
  const prefix = base.pathname.replace(/\/$/, '')
  if (!url.pathname.startsWith(prefix) || !reportPath.test(url.pathname.slice(prefix.length))) {
    throw refuse('its path is not that of a report')
  }
  if (!/^\?t=[^&;]+$/.test(url.search) || text.includes('#')) {
    throw refuse('it does not have exactly one token "t"')
  }
  return url
}

function refuse(why: string): InvalidInputError {
  return new InvalidInputError(`refused the report URL: ${why}`, {
    field: 'url',
    hint: 'Download the report by the id of its check: refcheck report download CHECK_ID',
  })
}
