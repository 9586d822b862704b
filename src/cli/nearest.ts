import { closest, distance } from 'fastest-levenshtein'

/** The name somebody probably meant, or undefined where none is near enough to be a guess. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined
  const candidate = closest(typed, names)
  return distance(typed, candidate) <= Math.max(2, Math.floor(candidate.length / 3)) ? candidate : undefined
}
