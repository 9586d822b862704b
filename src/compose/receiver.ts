import { redactArgument } from '../domain/wording/redact-argument.ts'
import type { Scope } from '../cli/scope.ts'
import { UsageError } from '../errors/kinds.ts'
import type { HttpClient } from '../http/client.ts'
import { http, httpTrusting } from './http.ts'

/**
 * A receiver that is going to be sent events: https, or http to this machine; anything else is a UsageError
 * that does not repeat what may be a secret. `source` is the flag or argument it was given as; `authority` a certificate
 * (PEM) that is trusted for it.
 */
export async function receiverAt(
  scope: Scope,
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
  return { http: await (authority === undefined ? http(scope) : httpTrusting(scope, authority)), url: href }
}
