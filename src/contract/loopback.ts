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
