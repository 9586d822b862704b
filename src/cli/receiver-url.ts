import type { HttpClient } from '../http/client.ts'
import type { Services } from './services.ts'

/**
 * A receiver that is going to be sent events: https, or http to this machine; anything else is a UsageError
 * before a word of it is shown. `shown` leaves the query out, which may hold a token.
 */
export async function receiverAt(
  services: Services,
  text: string,
): Promise<{ http: HttpClient; url: string; shown: string }> {
  const { secureUrl } = await import('../http/transport.ts')
  const { href, origin, pathname } = secureUrl(text)
  return { http: await services.http(), url: href, shown: origin + pathname }
}
