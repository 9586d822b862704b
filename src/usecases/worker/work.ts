import type { Batch } from '../../domain/batch/batch.ts'
import { type OrderingProfile, findOrderingProfile, nextQueuedStep } from '../../domain/batch/run-policy.ts'
import type { WorkerEvent } from '../../domain/worker/events.ts'
import { type ErrorCode, RefcheckError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { RunOutcome } from '../batch/start.ts'
import type { PurgedAll } from '../store/purge.ts'
import { WakeableSleep } from '../webhook/wakeable-sleep.ts'

/** A profile of the worker, and the work that is done with its key. */
export interface WorkerProfile extends OrderingProfile {
  sendBatch(batchId: string): Promise<RunOutcome>
  /** Reads unfinished requests and records their statuses. Returns the failure that ended this, if any. */
  refreshRequests(): Promise<RefcheckError | undefined>
  /** Returns the calls that are left in each window of the quota. */
  readQuota(): Promise<{ seconds: number; left: number }[]>
  /** Downloads new reports (the logged event is `filed`); undefined if no folder is set. */
  downloadReports: (() => Promise<{ reports: number; failure: RefcheckError | undefined }>) | undefined
}

/** Numbers of expired items that were purged. */
type PurgeCounts = Pick<PurgedAll, 'rows' | 'events' | 'drafts'>

export interface WorkOptions {
  batches: Pick<Batches, 'listQueued' | 'recordNotQueued'>
  profiles: readonly WorkerProfile[]
  clock: Clock
  /** Purges personal data that is older than the retention; undefined if none is set. */
  purgeExpired: () => Promise<PurgeCounts | undefined>
  /** Announces new work of other processes, if the database can. */
  inbox: Pick<Inbox, 'onArrival'>
  /** Stops the worker once rows that are being sent have their outcome. */
  signal: AbortSignal
  /** Milliseconds between two reads of unfinished requests. */
  refreshMs: number
  /** Whether to stop as soon as no work is left. */
  once: boolean
  onEvent: (event: WorkerEvent) => void
}

const noPurgeCounts: PurgeCounts = { rows: 0, events: 0, drafts: 0 }
const pollIntervalMs = 2_000
const purgeIntervalMs = 24 * 60 * 60 * 1000
/** Pause before a batch is tried again whose run could not begin. */
const retryPauseMs = 60_000

/**
 * Sends queued batches and reads unfinished requests until it is stopped: one batch at a time for each key, and all
 * keys concurrently.
 */
export function runWorker(services: WorkOptions): Promise<void> {
  return new Worker(services).run()
}

class Worker {
  readonly #services: WorkOptions
  /** The runs of batches and the reads of requests that have not ended, by the name of the profile. */
  readonly #runningSends = new Map<string, Promise<void>>()
  readonly #runningReads = new Map<string, Promise<void>>()
  /** The time of the end of the last run, by the id of the batch. */
  readonly #lastRunAt = new Map<string, number>()
  /** By the id of a batch whose run could not begin: the earliest time to try it again. */
  readonly #retryAt = new Map<string, number>()
  /** The monotonic time of the last read of requests, by the name of the profile. */
  readonly #lastReadAt = new Map<string, number>()
  /** Ids of batches that were reported because no profile can send them. */
  readonly #reportedAsUnassigned = new Set<string>()
  readonly #wakeableSleep: WakeableSleep
  #lastPurgeAt: number | undefined

  constructor(services: WorkOptions) {
    this.#services = services
    this.#wakeableSleep = new WakeableSleep(services.clock)
  }

  async run(): Promise<void> {
    const { signal, profiles, onEvent, once } = this.#services
    onEvent({ name: 'started', profiles: profiles.map(({ name }) => name) })
    await this.#subscribe()
    while (!signal.aborted) {
      await this.#findWork()
      await this.#purgeExpired()
      for (const profile of profiles) this.#startRefresh(profile)
      if (once && this.#runningSends.size + this.#runningReads.size === 0) break
      await (once
        ? Promise.race([...this.#runningSends.values(), ...this.#runningReads.values()])
        : this.#pause())
    }
    onEvent({ name: 'stopping' })
    await Promise.all([...this.#runningSends.values(), ...this.#runningReads.values()])
    onEvent({ name: 'stopped' })
  }

  /**
   * Subscribes to announcements of new work. If this fails, the event `store-waits` is logged, which means that the store
   * is not available now, and polling finds the work later.
   */
  async #subscribe(): Promise<void> {
    const { inbox, onEvent } = this.#services
    try {
      await this.#wakeableSleep.listen(inbox, 'batch')
    } catch (error) {
      onEvent({ name: 'store-waits', code: codeOf(error) })
    }
  }

  async #pause(): Promise<void> {
    await this.#wakeableSleep.sleep(pollIntervalMs, this.#services.signal).catch(() => undefined)
  }

  /** Starts queued batches. A store that cannot be read is read again at the next poll. */
  async #findWork(): Promise<void> {
    const { batches, onEvent } = this.#services
    try {
      for (const batch of await batches.listQueued()) await this.#startBatch(batch)
    } catch (error) {
      onEvent({ name: 'store-waits', code: codeOf(error) })
    }
  }

  async #purgeExpired(): Promise<void> {
    const { clock, purgeExpired, onEvent } = this.#services
    if (this.#lastPurgeAt !== undefined && clock.monotonic() - this.#lastPurgeAt < purgeIntervalMs) return
    this.#lastPurgeAt = clock.monotonic()
    try {
      const { rows, events, drafts } = (await purgeExpired()) ?? noPurgeCounts
      if (rows + events + drafts > 0) onEvent({ name: 'purged', rows, events, drafts, code: undefined })
    } catch (error) {
      onEvent({ name: 'purged', ...noPurgeCounts, code: codeOf(error) })
    }
  }

  async #startBatch(batch: Batch): Promise<void> {
    const { batches, profiles, clock, onEvent } = this.#services
    const now = clock.now()
    const step = nextQueuedStep(batch, now, this.#lastRunAt.get(batch.id))
    if (step.kind === 'done') return batches.recordNotQueued(batch.id)
    if (step.kind !== 'run' || now < (this.#retryAt.get(batch.id) ?? 0)) return
    const profile = findOrderingProfile(batch, profiles)
    if (profile === undefined) {
      const reason = 'no profile of this worker has its base URL and account: see --profiles'
      if (!this.#reportedAsUnassigned.has(batch.id)) {
        onEvent({ name: 'batch-without-profile', batchId: batch.id, reason })
      }
      this.#reportedAsUnassigned.add(batch.id)
      return
    }
    if (this.#runningSends.has(profile.name)) return
    this.#runningSends.set(
      profile.name,
      this.#send(profile, batch).finally(() => this.#runningSends.delete(profile.name)),
    )
  }

  async #send(profile: WorkerProfile, { id, counts }: Batch): Promise<void> {
    const { clock, onEvent } = this.#services
    const eventFields = { profile: profile.name, batchId: id }
    onEvent({ name: 'batch-started', ...eventFields, pending: counts.pending })
    try {
      const { batch, failure } = await profile.sendBatch(id)
      // Rows that the user left out on purpose are no warning.
      const code = failure?.isUserChoice === true ? undefined : failure?.code
      onEvent({ name: 'batch-ended', ...eventFields, code, counts: batch.counts })
    } catch (error) {
      this.#retryAt.set(id, clock.now() + retryPauseMs)
      onEvent({ name: 'batch-failed', ...eventFields, code: codeOf(error) })
    }
    this.#lastRunAt.set(id, clock.now())
  }

  #startRefresh(profile: WorkerProfile): void {
    const { clock, refreshMs, once } = this.#services
    const { name } = profile
    const lastReadAt = this.#lastReadAt.get(name)
    const isDue = lastReadAt === undefined || (!once && clock.monotonic() - lastReadAt >= refreshMs)
    if (!isDue || this.#runningReads.has(name)) return
    this.#lastReadAt.set(name, clock.monotonic())
    this.#runningReads.set(
      name,
      this.#refreshProfile(profile).finally(() => this.#runningReads.delete(name)),
    )
  }

  async #refreshProfile(profile: WorkerProfile): Promise<void> {
    const { name, downloadReports } = profile
    const { onEvent, signal } = this.#services
    const failure = await profile.refreshRequests().catch((error: unknown) => error)
    if (signal.aborted) return
    onEvent({ name: 'refreshed', profile: name, code: failure === undefined ? undefined : codeOf(failure) })
    if (downloadReports === undefined) return
    try {
      const result = await downloadReports()
      onEvent({ name: 'filed', profile: name, reports: result.reports, code: result.failure?.code })
    } catch (error) {
      if (!signal.aborted) onEvent({ name: 'filed', profile: name, reports: 0, code: codeOf(error) })
    }
  }
}

/**
 * Returns the code of an error for an event. Unexpected errors are reported as `internal` and not thrown: they must not
 * end the work of the other profiles.
 */
const codeOf = (error: unknown): ErrorCode => (error instanceof RefcheckError ? error.code : 'internal')
