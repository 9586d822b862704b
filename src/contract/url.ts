/**
 * Whether a URL's hostname is this machine by its form alone: 127.0.0.0/8, ::1 and `localhost`. A
 * name that merely resolves to 127.0.0.1 today does not count.
 */
export function isLoopbackHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return bare === 'localhost' || bare === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(bare)
}

/** The same of a whole URL; false for a text that is none. */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && isLoopbackHost(new URL(url).hostname)
}

const mask = '***'

/** The query parameters of the API that are no secret (GET /v1/packages). */
const open = /^(?:status|id)=[\w-]*$/

/**
 * A URL fit to be printed: hidden are what precedes an @, the value of every query parameter (the
 * signed token `t` above all) but the API's two filters, and the fragment. It works on the text as it is, so that
 * what is no URL, or a broken one, is masked too.
 */
export function maskUrl(url: string): string {
  const [, address = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? []
  return (
    hideEncoded(address.replace(/^((?:[a-z][a-z0-9+.-]*:)?[/\\]*)[^/\\]*@/i, `$1${mask}@`)) +
    query.replace(/([?&;])([^&;]*)/g, (_all, mark: string, pair: string) => mark + hideValue(pair)) +
    (fragment.length > 1 ? `#${mask}` : fragment)
  )
}

function hideValue(pair: string): string {
  if (pair === '' || open.test(pair)) return pair
  const end = pair.indexOf('=')
  return end === -1 ? mask : `${pair.slice(0, end)}=${mask}`
}

/** A token whose question mark was encoded, or that follows a semicolon, is in the path. */
function hideEncoded(address: string): string {
  return address.replace(/((?:%3f|%26|[^a-z0-9])t(?:=|%3d)).*/i, `$1${mask}`)
}
