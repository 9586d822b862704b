import type { ClaimFailure, FenceRequirement, RecordedAttempt } from './store-part.ts'
import { type Engine, run, setMeta, type Work } from './engine.ts'
import { examineStore, highestNumbers, type ReadLog } from './examine-store.ts'
import type { StoreKey } from './fingerprints.ts'
import type { Runner } from './leases.ts'
import type { FoundLogs, StoreLogs } from './store-logs.ts'
import {
  becomeAnotherStore,
  ignoreLogs,
  openAgain,
  readClosing,
  readHeads,
  readLogs,
  readState,
  replicatedName,
  type StoreState,
  unregisterLogs,
  withoutLogName,
  writeClosing,
} from './store-state.ts'
import type { Head, LogOutcome } from '../../domain/store/attempt-log.ts'
import type { ExaminedLogs } from '../../domain/store/check.ts'
import { type Closing, logsNamed, type LogReport, storeClosed } from '../../domain/store/closing.ts'
import { type KnownHeads, learnHead } from '../../domain/store/rollback.ts'
import { formatCount } from '../../domain/wording/count-in-words.ts'
import { IoError, UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'

export interface RollbackParts {
  engine: Engine
  key: StoreKey
  /** Undefined for a store that ends with its process. */
  logs: StoreLogs | undefined
  /** Makes this process known to the others, where runners share the store. */
  runner: Runner
  clock: Clock
  random: Random
  onNotice?: ((notice: string) => void) | undefined
}

/** Every claim shares the lock of the account '', so that none runs beside this. */
const noClaims = { account: '' }

/**
 * Finds that a store lost attempts, by the logs of this machine: at the start of a process, in every claim, and in
 * `store check`. Such a store is closed for all runners.
 */
export class RollbackDetection {
  readonly #parts: RollbackParts
  /** What this process recorded where it has no log. */
  #heads: KnownHeads = new Map()
  #begun: { generation: string; session: string; isReplicated: boolean } | undefined
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
        this.#begun = undefined
        throw error
      })
      .finally(() => {
        this.#beginning = undefined
      })
    return this.#beginning
  }

  /** The same before the first claim of a process that holds no batch. */
  async ready(): Promise<void> {
    if (this.#begun === undefined) await this.begin()
  }

  /** Makes the log of a store that is new, if it can be: a copy from before its first order knows its key by that. */
  async makeLog(): Promise<void> {
    const { engine, logs } = this.#parts
    if (logs === undefined || logs.open([], new Set()).own !== undefined) return
    const state = await engine.snapshot(() => readState(engine.dialect, []))
    logs.make({ ...state, mayBeWithoutLog: true })
  }

  /** What the next claim requires, with what all processes of this machine recorded. */
  fence(): FenceRequirement {
    const { generation = '', session = '', isReplicated = false } = this.#begun ?? {}
    const log = this.#parts.logs?.own
    log?.readGained()
    // With another generation than the store's, the claim fails.
    const isSame = log === undefined ? !this.#hasLog : !log.isDamaged && log.header.generation === generation
    return {
      generation: isSame ? generation : '',
      heads: log?.heads ?? [...this.#heads.values()].flat(),
      session,
      isReplicated,
      logId: log?.header.id,
    }
  }

  /** A claim found the store closed, older or on another connection. Throws, unless it may go on after all. */
  async failed(why: ClaimFailure): Promise<void> {
    this.#begun = undefined
    if (why !== 'session') await this.#examineOrThrow()
    await this.begin()
  }

  /** Records an attempt that is committed, flushed. Throws where that cannot be done: its request may not be sent then. */
  async record(attempt: RecordedAttempt): Promise<void> {
    const { account, number, attemptId } = attempt
    const log = this.#parts.logs?.own
    if (log === undefined) {
      if (!this.#hasLog) return learnHead(this.#heads, { account, number, attemptId })
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
      this.#parts.logs?.own?.append({ kind: 'outcome', ...outcome })
    } catch {
      // The next claim fails with the same disk.
    }
  }

  /**
   * A read notes the heads that it sees, so that a machine that only watches knows them too. Nothing is noted where the store
   * is not as the log says: a note of a store that another machine has overtaken since it was put back would hide what is lost.
   */
  async noteHeads(): Promise<void> {
    const { engine, logs } = this.#parts
    if (logs === undefined || !engine.dialect.isShared) return
    const { own } = logs.open(await this.registered(), new Set())
    if (own === undefined || own.isDamaged) return
    const known = own.heads
    const { state, heads } = await engine.snapshot(function* () {
      return { state: yield* readState(engine.dialect, known), heads: yield* readHeads() }
    })
    const isSame = own.header.generation === state.generations.current && state.change === undefined
    if (isSame && state.hasHeads && state.closing === undefined) logs.note(heads, state.generations.current)
  }

  /** Compares all logs as a whole, recovers what the store lacks and closes it where that has to be. */
  async examine(): Promise<ExaminedLogs> {
    const { engine, logs, key, clock, random, onNotice } = this.#parts
    const registered = await engine.run(readLogs())
    const all = logs?.readAll(registered) ?? []
    const { recoveredCount, ...found } = await engine.transaction(
      () =>
        examineStore(engine.dialect, all, {
          key: key.key,
          requiresLog: logs !== undefined && !engine.dialect.isShared,
          missingIn: (known) => logs?.missingIds(known) ?? [],
          now: clock.now(),
          newId: () => random.uuid(),
        }),
      noClaims,
    )
    if (found.closing === undefined && recoveredCount > 0) {
      onNotice?.(
        `The store lacked ${formatCount(recoveredCount, 'attempt')} sent from this machine; they are recovered. See them with: refcheck store check`,
      )
    }
    return found
  }

  /** Why the store takes no orders, as it was found last. */
  closing(): Promise<Closing | undefined> {
    return this.#parts.engine.run(readClosing())
  }

  registered(): Promise<LogReport[]> {
    return this.#parts.engine.run(readLogs())
  }

  /** The user continues with a store that was closed. Returns how many pending rows are held: they may have been sent. */
  async acceptOlder(): Promise<{ held: number }> {
    const { engine, logs, key, clock, random } = this.#parts
    const { closing, step, unreported } = await this.examine()
    if (closing === undefined) return { held: 0 }
    if (closing.move !== undefined || step === 'reports')
      throw storeClosed(engine.location, closing, unreported)
    const registered = await this.registered()
    const all = logs?.readAll(registered) ?? []
    const unusable = all.filter((log) => log.isDamaged || log.file.header.key !== key.key)
    const ignored = unusable.map(({ file }) => file.header.id)
    const read = (): Promise<StoreState> => engine.snapshot(() => readState(engine.dialect, []))
    this.#begun = undefined
    // Where no log can be kept, the store stays closed.
    const before = await read()
    if (before.isBackup) await engine.transaction(() => becomeAnotherStore(random.uuid()), noClaims)
    await engine.run(key.loadKey())
    logs?.open(registered, new Set([...before.ignoredLogs, ...ignored]))
    logs?.make(before)
    const own = all.filter((log) => log.file.header.key === key.key)
    const held = await engine.transaction(
      () =>
        this.#accept(own, { ignored, isLoss: step === 'acceptance', now: clock.now(), id: random.uuid() }),
      noClaims,
    )
    await logs?.update(await read())
    return { held }
  }

  /** Closes the store until every machine has compared its log with it: a backup was restored. */
  async closeAsRestored(): Promise<void> {
    const { engine, clock, random } = this.#parts
    this.#begun = undefined
    await engine.transaction(function* () {
      const before = yield* readClosing()
      if (before?.move !== undefined) return
      const reasons = new Set([...(before?.reasons ?? []), 'restored' as const])
      const { recovered = [], missing, generations } = before ?? {}
      const closing = { id: random.uuid(), at: clock.now(), recovered, missing, generations }
      yield* writeClosing({ ...closing, reasons: [...reasons] })
    }, noClaims)
  }

  /** Requires no report of these machines until they send again. Returns how many pending rows are held. */
  async exclude(names: readonly string[]): Promise<{ held: number }> {
    const { engine, clock } = this.#parts
    const registered = await this.registered()
    const unknown = names.find((name) => logsNamed(registered, name).length === 0)
    if (unknown !== undefined) {
      throw new UsageError(`--without: no machine "${unknown}" has ordered with the store`, {
        hint: `Name one of: ${[...new Set(registered.map(({ host }) => host))].join(', ') || '(none)'}`,
      })
    }
    const ids = names.flatMap((name) => logsNamed(registered, name).map(({ id }) => id))
    return engine.transaction(function* () {
      for (const id of ids) yield* run('UPDATE attempt_logs SET is_excluded = 1 WHERE id = :id', { id })
      return { held: yield* holdPending(clock.now(), 'a machine that may have sent it was excluded') }
    }, noClaims)
  }

  /** The user permits orders without an attempt log that lasts. */
  allowWithoutLog(): Promise<void> {
    return this.#parts.engine.run(setMeta(withoutLogName, '1'))
  }

  /** Of the logs with these ids, those that are on this machine. */
  async idsHere(logIds: readonly string[]): Promise<string[]> {
    const { logs } = this.#parts
    if (logs === undefined || logIds.length === 0) return []
    const here = new Set(
      logs
        .findFiles(await this.registered())
        .flatMap(({ header, isOriginal }) => (isOriginal ? header.id : [])),
    )
    return logIds.filter((id) => here.has(id))
  }

  /** For a person who is erased completely. */
  async removeFingerprints(attemptIds: ReadonlySet<string>): Promise<void> {
    this.#parts.logs?.erase(await this.registered(), attemptIds)
  }

  async #begin(): Promise<void> {
    const { engine, logs, runner } = this.#parts
    // Logs first, then the store: what a log has was committed before.
    const registered = await this.registered()
    const session = engine.session()
    const { ignoredLogs } = await engine.snapshot(() => readState(engine.dialect, []))
    const found = logs?.open(registered, ignoredLogs) ?? { own: undefined, others: [] }
    let state = await engine.snapshot(() => readState(engine.dialect, headsIn(found)))
    if (!this.#isAsLeft(state, found)) {
      await this.#examineOrThrow()
      state = await engine.snapshot(() => readState(engine.dialect, []))
    }
    await logs?.update(state)
    this.#hasLog = logs?.own !== undefined
    await runner.begin?.()
    this.#heads = new Map()
    for (const head of await engine.run(readHeads())) learnHead(this.#heads, head)
    const { isReplicated } = state
    // A claim requires that this is unchanged, so that it is true of every attempt until a failover.
    if (isReplicated !== state.wasReplicated)
      await engine.run(setMeta(replicatedName, isReplicated ? '1' : undefined))
    this.#begun = { generation: state.generations.current, session, isReplicated }
  }

  #isAsLeft(state: StoreState, { own, others }: FoundLogs): boolean {
    const { engine, logs, key } = this.#parts
    const { generations, closing, isBackup, change, hasHeads, hasAttempts } = state
    if (closing !== undefined || isBackup || change !== undefined || !hasHeads) return false
    if (logs === undefined) return true
    if (logs.missingIds(state.logs).length > 0) return false
    const evidence = others.filter(({ header, isEmpty }) => !isEmpty && !state.ignoredLogs.has(header.id))
    const isKnown = (generation: string): boolean =>
      generation === generations.current || generations.former.includes(generation)
    if (evidence.some(({ header }) => header.key !== key.key || !isKnown(header.generation))) return false
    if (own === undefined)
      return evidence.length === 0 && (engine.dialect.isShared || !hasAttempts || state.mayBeWithoutLog)
    return !own.isDamaged && own.header.generation === generations.current && own.header.movedTo === undefined
  }

  async #examineOrThrow(): Promise<void> {
    const { closing, unreported } = await this.examine()
    if (closing !== undefined) throw storeClosed(this.#parts.engine.location, closing, unreported)
  }

  /** `logs`: of this store. `isLoss`: attempts may be lost that no log tells of. */
  *#accept(
    logs: readonly ReadLog[],
    { ignored, isLoss, now, id }: { ignored: readonly string[]; isLoss: boolean; now: number; id: string },
  ): Work<number> {
    const state = yield* readState(this.#parts.engine.dialect, [])
    yield* ignoreLogs(ignored)
    yield* unregisterLogs(this.#parts.logs?.missingIds(state.logs) ?? [])
    yield* openAgain(state, {
      id,
      known: state.closing?.generations ?? [],
      heads: highestNumbers(logs),
    })
    return isLoss ? yield* holdPending(now, 'the store had lost attempts') : 0
  }
}

/** In the generation of its own log: heads of others are compared when the store begins another one. */
function headsIn({ own, others }: FoundLogs): Head[] {
  const generation = own?.header.generation
  return [
    ...(own?.heads ?? []),
    ...others.flatMap(({ header }) => (header.generation === generation ? header.heads : [])),
  ]
}

function* holdPending(at: number, reason: string): Work<number> {
  return yield* run(
    `UPDATE submissions SET state = 'held', held_for = 'store_forgot', changed_at = :at, reason = :reason
      WHERE state = 'pending'`,
    { at, reason },
  )
}
