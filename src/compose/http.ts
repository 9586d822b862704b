import { variable } from '../host/env.ts'
import { HttpClient } from '../http/client.ts'
import type { ExchangeReport } from '../http/types.ts'
import type { Context } from '../cli/context.ts'

/** The wire as this process's environment wants it, with a warning where that is odd. */
export function openHttp(
  { clock, env }: Context,
  version: string,
  onExchange: (report: ExchangeReport) => void,
  warn: (text: string) => void,
): HttpClient {
  if (variable(env, 'NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is heeded on this machine only: other hosts still have to prove who they are.',
    )
  }
  return new HttpClient({ clock, env, userAgent: `refcheck/${version}`, onExchange })
}
