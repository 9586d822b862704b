export type Verdict = 'passed' | 'advised' | 'failed' | 'not_judged'

interface CaseAnswer {
  /** Null where none came. */
  status: number | null
  milliseconds: number
  failure: string | null
}

export interface CaseReport {
  id: string
  title: string
  rule: string
  verdict: Verdict
  findings: readonly Finding[]
  /** Why it was not judged. */
  reason: string | null
  /** What the receiver did, the first ten. */
  answers: readonly CaseAnswer[]
  milliseconds: number
}

export interface ReceiverReport {
  url: string
  passed: boolean
  counts: Record<'cases' | Verdict, number>
  deliveries: number
  /** Milliseconds of the slowest acceptance; null where nothing was accepted. */
  slowest_ms: number | null
  cases: readonly CaseReport[]
}

/** A case by name, and the rule of the document that it holds a receiver to. */
interface CheckedCase {
  id: string
  title: string
  rule: string
}

const maxAnswers = 10

/** The verdict follows from the findings; with `strict`, advice counts like the rest. */
export function caseReport(
  { id, title, rule }: CheckedCase,
  judged: { findings: readonly Finding[]; answers: readonly CaseAnswer[]; milliseconds: number },
  strict: boolean,
): CaseReport {
  const failed = judged.findings.some(({ level }) => level === 'must' || strict)
  const verdict = failed ? 'failed' : judged.findings.length > 0 ? 'advised' : 'passed'
  const answers = judged.answers.slice(0, maxAnswers).map(({ status, milliseconds, failure }) => ({
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    failure,
  }))
  const milliseconds = Math.round(judged.milliseconds)
  return { id, title, rule, verdict, findings: judged.findings, reason: null, answers, milliseconds }
}

export function skipCase({ id, title, rule }: CheckedCase, reason: string): CaseReport {
  return { id, title, rule, verdict: 'not_judged', findings: [], reason, answers: [], milliseconds: 0 }
}

export function receiverReport(
  url: string,
  cases: readonly CaseReport[],
  { deliveries, accepted }: { deliveries: number; accepted: readonly number[] },
): ReceiverReport {
  const count = (verdict: Verdict): number => cases.filter((each) => each.verdict === verdict).length
  const counts = {
    cases: cases.length,
    passed: count('passed'),
    advised: count('advised'),
    failed: count('failed'),
    not_judged: count('not_judged'),
  }
  const slowest = accepted.length === 0 ? null : Math.round(Math.max(...accepted))
  return { url, passed: counts.failed === 0, counts, deliveries, slowest_ms: slowest, cases }
}

/** `must`: the document promises it. `advice`: it does not, and yet a receiver does well to bear it. */
export type Level = 'must' | 'advice'

/** The sentences of the document's "Events", "States and transitions" and "Versioning". */
export const rules = {
  acknowledge:
    'The receiver must return a 2xx within 10 seconds. A non-2xx response, network failure or timeout is a delivery failure.',
  exactBytes:
    'The signature is computed over the exact raw body bytes; receivers verify before parsing and compare in constant time.',
  signature: 'X-Service-Signature: Lowercase hex HMAC-SHA256 of the raw body, keyed with the webhook secret.',
  retried: 'Failed deliveries may be retried. Retry count and schedule: not shown.',
  atLeastOnce:
    'Delivery is at least once; duplicates are possible. The pair (request_id, status) identifies a status update already processed.',
  statuses: 'status: RECEIVED, IN_PROGRESS, PARTIAL, COMPLETED, ERROR or CANCELLED.',
  reason: 'error_reason: Present only when status is ERROR; diagnostic text. Its format: not shown.',
  event: 'event: Always `request.updated` in v1.',
  contentType: 'Content-Type: application/json.',
  post: 'It is sent as an HTTPS POST to the organisation’s configured webhook endpoint.',
  versions:
    'Versions follow Semantic Versioning; this document describes version 1.0.0, the initial release.',
} as const

export interface Finding {
  level: Level
  text: string
}
