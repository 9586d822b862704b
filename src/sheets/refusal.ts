import { InvalidInputError } from '../errors/kinds.ts'

/** The file cannot be understood: what, where, and what to do. */
export function refusal(name: string, what: string, hint: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(`${name}: ${what}`, { hint, cause })
}

const longestShown = 60

/** A text from the file as a message shows it. */
export function shown(text: string): string {
  return text.length > longestShown ? `"${text.slice(0, longestShown)}…"` : `"${text}"`
}
