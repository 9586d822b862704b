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
import { IoError, RefcheckError, UsageError } from '../../errors/kinds.ts'
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
  /** The attempt logs of this machine; undefined for a store in memory. */
  files: AttemptLogFiles | undefined
  /** Records this process as a runner, if the store is shared. */
  runner: Runner
  clock: Clock
  random: Random
  onMessage?: ((message: string) => void) | undefined
}

/** The lock of a transaction during which no other process can claim a row: each claim also locks the account ''. */
const noClaims = { account: '' }

/**
 * Detects by the logs of this machine that a store lost attempts: at the start of a process, in every claim, and in
 * `store check`. Such a store is closed for all runners.
 */
export class RollbackDetection {
  readonly #parts: RollbackParts
  /** The log to which this machine appends. */
  #ownLog: AttemptLog | undefined
  /** The head of each account (its newest attempt), if this process has no log. */
  #heads: KnownHeads = new Map()
  /** Data that each claim has to match; undefined before the first comparison and after a claim that failed. */
  #session: Pick<FenceRequirement, 'generation' | 'session' | 'isReplicated'> | undefined
  /** The comparison that is running. */
  #runningComparison: Promise<void> | undefined
  /** Whether this process had a log after the last comparison: a log that is gone since then is missing. */
  #hasLog = false

  constructor(parts: RollbackParts) {
    this.#parts = parts
  }

  /**
   * Compares the store with the logs, before anything is ordered. Concurrent calls share one comparison. Throws an
   * IoError if the store is closed, or has to be closed.
   */
  compareStore(): Promise<void> {
    this.#runningComparison ??= this.#compareStore()
      .catch((error: unknown) => {
        this.#session = undefined
        throw error
      })
      .finally(() => {
        this.#runningComparison = undefined
      })
    return this.#runningComparison
  }

  /** Does the same as `compareStore`, unless the store was compared already; called before each claim. */
  async ensureCompared(): Promise<void> {
    if (this.#session === undefined) await this.compareStore()
  }

  /**
   * Makes the log of a new store, if a folder can be written, so that a copy of the store from before the first order
   * is recognised by the key in the log.
   */
  async makeLog(): Promise<void> {
    this.#open([], new Set())
    if (this.#ownLog !== undefined) return
    this.#ensureLog({ ...(await this.#readState()), mayBeWithoutLog: true })
  }

  /** Returns what the next claim requires, including the attempts that all processes of this machine recorded. */
  readRequirement(): FenceRequirement {
    const session = this.#session ?? { generation: '', session: '', isReplicated: false }
    const { generation } = session
    const log = this.#ownLog
    log?.readNewRecords()
    // The claim fails if this is not the store's generation.
    const isSameGeneration =
      log === undefined ? !this.#hasLog : !log.isDamaged && log.header.generation === generation
    const heads = log?.heads ?? [...this.#heads.values()].flat()
    return { ...session, generation: isSameGeneration ? generation : '', heads, logId: log?.header.id }
  }

  /** Handles a claim that found the store closed, older or on another connection. Throws unless claims may continue. */
  async handleFailedClaim(why: ClaimFailure): Promise<void> {
    this.#session = undefined
    if (why !== 'session') await this.#examineOrThrow()
    await this.compareStore()
  }

  /** Records a committed attempt in the log, and flushes it. If this throws, the request must not be sent. */
  async record(attempt: RecordedAttempt): Promise<void> {
    const log = this.#ownLog
    if (log === undefined) {
      if (!this.#hasLog) return addKnownHead(this.#heads, attempt)
      throw new IoError(`the attempt log of the store "${this.#parts.engine.location}" is gone`, {
        hint: 'Nothing was sent. See what is known with: refcheck store check',
      })
    }
    log.append({ kind: 'entry', ...attempt })
    await log.flush()
  }

  /**
   * Appends an outcome without a flush, because an attempt without an outcome in the log is recovered as
   * unknown.
   */
  recordOutcome(outcome: Omit<LogOutcome, 'kind'>): void {
    try {
      this.#ownLog?.append({ kind: 'outcome', ...outcome })
    } catch {
      // The next claim fails too, since it appends to the same log.
    }
  }

  /**
   * Appends the heads in the store to the log, as notes, so that a machine that only reads knows them too. Nothing is
   * appended if the store differs from the log: after a restore, notes of newer attempts of another machine would hide
   * the attempts that were lost.
   */
  async noteHeads(): Promise<void> {
    const { engine } = this.#parts
    if (!engine.allowsSeveralRunners) return
    this.#open(await this.#readRegister(), new Set())
    const ownLog = this.#ownLog
    if (ownLog === undefined || ownLog.isDamaged) return
    const ownHeads = ownLog.heads
    const { state, heads } = await engine.snapshot(function* () {
      return { state: yield* readState(ownHeads), heads: yield* readHeads() }
    })
    const isSameGeneration =
      ownLog.header.generation === state.generations.current && state.change === undefined
    if (isSameGeneration && state.hasHeads && state.closing === undefined)
      this.#appendNewHeads(heads, state.generations.current)
  }

  /**
   * Compares all logs completely, recovers the attempts that the store lacks, and closes it if necessary.
   * `mayReopen`: a store that was closed because its log was missing is opened if the log exists again with all
   * attempts.
   */
  async examine({ mayReopen = true } = {}): Promise<ExaminedLogs> {
    const { engine, files, key, clock, random, onMessage } = this.#parts
    const logs = this.#readAll(await this.#readRegister())
    const { recoveredCount, isReopened, ...result } = await engine.transaction(
      () =>
        examineStore(logs, {
          key: key.key,
          fingerprint: key.fingerprint,
          requiresLog: files !== undefined && !engine.allowsSeveralRunners,
          mayReopen,
          findMissingIds: (known) => this.#missingIds(known),
          now: clock.now(),
          newId: () => random.uuid(),
        }),
      noClaims,
    )
    if (result.closing === undefined && recoveredCount > 0) {
      onMessage?.(
        `The store lacked ${formatCount(recoveredCount, 'attempt')} sent from this machine; they are recovered. See them with: refcheck store check`,
      )
    }
    if (isReopened)
      onMessage?.('The attempt log is there again with every attempt, so the store is open again.')
    return result
  }

  /** Returns why the store takes no orders, as the last comparison found. */
  readClosing(): Promise<Closing | undefined> {
    return this.#parts.engine.run(readClosing())
  }

  /**
   * Returns why the store takes no orders: why it is closed, or why the next order would close it. Changes nothing; a
   * log that cannot be read is found by the next order.
   */
  async findClosing(): Promise<Closing | undefined> {
    const { closing, ignoredLogs, logs } = await this.#readState()
    if (closing !== undefined) return closing
    try {
      const others = this.#open(logs, ignoredLogs)
      const { hasHeads, isBackup } = await this.#readState(this.#headsIn(others))
      const reasons = [...(hasHeads ? [] : (['older'] as const)), ...(isBackup ? (['backup'] as const) : [])]
      return reasons.length === 0 ? undefined : { id: '', at: 0, reasons, recovered: [] }
    } catch (error) {
      if (!(error instanceof RefcheckError)) throw error
      return undefined
    }
  }

  /**
   * Opens a closed store by the user's decision. Returns how many pending rows are held, since they may have been
   * sent.
   */
  async acceptOlder(): Promise<{ held: number }> {
    const { engine, key, clock, random } = this.#parts
    const { closing, reopenStep, unreported } = await this.examine()
    if (closing === undefined) return { held: 0 }
    if (closing.move !== undefined || reopenStep === 'reports')
      throw storeClosedError(engine.location, closing, unreported)
    const registered = await this.#readRegister()
    const logs = this.#readAll(registered)
    const unusable = logs.filter((log) => log.isDamaged || log.file.header.key !== key.key)
    const ignoredIds = unusable.map(({ file }) => file.header.id)
    this.#session = undefined
    // If no log can be made, the store stays closed.
    const storeState = await this.#readState()
    if (storeState.isBackup) await engine.transaction(() => becomeAnotherStore(random.uuid()), noClaims)
    await engine.run(key.loadKey())
    this.#open(registered, new Set([...storeState.ignoredLogs, ...ignoredIds]))
    this.#ensureLog(storeState)
    const ownLogs = logs.filter((log) => log.file.header.key === key.key)
    const missingIds = (reports: readonly LogReport[]): string[] => this.#missingIds(reports)
    const held = await engine.transaction(function* () {
      const state = yield* readState()
      yield* ignoreLogs(ignoredIds)
      yield* unregisterLogs(missingIds(state.logs))
      const known = state.closing?.generations ?? []
      yield* openAgain(state, { id: random.uuid(), known, heads: highestNumbers(ownLogs) })
      // Attempts that are in no log may be lost.
      return reopenStep === 'acceptance'
        ? yield* setPendingHeld(clock.now(), 'the store had lost attempts')
        : 0
    }, noClaims)
    await this.#updateLog(await this.#readState())
    return { held }
  }

  /** Closes the store until every machine has compared its log with it, because a backup was restored. */
  async closeAsRestored(): Promise<void> {
    const { engine, clock, random } = this.#parts
    this.#session = undefined
    await engine.transaction(function* () {
      const oldClosing = yield* readClosing()
      if (oldClosing?.move !== undefined) return
      const reasons = new Set(oldClosing?.reasons).add('restored')
      const restored = { id: random.uuid(), at: clock.now(), reasons: [...reasons] }
      yield* writeClosing({ recovered: [], ...oldClosing, ...restored })
    }, noClaims)
  }

  /** Excludes machines: no report of them is required until they send again. Returns how many pending rows are held. */
  async exclude(names: readonly string[]): Promise<{ held: number }> {
    const { engine, clock } = this.#parts
    const registered = await this.#readRegister()
    const unknownName = names.find((name) => findLogsByName(registered, name).length === 0)
    if (unknownName !== undefined) {
      throw new UsageError(`--without: no machine "${unknownName}" has ordered with the store`, {
        hint: `Name one of: ${[...new Set(registered.map(({ host }) => host))].join(', ') || '(none)'}`,
      })
    }
    const ids = names.flatMap((name) => findLogsByName(registered, name).map(({ id }) => id))
    return engine.transaction(function* () {
      for (const id of ids) yield* updateRows('attempt_logs', { isExcluded: true }, { id })
      return { held: yield* setPendingHeld(clock.now(), 'a machine that may have sent it was excluded') }
    }, noClaims)
  }

  /** Permits orders without an attempt log that outlasts a restart, by the user's decision. */
  allowWithoutLog(): Promise<void> {
    return this.#parts.engine.run(setMeta(withoutLogName, '1'))
  }

  /** Returns the ids in `logIds` whose logs are on this machine. */
  async idsOnThisMachine(logIds: readonly string[]): Promise<string[]> {
    if (logIds.length === 0) return []
    const localLogs = this.#findFiles(await this.#readRegister()).filter(({ isOriginal }) => isOriginal)
    return logIds.filter((id) => localLogs.some(({ header }) => header.id === id))
  }

  /** Removes the fingerprints of attempts from all logs of this machine, for a person who is erased completely. */
  async removeFingerprints(attemptIds: ReadonlySet<string>): Promise<void> {
    for (const file of this.#findFiles(await this.#readRegister())) this.#parts.files?.erase(file, attemptIds)
  }

  /** Records in the log where the store was moved, so that a restored copy of it is closed. */
  async recordMove(to: string): Promise<void> {
    this.#open(await this.#readRegister(), new Set())
    this.#ownLog?.writeHeader({ movedTo: to })
  }

  /** Closes the log. */
  close(): void {
    this.#ownLog?.close()
    this.#ownLog = undefined
  }

  async #compareStore(): Promise<void> {
    const { engine, files, runner } = this.#parts
    if (!engine.allowsSeveralRunners && files !== undefined) requireOwnStore(engine.location)
    // The logs are read before the store, because an attempt is committed before it is in a log.
    const registered = await this.#readRegister()
    const session = engine.session()
    const { ignoredLogs } = await this.#readState()
    const otherLogs = this.#open(registered, ignoredLogs)
    let state = await this.#readState(this.#headsIn(otherLogs))
    if (!this.#isUnchanged(state, otherLogs)) {
      await this.#examineOrThrow()
      state = await this.#readState()
    }
    await this.#updateLog(state)
    this.#hasLog = this.#ownLog !== undefined
    await runner.begin?.()
    this.#heads = new Map()
    for (const head of await engine.run(readHeads())) addKnownHead(this.#heads, head)
    const { isReplicated } = state
    // Claims require the recorded value, so that it applies to every attempt until a failover.
    if (isReplicated !== state.wasReplicated)
      await engine.run(setMeta(replicatedName, isReplicated ? '1' : undefined))
    this.#session = { generation: state.generations.current, session, isReplicated }
  }

  /**
   * Whether the store and the headers and heads of the logs agree. If not, `examine` compares all logs completely.
   */
  #isUnchanged(state: StoreState, otherLogs: readonly LogFile[]): boolean {
    const { engine, files, key } = this.#parts
    const ownLog = this.#ownLog
    const { generations, closing, isBackup, change, hasHeads, hasAttempts } = state
    if (closing !== undefined || isBackup || change !== undefined || !hasHeads) return false
    if (files === undefined) return true
    if (this.#missingIds(state.logs).length > 0) return false
    const nonEmptyLogs = otherLogs.filter(
      ({ header, isEmpty }) => !isEmpty && !state.ignoredLogs.has(header.id),
    )
    if (nonEmptyLogs.some(({ header }) => header.key !== key.key)) return false
    const ages = nonEmptyLogs.map(({ header }) => compareGeneration(header.generation, generations))
    if (ages.includes('unknown')) return false
    if (ownLog === undefined)
      return (
        nonEmptyLogs.length === 0 && (engine.allowsSeveralRunners || !hasAttempts || state.mayBeWithoutLog)
      )
    return (
      !ownLog.isDamaged &&
      ownLog.header.generation === generations.current &&
      ownLog.header.movedTo === undefined
    )
  }

  async #examineOrThrow(): Promise<void> {
    const { closing, unreported } = await this.examine({ mayReopen: false })
    if (closing !== undefined) throw storeClosedError(this.#parts.engine.location, closing, unreported)
  }

  #readState(heads: readonly Head[] = []): Promise<StoreState> {
    const { engine } = this.#parts
    return engine.snapshot(() => readState(heads))
  }

  #readRegister(): Promise<LogReport[]> {
    return this.#parts.engine.run(readLogs())
  }

  /** Returns the heads in the generation of this machine's log. Heads of other generations are compared by `examine`. */
  #headsIn(otherLogs: readonly LogFile[]): Head[] {
    const generation = this.#ownLog?.header.generation
    const sameGenerationLogs = otherLogs.filter(({ header }) => header.generation === generation)
    return [...(this.#ownLog?.heads ?? []), ...sameGenerationLogs.flatMap(({ header }) => header.heads)]
  }

  /**
   * Finds the logs of the store, and of a store that was at its location before. `registered`: the logs in the
   * store's register.
   */
  #findFiles(registered: readonly LogReport[]): LogFile[] {
    const { engine, key, files } = this.#parts
    // A store in a file belongs to one machine, whose settings folder may have changed.
    const localReports = engine.allowsSeveralRunners
      ? []
      : registered.filter((log) => this.#isOfThisMachine(log))
    const storeNames = { store: engine.location, storeId: key.storeId }
    const paths = localReports.map(({ path }) => path)
    return files?.find(storeNames, paths) ?? []
  }

  /** Opens this machine's log and reads it to its end. Returns the other logs: copies, and logs in other folders. */
  #open(registered: readonly LogReport[], ignored: ReadonlySet<string>): LogFile[] {
    const { key } = this.#parts
    const logs = this.#findFiles(registered)
    const originals = logs.filter(
      ({ isOriginal, header }) =>
        isOriginal && header.storeId === key.storeId && header.key === key.key && !ignored.has(header.id),
    )
    const file = originals.find(({ header }) => registered.some(({ id }) => id === header.id)) ?? originals[0]
    if (this.#ownLog?.path !== file?.path || file === undefined) this.close()
    this.#ownLog ??= file && new AttemptLog(file)
    this.#ownLog?.readNewRecords()
    return logs.filter((each) => each !== file)
  }

  /** Returns the ids of registered logs of this machine that are gone, or were replaced by a copy. */
  #missingIds(registered: readonly LogReport[]): string[] {
    const logs = this.#findFiles(registered)
    const missing = registered.filter(
      (log) =>
        !log.isExcluded &&
        this.#isOfThisMachine(log) &&
        this.#parts.files?.isInFolders(log.path) === true &&
        !logs.some(({ header, isOriginal }) => isOriginal && header.id === log.id),
    )
    return missing.map(({ id }) => id)
  }

  /**
   * Makes this machine's log if it has none. Throws an IoError if no log can outlast the machine's next start, unless
   * the user permitted that or each commit waits for a second server.
   */
  #ensureLog(state: StoreState): void {
    const { engine, files, key, random } = this.#parts
    if (files === undefined) return
    const { location, allowsSeveralRunners } = engine
    const mayBeLost = state.mayBeWithoutLog || state.isReplicated
    if (this.#ownLog === undefined) {
      const { current: generation } = state.generations
      const { storeId } = key
      const register = state.logs.map(withoutReport)
      const newLog = { id: random.uuid(), storeId, store: location, key: key.key, generation, register }
      const file = files.create(newLog)
      if (file === undefined && !mayBeLost) throw noLogError(location, files.folders, 'not writable')
      this.#ownLog = file && new AttemptLog(file)
    }
    const folder = this.#ownLog && dirname(this.#ownLog.path)
    if (folder !== undefined && allowsSeveralRunners && !mayBeLost && isVolatile(folder))
      throw noLogError(location, [folder], 'volatile')
  }

  /** Makes the log, registers it, and appends the attempts that the store has and the log lacks. */
  async #updateLog(state: StoreState): Promise<void> {
    this.#ensureLog(state)
    const log = this.#ownLog
    if (log === undefined) return
    const { engine } = this.#parts
    const { id, store, register, movedTo, generation } = log.header
    const registered = state.logs.find((each) => each.id === id)
    if (registered === undefined || registered.isExcluded) await engine.run(registerLog(log.header))
    const logs = registered === undefined ? await this.#readRegister() : state.logs
    const { current } = state.generations
    const heads = await engine.run(readHeads())
    if (generation !== current) log.writeHeader({ generation: current, heads })
    if (store !== engine.location || movedTo !== undefined || idsOf(register) !== idsOf(logs))
      log.writeHeader({ store: engine.location, movedTo: undefined, register: logs.map(withoutReport) })
    const missingEntries = await engine.run(entriesOnlyInStore({ logId: id, heads: log.heads }))
    for (const entry of missingEntries) log.append({ ...entry, kind: 'entry', generation: current })
    this.#appendNewHeads(heads, current)
  }

  /** Appends the heads that the log does not have yet, as notes and without a flush. */
  #appendNewHeads(heads: readonly Head[], generation: string): void {
    const knownIds = new Set(this.#ownLog?.heads.map(({ attemptId }) => attemptId))
    const newHeads = heads.filter(({ attemptId }) => !knownIds.has(attemptId))
    if (newHeads.length === 0) return
    const noteOf = (head: Head): LogNote => ({ kind: 'note', generation, ...head })
    this.#ownLog?.append(...newHeads.map(noteOf))
  }

  #readAll(registered: readonly LogReport[]): ReadLog[] {
    const { files } = this.#parts
    return this.#findFiles(registered).flatMap((file) => (files ? readLog(files, file) : []))
  }

  #isOfThisMachine({ host, machine }: RegisteredLog): boolean {
    const thisMachine = this.#parts.files?.machine
    return host === thisMachine?.host && machine === thisMachine.id
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
