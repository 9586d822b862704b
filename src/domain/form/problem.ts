import { InvalidInputError } from '../../errors/kinds.ts'

/** One thing that is wrong with a body. */
export interface Problem {
  /** As the service names fields: `recipient.phone`, `additional_information[0].fields.licence_number`. */
  path: string
  /** What is wrong and what is expected; reads on after the path and the value. */
  problem: string
  /** What stood there, cut to a length a person reads. Absent where nothing did. */
  value?: string | undefined
  /** What was probably meant. */
  suggestion?: string | undefined
  /** The same field as a batch file's column names it: `phone`, `ncc_acic.licence_number`. */
  column?: string | undefined
}

/** One value that will be sent otherwise than it was given. */
export interface Change {
  path: string
  from: string
  to: string
  column?: string | undefined
}

const longestShown = 80

/** A value as a message shows it: text as it is, anything else as JSON, cut. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value.slice(0, longestShown + 1) : jsonText(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Array.isArray(value) ? 'a list' : 'an object'
  }
}

/** `recipient.phone: "0400 000 000" has no …` */
export function sentence({ path, value, problem, suggestion }: Problem): string {
  const what = value === undefined ? '' : `"${value}" `
  const meant = suggestion === undefined ? '' : ` (did you mean "${suggestion}"?)`
  return `${path}: ${what}${problem}${meant}`
}

/** The error that stops a command for these problems. `field` is the first one's path. */
export function refusal(problems: readonly Problem[], hint: string): InvalidInputError {
  const count = problems.length > 1 ? `${String(problems.length)} problems: ` : ''
  return new InvalidInputError(`${count}${problems.map(sentence).join('; ')}`, {
    hint,
    field: problems[0]?.path,
  })
}
