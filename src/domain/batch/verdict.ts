import type { BatchCounts } from './batch.ts'
import type { RefcheckError } from '../../errors/base.ts'
import {
  DuplicateError,
  IncompleteError,
  InterruptedError,
  InvalidInputError,
  OutcomeUnknownError,
} from '../../errors/kinds.ts'
import type { RunEnd } from './run.ts'
import { countInWords } from '../wording/count-in-words.ts'

/** Codes of failures that halt a batch and are its exit too (cli-contract, "Exit codes": 3 to 7). */
const haltingCodes = new Set(['unauthenticated', 'forbidden', 'not_found', 'throttled', 'unavailable'])

/**
 * What a run is told to have come to, by the first that applies: interrupted, a row unknown, what halted
 * it, nothing sent, not all accepted; undefined where all is well. Of all that stands, not of this run alone.
 */
export function verdict(batchId: string, counts: BatchCounts, end: RunEnd): RefcheckError | undefined {
  const goOn = `refcheck batch resume ${batchId}`
  if (end.kind === 'interrupted') {
    return new InterruptedError(`interrupted; ${left(counts)}`, {
      hint: counts.pending > 0 ? `Resume with: ${goOn}` : undefined,
    })
  }
  const halted = end.kind === 'halted' ? end.error : undefined
  if (counts.unknown > 0) return unknownRows(batchId, counts, halted)
  if (halted !== undefined) return haltedBy(halted, goOn, counts)
  const sent = counts.accepted + counts.rejected
  if (sent === 0) return nothingSent(batchId, counts)
  return counts.accepted === counts.total ? undefined : notAll(batchId, counts)
}

function unknownRows(
  batchId: string,
  { unknown, pending }: BatchCounts,
  halted: RefcheckError | undefined,
): OutcomeUnknownError {
  const rows = countInWords(unknown, 'row')
  const why = halted === undefined ? '' : `; halted: ${halted.message}`
  const rest = pending > 0 ? `, ${pending} not sent yet` : ''
  return new OutcomeUnknownError(`${rows} may or may not have been ordered${rest}${why}`, {
    hint: `Settle ${unknown === 1 ? 'it' : 'them'} with: refcheck batch reconcile ${batchId}`,
    status: halted?.status,
  })
}

function haltedBy(error: RefcheckError, goOn: string, counts: BatchCounts): RefcheckError {
  const Halted = haltingCodes.has(error.code)
    ? (error.constructor as typeof IncompleteError)
    : IncompleteError
  const mend = error.hint === undefined ? '' : `${error.hint.replace(/\.?$/, '.')} `
  return new Halted(`halted: ${error.message}; ${left(counts)}`, {
    hint: `${mend}${counts.pending > 0 ? `Then resume with: ${goOn}` : ''}`.trim(),
    status: error.status,
    field: error.field,
    retryAfter: error.retryAfter,
    cause: error,
  })
}

/** `batchId`: undefined where the file was not even taken in. */
export function nothingSent(
  batchId: string | undefined,
  { invalid, duplicate, cancelled, total }: BatchCounts,
): RefcheckError {
  if (batchId !== undefined && cancelled > 0) {
    const hint = orderDropped(batchId)
    return new InvalidInputError(`nothing was sent: ${cancelled} of ${total} rows were cancelled`, { hint })
  }
  const hint =
    batchId === undefined ? undefined : `See the reason for each row with: refcheck batch rows ${batchId}`
  if (duplicate > 0 && duplicate + invalid === total) {
    const what =
      invalid === 0
        ? 'every row was ordered before'
        : `${duplicate} rows were ordered before and ${invalid} are invalid`
    return new DuplicateError(`nothing was sent: ${what}`, { hint })
  }
  return new InvalidInputError('nothing was sent: every row is invalid', { hint })
}

/** "cancelled" is for good; what the rows say is not lost. */
function orderDropped(batchId: string): string {
  return `To order cancelled rows after all, write them to a file and run that: refcheck batch export ${batchId} --state cancelled --output again.csv`
}

function notAll(batchId: string, counts: BatchCounts): IncompleteError {
  const { accepted, total, pending, cancelled } = counts
  const hint =
    pending > 0
      ? `Resume with: refcheck batch resume ${batchId}`
      : cancelled > 0
        ? orderDropped(batchId)
        : `See the reason for each row with: refcheck batch rows ${batchId}`
  return new IncompleteError(`${accepted} of ${total} rows were accepted (${countsInWords(counts)})`, {
    hint,
  })
}

function left({ pending, accepted }: BatchCounts): string {
  return `${accepted} accepted so far, ${pending} not sent yet`
}

const notAccepted = ['pending', 'sending', 'rejected', 'duplicate', 'invalid', 'cancelled'] as const

/** "3 rejected, 1 duplicate". */
function countsInWords(counts: BatchCounts): string {
  return notAccepted
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`)
    .join(', ')
}
