import type { Clock } from '../../host/clock.ts'
import type { HttpClient } from '../../http/client.ts'
import type { Deliver } from './delivery.ts'

/** Sends webhook events over HTTP, each on a connection of its own. */
export function httpDeliver(clock: Clock): Deliver {
  let made: Promise<HttpClient> | undefined
  const client = async (): Promise<HttpClient> => {
    const { HttpClient: Client } = await import('../../http/client.ts')
    return new Client({ clock, env: {}, userAgent: 'refcheck-sandbox' })
  }
  return async (url, headers, body, signal) => {
    made ??= client()
    const answer = await (await made).sendOnce({ method: 'POST', url, headers, body, signal })
    return answer.status
  }
}
