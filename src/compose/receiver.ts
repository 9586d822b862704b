import type { Scope } from '../cli/scope.ts'
import type { HttpClient } from '../http/client.ts'
import { http } from './http.ts'

/**
 * A receiver that is going to be sent events: https, or http to this machine; anything else is a UsageError
 * before a word of it is shown. `source` is the flag or argument it was given as.
 */
export async function receiverAt(
  scope: Scope,
  text: string,
  source: string,
): Promise<{ http: HttpClient; url: string }> {
  const { secureUrl } = await import('../http/transport.ts')
  const { href } = secureUrl(text, source)
  return { http: await http(scope), url: href }
}
