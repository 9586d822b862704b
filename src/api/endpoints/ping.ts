import { ping as pingData } from '../../contract/envelope.ts'
import type { ApiClient } from '../client.ts'

/** GET /v1/ping. Needs no authentication; latency in whole milliseconds, of the answer that came. */
export async function ping(
  client: ApiClient,
  signal: AbortSignal | undefined,
): Promise<{ status: string; latency_ms: number }> {
  const { clock } = client.options
  const start = clock.monotonic()
  const { status } = await client.get('/v1/ping', pingData, { authenticate: false, signal })
  return { status, latency_ms: Math.round(clock.monotonic() - start) }
}
