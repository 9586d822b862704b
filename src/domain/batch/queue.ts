import { serviceOf } from '../submission/identity.ts'
import type { Batch } from './batch.ts'

/** How long a queued batch rests after a halt, by its code; any other waits for a person. */
const restsMs: Readonly<Record<string, number>> = {
  throttled: 60_000,
  unavailable: 60_000,
  io: 60_000,
  unauthenticated: 900_000,
  forbidden: 900_000,
}

/** Rows whose outcome is unknown are settled by what events tell, so they are looked at now and then. */
const settleEveryMs = 600_000

export type Turn =
  | { kind: 'run' }
  /** Nothing is left that a worker can do. */
  | { kind: 'done' }
  | { kind: 'rest'; untilMs: number }
  /** A person has to act first. */
  | { kind: 'wait' }

/** What a worker does with a queued batch. `triedAt`: when this worker ran it last, by the same clock as `now`. */
export function turnOf(batch: Batch, now: number, triedAt: number | undefined): Turn {
  const { pending, sending, unknown, dropped, held } = batch.counts
  const unsettled = pending + sending + unknown + dropped
  // Once a held row is released, it is to be sent.
  if (unsettled === 0) return { kind: held === 0 ? 'done' : 'wait' }
  const rest = batch.halt === undefined ? 0 : restsMs[batch.halt.code]
  if (rest === undefined) return { kind: 'wait' }
  const untilHalt = batch.halt === undefined ? 0 : batch.halt.at + rest
  const untilSettled = pending === 0 && triedAt !== undefined ? triedAt + settleEveryMs : 0
  const untilMs = Math.max(untilHalt, untilSettled)
  return now < untilMs ? { kind: 'rest', untilMs } : { kind: 'run' }
}

/** Who may order for whom. */
export interface Orderer {
  name: string
  baseUrl: string
  email: string
  account: string
}

/**
 * Which of some profiles a batch or request is for: of the same service and, where it is known, account; the one whose
 * user began it before others.
 */
export function ordererOf<T extends Orderer>(
  { baseUrl, userEmail, account }: { baseUrl: string; userEmail: string; account?: string | undefined },
  profiles: readonly T[],
): T | undefined {
  const able = profiles.filter(
    (each) =>
      serviceOf(each.baseUrl) === serviceOf(baseUrl) && (account === undefined || each.account === account),
  )
  return able.find(({ email }) => email.toLowerCase() === userEmail.toLowerCase()) ?? able[0]
}
