import { ping as pingData } from '../../contract/envelope.ts'
import type { ApiClient } from '../client.ts'

/** GET /v1/ping. Needs no authentication; latency in whole milliseconds, of the exchange that was answered. */
export async function ping(
  client: ApiClient,
  signal: AbortSignal | undefined,
): Promise<{ status: string; latency_ms: number }> {
  const { data, milliseconds } = await client.getTimed('/v1/ping', pingData, { authenticate: false, signal })
  return { status: data.status, latency_ms: Math.round(milliseconds) }
}
