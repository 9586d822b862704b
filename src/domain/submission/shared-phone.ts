import { likeness } from './likeness.ts'
import type { Candidate, Compared, KnownRelations } from './match.ts'
import { serviceOf } from './identity.ts'
import type { Submission } from './submission.ts'

/** Somebody who has the same phone and is another person, as a couple or an office has: mentioned, and nothing more. */
export function phoneSharer(
  { recipient, baseUrl }: Compared,
  candidates: readonly Candidate[],
  kin: Pick<KnownRelations, 'joined'>,
): Submission | undefined {
  if (recipient === undefined) return undefined
  return candidates.find(
    ({ order }) =>
      order.recipient !== undefined &&
      kin.joined.has(order.packageId) &&
      serviceOf(order.baseUrl) === serviceOf(baseUrl) &&
      likeness(recipient, order.recipient)?.kind === 'phone',
  )?.order
}
