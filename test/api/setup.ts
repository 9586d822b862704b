import { type Api, type ApiClientOptions, connectApi } from '../../src/api/api.ts'
import type { Random } from '../../src/host/random.ts'
import type { ExchangeReport } from '../../src/http/types.ts'
import type { RetryEvent } from '../../src/http/retry.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { startClient } from '../http/setup.ts'

export const apiKey = 'sk0123456789abcdefghijklmnopqrst'
export const userEmail = 'casey@example.com'
export const requestId = '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f'
export const checkId = '0c9d8e7f-1a2b-4c3d-8e4f-5a6b7c8d9e0f'

const fixedRandom: Random = { uuid: () => '', bytes: (count) => Buffer.alloc(count), fraction: () => 0.5 }

export interface TestApi extends Api, AsyncDisposable {
  readonly clock: ManualClock
  readonly retries: readonly RetryEvent[]
  readonly exchanges: readonly ExchangeReport[]
}

/** Returns a client of the service at a base URL, with a clock whose waits end at once. */
export function startApi(baseUrl: string, options: Partial<ApiClientOptions> = {}): TestApi {
  const clock = new ManualClock({ auto: true })
  const retries: RetryEvent[] = []
  const exchanges: ExchangeReport[] = []
  const http = startClient({ onExchange: (report) => exchanges.push(report) })
  const api = connectApi({
    http,
    clock,
    random: fixedRandom,
    baseUrl,
    credentials: { apiKey, userEmail },
    budgetMs: 120_000,
    onRetry: (event) => retries.push(event),
    ...options,
  })
  return { ...api, clock, retries, exchanges, [Symbol.asyncDispose]: () => http.close() }
}
