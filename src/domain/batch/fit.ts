import type { Recipient } from '../../contract/request-body.ts'
import type { RequestResource } from '../../contract/request.ts'
import { personKey, samePerson } from '../submission/identity.ts'
import type { Submission } from '../submission/submission.ts'

/** In what a request is not what was sent for a row. */
export type Difference = 'package' | 'person' | 'requester' | 'time'

/** How far the clocks may be apart where nothing is known of it. */
export const skewMs = 60_000

/** The longest that an exchange takes, where the process died before it could say. */
export const longestExchangeMs = 10 * 60_000

/** A clock further off than this is no difference to allow for, but a wrong date. */
export const longestDifferenceMs = 24 * 60 * 60_000

/** What a row was sent with, and when it ended. */
export type SentOrder = Pick<
  Submission,
  'recipient' | 'packageId' | 'userEmail' | 'attemptedAt' | 'changedAt'
>

/** Whom a request is for against whom a row was for; `unknown`: nothing is left that could tell. */
export type Whom = 'same' | 'similar' | 'other' | 'unknown'

/**
 * In what a request differs from what was sent for a row; empty: it fits in all. Undefined where it is about somebody
 * else: neither the person nor a similar one. `clockDifferenceMs`: how far the service's clock is ahead of this one, as
 * its Date header told; it is allowed for, as are clocks that agree. `byFingerprints`: of a row whose name is gone.
 */
export function differences(
  sent: SentOrder,
  request: RequestResource,
  clockDifferenceMs = 0,
  byFingerprints: Whom = 'other',
): Difference[] | undefined {
  const { recipient, packageId, userEmail } = sent
  const whom = recipient === undefined ? byFingerprints : whomOf(request.recipient, recipient)
  if (whom === 'other') return undefined
  const found: [Difference, boolean][] = [
    ['package', request.package_id !== packageId],
    ['person', whom !== 'same'],
    ['requester', request.requester.email.toLowerCase() !== userEmail.toLowerCase()],
    ['time', !isWithin(sent, Date.parse(request.created_at), clockDifferenceMs)],
  ]
  return found.flatMap(([name, differs]) => (differs ? [name] : []))
}

function isWithin(
  { attemptedAt, changedAt }: SentOrder,
  createdAt: number,
  clockDifferenceMs: number,
): boolean {
  if (attemptedAt === undefined) return false
  const endedAt = Math.min(changedAt, attemptedAt + longestExchangeMs)
  const known = Math.abs(clockDifferenceMs) <= longestDifferenceMs ? clockDifferenceMs : 0
  return [0, known].some(
    (ahead) => createdAt >= attemptedAt + ahead - skewMs && createdAt <= endedAt + ahead + skewMs,
  )
}

/** Similar is the same e-mail, phone or full name: it may be the person in another spelling. */
function whomOf(one: Recipient, other: Recipient): Whom {
  if (samePerson(one, other)) return 'same'
  const [first, last, email, phone] = personKey(one)
  const [otherFirst, otherLast, otherEmail, otherPhone] = personKey(other)
  const isName = first === otherFirst && last === otherLast
  return email === otherEmail || phone === otherPhone || isName ? 'similar' : 'other'
}

const words: Readonly<Record<Difference, string>> = {
  package: 'another package',
  person: 'another spelling of the person',
  requester: 'another requester',
  time: 'created outside the time of the attempt',
}

/** `another requester, created outside the time of the attempt`. */
export function differencesText(found: readonly Difference[]): string {
  return found.map((each) => words[each]).join(', ')
}
