import { bufferOf } from './capture.ts'
import type { Reply } from './delivery.ts'
import { parseJsonOrUndefined, parseJsonBytes, propertyOf } from '../../contract/parse-json.ts'
import { InvalidInputError, UnavailableError } from '../../errors/kinds.ts'

export type Verdict = 'passed' | 'advised' | 'failed' | 'not_judged'

/** The answer of the receiver to a delivery; `status` is null if there was none. */
type CaseAnswer = Pick<Reply, 'status' | 'milliseconds' | 'failure'>

export interface CaseReport extends CheckedCase {
  verdict: Verdict
  findings: readonly RuleFinding[]
  /** The reason for `not_judged`. */
  reason: string | null
  /** The first ten answers of the receiver. */
  answers: readonly CaseAnswer[]
  milliseconds: number
}

export type ReceiverReport = ReturnType<typeof receiverReport>

/** A case of the receiver check, with the rule of the API document that it tests. */
interface CheckedCase {
  id: string
  title: string
  rule: string
}

const maxAnswers = 10

/**
 * Returns the report of a case with the verdict that follows from the findings. If `strict`, advice fails a case too.
 * `unjudgedReason` is the reason why the answers do not show whether the receiver follows the rule.
 */
export function caseReport(
  { id, title, rule }: CheckedCase,
  outcome: {
    findings: readonly RuleFinding[]
    answers: readonly CaseAnswer[]
    milliseconds: number
    unjudgedReason?: string | undefined
  },
  strict: boolean,
): CaseReport {
  const hasFailed = outcome.findings.some(({ level }) => level === 'must' || strict)
  const reason = outcome.findings.length === 0 ? (outcome.unjudgedReason ?? null) : null
  const verdictWithoutFindings = reason === null ? 'passed' : 'not_judged'
  const verdict = hasFailed ? 'failed' : outcome.findings.length > 0 ? 'advised' : verdictWithoutFindings
  const answers = outcome.answers.slice(0, maxAnswers).map(({ status, milliseconds, failure }) => ({
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    failure,
  }))
  const milliseconds = Math.round(outcome.milliseconds)
  return { id, title, rule, verdict, findings: outcome.findings, reason, answers, milliseconds }
}

export function skipCase({ id, title, rule }: CheckedCase, reason: string): CaseReport {
  return { id, title, rule, verdict: 'not_judged', findings: [], reason, answers: [], milliseconds: 0 }
}

export function receiverReport(
  url: string,
  cases: readonly CaseReport[],
  /** `acceptedMs`: the time of each accepted delivery. */
  { deliveries, acceptedMs }: { deliveries: number; acceptedMs: readonly number[] },
) {
  const count = (verdict: Verdict): number => cases.filter((each) => each.verdict === verdict).length
  const counts = {
    cases: cases.length,
    passed: count('passed'),
    advised: count('advised'),
    failed: count('failed'),
    not_judged: count('not_judged'),
  }
  const slowestMs = acceptedMs.length === 0 ? null : Math.round(Math.max(...acceptedMs))
  return { url, passed: counts.failed === 0, counts, deliveries, slowest_ms: slowestMs, cases }
}

/** `must`: the API document has the rule. `advice`: it does not, but a robust receiver follows it. */
export type RuleLevel = 'must' | 'advice'

/** Sentences of the API document: "Events", "States and transitions" and "Versioning". */
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

export interface RuleFinding {
  level: RuleLevel
  text: string
}

/** The keys that the receiver has to show of each stored event. */
export interface ReceiverEvent {
  request_id: string
  status: string
}

const storedHint =
  'It has to be the events that the receiver stored, in the order stored: [{"request_id": "…", "status": "…"}]'

/** Reads the answer of --stored-url: a JSON list. Throws UnavailableError for anything else. */
export function parseStoredList(bytes: Uint8Array): ReceiverEvent[] {
  const value = parseJsonBytes(bytes)
  const refuse = (problem: string): never => {
    throw new UnavailableError(`--stored-url: the answer ${problem}`, { hint: storedHint })
  }
  if (value === undefined) return refuse('is not JSON')
  if (!Array.isArray(value)) return refuse('is not a list')
  return value.map(
    (item, index) =>
      parseReceiverEvent(item) ?? refuse(`has no text "request_id" and "status" in item ${index + 1}`),
  )
}

/**
 * Reads the content of --stored-file: one JSON object per line. An invalid last line without a line end is ignored,
 * because it may be only partly written. Throws InvalidInputError for any other invalid line.
 */
export function parseStoredLines(bytes: Uint8Array): ReceiverEvent[] {
  const lines = bufferOf(bytes).toString('utf8').split('\n')
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return []
    const event = parseReceiverEvent(parseJsonOrUndefined(line))
    if (event !== undefined) return [event]
    if (index === lines.length - 1) return []
    throw new InvalidInputError(
      `--stored-file: line ${index + 1} is not a JSON object with a text "request_id" and "status"`,
      { hint: 'Each line has to be one stored event: {"request_id": "…", "status": "…"}' },
    )
  })
}

export function parseReceiverEvent(value: unknown): ReceiverEvent | undefined {
  const [request_id, status] = [propertyOf(value, 'request_id'), propertyOf(value, 'status')]
  return typeof request_id === 'string' && typeof status === 'string' ? { request_id, status } : undefined
}

/** The probability with which `isSlower` returns true although both samples have the same distribution. */
const falseAlarmRate = 1e-6

/**
 * Whether the first values of the pairs tend to be larger, by a one-sided sign test. The test only assumes that the
 * order of measurement within each pair was random, so that noise which lasts longer than a pair causes no false
 * alarm.
 */
export function isSlower(pairs: readonly (readonly [number, number])[]): boolean {
  const unequal = pairs.filter(([one, other]) => one !== other)
  const slowerCount = unequal.filter(([one, other]) => one > other).length
  let probability = 0
  let term = 0.5 ** unequal.length
  for (let count = unequal.length; count >= slowerCount; count -= 1) {
    probability += term
    term *= count / (unequal.length - count + 1)
  }
  return unequal.length > 0 && probability < falseAlarmRate
}
