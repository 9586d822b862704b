/** A sentence or table row of the document, word for word. */
export interface Rule {
  /** The heading of the section with the rule. */
  section: string
  text: string
  /** The ids of the cases that test it. */
  caseIds: readonly string[]
  /** The reason why no case can test it, if there is none. */
  reason: string | undefined
}

type RuleWithoutSection = Omit<Rule, 'section'>

/** A rule that cases of the suite test. */
export const testedRule = (text: string, ...caseIds: string[]): RuleWithoutSection => ({
  text,
  caseIds,
  reason: undefined,
})

/** A rule that cannot be tested over HTTP. */
export const untestableRule = (text: string, reason: string): RuleWithoutSection => ({
  text,
  caseIds: [],
  reason,
})

export const rulesUnder = (section: string, rules: readonly RuleWithoutSection[]): Rule[] =>
  rules.map(({ text, caseIds, reason }) => ({ section, text, caseIds, reason }))

/** Reasons that apply to several rules. */
export const reasons = {
  introduction: 'It introduces other rules, and each of these has its own case.',
  ruleForClients: 'It is a rule for clients, and the service does not show whether they follow it.',
  outside: 'It happens outside the API, in the settings of the organisation.',
  open: 'It leaves something open, so every behaviour follows it.',
} as const
