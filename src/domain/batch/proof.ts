import type { RequestResource } from '../../contract/request.ts'
import { OutcomeUnknownError } from '../../errors/kinds.ts'
import { samePerson } from '../submission/identity.ts'
import type { Submission } from '../submission/submission.ts'
import { countInWords } from '../wording/count-in-words.ts'

/** What was found about rows whose outcome was unknown. */
export interface Reconciliation {
  /** Proven to have been ordered, and journaled so. */
  settled: { submission: Submission; requestId: string; status: string }[]
  /** Requests that fit, but not one row and one request alone: for a person to look at. */
  ambiguous: { submission: Submission; requestIds: string[] }[]
  /** Nothing speaks of them. That proves nothing. */
  open: Submission[]
  /** Requests that were read. */
  reads: number
}

/** How far the service's clock and this one's may be apart. */
const skewMs = 60_000

/** The longest that an exchange takes, where the process died before it could say. */
const longestExchangeMs = 10 * 60_000

export function fit(submission: Submission, request: RequestResource): boolean {
  const { recipient, packageId, userEmail, attemptedAt, changedAt } = submission
  if (recipient === undefined || attemptedAt === undefined) return false
  const createdAt = Date.parse(request.created_at)
  const endedAt = Math.min(changedAt, attemptedAt + longestExchangeMs)
  return (
    request.package_id === packageId &&
    request.requester.email.toLowerCase() === userEmail.toLowerCase() &&
    createdAt >= attemptedAt - skewMs &&
    createdAt <= endedAt + skewMs &&
    samePerson(request.recipient, recipient)
  )
}

export function wantedByOthers(
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
  const left = [...open, ...ambiguous.map(({ submission }) => submission)]
  const [first] = left
  if (first === undefined) return undefined
  const rows = countInWords(left.length, 'order is', 'orders are')
  return new OutcomeUnknownError(`${rows} still not settled: nothing proves whether they were taken`, {
    hint:
      'Ask the people of the service whether they have a request for these people; then decide row by row: ' +
      `refcheck batch reconcile ${batchId ?? first.batchId} --row ${first.row} --confirm-email EMAIL`,
  })
}
