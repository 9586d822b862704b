import { cutText } from '../domain/wording/cut-text.ts'
import { InvalidInputError } from '../errors/kinds.ts'

/** The file cannot be understood: what, where, and what to do. */
export function refusal(name: string, what: string, hint: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(`${name}: ${what}`, { hint, cause })
}

export const splitHint = 'Split it into several files.'

/** A workbook that is larger in some way than any that is read. */
export function beyondLimit(name: string, what: string): InvalidInputError {
  return refusal(name, what, 'Copy the rows into a new workbook, or save them as CSV.')
}

const longestShown = 60

/** A text from the file as a message shows it. */
export function shown(text: string): string {
  return `"${cutText(text, longestShown)}"`
}
