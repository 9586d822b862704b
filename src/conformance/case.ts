import type { Answer } from './answer.ts'
import type { Visit } from './visit.ts'

/**
 * `read`: reads only. `create`: orders, or tries to. `slow`: uses up a whole quota, so it needs the
 * windows as an option. `control`: needs access to the deployment, such as its clock or its webhook.
 */
export type CaseKind = 'read' | 'create' | 'slow' | 'control'

/** One rule of the document, and how a deployment is asked whether it follows it. */
export interface Case {
  /** `<topic>.<what>`. */
  id: string
  /** Heading of the document. */
  section: string
  /** The document's own words. */
  rule: string
  kind: CaseKind
  /**
   * What breaks the rule, a line each; nothing where it holds. Throws NotJudged where the rule
   * cannot be seen on this deployment.
   */
  run(visit: Visit): Promise<string[]>
}

/** The rule cannot be judged here, and why. */
export class NotTestableError extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'NotJudged'
  }
}

/** No order was accepted; where that is not for its contents or the plan, it breaks a rule itself. */
export class NotAccepted extends NotTestableError {
  readonly answer: Answer | undefined

  constructor(answer: Answer | undefined) {
    super(`no order was accepted: ${answer?.summary ?? 'there was none to make'}`)
    this.name = 'NotAccepted'
    this.answer = answer
  }
}

/** Ends a case that has nothing to judge. */
export function unless(possible: boolean, reason: string): asserts possible {
  if (!possible) throw new NotTestableError(reason)
}

export type Verdict = 'holds' | 'broken' | 'not_judged'

export interface CaseResult {
  id: string
  section: string
  rule: string
  kind: CaseKind
  verdict: Verdict
  /** Of a broken rule: what was expected, and what came. */
  findings: string[]
  /** Worth knowing, though no sentence is broken. */
  advice: string[]
  /** Of one not judged. */
  reason: string | null
}

/** A sentence of the document that no call can show a service to follow. */
export interface Invisible {
  section: string
  rule: string
  reason: string
}

export interface ConformanceReport {
  base_url: string
  counts: { cases: number; holds: number; broken: number; not_judged: number; advised: number }
  cases: CaseResult[]
  /** What no call can show of a service, wherever it runs. */
  cannot_be_judged: readonly Invisible[]
}

/** What is worth reporting, though it breaks no sentence; it is passed among findings and taken out of them at the end. */
const mark = 'advice: '

export const advise = (text: string): string => mark + text

/** Findings and advice apart, each once; paths in arrays are merged into one. */
export function separateAdvice(lines: readonly string[]): { findings: string[]; advice: string[] } {
  const advice = lines
    .filter((line) => line.startsWith(mark))
    .map((line) => line.slice(mark.length).replaceAll(/\[\d+\]/g, '[]'))
  return {
    findings: [...new Set(lines.filter((line) => !line.startsWith(mark)))],
    advice: [...new Set(advice)],
  }
}
