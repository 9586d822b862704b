import type { App } from './app.ts'
import { type Orderer, ordererOf } from '../domain/batch/run-policy.ts'
import type { WorkerEvent } from '../domain/worker/events.ts'
import type { WorkerStatus } from '../output/metrics.ts'
import type { Listener } from '../server/listen.ts'
import type { SmallAnswer } from '../server/small-requests.ts'

export interface Health extends Listener {
  /** Counts what happens. */
  record(event: WorkerEvent): void
}

interface HealthAddress {
  host: string
  port: number
  quota: () => Promise<WorkerStatus['quota']>
  /** Whom the worker sends for. */
  profiles: readonly Orderer[]
}

const limits = { maxBytes: 1024, requestTimeoutMs: 5_000, idleTimeoutMs: 5_000 }

/**
 * `/healthz`: the process lives. `/readyz`: the store can be read and takes orders, and every queued batch has a
 * profile. `/metrics`: for Prometheus. Nothing
 * else, and no personal data.
 */
export async function serveHealth(app: App, { host, port, quota, profiles }: HealthAddress): Promise<Health> {
  const [{ serveSmallRequests }, { WorkerMetrics }] = await Promise.all([
    import('../server/small-requests.ts'),
    import('../output/metrics.ts'),
  ])
  const metrics = new WorkerMetrics()
  const status = async (): Promise<WorkerStatus> => ({
    ...(await queueStatus(app)),
    quota: await quota(),
  })
  const pages: Record<string, () => Promise<SmallAnswer>> = {
    '/healthz': async () => ({ status: 200, text: 'ok\n' }),
    '/readyz': async () => {
      const { isClosed } = await queueStatus(app)
      if (isClosed) return { status: 503, text: 'the store takes no orders\n' }
      const { batches } = await app.services('batches')
      const waiting = (await batches.queued()).filter(({ counts }) => counts.pending > 0)
      return waiting.every((batch) => ordererOf(batch, profiles) !== undefined)
        ? { status: 200, text: 'ok\n' }
        : { status: 503, text: 'a queued batch has no profile: see --profiles\n' }
    },
    '/metrics': async () => ({
      status: 200,
      text: await metrics.text(await status()),
      contentType: metrics.contentType(),
    }),
  }
  const shared = new Map<string, Promise<SmallAnswer>>()
  /** A page is made once for all who ask for it at the same moment: figures cost more than a request. */
  const answerOf = (path: string, page: () => Promise<SmallAnswer>): Promise<SmallAnswer> => {
    const made = shared.get(path)
    if (made !== undefined) return made
    const answer = page().catch(() => ({ status: 503, text: 'the store cannot be used\n' }))
    shared.set(path, answer)
    void answer.then(() => setImmediate(() => shared.delete(path)))
    return answer
  }
  const listener = await serveSmallRequests(
    async ({ method, path }) => {
      const page = Object.hasOwn(pages, path) ? pages[path] : undefined
      if (page === undefined) return { status: 404, text: 'not found\n' }
      if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: { allow: 'GET' } }
      return answerOf(path, page)
    },
    { host, port, ...limits },
  )
  app.onClose(() => listener.close())
  return { ...listener, record: (event) => metrics.record(event) }
}

async function queueStatus(app: App): Promise<Omit<WorkerStatus, 'quota'>> {
  const { batches, store } = await app.services('batches', 'store')
  const queued = await batches.queued()
  const sum = (state: 'pending' | 'unknown' | 'held'): number =>
    queued.reduce((total, { counts }) => total + counts[state], 0)
  const oldest = queued.find(({ counts }) => counts.pending > 0)?.queuedAt
  return {
    rows: { pending: sum('pending'), unknown: sum('unknown'), held: sum('held') },
    lagSeconds: oldest === undefined ? 0 : Math.max(0, (app.context.clock.now() - oldest) / 1000),
    isClosed: (await store.rollbacks.closing()) !== undefined,
  }
}
