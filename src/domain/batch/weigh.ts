import type { RefcheckError } from '../../errors/base.ts'
import { backoffMs } from '../submission/backoff.ts'
import type { Outcome } from '../submission/outcome.ts'
import { isAboutPackage, manyUnknown, refusedAlike, usedUp } from './halting.ts'

const mostUnknownsInARow = 3
const mostRefusalsAlike = 5

/** What has come of the rows of a run so far, as far as it bears on the next one. */
export interface RunCounters {
  /** Orders that went out: a throttled one, and one of which no byte left, did not. */
  readonly sent: number
  readonly unknownsInARow: number
  readonly unsentInARow: number
  readonly refusals: { readonly message: string; readonly inARow: number }
  /** Milliseconds spent on 429s, the quota and an unreachable service. */
  readonly waitedMs: number
}

export const noRows: RunCounters = {
  sent: 0,
  unknownsInARow: 0,
  unsentInARow: 0,
  refusals: { message: '', inARow: 0 },
  waitedMs: 0,
}

/** What a run does before its next row. */
export type Step =
  | { kind: 'go on' }
  | { kind: 'halt'; error: RefcheckError }
  /** Nothing was created; the same row goes again after so long. */
  | { kind: 'wait'; waitMs: number }
  /** Ask the list of packages, or the schema, why; where they know nothing of it, `otherwise`. */
  | { kind: 'ask why'; package: boolean; schema: boolean; otherwise: Step }
  /** "Nothing more is sent until a ping and a read answer well" (ordering protocol), and then `afterwards`. */
  | { kind: 'ask whether it is well'; afterwards: Step }

export interface Weighed {
  counters: RunCounters
  step: Step
}

export interface WeighOptions {
  /** Milliseconds that a run may wait in all. */
  waitBudgetMs: number
  /** Random, in [0, 1). */
  fraction: number
}

const goOn: Step = { kind: 'go on' }

/** What an outcome, which is journaled, means for the rows after it (ordering protocol, "One submission"). */
export function weigh(before: RunCounters, outcome: Outcome, options: WeighOptions): Weighed {
  const isSent = outcome.kind !== 'throttled' && outcome.kind !== 'unsent'
  const isAnswered = outcome.kind === 'accepted' || outcome.kind === 'rejected'
  const counters: RunCounters = {
    ...before,
    sent: isSent ? before.sent + 1 : before.sent,
    unsentInARow: outcome.kind === 'unsent' ? before.unsentInARow + 1 : 0,
    unknownsInARow: isAnswered ? 0 : before.unknownsInARow,
  }
  switch (outcome.kind) {
    case 'accepted':
      return {
        counters: { ...counters, refusals: noRows.refusals },
        step: outcome.halts === undefined ? goOn : { kind: 'halt', error: outcome.halts },
      }
    case 'rejected':
      return rejected(counters, outcome.error)
    case 'halted':
      return { counters, step: { kind: 'halt', error: outcome.error } }
    case 'unknown':
      return unknown(counters, outcome)
    case 'throttled':
      return waited(counters, outcome.seconds * 1000, outcome.error, options)
    case 'unsent':
      return waited(counters, backoffMs(counters.unsentInARow, options.fraction), outcome.error, options)
  }
}

/** What it means for a run that the quota has no place for `waitMs`. */
export function paced(counters: RunCounters, waitMs: number, options: { waitBudgetMs: number }): Weighed {
  return waited(counters, waitMs, usedUp(waitMs), options)
}

/** One cause must not reject a thousand rows. */
function rejected(before: RunCounters, error: RefcheckError): Weighed {
  const { message, inARow } = before.refusals
  const refusals = { message: error.message, inARow: message === error.message ? inARow + 1 : 1 }
  const isPackage = isAboutPackage(error)
  const isSchema = error.field?.startsWith('additional_information') === true
  const alike = refusals.inARow >= mostRefusalsAlike ? refusedAlike(error, mostRefusalsAlike) : undefined
  // Without the package the next row would be told the same, whatever the list of packages says.
  const halt = alike ?? (isPackage ? error : undefined)
  const otherwise: Step = halt === undefined ? goOn : { kind: 'halt', error: halt }
  const step: Step =
    isPackage || isSchema ? { kind: 'ask why', package: isPackage, schema: isSchema, otherwise } : otherwise
  return { counters: { ...before, refusals }, step }
}

function unknown(before: RunCounters, outcome: Extract<Outcome, { kind: 'unknown' }>): Weighed {
  if (outcome.halts === true && outcome.error !== undefined)
    return { counters: before, step: { kind: 'halt', error: outcome.error } }
  const unknownsInARow = before.unknownsInARow + 1
  const afterwards: Step =
    unknownsInARow < mostUnknownsInARow
      ? goOn
      : { kind: 'halt', error: manyUnknown(outcome.reason, mostUnknownsInARow) }
  return {
    counters: { ...before, unknownsInARow },
    step: { kind: 'ask whether it is well', afterwards },
  }
}

function waited(
  before: RunCounters,
  waitMs: number,
  error: RefcheckError,
  { waitBudgetMs }: { waitBudgetMs: number },
): Weighed {
  const counters = { ...before, waitedMs: before.waitedMs + waitMs }
  const step: Step = counters.waitedMs > waitBudgetMs ? { kind: 'halt', error } : { kind: 'wait', waitMs }
  return { counters, step }
}
