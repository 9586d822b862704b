/** A sentence or table row of the document, word for word. */
export interface Rule {
  /** The heading it stands under. */
  section: string
  text: string
  /** The cases that ask for it. */
  by: readonly string[]
  /** Why no case can. */
  because: string | undefined
}

type Unplaced = Omit<Rule, 'section'>

/** A rule that cases of the suite ask for. */
export const seen = (text: string, ...by: string[]): Unplaced => ({ text, by, because: undefined })

/** A rule that cannot be observed over HTTP. */
export const unseen = (text: string, because: string): Unplaced => ({ text, by: [], because })

export const under = (section: string, rules: readonly Unplaced[]): Rule[] =>
  rules.map(({ text, by, because }) => ({ section, text, by, because }))

/** Reasons that apply to several. */
export const because = {
  introduction: 'It introduces what other rules say; each of those has its own case.',
  client: 'It tells clients what to do; nothing of the service shows whether they do it.',
  outside: 'It happens outside the API, in the settings of the organisation.',
  open: 'It says that something is left open, so every behaviour keeps it.',
  meaning: 'It says what a value means; that the field is there, with its type, is asked for.',
} as const
