import { join, resolve } from 'node:path'

import type { App } from './app.ts'
import { type OrderingProfile, findOrderingProfile } from '../domain/batch/run-policy.ts'
import type { BatchEvent } from '../domain/batch/run-policy.ts'
import type { WorkerEvent } from '../domain/worker/events.ts'
import { isMissing } from '../domain/report/filed.ts'
import { RefcheckError, UsageError } from '../errors/kinds.ts'
import { updateStatuses } from '../usecases/batch/results-file.ts'
import { startBatch } from '../usecases/batch/start.ts'
import type { ListedRequest } from '../domain/request/listed-request.ts'
import { recordStatuses, listUnfinished } from '../usecases/request/read-requests.ts'
import type { WorkerProfile } from '../usecases/worker/work.ts'
import { createStartServices } from './batch.ts'
import { downloadReports } from './report.ts'
import { createWaitServices } from './request.ts'
import type { WorkerStatus } from '../output/metrics.ts'
import type { Listener } from '../server/listen.ts'
import type { SmallResponse } from '../server/small-requests.ts'

export interface WorkerChoices {
  /** Undefined for the current profile; `all`, or names separated by commas. */
  profiles: string | undefined
  /** A folder for reports; if there are several profiles, each has a subfolder. */
  output: string | undefined
  signal: AbortSignal
  onEvent: (event: WorkerEvent) => void
}

/** A profile that the worker sends for, with its own services. */
interface WorkerMember extends OrderingProfile {
  app: App
}

/**
 * Returns the profiles of the worker. They share the store, and each has its own key, quota and account. A profile that
 * cannot be used is left out and reported as an event. Throws if none can be used.
 */
export async function workerProfiles(app: App, choices: WorkerChoices): Promise<WorkerProfile[]> {
  await app.services('http', 'store')
  const members: WorkerMember[] = []
  let failure: unknown
  for (const name of await resolveProfileNames(app, choices.profiles)) {
    try {
      members.push(await openMember(app, name))
    } catch (error) {
      if (!(error instanceof RefcheckError)) throw error
      failure = error
      choices.onEvent({ name: 'profile-unusable', profile: name ?? '', code: error.code })
    }
  }
  if (members.length === 0) throw failure
  const readUnfinished = createSharedReader(app, members)
  return members.map((member) => createProfile({ member, members, readUnfinished }, choices))
}

/** Returns the remaining calls in each window of each profile's quota. */
export async function workerQuota(members: readonly WorkerProfile[]) {
  const quotas = members.map(async (member) =>
    (await member.readQuota()).map(({ seconds, left: calls }) => ({
      profile: member.name,
      seconds,
      left: calls,
    })),
  )
  return (await Promise.all(quotas)).flat()
}

async function resolveProfileNames(
  app: App,
  profilesFlag: string | undefined,
): Promise<(string | undefined)[]> {
  if (profilesFlag === undefined) return [app.options.profile]
  const knownNames = [...(await (await app.service('settings')).profiles()).keys()]
  if (profilesFlag === 'all' && knownNames.length > 0) return knownNames
  const chosenNames = profilesFlag === 'all' ? [] : profilesFlag.split(',').map((each) => each.trim())
  const unknownName = chosenNames.find((each) => !knownNames.includes(each))
  if (chosenNames.length > 0 && unknownName === undefined) return chosenNames
  throw new UsageError(
    unknownName === undefined
      ? '--profiles all: there are no profiles'
      : `--profiles: no profile named "${unknownName}"`,
    { hint: 'List the profiles with: refcheck auth list' },
  )
}

async function openMember(parent: App, name: string | undefined): Promise<WorkerMember> {
  const app = await parent.forProfile(name)
  const { baseUrl, email, profile } = await app.service('session')
  return {
    app,
    name: name ?? profile ?? 'default',
    baseUrl,
    email,
    account: await app.service('account'),
  }
}

/** Time in milliseconds for which all members use the same read of the store. */
const sharedReadMs = 30_000

/**
 * Returns a function that returns the unfinished requests of a member. The members share one read of the store, which
 * may be very large.
 */
function createSharedReader(
  app: App,
  members: readonly WorkerMember[],
): (member: WorkerMember) => Promise<ListedRequest[]> {
  const { clock } = app.context
  let lastRead: { at: number; found: Promise<Map<WorkerMember | undefined, ListedRequest[]>> } | undefined
  const readNow = async () => {
    const requests = await listUnfinished({ ledger: await app.service('ledger'), clock })
    const owners = new Map<string, WorkerMember | undefined>()
    return Map.groupBy(requests, ({ base_url: baseUrl, user_email: userEmail }) => {
      const name = `${baseUrl} ${userEmail}`
      if (!owners.has(name)) owners.set(name, findOrderingProfile({ baseUrl, userEmail }, members))
      return owners.get(name)
    })
  }
  return async (member) => {
    const now = clock.monotonic()
    if (lastRead === undefined || now - lastRead.at > sharedReadMs) lastRead = { at: now, found: readNow() }
    const { found } = lastRead
    // After an error, the next call reads the store again.
    found.catch(() => (lastRead = undefined))
    return (await found).get(member) ?? []
  }
}

interface MemberServices {
  member: WorkerMember
  members: readonly WorkerMember[]
  /** Returns the unfinished requests of a member. */
  readUnfinished: (member: WorkerMember) => Promise<ListedRequest[]>
}

function createProfile(
  { member, members, readUnfinished }: MemberServices,
  choices: WorkerChoices,
): WorkerProfile {
  const { app, name } = member
  const { output, signal, onEvent } = choices
  const isOfProfile = (request: { baseUrl: string; userEmail: string }): boolean =>
    findOrderingProfile(request, members) === member
  const folder = output === undefined || members.length === 1 ? output : join(output, name)
  return {
    ...member,
    async sendBatch(batchId) {
      const eventFields = { profile: name, batchId }
      const services = {
        ...(await createStartServices(app, signal)),
        prompter: undefined,
        onBatchEvent(event: BatchEvent) {
          const isUnsettled = event.name === 'reconciled' && event.found.settled.length === 0
          if (!isUnsettled) onEvent({ name: 'notice', ...eventFields, notice: event.name })
        },
        progress: { onStart: () => undefined, onEvent: forwardRunEvents(eventFields, onEvent) },
      }
      return startBatch(services, batchId, { isQueued: true })
    },
    async refreshRequests() {
      const services = {
        ...(await createWaitServices(app)),
        api: await app.service('api'),
        ledger: await app.service('ledger'),
        governor: await app.service('governor'),
        signal,
      }
      const startedAt = app.context.clock.now()
      const failures = await recordStatuses(services, await readUnfinished(member))
      await updateStatuses(await app.services('batches', 'files'), startedAt)
      return failures.find(({ error }) => error.code !== 'not_found')?.error
    },
    async readQuota() {
      const { windows } = await (await app.service('governor')).status()
      return windows.map(({ seconds, left }) => ({ seconds, left }))
    },
    downloadReports:
      folder === undefined
        ? undefined
        : async () => {
            const flags = { overwrite: false, wait: false, timeout: undefined, concurrency: undefined }
            const typedPath = resolve(app.context.cwd, folder)
            const onWait = (other: string): void =>
              onEvent({
                name: 'folder-in-use',
                profile: name,
                reason: `${other} downloads into the same folder`,
              })
            const { reports, failure } = await downloadReports(
              app,
              { ...flags, 'name-template': undefined },
              { typedPath, source: { kind: 'all', isOfProfile }, signal, onWait },
            )
            return { reports: reports.filter((each) => !isMissing(each) && !each.skipped).length, failure }
          },
  }
}

type StartServices = Awaited<ReturnType<typeof createStartServices>>

function forwardRunEvents(
  eventFields: { profile: string; batchId: string },
  onEvent: (event: WorkerEvent) => void,
): StartServices['progress']['onEvent'] {
  return (event) => {
    if (event.name === 'row') {
      const { row, state } = event
      onEvent({ name: 'row', ...eventFields, row, state })
    } else if (event.name === 'waiting') {
      onEvent({ name: 'waiting', ...eventFields, cause: event.cause, seconds: event.seconds })
    } else if (event.name === 'outage') {
      onEvent({ name: 'waiting', ...eventFields, cause: 'outage', seconds: event.seconds })
    }
  }
}

export interface Health extends Listener {
  /** Counts an event for the metrics. */
  record(event: WorkerEvent): void
}

interface HealthOptions {
  host: string
  port: number
  readQuota: () => Promise<WorkerStatus['quota']>
  /** The profiles that the worker sends for. */
  profiles: readonly OrderingProfile[]
}

const requestLimits = { maxBytes: 1024, requestTimeoutMs: 5_000, idleTimeoutMs: 5_000 }

/**
 * Serves `/healthz`: the process runs; `/readyz`: the store can be read and allows orders, and every queued batch has
 * a profile; `/metrics`: figures for Prometheus. No page contains personal data.
 */
export async function serveHealth(
  app: App,
  { host, port, readQuota, profiles }: HealthOptions,
): Promise<Health> {
  const [{ serveSmallRequests }, { WorkerMetrics }] = await Promise.all([
    import('../server/small-requests.ts'),
    import('../output/metrics.ts'),
  ])
  const metrics = new WorkerMetrics()
  const readStatus = async (): Promise<WorkerStatus> => ({
    ...(await readQueueStatus(app)),
    quota: await readQuota(),
  })
  const pages: Record<string, () => Promise<SmallResponse>> = {
    '/healthz': async () => ({ status: 200, text: 'ok\n' }),
    '/readyz': async () => {
      const { isClosed } = await readQueueStatus(app)
      if (isClosed) return { status: 503, text: 'the store takes no orders\n' }
      const batches = await app.service('batches')
      const waitingBatches = (await batches.listQueued()).filter(({ counts }) => counts.pending > 0)
      return waitingBatches.every((batch) => findOrderingProfile(batch, profiles) !== undefined)
        ? { status: 200, text: 'ok\n' }
        : { status: 503, text: 'a queued batch has no profile: see --profiles\n' }
    },
    '/metrics': async () => ({
      status: 200,
      text: await metrics.text(await readStatus()),
      contentType: metrics.contentType(),
    }),
  }
  const pendingAnswers = new Map<string, Promise<SmallResponse>>()
  /** Creates a page once for all requests that arrive at the same time, since reading the figures is slow. */
  const answerOnce = (path: string, page: () => Promise<SmallResponse>): Promise<SmallResponse> => {
    const pendingAnswer = pendingAnswers.get(path)
    if (pendingAnswer !== undefined) return pendingAnswer
    const answer = page().catch(() => ({ status: 503, text: 'the store cannot be used\n' }))
    pendingAnswers.set(path, answer)
    void answer.then(() => setImmediate(() => pendingAnswers.delete(path)))
    return answer
  }
  const listener = await serveSmallRequests(
    async ({ method, path }) => {
      const page = Object.hasOwn(pages, path) ? pages[path] : undefined
      if (page === undefined) return { status: 404, text: 'not found\n' }
      if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: { allow: 'GET' } }
      return answerOnce(path, page)
    },
    { host, port, ...requestLimits },
  )
  app.onClose(() => listener.close())
  return { ...listener, record: (event) => metrics.record(event) }
}

async function readQueueStatus(app: App): Promise<Omit<WorkerStatus, 'quota'>> {
  const { batches, store } = await app.services('batches', 'store')
  const queued = await batches.listQueued()
  const sum = (state: 'pending' | 'unknown' | 'held'): number =>
    queued.reduce((total, { counts }) => total + counts[state], 0)
  const oldest = queued.find(({ counts }) => counts.pending > 0)?.queuedAt
  return {
    rows: { pending: sum('pending'), unknown: sum('unknown'), held: sum('held') },
    lagSeconds: oldest === undefined ? 0 : Math.max(0, (app.context.clock.now() - oldest) / 1000),
    isClosed: (await store.rollbacks.readClosing()) !== undefined,
  }
}
