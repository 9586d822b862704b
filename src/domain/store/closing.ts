import type { RegisteredLog } from './attempt-log.ts'
import { type Move, storeMoved } from './moving.ts'
import { formatCount } from '../wording/text.ts'
import { localTime } from '../wording/time.ts'
import { IoError, StoreClosedError } from '../../errors/kinds.ts'

export type CloseReason =
  /** It was moved to another place, or is being moved. */
  | 'moved'
  /** It lacks attempts that a log has. */
  | 'older'
  /** A log knows a generation that this store does not: the store is a copy from before that generation. */
  | 'generation'
  | 'backup'
  /** Its database is on another server, which may lack the newest attempts. */
  | 'server'
  /** A backup of the database was restored, as its object identifiers or a person tell. */
  | 'restored'
  /** A registered log of this machine, or of a store in a file every log, is gone. */
  | 'log_missing'
  | 'log_damaged'
  /** Its fingerprints are keyed otherwise than those of its log. */
  | 'key'
  /** A log names another store that had the same path or address. */
  | 'replaced'

/** Why a store takes no orders, as it is stored in it. */
export interface Closing {
  /** A new one each time: logs report for one closing. */
  id: string
  /** Wall time. */
  at: number
  reasons: CloseReason[]
  /** Ids of the attempts that were recovered. */
  recovered: string[]
  /** Ids of attempts that a machine has read and that no log has brought back yet. */
  missing?: string[] | undefined
  /** Generations that logs name which were compared: they are former ones once the store is open again. */
  generations?: string[] | undefined
  /** Where it is now, or is going. */
  move?: Move | undefined
}

/** A registered log, with what it did for the closing of the store. */
export interface LogReport extends RegisteredLog {
  /** The closing for which it was compared with the store; undefined before the first. */
  reportedFor: string | undefined
  /** A person said that its machine does not come back. It ends when that machine sends again. */
  isExcluded: boolean
}

/** Logs that have not been compared with the store since it was closed, unless they are excluded. */
export function unreportedLogs(closing: Closing, logs: readonly LogReport[]): LogReport[] {
  return logs.filter(({ reportedFor, isExcluded }) => !isExcluded && reportedFor !== closing.id)
}

/**
 * What a closed store waits for. `reports`: of other machines. `confirmation`: all have reported, and a person has to say that
 * no other machine has ordered. `acceptance`: a person has to accept what may be lost. `nothing`: it opens.
 */
export type ReopenStep = 'reports' | 'confirmation' | 'acceptance' | 'nothing'

const reportedReasons: ReadonlySet<CloseReason> = new Set(['server', 'restored'])

/** The same with the reason `older`, as long as attempts are missing that no known machine has sent. */
export function withLoss(closing: Closing): Closing {
  if ((closing.missing ?? []).length === 0 || closing.reasons.includes('older')) return closing
  return { ...closing, reasons: [...closing.reasons, 'older'] }
}

/** Whether the store waits for the reports of its machines, rather than for a person who accepts that it lost attempts. */
export const isReporting = ({ reasons }: Closing): boolean =>
  reasons.some((reason) => reportedReasons.has(reason))

/** Whether a store was closed only because a log was missing, and no attempt was found to be lost since. */
export const isClosedForLogAlone = (closing: Closing | undefined): boolean =>
  closing !== undefined &&
  closing.move === undefined &&
  closing.reasons.every((reason) => reason === 'log_missing') &&
  closing.recovered.length + (closing.missing?.length ?? 0) === 0

/** `isReplicated`: each commit waits for a second server, so that a failover loses none. A restore may lose some all the same. */
export function reopenStep(
  closing: Closing,
  logs: readonly LogReport[],
  { isReplicated }: { isReplicated: boolean },
): ReopenStep {
  if (unreportedLogs(closing, logs).length > 0) return 'reports'
  if (!closing.reasons.every((reason) => reportedReasons.has(reason))) return 'acceptance'
  return isReplicated && !closing.reasons.includes('restored') ? 'nothing' : 'confirmation'
}

/** The register of a store with what copies of it in logs add: a store that lost attempts lost registrations too. */
export function mergeRegisters(
  known: readonly RegisteredLog[],
  copies: readonly RegisteredLog[],
): RegisteredLog[] {
  const merged = new Map(known.map((log) => [log.id, log]))
  for (const log of copies) {
    const before = merged.get(log.id)
    if (before === undefined || before.lastAttemptAt < log.lastAttemptAt)
      merged.set(log.id, { ...(before ?? log), lastAttemptAt: log.lastAttemptAt })
  }
  return [...merged.values()]
}

/** Logs that a name given by a person means: those of a host or of a machine, or one log. */
export function logsNamed<Log extends RegisteredLog>(logs: readonly Log[], name: string): Log[] {
  return logs.filter(({ id, host, machine }) => id === name || host === name || machine === name)
}

const sentences: Readonly<Record<CloseReason, string>> = {
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

/** Each reason as a clause. */
export function closingClauses({ reasons, recovered, move }: Closing): string[] {
  if (move !== undefined) return [`it ${move.isDone ? 'was' : 'is being'} moved to "${move.to}"`]
  return reasons.map((reason) =>
    reason === 'older' && recovered.length > 0
      ? `it lacked ${formatCount(recovered.length, 'attempt')} that ${recovered.length === 1 ? 'was' : 'were'} made with it`
      : sentences[reason],
  )
}

/** `hr-2 (last order 2026-11-20 22:00 +10:00)` */
export function formatLog({ host, lastAttemptAt }: RegisteredLog): string {
  return `${host} (${lastAttemptAt === 0 ? 'no order' : `last order ${localTime(lastAttemptAt)}`})`
}

/** What a command that orders is refused with. */
export function storeClosed(location: string, closing: Closing, unreported: readonly LogReport[]): IoError {
  if (closing.move !== undefined) return storeMoved(location, closing.move)
  const missing = unreported.length === 0 ? '' : ` (not reported: ${unreported.map(formatLog).join(', ')})`
  return new StoreClosedError(`the store "${location}" is closed: ${closingClauses(closing)[0]}`, {
    hint: `Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check${missing}`,
  })
}

/** A store whose attempts are in no log would not be found to be older after a restore. */
export function noLogPossible(
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

/** What comparing a store with the attempt logs of this machine found. */
export interface ExaminedLogs {
  /** Undefined where it is open. */
  closing: Closing | undefined
  /** Logs of machines that have not compared theirs with it since it was closed. */
  unreported: readonly LogReport[]
  step: ReopenStep
  /** Attempts that it lacked and that were recovered, in words. */
  recovered: readonly string[]
  /** All that are registered. */
  logs: readonly LogReport[]
}

/** What is wrong with a store, in sentences. */
export function findingsOf(damage: readonly string[], examined: ExaminedLogs): string[] {
  const { closing, unreported, recovered } = examined
  return [
    ...(closing === undefined ? [] : closingClauses(closing)),
    ...recovered,
    ...unreported.map((log) => `${formatLog(log)} has not compared its attempt log with the store`),
    ...damage,
  ]
}

/** What a check with findings fails with. */
export function unsoundStoreError(
  location: string,
  damage: readonly string[],
  { closing, unreported, step }: Pick<ExaminedLogs, 'closing' | 'unreported' | 'step'>,
): IoError | undefined {
  if (damage.length > 0) {
    return new IoError(`the store "${location}" is damaged: ${damage[0]}`, {
      hint: 'Order nothing with it. Keep the file, restore a backup, and settle what was ordered since.',
    })
  }
  if (closing === undefined) return undefined
  if (closing.move !== undefined) return storeMoved(location, closing.move)
  return new IoError(`the store "${location}" is closed: ${closingClauses(closing)[0]}`, {
    hint: formatNextStep(step, unreported),
  })
}

/** How a closed store is opened again. */
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
