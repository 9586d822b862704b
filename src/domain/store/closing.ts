import type { RegisteredLog } from './attempt-log.ts'
import { type Move, storeMovedError } from './moving.ts'
import { formatCount } from '../wording/text.ts'
import { localTime } from '../wording/time.ts'
import { IoError, StoreClosedError } from '../../errors/kinds.ts'

export type CloseReason =
  /** The store was moved to another location, or is being moved. */
  | 'moved'
  /** The store does not have attempts that a log has. */
  | 'older'
  /** A log has a generation that the store does not have: the store is a copy from before that generation. */
  | 'generation'
  | 'backup'
  /** The database is on another server, which may not have the newest attempts. */
  | 'server'
  /** A backup of the database was restored, as its object identifiers show or a user reported. */
  | 'restored'
  /** A registered log of this machine is missing, or for a store in a file all logs are. */
  | 'log_missing'
  | 'log_damaged'
  /** The store's fingerprints have another key than those of its log. */
  | 'key'
  /** A log belongs to another store that had the same location. */
  | 'replaced'

/** The record in the store of why it accepts no orders. */
export interface Closing {
  /** A new id for each closing, so that a report of a log belongs to one closing. */
  id: string
  /** Wall time in ms. */
  at: number
  reasons: CloseReason[]
  /** The ids of the attempts that were recovered. */
  recovered: string[]
  /** The ids of attempts that a machine has seen in the store and that no log has recovered yet. */
  missing?: string[] | undefined
  /** The generations of the logs that were compared; they are former generations once the store is open again. */
  generations?: string[] | undefined
  /** The move to another location, if there is one. */
  move?: Move | undefined
}

/** A registered log, with its report for a closing of the store. */
export interface LogReport extends RegisteredLog {
  /** The closing for which it was compared with the store; undefined before the first. */
  reportedFor: string | undefined
  /**
   * A user has excluded the log's machine, which will not return. The exclusion ends when that machine sends again.
   */
  isExcluded: boolean
}

/** Returns the logs that have not been compared with the store since it was closed, except excluded ones. */
export function findUnreportedLogs(closing: Closing, logs: readonly LogReport[]): LogReport[] {
  return logs.filter(({ reportedFor, isExcluded }) => !isExcluded && reportedFor !== closing.id)
}

/**
 * The next step to open a closed store. `reports`: other machines have to report. `confirmation`: all have reported,
 * and a user has to confirm that no other machine has ordered. `acceptance`: a user has to accept that attempts may
 * be lost. `nothing`: the store is opened.
 */
export type ReopenStep = 'reports' | 'confirmation' | 'acceptance' | 'nothing'

/** Reasons after which each machine has to report: it compares its attempt log with the store. */
const reportedReasons: ReadonlySet<CloseReason> = new Set(['server', 'restored'])

/**
 * Returns the closing with the reason `older` added if attempts are missing that no registered machine has reported.
 */
export function addLossReason(closing: Closing): Closing {
  if ((closing.missing ?? []).length === 0 || closing.reasons.includes('older')) return closing
  return { ...closing, reasons: [...closing.reasons, 'older'] }
}

/**
 * Returns whether the store waits for the reports of its machines, and not for a user who accepts that it lost
 * attempts.
 */
export const isReporting = ({ reasons }: Closing): boolean =>
  reasons.some((reason) => reportedReasons.has(reason))

/** Returns whether a store was closed only because a log was missing, and no attempt was found to be lost since. */
export const isClosedForMissingLog = (closing: Closing | undefined): boolean =>
  closing !== undefined &&
  closing.move === undefined &&
  closing.reasons.every((reason) => reason === 'log_missing') &&
  closing.recovered.length + (closing.missing?.length ?? 0) === 0

/**
 * Returns the next step to open a closed store. `isReplicated`: each commit waits for a second server, so a failover
 * loses no attempt; a restore may lose some all the same.
 */
export function findReopenStep(
  closing: Closing,
  logs: readonly LogReport[],
  { isReplicated }: { isReplicated: boolean },
): ReopenStep {
  if (findUnreportedLogs(closing, logs).length > 0) return 'reports'
  if (!closing.reasons.every((reason) => reportedReasons.has(reason))) return 'acceptance'
  return isReplicated && !closing.reasons.includes('restored') ? 'nothing' : 'confirmation'
}

/**
 * Merges the register of a store with the copies of it in logs, since a store that lost attempts lost registrations
 * too.
 */
export function mergeRegisters(
  registeredLogs: readonly RegisteredLog[],
  copies: readonly RegisteredLog[],
): RegisteredLog[] {
  const merged = new Map(registeredLogs.map((log) => [log.id, log]))
  for (const log of copies) {
    const registered = merged.get(log.id)
    if (registered === undefined || registered.lastAttemptAt < log.lastAttemptAt)
      merged.set(log.id, { ...(registered ?? log), lastAttemptAt: log.lastAttemptAt })
  }
  return [...merged.values()]
}

/** Returns the logs that a user's argument names: those of a host or a machine, or one log by its id. */
export function findLogsByName<Log extends RegisteredLog>(logs: readonly Log[], name: string): Log[] {
  return logs.filter(({ id, host, machine }) => id === name || host === name || machine === name)
}

const reasonClauses: Readonly<Record<CloseReason, string>> = {
  moved: 'it was moved to another place',
  older: 'it lacks attempts that were made with it',
  generation: 'it is an older copy of the store',
  backup: 'it is a backup that is used as a store',
  server: 'its database is on another server than before',
  restored: 'a backup of it was restored',
  log_missing: 'the log of its attempts is missing',
  log_damaged: 'the log of its attempts is damaged',
  key: 'the key of its fingerprints is not the one of its log',
  replaced: 'another store was in its place, with attempts that it lacks',
}

/** Returns the reasons of a closing, each as a clause. */
export function closingClauses({ reasons, recovered, move }: Closing): string[] {
  if (move !== undefined) return [`it ${move.isDone ? 'was' : 'is being'} moved to "${move.to}"`]
  return reasons.map((reason) =>
    reason === 'older' && recovered.length > 0
      ? `it lacked ${formatCount(recovered.length, 'attempt')} that ${recovered.length === 1 ? 'was' : 'were'} made with it`
      : reasonClauses[reason],
  )
}

/** Returns the host of a log and its last order, such as `hr-2 (last order 2026-11-20 22:00 +10:00)`. */
export function formatLog({ host, lastAttemptAt }: RegisteredLog): string {
  return `${host} (${lastAttemptAt === 0 ? 'no order' : `last order ${localTime(lastAttemptAt)}`})`
}

/** Makes the error for a command that would order with a closed store. */
export function storeClosedError(
  location: string,
  closing: Closing,
  unreported: readonly LogReport[],
): IoError {
  if (closing.move !== undefined) return storeMovedError(location, closing.move)
  const missing = unreported.length === 0 ? '' : ` (not reported: ${unreported.map(formatLog).join(', ')})`
  return new StoreClosedError(`the store "${location}" is closed: ${closingClauses(closing)[0]}`, {
    hint: `Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check${missing}`,
  })
}

/**
 * Makes the error for a store that cannot have an attempt log: after a restore nothing would show that such a store
 * is older.
 */
export function noLogError(
  location: string,
  folders: readonly string[],
  why: 'not writable' | 'volatile',
): IoError {
  const folderList = folders.map((folder) => `"${folder}"`).join(' nor ')
  const message =
    why === 'volatile'
      ? `cannot keep the attempt log of the store "${location}": ${folderList} ends with its container or at a restart`
      : `cannot keep the attempt log of the store "${location}": ${folders.length > 1 ? 'neither ' : ''}${folderList} ${folders.length > 1 ? 'can' : 'cannot'} be written`
  return new IoError(message, {
    hint: [
      why === 'volatile'
        ? 'Nothing was sent. Keep the settings folder on a volume, by REFCHECK_CONFIG_DIR.'
        : 'Nothing was sent. Make one of these folders writable.',
      'Or order without a log that lasts, at your own risk: refcheck store check --without-list',
    ].join('\n'),
  })
}

/** The result of comparing a store with the attempt logs of this machine. */
export interface ExaminedLogs {
  /** Undefined if the store is open. */
  closing: Closing | undefined
  /** Logs of machines that have not compared their attempt log with the store since it was closed. */
  unreported: readonly LogReport[]
  /** The next step to open the store. */
  reopenStep: ReopenStep
  /** The attempts that were missing and have been recovered, as texts. */
  recovered: readonly string[]
  /** All registered logs. */
  logs: readonly LogReport[]
}

/** Returns all findings about a store, as sentences. */
export function listFindings(damage: readonly string[], examined: ExaminedLogs): string[] {
  const { closing, unreported, recovered } = examined
  return [
    ...(closing === undefined ? [] : closingClauses(closing)),
    ...recovered,
    ...unreported.map((log) => `${formatLog(log)} has not compared its attempt log with the store`),
    ...damage,
  ]
}

/** Returns the error of a store that is damaged or closed; undefined if it is sound and open. */
export function findStoreError(
  location: string,
  damage: readonly string[],
  { closing, unreported, reopenStep }: Pick<ExaminedLogs, 'closing' | 'unreported' | 'reopenStep'>,
): IoError | undefined {
  if (damage.length > 0) {
    return new IoError(`the store "${location}" is damaged: ${damage[0]}`, {
      hint: 'Order nothing with it. Keep the file, restore a backup, and settle what was ordered since.',
    })
  }
  if (closing === undefined) return undefined
  if (closing.move !== undefined) return storeMovedError(location, closing.move)
  return new IoError(`the store "${location}" is closed: ${closingClauses(closing)[0]}`, {
    hint: formatNextStep(reopenStep, unreported),
  })
}

/** Returns how a closed store is opened again. */
export function formatNextStep(step: ReopenStep, unreported: readonly LogReport[]): string {
  if (step === 'reports') {
    return [
      `Run on each of these machines: refcheck store check (not reported: ${unreported.map(formatLog).join(', ')})`,
      'Exclude a machine that does not come back by its name: refcheck store check --without NAME',
    ].join('\n')
  }
  if (step === 'acceptance')
    return 'If there is a newer copy of the store, put it in its place. All waiting rows are held when you continue, since they may have been sent: refcheck store check --accept-older'
  return 'Every machine that is known has reported. If no other machine ordered with the store, open it: refcheck store check --accept-older'
}
