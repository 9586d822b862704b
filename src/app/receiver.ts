import { redactArgument } from '../domain/wording/redact-argument.ts'
import { type App, openHttp } from './app.ts'
import { UsageError } from '../errors/kinds.ts'
import type { HttpClient } from '../http/client.ts'

/**
 * A receiver that is going to be sent events: https, or http to this machine; anything else is a UsageError
 * that does not repeat what may be a secret. `source` is the flag or argument it was given as; `authority` a certificate
 * (PEM) that is trusted for it.
 */
export async function receiverAt(
  app: App,
  text: string,
  source: string,
  authority?: string,
): Promise<{ http: HttpClient; url: string }> {
  if (!URL.canParse(text)) {
    throw new UsageError(`${source}: "${redactArgument(text)}" is not a URL`, {
      hint: 'A URL looks like https://staging.example.com/hook',
    })
  }
  const { secureUrl } = await import('../http/transport.ts')
  const { href } = secureUrl(text, source)
  return {
    http: authority === undefined ? (await app.services('http')).http : await openHttp(app, authority),
    url: href,
  }
}
