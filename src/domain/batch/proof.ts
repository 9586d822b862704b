import type { RequestResource } from '../../contract/request.ts'
import { OutcomeUnknownError } from '../../errors/kinds.ts'
import { threeAnswers } from './answers.ts'
import { type Difference, differencesText } from './fit.ts'
import type { SecondOrder } from './second-orders.ts'
import type { Submission } from '../submission/submission.ts'
import { countInWords } from '../wording/count-in-words.ts'
import { localTime } from '../wording/local-time.ts'

/** What was found about rows whose outcome was unknown. */
export interface Reconciliation {
  /** Proven to have been ordered, and journaled so. */
  settled: { submission: Submission; requestId: string; status: string }[]
  /**
   * Requests for the same or a similar person that are no proof, for a person to look at: several fit, several rows
   * are fitted, or something differs.
   */
  ambiguous: { submission: Submission; requestIds: string[]; near: NearMatch[] }[]
  /** No request for such a person was seen. That proves nothing. */
  open: Submission[]
  /** Requests that were read. */
  reads: number
  /** Requests that nobody here ordered, for people who were ordered here. */
  secondOrders?: SecondOrder[]
}

/** A request for the same or a similar person, and in what it differs from what was sent; nothing: it fits in all. */
export interface NearMatch {
  requestId: string
  createdAt: string
  differs: Difference[]
}

/** Why a request is shown, and not taken for proof. */
export function nearText({ requestId, createdAt, differs }: NearMatch): string {
  const why = differs.length === 0 ? 'fits' : `fits but for: ${differencesText(differs)}`
  return `request ${requestId}, created ${localTime(createdAt)}, ${why}`
}

export function fitsOthersToo(
  request: RequestResource,
  submission: Submission,
  fits: ReadonlyMap<Submission, readonly RequestResource[]>,
): boolean {
  return [...fits].some(([other, found]) => other !== submission && found.includes(request))
}

/** What a reconciliation is told to have come to; undefined where nothing is left to settle. */
export function unsettled(
  { open, ambiguous }: Reconciliation,
  batchId: string | undefined,
): OutcomeUnknownError | undefined {
  const shown = ambiguous.map(({ submission }) => submission)
  const left = [...open, ...shown].filter(({ state }) => state !== 'pending')
  const [first] = left
  if (first === undefined) return undefined
  const rows = countInWords(left.length, 'order is', 'orders are')
  return new OutcomeUnknownError(`${rows} still not settled: no proof was found`, {
    hint: threeAnswers({ ...first, batchId: batchId ?? first.batchId }),
    order: { batchId: first.batchId, row: first.row },
  })
}
