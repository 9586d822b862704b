import { distance } from 'fastest-levenshtein'

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
