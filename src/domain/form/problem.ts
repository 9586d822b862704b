import { distance } from 'fastest-levenshtein'

import { InvalidInputError } from '../../errors/kinds.ts'
import { cutText } from '../wording/text.ts'

/** One thing that is wrong with a body. */
export interface Problem {
  /** As the service names fields: `recipient.phone`, `additional_information[0].fields.licence_number`. */
  path: string
  /** What is wrong and what is expected; reads on after the path and the value. */
  problem: string
  /** The value, cut to a length a person reads. Absent where there was none. */
  value?: string | undefined
  /** What was probably meant. */
  suggestion?: string | undefined
  /** The same field as a batch file's column names it: `phone`, `ncc_acic.licence_number`. */
  column?: string | undefined
  /** What is wrong as one says it of the flag, where that differs. */
  ofFlag?: string | undefined
}

/** How the values were given, and so what a field is called: `--phone` or `recipient.phone`. */
export type FieldNaming = 'flags' | 'json'

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
  const text = typeof value === 'string' ? value : jsonText(value)
  return cutText(text, longestShown)
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Array.isArray(value) ? 'a list' : 'an object'
  }
}

/** `--phone: "0400 000 000" has no …`, `--email is required`, `recipient.email: is required`. */
export function problemText(found: Problem, speech: FieldNaming = 'json'): string {
  const { value, problem, ofFlag = problem, suggestion } = found
  const fieldName = problemFieldName(found, speech)
  const meant = suggestion === undefined ? '' : ` (did you mean "${suggestion}"?)`
  if (value === undefined && speech === 'flags') return `${fieldName} ${ofFlag}${meant}`
  const what = value === undefined ? '' : ` "${value}"`
  return `${fieldName}:${what} ${problem}${meant}`
}

/** A field as the person named it, or would have. */
export function problemFieldName(
  { path, column }: Pick<Problem, 'path' | 'column'>,
  speech: FieldNaming,
): string {
  if (speech === 'json' || column === undefined) return path
  return column.includes('.') ? `--field ${column}` : `--${column.replace('_', '-')}`
}

/** The error that stops a command for these problems. `field` is the first one's path. */
export function problemsError(
  problems: readonly Problem[],
  hint: string,
  speech: FieldNaming = 'json',
): InvalidInputError {
  const count = problems.length > 1 ? `${problems.length} problems: ` : ''
  const named = problems.map((each) => ({
    field: each.path,
    value: each.value,
    problem: each.problem,
    text: problemText(each, speech),
  }))
  return new InvalidInputError(`${count}${named.map(({ text }) => text).join('; ')}`, {
    hint,
    field: problems[0]?.path,
    problems: named.length > 1 ? named : undefined,
  })
}

/** Nothing longer is compared: the distance costs time by the product of both lengths. */
const longestCompared = 64

/** The known word a mistyped one was probably meant to be; undefined where none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > longestCompared) return undefined
  const limit = Math.max(1, Math.floor(word.length / 3))
  const typed = word.toLowerCase()
  let best: string | undefined
  let least = limit + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > limit) continue
    const other = candidate.toLowerCase()
    const apart = distance(typed, other)
    // Two letters that changed places are one slip.
    const steps = apart === 2 && letters(typed) === letters(other) ? 1 : apart
    if (steps < least) [best, least] = [candidate, steps]
  }
  return best
}

function letters(word: string): string {
  return word.split('').toSorted().join('')
}
