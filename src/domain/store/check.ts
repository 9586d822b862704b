import { type Closing, closingClauses, formatLog, type LogReport, type NextStep } from './closing.ts'
import { storeMoved } from './moving.ts'
import { IoError } from '../../errors/kinds.ts'

/** What comparing a store with the attempt logs of this machine found. */
export interface ExaminedLogs {
  /** Undefined where it is open. */
  closing: Closing | undefined
  /** Logs of machines that have not compared theirs with it since it was closed. */
  unreported: readonly LogReport[]
  step: NextStep
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
export function unsound(
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
export function formatNextStep(step: NextStep, unreported: readonly LogReport[]): string {
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
