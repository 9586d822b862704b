import { dirname } from 'node:path'
import { requireOwnStore } from '../../disk/private-modes.ts'
import type { Head, LogNote, LogOutcome, RegisteredLog } from '../../domain/store/attempt-log.ts'
import {
  type ExaminedLogs,
  type Closing,
  type LogReport,
  findLogsByName,
  noLogError,
  storeClosedError,
} from '../../domain/store/closing.ts'
import { type KnownHeads, addKnownHead, compareGeneration } from '../../domain/store/rollback.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { IoError, UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'
import { AttemptLog, type AttemptLogFiles, type LogFile, isVolatile } from './attempt-log.ts'
import { type Engine, type Work, run, setMeta, updateRows } from './engine.ts'
import { type ReadLog, examineStore, highestNumbers, readLog } from './examine-store.ts'
import type { StoreKey } from './fingerprints.ts'
import type { ClaimFailure, FenceRequirement, RecordedAttempt, Runner } from './store-part.ts'
import {
  type StoreState,
  becomeAnotherStore,
  entriesOnlyInStore,
  ignoreLogs,
  openAgain,
  readClosing,
  readHeads,
  readLogs,
  readState,
  registerLog,
  replicatedName,
  unregisterLogs,
  withoutLogName,
  withoutReport,
  writeClosing,
} from './store-state.ts'

export interface RollbackParts {
  engine: Engine
  key: StoreKey
  /** Where its attempt logs are on this machine; undefined for a store that ends with its process. */
  files: AttemptLogFiles | undefined
  /** Makes this process known to the others, where runners share the store. */
  runner: Runner
  clock: Clock
  random: Random
  onMessage?: ((message: string) => void) | undefined
}

/** Every claim shares the lock of the account '', so that none runs at the same time as this. */
const noClaims = { account: '' }

/**
 * Finds that a store lost attempts, by the logs of this machine: at the start of a process, in every claim, and in
 * `store check`. Such a store is closed for all runners.
 */
export class RollbackDetection {
  readonly #parts: RollbackParts
  /** The log that this machine appends to. */
  #own: AttemptLog | undefined
  /** What this process recorded where it has no log. */
  #heads: KnownHeads = new Map()
  #session: Pick<FenceRequirement, 'generation' | 'session' | 'isReplicated'> | undefined
  #beginning: Promise<void> | undefined
  /** Whether the last comparison left this process with a log: one that has gone since is missed. */
  #hasLog = false

  constructor(parts: RollbackParts) {
    this.#parts = parts
  }

  /**
   * Before anything is ordered; calls side by side share one comparison. Throws where the store is closed, or is to be from
   * now on.
   */
  begin(): Promise<void> {
    this.#beginning ??= this.#begin()
      .catch((error: unknown) => {
        this.#session = undefined
        throw error
      })
      .finally(() => {
        this.#beginning = undefined
      })
    return this.#beginning
  }

  /** The same before the first claim of a process that holds no batch. */
  async ready(): Promise<void> {
    if (this.#session === undefined) await this.begin()
  }

  /** Makes the log of a store that is new, if it can be: a copy from before its first order knows its key by that. */
  async makeLog(): Promise<void> {
    this.#open([], new Set())
    if (this.#own !== undefined) return
    this.#make({ ...(await this.#readState()), mayBeWithoutLog: true })
  }

  /** What the next claim requires, with what all processes of this machine recorded. */
  fence(): FenceRequirement {
    const session = this.#session ?? { generation: '', session: '', isReplicated: false }
    const { generation } = session
    const log = this.#own
    log?.readGained()
    // With another generation than the store's, the claim fails.
    const isSame = log === undefined ? !this.#hasLog : !log.isDamaged && log.header.generation === generation
    const heads = log?.heads ?? [...this.#heads.values()].flat()
    return { ...session, generation: isSame ? generation : '', heads, logId: log?.header.id }
  }

  /** A claim found the store closed, older or on another connection. Throws, unless it may go on after all. */
  async failed(why: ClaimFailure): Promise<void> {
    this.#session = undefined
    if (why !== 'session') await this.#examineOrThrow()
    await this.begin()
  }

  /** Records an attempt that is committed, flushed. Throws where that cannot be done: its request may not be sent then. */
  async record(attempt: RecordedAttempt): Promise<void> {
    const log = this.#own
    if (log === undefined) {
      if (!this.#hasLog) return addKnownHead(this.#heads, attempt)
      throw new IoError(`the attempt log of the store "${this.#parts.engine.location}" is gone`, {
        hint: 'Nothing was sent. See what is known with: refcheck store check',
      })
    }
    log.append({ kind: 'entry', ...attempt })
    await log.flush()
  }

  /** Not flushed: where it is missing, the attempt is recovered as unknown. */
  recordOutcome(outcome: Omit<LogOutcome, 'kind'>): void {
    try {
      this.#own?.append({ kind: 'outcome', ...outcome })
    } catch {
      // The next claim fails with the same disk.
    }
  }

  /**
   * A read notes the heads that it sees, so that a machine that only watches knows them too. Nothing is noted where the store
   * is not as the log has it: a note of a store that another machine has overtaken since it was restored would hide what is lost.
   */
  async noteHeads(): Promise<void> {
    const { engine } = this.#parts
    if (!engine.isShared) return
    this.#open(await this.#registered(), new Set())
    const own = this.#own
    if (own === undefined || own.isDamaged) return
    const known = own.heads
    const { state, heads } = await engine.snapshot(function* () {
      return { state: yield* readState(known), heads: yield* readHeads() }
    })
    const isSame = own.header.generation === state.generations.current && state.change === undefined
    if (isSame && state.hasHeads && state.closing === undefined) this.#note(heads, state.generations.current)
  }

  /**
   * Compares all logs as a whole, recovers what the store lacks and closes it where that has to be. `mayReopen`: a store that
   * was closed because its log was missing opens once the log is there again with all attempts.
   */
  async examine({ mayReopen = true } = {}): Promise<ExaminedLogs> {
    const { engine, files, key, clock, random, onMessage } = this.#parts
    const all = this.#readAll(await this.#registered())
    const { recoveredCount, isReopened, ...found } = await engine.transaction(
      () =>
        examineStore(all, {
          key: key.key,
          requiresLog: files !== undefined && !engine.isShared,
          mayReopen,
          missingIn: (known) => this.#missingIds(known),
          now: clock.now(),
          newId: () => random.uuid(),
        }),
      noClaims,
    )
    if (found.closing === undefined && recoveredCount > 0) {
      onMessage?.(
        `The store lacked ${formatCount(recoveredCount, 'attempt')} sent from this machine; they are recovered. See them with: refcheck store check`,
      )
    }
    if (isReopened)
      onMessage?.('The attempt log is there again with every attempt, so the store is open again.')
    return found
  }

  /** Why the store takes no orders, as it was found last. */
  closing(): Promise<Closing | undefined> {
    return this.#parts.engine.run(readClosing())
  }

  /** The user continues with a store that was closed. Returns how many pending rows are held: they may have been sent. */
  async acceptOlder(): Promise<{ held: number }> {
    const { engine, key, clock, random } = this.#parts
    const { closing, step, unreported } = await this.examine()
    if (closing === undefined) return { held: 0 }
    if (closing.move !== undefined || step === 'reports')
      throw storeClosedError(engine.location, closing, unreported)
    const registered = await this.#registered()
    const all = this.#readAll(registered)
    const unusable = all.filter((log) => log.isDamaged || log.file.header.key !== key.key)
    const ignored = unusable.map(({ file }) => file.header.id)
    this.#session = undefined
    // Where no log can be kept, the store stays closed.
    const before = await this.#readState()
    if (before.isBackup) await engine.transaction(() => becomeAnotherStore(random.uuid()), noClaims)
    await engine.run(key.loadKey())
    this.#open(registered, new Set([...before.ignoredLogs, ...ignored]))
    this.#make(before)
    const own = all.filter((log) => log.file.header.key === key.key)
    const missingIds = (logs: readonly LogReport[]): string[] => this.#missingIds(logs)
    const held = await engine.transaction(function* () {
      const state = yield* readState()
      yield* ignoreLogs(ignored)
      yield* unregisterLogs(missingIds(state.logs))
      const known = state.closing?.generations ?? []
      yield* openAgain(state, { id: random.uuid(), known, heads: highestNumbers(own) })
      // Attempts may be lost that no log tells of.
      return step === 'acceptance' ? yield* setPendingHeld(clock.now(), 'the store had lost attempts') : 0
    }, noClaims)
    await this.#update(await this.#readState())
    return { held }
  }

  /** Closes the store until every machine has compared its log with it: a backup was restored. */
  async closeAsRestored(): Promise<void> {
    const { engine, clock, random } = this.#parts
    this.#session = undefined
    await engine.transaction(function* () {
      const before = yield* readClosing()
      if (before?.move !== undefined) return
      const reasons = new Set(before?.reasons).add('restored')
      const now = { id: random.uuid(), at: clock.now(), reasons: [...reasons] }
      yield* writeClosing({ recovered: [], ...before, ...now })
    }, noClaims)
  }

  /** Requires no report of these machines until they send again. Returns how many pending rows are held. */
  async exclude(names: readonly string[]): Promise<{ held: number }> {
    const { engine, clock } = this.#parts
    const registered = await this.#registered()
    const unknown = names.find((name) => findLogsByName(registered, name).length === 0)
    if (unknown !== undefined) {
      throw new UsageError(`--without: no machine "${unknown}" has ordered with the store`, {
        hint: `Name one of: ${[...new Set(registered.map(({ host }) => host))].join(', ') || '(none)'}`,
      })
    }
    const ids = names.flatMap((name) => findLogsByName(registered, name).map(({ id }) => id))
    return engine.transaction(function* () {
      for (const id of ids) yield* updateRows('attempt_logs', { isExcluded: true }, { id })
      return { held: yield* setPendingHeld(clock.now(), 'a machine that may have sent it was excluded') }
    }, noClaims)
  }

  /** The user permits orders without an attempt log that lasts. */
  allowWithoutLog(): Promise<void> {
    return this.#parts.engine.run(setMeta(withoutLogName, '1'))
  }

  /** Of the logs with these ids, those that are on this machine. */
  async idsHere(logIds: readonly string[]): Promise<string[]> {
    if (logIds.length === 0) return []
    const here = this.#findFiles(await this.#registered()).filter(({ isOriginal }) => isOriginal)
    return logIds.filter((id) => here.some(({ header }) => header.id === id))
  }

  /** For a person who is erased completely. */
  async removeFingerprints(attemptIds: ReadonlySet<string>): Promise<void> {
    for (const file of this.#findFiles(await this.#registered())) this.#parts.files?.erase(file, attemptIds)
  }

  /** Records where the store went: a restored copy of it is closed by that. */
  async leave(to: string): Promise<void> {
    this.#open(await this.#registered(), new Set())
    this.#own?.writeHeader({ movedTo: to })
  }

  /** Closes the log. */
  close(): void {
    this.#own?.close()
    this.#own = undefined
  }

  async #begin(): Promise<void> {
    const { engine, files, runner } = this.#parts
    if (!engine.isShared && files !== undefined) requireOwnStore(engine.location)
    // Logs first, then the store: what a log has was committed before.
    const registered = await this.#registered()
    const session = engine.session()
    const { ignoredLogs } = await this.#readState()
    const others = this.#open(registered, ignoredLogs)
    let state = await this.#readState(this.#headsIn(others))
    if (!this.#isAsLeft(state, others)) {
      await this.#examineOrThrow()
      state = await this.#readState()
    }
    await this.#update(state)
    this.#hasLog = this.#own !== undefined
    await runner.begin?.()
    this.#heads = new Map()
    for (const head of await engine.run(readHeads())) addKnownHead(this.#heads, head)
    const { isReplicated } = state
    // A claim requires that this is unchanged, so that it is true of every attempt until a failover.
    if (isReplicated !== state.wasReplicated)
      await engine.run(setMeta(replicatedName, isReplicated ? '1' : undefined))
    this.#session = { generation: state.generations.current, session, isReplicated }
  }

  #isAsLeft(state: StoreState, others: readonly LogFile[]): boolean {
    const { engine, files, key } = this.#parts
    const own = this.#own
    const { generations, closing, isBackup, change, hasHeads, hasAttempts } = state
    if (closing !== undefined || isBackup || change !== undefined || !hasHeads) return false
    if (files === undefined) return true
    if (this.#missingIds(state.logs).length > 0) return false
    const evidence = others.filter(({ header, isEmpty }) => !isEmpty && !state.ignoredLogs.has(header.id))
    if (evidence.some(({ header }) => header.key !== key.key)) return false
    const ages = evidence.map(({ header }) => compareGeneration(header.generation, generations))
    if (ages.includes('unknown')) return false
    if (own === undefined)
      return evidence.length === 0 && (engine.isShared || !hasAttempts || state.mayBeWithoutLog)
    return !own.isDamaged && own.header.generation === generations.current && own.header.movedTo === undefined
  }

  async #examineOrThrow(): Promise<void> {
    const { closing, unreported } = await this.examine({ mayReopen: false })
    if (closing !== undefined) throw storeClosedError(this.#parts.engine.location, closing, unreported)
  }

  #readState(heads: readonly Head[] = []): Promise<StoreState> {
    const { engine } = this.#parts
    return engine.snapshot(() => readState(heads))
  }

  #registered(): Promise<LogReport[]> {
    return this.#parts.engine.run(readLogs())
  }

  /** In the generation of its own log: heads of others are compared when the store begins another one. */
  #headsIn(others: readonly LogFile[]): Head[] {
    const generation = this.#own?.header.generation
    const ofOthers = others.filter(({ header }) => header.generation === generation)
    return [...(this.#own?.heads ?? []), ...ofOthers.flatMap(({ header }) => header.heads)]
  }

  /** All logs of the store, and of one that was in its place. `registered`: as the store has them. */
  #findFiles(registered: readonly LogReport[]): LogFile[] {
    const { engine, key, files } = this.#parts
    // A file belongs to one machine, whose settings folder may have been another one.
    const here = engine.isShared ? [] : registered.filter((log) => this.#isOfThisMachine(log))
    const storeOf = { store: engine.location, storeId: key.storeId }
    const paths = here.map(({ path }) => path)
    return files?.find(storeOf, paths) ?? []
  }

  /** Opens its own log and reads it up to its end. Answers the others, which are evidence alone: copies, and logs of other folders. */
  #open(registered: readonly LogReport[], ignored: ReadonlySet<string>): LogFile[] {
    const { key } = this.#parts
    const found = this.#findFiles(registered)
    const originals = found.filter(
      ({ isOriginal, header }) =>
        isOriginal && header.storeId === key.storeId && header.key === key.key && !ignored.has(header.id),
    )
    const file = originals.find(({ header }) => registered.some(({ id }) => id === header.id)) ?? originals[0]
    if (this.#own?.path !== file?.path || file === undefined) this.close()
    this.#own ??= file && new AttemptLog(file)
    this.#own?.readGained()
    return found.filter((each) => each !== file)
  }

  /** Ids of registered logs of this machine that are gone, or were replaced by a copy. */
  #missingIds(registered: readonly LogReport[]): string[] {
    const found = this.#findFiles(registered)
    const missing = registered.filter(
      (log) =>
        !log.isExcluded &&
        this.#isOfThisMachine(log) &&
        this.#parts.files?.holds(log.path) === true &&
        !found.some(({ header, isOriginal }) => isOriginal && header.id === log.id),
    )
    return missing.map(({ id }) => id)
  }

  /**
   * Makes the store's log where there is none. Throws where none can be kept that outlasts this machine's next start, unless
   * a person allowed that or each commit waits for a second server.
   */
  #make(state: StoreState): void {
    const { engine, files, key, random } = this.#parts
    if (files === undefined) return
    const { location, isShared } = engine
    const mayBeLost = state.mayBeWithoutLog || state.isReplicated
    if (this.#own === undefined) {
      const { current: generation } = state.generations
      const { storeId } = key
      const register = state.logs.map(withoutReport)
      const made = { id: random.uuid(), storeId, store: location, key: key.key, generation, register }
      const file = files.create(made)
      if (file === undefined && !mayBeLost) throw noLogError(location, files.folders, 'not writable')
      this.#own = file && new AttemptLog(file)
    }
    const folder = this.#own && dirname(this.#own.path)
    if (folder !== undefined && isShared && !mayBeLost && isVolatile(folder))
      throw noLogError(location, [folder], 'volatile')
  }

  /** Makes the log, registers it, and brings it up to the store. */
  async #update(state: StoreState): Promise<void> {
    this.#make(state)
    const log = this.#own
    if (log === undefined) return
    const { engine } = this.#parts
    const { id, store, register, movedTo, generation } = log.header
    const registered = state.logs.find((each) => each.id === id)
    if (registered === undefined || registered.isExcluded) await engine.run(registerLog(log.header))
    const logs = registered === undefined ? await this.#registered() : state.logs
    const { current } = state.generations
    const heads = await engine.run(readHeads())
    if (generation !== current) log.writeHeader({ generation: current, heads })
    if (store !== engine.location || movedTo !== undefined || idsOf(register) !== idsOf(logs))
      log.writeHeader({ store: engine.location, movedTo: undefined, register: logs.map(withoutReport) })
    const lost = await engine.run(entriesOnlyInStore({ logId: id, heads: log.heads }))
    for (const entry of lost) log.append({ ...entry, kind: 'entry', generation: current })
    this.#note(heads, current)
  }

  /** Appends heads that the log does not know yet, not flushed. */
  #note(heads: readonly Head[], generation: string): void {
    const known = new Set(this.#own?.heads.map(({ attemptId }) => attemptId))
    const unknown = heads.filter(({ attemptId }) => !known.has(attemptId))
    if (unknown.length === 0) return
    const noteOf = (head: Head): LogNote => ({ kind: 'note', generation, ...head })
    this.#own?.append(...unknown.map(noteOf))
  }

  #readAll(registered: readonly LogReport[]): ReadLog[] {
    const { files } = this.#parts
    return this.#findFiles(registered).flatMap((file) => (files ? readLog(files, file) : []))
  }

  #isOfThisMachine({ host, machine }: RegisteredLog): boolean {
    const here = this.#parts.files?.machine
    return host === here?.host && machine === here.id
  }
}

const idsOf = (logs: readonly RegisteredLog[]): string => logs.map(({ id }) => id).join()

function* setPendingHeld(at: number, reason: string): Work<number> {
  return yield* run(
    `UPDATE submissions SET state = 'held', held_for = 'store_forgot', changed_at = :at, reason = :reason
      WHERE state = 'pending'`,
    { at, reason },
  )
}
