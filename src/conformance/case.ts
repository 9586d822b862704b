import type { Answer } from './answer.ts'
import type { CaseContext } from './case-context.ts'

/**
 * What a case requires. `read`: reads only, and no order. `create`: orders, which it sends or whose requests it reads.
 * `slow`: the whole quota, so its windows must be given as an option. `control`: control of the deployment, such as its
 * clock or webhook.
 */
export type CaseKind = 'read' | 'create' | 'slow' | 'control'

/** A rule of the document and the test that finds out if a deployment follows it. */
export interface Case {
  /** Id of the form `<topic>.<rule>`. */
  id: string
  /** Heading of the section in the document. */
  section: string
  /** The sentence of the document, quoted. */
  rule: string
  kind: CaseKind
  /**
   * Returns findings, one line for each breach of the rule. Throws a NotTestableError if the rule cannot be tested on
   * this deployment.
   */
  run(context: CaseContext): Promise<string[]>
}

/** Thrown if a rule cannot be tested on this deployment; its message is the reason. */
export class NotTestableError extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'NotJudged'
  }
}

/**
 * Thrown if no order was accepted. That is itself a breach of a rule, unless the order was refused for its
 * content or for the plan of the organisation.
 */
export class NotAcceptedError extends NotTestableError {
  readonly answer: Answer | undefined

  constructor(answer: Answer | undefined) {
    super(`no order was accepted: ${answer?.summary ?? 'there was none to make'}`)
    this.name = 'NotAccepted'
    this.answer = answer
  }
}

/** Throws a NotTestableError with this reason unless the case can be tested. */
export function requireTestable(isTestable: boolean, reason: string): asserts isTestable {
  if (!isTestable) throw new NotTestableError(reason)
}

/** Returns the value. Throws a NotTestableError with this reason if there is none. */
export function requireValue<T>(value: T | undefined, reason: string): T {
  requireTestable(value !== undefined, reason)
  return value
}

/** Returns the items. Throws a NotTestableError with this reason if there is none. */
export function requireItems<T>([first, ...others]: readonly T[], reason: string): [T, ...T[]] {
  return [requireValue(first, reason), ...others]
}

export type Verdict = 'holds' | 'broken' | 'not_judged'

export interface CaseResult {
  id: string
  section: string
  rule: string
  kind: CaseKind
  verdict: Verdict
  /** Findings of a broken rule: what was expected and what was received. */
  findings: string[]
  /** Remarks about behaviour that breaks no rule. */
  advice: string[]
  /** Reason why the rule was not tested; null if it was tested. */
  reason: string | null
}

/** A sentence of the document that no call can test. */
export interface UntestableRule {
  section: string
  rule: string
  reason: string
}

export interface ConformanceReport {
  base_url: string
  counts: { cases: number; holds: number; broken: number; not_judged: number; advised: number }
  cases: CaseResult[]
  /** Rules that no call can test, on any deployment. */
  cannot_be_judged: readonly UntestableRule[]
}

/**
 * Prefix of the lines that are advice. They are returned among the findings and separated from them at the
 * end.
 */
const advicePrefix = 'advice: '

export const advise = (text: string): string => advicePrefix + text

/** Separates findings from advice and removes duplicates. Array indexes in advice are removed. */
export function separateAdvice(lines: readonly string[]): { findings: string[]; advice: string[] } {
  const advice = lines
    .filter((line) => line.startsWith(advicePrefix))
    .map((line) => line.slice(advicePrefix.length).replaceAll(/\[\d+\]/g, '[]'))
  return {
    findings: [...new Set(lines.filter((line) => !line.startsWith(advicePrefix)))],
    advice: [...new Set(advice)],
  }
}
