import { once, type Scope } from '../cli/scope.ts'
import { variable } from '../host/env.ts'
import type { HttpClient } from '../http/client.ts'
import { exchangeText } from '../output/views/notices.ts'
import { usage } from './usage.ts'

/** The bare wire as this process's environment wants it, with a warning where that is odd. */
export const http = once(plain)

/** The same connections for another scope, such as a profile's own. */
export const shareHttp = (from: Scope, to: Scope): void => to.share(from, plain)

function plain(scope: Scope): Promise<HttpClient> {
  return made(scope)
}

/** The same with one more certificate authority (PEM), for one receiver. */
export const httpTrusting = (scope: Scope, authority: string): Promise<HttpClient> => made(scope, authority)

async function made(scope: Scope, authority?: string): Promise<HttpClient> {
  const { HttpClient } = await import('../http/client.ts')
  const { reporter, options, context } = scope
  const { clock, env } = context
  if (variable(env, 'NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    reporter.warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored for other machines; their certificates are still verified.',
    )
  }
  const client = new HttpClient({
    clock,
    env,
    authority,
    userAgent: `refcheck/${options.version}`,
    onExchange(report) {
      usage(scope).exchange(report.url)
      if (options.verbose) reporter.exchange(exchangeText(report))
    },
  })
  scope.onClose(() => client.close())
  return client
}
