import { lookup } from 'node:dns/promises'

import { isLoopbackHost } from '../../contract/loopback.ts'
import type { Clock } from '../../host/clock.ts'
import type { HttpClient } from '../../http/client.ts'
import type { Deliver } from './delivery.ts'
import type { Networks } from './networks.ts'

/** Sends webhook events over HTTP, each on a connection of its own; by http to this machine and to `httpTo` only. */
export function httpDeliver(clock: Clock, httpTo?: Networks): Deliver {
  const approved = new Set<string>()
  let made: Promise<HttpClient> | undefined
  const client = async (): Promise<HttpClient> => {
    const { HttpClient: Client } = await import('../../http/client.ts')
    const isApproved = ({ host }: URL): boolean => approved.has(host)
    return new Client({ clock, env: {}, userAgent: 'refcheck-sandbox', isApproved })
  }
  return async (url, headers, body, signal) => {
    made ??= client()
    const { protocol, host, hostname } = new URL(url)
    if (protocol === 'http:' && httpTo !== undefined && !isLoopbackHost(hostname)) {
      const { address } = await lookup(hostname.replace(/^\[(.*)\]$/, '$1'))
      if (!httpTo.has(address)) throw new Error(`${hostname} is at ${address}, where http is not allowed`)
      approved.add(host)
    }
    const answer = await (await made).sendOnce({ method: 'POST', url, headers, body, signal })
    return answer.status
  }
}
