/**
 * Whether a URL's hostname is this machine by its form: 127.0.0.0/8, ::1 or `localhost`. A name that only resolves to
 * 127.0.0.1 does not count.
 */
export function isLoopbackHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return bare === 'localhost' || bare === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(bare)
}

/** Whether the hostname of a URL is this machine by its form; false if the text is not a URL. */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && isLoopbackHost(new URL(url).hostname)
}

/** Decodes percent encoding; undefined if the encoded bytes are not UTF-8. */
export function decodeUriOrUndefined(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const mask = '***'

/** The query parameters of the API that are not secret (GET /v1/packages). */
const publicParameter = /^(?:status|id)=[\w-]*$/

/**
 * Returns a URL that can be printed. It replaces the text before an @, the fragment, and the value of every query
 * parameter except the two filters of the API; the parameter `t` is a signed token. It works on the text, so that
 * invalid URLs are masked too.
 */
export function maskUrl(url: string): string {
  const [, address = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? []
  return (
    maskEncodedToken(address.replace(/^((?:[a-z][a-z0-9+.-]*:)?[/\\]*)[^/\\]*@/i, `$1${mask}@`)) +
    query.replace(/([?&;])([^&;]*)/g, (_all, mark: string, pair: string) => mark + maskValue(pair)) +
    (fragment.length > 1 ? `#${mask}` : fragment)
  )
}

function maskValue(pair: string): string {
  if (pair === '' || publicParameter.test(pair)) return pair
  const end = pair.indexOf('=')
  return end === -1 ? mask : `${pair.slice(0, end)}=${mask}`
}

/** Masks a token in the path: its question mark was encoded, or it follows a semicolon. */
function maskEncodedToken(address: string): string {
  return address.replace(/((?:%3f|%26|[^a-z0-9])t(?:=|%3d)).*/i, `$1${mask}`)
}
