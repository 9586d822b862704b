import type { AttemptLogFiles, LogFile } from './attempt-log-files.ts'
import type { Dialect, Work } from './engine.ts'
import { missingAttempts, recoverAttempt } from './recover-attempts.ts'
import {
  mergeRegister,
  openAgain,
  readLogs,
  readState,
  recordReports,
  type StoreState,
  writeClosing,
} from './store-state.ts'
import type { LogEntry, LogNote, LogOutcome } from '../../domain/store/attempt-log.ts'
import {
  type Closing,
  isReporting,
  type LogReport,
  type NextStep,
  nextStep,
  unreportedLogs,
} from '../../domain/store/closing.ts'
import { ageOfGeneration, type ComparedLog, detectRollback } from '../../domain/store/rollback.ts'

/** All that a log says. */
export interface ReadLog {
  file: LogFile
  entries: LogEntry[]
  notes: LogNote[]
  outcomes: ReadonlyMap<string, LogOutcome>
  isDamaged: boolean
}

export function readWhole(files: AttemptLogFiles, found: readonly LogFile[]): ReadLog[] {
  return found.map((file) => {
    const { records, damaged } = files.read(file)
    const outcomes = records.filter((record) => record.kind === 'outcome')
    return {
      file,
      entries: records.filter((record) => record.kind === 'entry'),
      notes: records.filter((record) => record.kind === 'note'),
      outcomes: new Map(outcomes.map((outcome) => [outcome.attemptId, outcome])),
      isDamaged: damaged > 0,
    }
  })
}

/** How far the numbers of each account go in logs, whatever the generation. */
export function highestNumbers(logs: readonly ReadLog[]): { account: string; number: number }[] {
  const highest = new Map<string, number>()
  for (const { account, number } of logs.flatMap(({ entries, notes }) => [...entries, ...notes]))
    highest.set(account, Math.max(number, highest.get(account) ?? 0))
  return [...highest].map(([account, number]) => ({ account, number }))
}

export const generationsIn = (log: ReadLog): string[] => {
  const records = [...log.entries, ...log.notes]
  if (records.length === 0) return []
  return [...new Set([...records.map(({ generation }) => generation), log.file.header.generation])]
}

/** What a comparison of all logs of this machine with the store found and did. */
export interface Examination {
  /** As it was before. */
  state: StoreState
  /** Undefined where the store is open, or is open again. */
  closing: Closing | undefined
  unreported: LogReport[]
  step: NextStep
  /** Attempts that were recovered just now. */
  recovered: string[]
}

export interface ExaminedStore {
  /** Of its fingerprints. */
  key: string
  requiresLog: boolean
  /** Ids of registered logs of this machine that are gone. */
  missingIn: (logs: readonly LogReport[]) => string[]
  now: number
  newId: () => string
}

/**
 * Compares all logs with the store, recovers what it lacks, and closes it where that has to be. Within a transaction in
 * which no other process can claim a row.
 */
export function* examineStore(
  dialect: Dialect,
  logs: readonly ReadLog[],
  { key, requiresLog, missingIn, now, newId }: ExaminedStore,
): Work<Examination> {
  const before = yield* readState(dialect, [])
  if (before.closing?.move !== undefined)
    return { state: before, closing: before.closing, unreported: [], step: 'acceptance', recovered: [] }
  const counted = logs.filter(({ file }) => !before.ignoredLogs.has(file.header.id))
  yield* mergeRegister(
    counted.filter(({ file }) => file.header.key === key).flatMap(({ file }) => file.header.register),
  )
  const compared: ComparedLog[] = []
  for (const log of counted) compared.push(yield* compareLog(dialect, before, log, key))
  const { reasons, missing } = detectRollback(
    {
      ...before,
      isReporting: before.closing !== undefined && isReporting(before.closing),
      requiresLog: requiresLog && !before.mayBeWithoutLog,
      missingLogs: missingIn(before.logs).length,
    },
    compared,
  )
  for (const entry of missing) {
    const log = counted.find(({ entries }) => entries.includes(entry))
    const { attemptId } = entry
    yield* recoverAttempt(
      { entry, logId: log?.file.header.id ?? '', outcome: log?.outcomes.get(attemptId) },
      now,
    )
  }
  const recovered = missing.map(({ attemptId }) => attemptId)
  const closing = closingOf(before.closing, { reasons, recovered, now, newId })
  if (closing === undefined) return { state: before, closing, unreported: [], step: 'nothing', recovered }
  yield* writeClosing(closing)
  // A log of this machine that is gone or damaged can be compared nowhere else: a person decides about it.
  const own = counted.filter(({ file }) => file.isOriginal && file.header.key === key)
  yield* recordReports(closing, [...own.map(({ file }) => file.header.id), ...missingIn(before.logs)])
  const registered = yield* readLogs()
  const unreported = unreportedLogs(closing, registered)
  const step = nextStep(closing, registered, { isReplicated: before.wasReplicated })
  if (step !== 'nothing') return { state: before, closing, unreported, step, recovered }
  yield* openAgain(before, {
    id: newId(),
    known: counted.flatMap(generationsIn),
    heads: highestNumbers(counted),
  })
  return { state: before, closing: undefined, unreported, step, recovered }
}

function closingOf(
  before: Closing | undefined,
  found: { reasons: Closing['reasons']; recovered: string[]; now: number; newId: () => string },
): Closing | undefined {
  if (before === undefined && found.reasons.length === 0) return undefined
  return {
    id: before?.id ?? found.newId(),
    at: before?.at ?? found.now,
    reasons: [...new Set([...(before?.reasons ?? []), ...found.reasons])],
    recovered: [...new Set([...(before?.recovered ?? []), ...found.recovered])],
  }
}

function* compareLog(dialect: Dialect, state: StoreState, log: ReadLog, key: string): Work<ComparedLog> {
  const { header } = log.file
  const { current } = state.generations
  const ids = yield* missingAttempts(
    dialect,
    log.entries.map(({ attemptId }) => attemptId),
  )
  const noted = log.notes.filter(({ generation }) => generation === current)
  const { hasHeads } = yield* readState(dialect, noted)
  return {
    isRegistered: state.logs.some(({ id }) => id === header.id),
    hasSameKey: header.key === key,
    isDamaged: log.isDamaged,
    // The place that it was moved to has another generation.
    isMoved:
      header.movedTo !== undefined && ageOfGeneration(header.generation, state.generations) !== 'former',
    generations: generationsIn(log),
    missing: log.entries.filter(({ attemptId }) => ids.has(attemptId)),
    lacksHead: !hasHeads,
  }
}
