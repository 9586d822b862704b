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

/**
 * In what a request differs from what was sent for a row; empty: it fits in all. Undefined where it is about somebody
 * else: neither the person nor a similar one. `clockDifferenceMs`: how far the service's clock is ahead of this one, as
 * its Date header told; it is allowed for, as are clocks that agree.
 */
export function differences(
  sent: SentOrder,
  request: RequestResource,
  clockDifferenceMs = 0,
): Difference[] | undefined {
  const { recipient, packageId, userEmail } = sent
  if (recipient === undefined) return undefined
  const isSame = samePerson(request.recipient, recipient)
  if (!isSame && !isSimilar(request.recipient, recipient)) return undefined
  const found: [Difference, boolean][] = [
    ['package', request.package_id !== packageId],
    ['person', !isSame],
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

/** The same e-mail, phone or full name: it may be the person in another spelling. */
function isSimilar(one: Recipient, other: Recipient): boolean {
  const [first, last, email, phone] = personKey(one)
  const [otherFirst, otherLast, otherEmail, otherPhone] = personKey(other)
  const isName = first === otherFirst && last === otherLast
  return email === otherEmail || phone === otherPhone || isName
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
