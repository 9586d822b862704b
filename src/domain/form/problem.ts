import { InvalidInputError } from '../../errors/kinds.ts'
import { cutText } from '../wording/text.ts'

/** A problem of a body. */
export interface Problem {
  /**
   * The path of the field in the service's form: `recipient.phone`, `additional_information[0].fields.licence_number`.
   */
  path: string
  /** The problem and what is expected. It continues a sentence that begins with the path and the value. */
  problem: string
  /** The value, cut to a readable length; undefined if there was none. */
  value?: string | undefined
  /** The value that was probably meant. */
  suggestion?: string | undefined
  /** The name of the field in a batch file: `phone`, `ncc_acic.licence_number`. */
  column?: string | undefined
  /** The text that replaces `problem` if the values are given as flags. */
  flagProblem?: string | undefined
}

/** How the values were given, which determines the names of fields: `--phone` or `recipient.phone`. */
export type FieldNaming = 'flags' | 'json'

/** A value that is changed before sending. */
export interface Change {
  path: string
  from: string
  to: string
  column?: string | undefined
}

const maxValueLength = 80

/** Formats a value for a message: a text as it is, any other value as JSON. Long values are cut. */
export function formatForMessage(value: unknown): string {
  const text = typeof value === 'string' ? value : jsonText(value)
  return cutText(text, maxValueLength)
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Array.isArray(value) ? 'a list' : 'an object'
  }
}

/** Describes a problem: `--phone: "0400 000 000" has no …`, `--email is required`, `recipient.email: is required`. */
export function problemText(details: Problem, naming: FieldNaming = 'json'): string {
  const { value, problem, flagProblem = problem, suggestion } = details
  const fieldName = problemFieldName(details, naming)
  const suggestionText = suggestion === undefined ? '' : ` (did you mean "${suggestion}"?)`
  if (value === undefined && naming === 'flags') return `${fieldName} ${flagProblem}${suggestionText}`
  // "is null" says the value already.
  const valueText = value === undefined || problem.startsWith(`is ${value},`) ? '' : ` "${value}"`
  return `${fieldName}:${valueText} ${problem}${suggestionText}`
}

/** Returns the name of a field in the form in which the user gives values. */
export function problemFieldName(
  { path, column }: Pick<Problem, 'path' | 'column'>,
  naming: FieldNaming,
): string {
  if (naming === 'json' || column === undefined) return path
  return column.includes('.') ? `--field ${column}` : `--${column.replace('_', '-')}`
}

/** Returns the error of a command for these problems. Its `field` is the path of the first one. */
export function problemsError(
  problems: readonly Problem[],
  hint: string,
  naming: FieldNaming = 'json',
): InvalidInputError {
  const count = problems.length > 1 ? `${problems.length} problems: ` : ''
  const fieldProblems = problems.map((each) => ({
    field: each.path,
    value: each.value,
    problem: each.problem,
    text: problemText(each, naming),
  }))
  return new InvalidInputError(`${count}${fieldProblems.map(({ text }) => text).join('; ')}`, {
    hint,
    field: problems[0]?.path,
    problems: fieldProblems.length > 1 ? fieldProblems : undefined,
  })
}
