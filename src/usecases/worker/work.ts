import type { Batch } from '../../domain/batch/batch.ts'
import { type Orderer, ordererOf, nextQueuedStep } from '../../domain/batch/run-policy.ts'
import type { WorkerEvent } from '../../domain/worker/events.ts'
import { type ErrorCode, RefcheckError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { RunOutcome } from '../batch/start.ts'
import type { PurgedAll } from '../store/purge.ts'
import { WakeableSleep } from '../webhook/wakeable-sleep.ts'

/** One key, and what is done with it. */
export interface WorkerProfile extends Orderer {
  send(batchId: string): Promise<RunOutcome>
  /** Reads unfinished requests again; the failure that ended it. */
  refresh(): Promise<RefcheckError | undefined>
  /** Calls that are left in each window. */
  quota(): Promise<{ seconds: number; left: number }[]>
  /** Files new reports, where a folder is set. */
  file: (() => Promise<{ reports: number; failure: RefcheckError | undefined }>) | undefined
}

/** How much was too old. */
type PurgeCounts = Pick<PurgedAll, 'rows' | 'events' | 'drafts'>

export interface WorkOptions {
  batches: Pick<Batches, 'queued' | 'recordQueued'>
  profiles: readonly WorkerProfile[]
  clock: Clock
  /** Removes personal data that is older than the retention; undefined where none is set. */
  purgeExpired: () => Promise<PurgeCounts | undefined>
  /** Where the database can announce new work of other processes. */
  inbox: Pick<Inbox, 'onArrival'>
  /** Ends it: rows in flight are finished. */
  signal: AbortSignal
  /** Milliseconds between two readings of unfinished requests. */
  refreshMs: number
  /** Ends it once nothing is left to do just then. */
  once: boolean
  onEvent: (event: WorkerEvent) => void
}

const nothing: PurgeCounts = { rows: 0, events: 0, drafts: 0 }
const pollEveryMs = 2_000
const purgeEveryMs = 24 * 60 * 60 * 1000
/** After a batch that could not even be begun. */
const restMs = 60_000

/** Sends what is queued and keeps requests fresh, a batch at a time for each key and keys side by side, until it is stopped. */
export function work(services: WorkOptions): Promise<void> {
  return new Worker(services).run()
}

class Worker {
  readonly #services: WorkOptions
  readonly #sending = new Map<string, Promise<void>>()
  readonly #reading = new Map<string, Promise<void>>()
  readonly #lastRunAt = new Map<string, number>()
  readonly #restsUntil = new Map<string, number>()
  readonly #readAt = new Map<string, number>()
  readonly #unassigned = new Set<string>()
  readonly #arrivals: WakeableSleep
  #purgedAt: number | undefined

  constructor(services: WorkOptions) {
    this.#services = services
    this.#arrivals = new WakeableSleep(services.clock)
  }

  async run(): Promise<void> {
    const { signal, profiles, onEvent, once } = this.#services
    onEvent({ name: 'started', profiles: profiles.map(({ name }) => name) })
    await this.#listen()
    while (!signal.aborted) {
      await this.#findWork()
      await this.#purgeExpired()
      for (const profile of profiles) this.#keepFresh(profile)
      if (once && this.#sending.size + this.#reading.size === 0) break
      await (once ? Promise.race([...this.#sending.values(), ...this.#reading.values()]) : this.#pause())
    }
    onEvent({ name: 'stopping' })
    await Promise.all([...this.#sending.values(), ...this.#reading.values()])
    onEvent({ name: 'stopped' })
  }

  /** In addition to polling: what cannot be listened for now is found all the same. */
  async #listen(): Promise<void> {
    const { inbox, onEvent } = this.#services
    try {
      await this.#arrivals.listen(inbox, 'batch')
    } catch (error) {
      onEvent({ name: 'store-waits', code: codeOf(error) })
    }
  }

  async #pause(): Promise<void> {
    await this.#arrivals.sleep(pollEveryMs, this.#services.signal).catch(() => undefined)
  }

  /** A store that cannot be read is looked at again. */
  async #findWork(): Promise<void> {
    const { batches, onEvent } = this.#services
    try {
      for (const batch of await batches.queued()) await this.#turn(batch)
    } catch (error) {
      onEvent({ name: 'store-waits', code: codeOf(error) })
    }
  }

  async #purgeExpired(): Promise<void> {
    const { clock, purgeExpired, onEvent } = this.#services
    if (this.#purgedAt !== undefined && clock.monotonic() - this.#purgedAt < purgeEveryMs) return
    this.#purgedAt = clock.monotonic()
    try {
      const { rows, events, drafts } = (await purgeExpired()) ?? nothing
      if (rows + events + drafts > 0) onEvent({ name: 'purged', rows, events, drafts, code: undefined })
    } catch (error) {
      onEvent({ name: 'purged', ...nothing, code: codeOf(error) })
    }
  }

  async #turn(batch: Batch): Promise<void> {
    const { batches, profiles, clock, onEvent } = this.#services
    const now = clock.now()
    const turn = nextQueuedStep(batch, now, this.#lastRunAt.get(batch.id))
    if (turn.kind === 'done') return batches.recordQueued(batch.id, undefined)
    if (turn.kind !== 'run' || now < (this.#restsUntil.get(batch.id) ?? 0)) return
    const profile = ordererOf(batch, profiles)
    if (profile === undefined) {
      const reason = 'no profile of this worker has its base URL and account: see --profiles'
      if (!this.#unassigned.has(batch.id)) {
        onEvent({ name: 'batch-without-profile', batchId: batch.id, reason })
      }
      this.#unassigned.add(batch.id)
      return
    }
    if (this.#sending.has(profile.name)) return
    this.#sending.set(
      profile.name,
      this.#send(profile, batch).finally(() => this.#sending.delete(profile.name)),
    )
  }

  async #send(profile: WorkerProfile, { id, counts }: Batch): Promise<void> {
    const { clock, onEvent } = this.#services
    const named = { profile: profile.name, batchId: id }
    onEvent({ name: 'batch-started', ...named, pending: counts.pending })
    try {
      const { batch, failure } = await profile.send(id)
      // Rows that a person left out on purpose are no warning.
      const code = failure?.isChosen === true ? undefined : failure?.code
      onEvent({ name: 'batch-ended', ...named, code, counts: batch.counts })
    } catch (error) {
      this.#restsUntil.set(id, clock.now() + restMs)
      onEvent({ name: 'batch-failed', ...named, code: codeOf(error) })
    }
    this.#lastRunAt.set(id, clock.now())
  }

  #keepFresh(profile: WorkerProfile): void {
    const { clock, refreshMs, once } = this.#services
    const { name } = profile
    const at = this.#readAt.get(name)
    const isDue = at === undefined || (!once && clock.monotonic() - at >= refreshMs)
    if (!isDue || this.#reading.has(name)) return
    this.#readAt.set(name, clock.monotonic())
    this.#reading.set(
      name,
      this.#read(profile).finally(() => this.#reading.delete(name)),
    )
  }

  async #read(profile: WorkerProfile): Promise<void> {
    const { name, file } = profile
    const { onEvent, signal } = this.#services
    const failure = await profile.refresh().catch((error: unknown) => error)
    if (signal.aborted) return
    onEvent({ name: 'refreshed', profile: name, code: failure === undefined ? undefined : codeOf(failure) })
    if (file === undefined) return
    try {
      const filed = await file()
      onEvent({ name: 'filed', profile: name, reports: filed.reports, code: filed.failure?.code })
    } catch (error) {
      if (!signal.aborted) onEvent({ name: 'filed', profile: name, reports: 0, code: codeOf(error) })
    }
  }
}

/** A bug in one key's work ends nothing of the others. */
const codeOf = (error: unknown): ErrorCode => (error instanceof RefcheckError ? error.code : 'internal')
