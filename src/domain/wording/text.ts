import { distance } from 'fastest-levenshtein'

import type { KnownPerson, Recipient } from '../../contract/request.ts'

/** Returns `1 row` or `2 rows`. `many` is the plural if it is not formed with an s. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/**
 * Returns the first `max` of some names, and how many more there are: `Ana, Bo and 3 more`. `total`: their number, if
 * `names` has only the first of them.
 */
export function joinFirst(names: readonly string[], max: number, total = names.length): string {
  const first = names.slice(0, max)
  const more = total > first.length ? ` and ${total - first.length} more` : ''
  return `${first.join(', ')}${more}`
}

/** Returns a number of bytes with its unit, such as `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** The maximum length of a visible character (grapheme) in UTF-16 units. */
const maxGraphemeLength = 64

/**
 * Cuts a text to at most `max` UTF-16 units, between visible characters, and adds "…". A shorter text is not changed.
 */
export function cutText(text: string, max: number): string {
  return text.length > max ? `${startOf(text, max).trimEnd()}…` : text
}

/** Returns the longest start of a text with at most `max` UTF-16 units that does not split a visible character. */
function startOf(text: string, max: number): string {
  let end = 0
  for (const { index } of new Intl.Segmenter().segment(text.slice(0, max + maxGraphemeLength))) {
    if (index <= max) end = index
  }
  // A letter with a very long sequence of combining marks is split.
  return end > Math.max(0, max - maxGraphemeLength)
    ? text.slice(0, end)
    : text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes a text for the content of an XML element, or for an attribute in double quotes. */
export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)
}

/** Longer names are cut, because they could push the rest of a plan off the screen. */
const maxNameLength = 100
/** The maximum length of an address (RFC 5321). */
const maxEmailLength = 254

/** Returns a name or another value of a person, cut with "…" if it is long. */
export function cutName(name: string): string {
  return cutText(name, maxNameLength)
}

/** Returns a name for a review or a question: on one line, with single spaces, and cut with "…" if it is long. */
export function shownName(name: string): string {
  return cutName(name.trim().replaceAll(/\s+/g, ' '))
}

/** Returns the first and last name of a person. */
export function personName({
  first_name: first = '',
  last_name: last = '',
}: Pick<KnownPerson, 'first_name' | 'last_name'>): string {
  return `${shownName(first)} ${shownName(last)}`.trim()
}

/** Returns the name and the e-mail of a person: `Ana Lee (ana@example.com)`. */
export function personWithEmail(person: Pick<Recipient, 'first_name' | 'last_name' | 'email'>): string {
  return `${personName(person)} (${cutText(person.email, maxEmailLength)})`
}

/**
 * Returns the text for a person whose name the store lacks. `reason`: that of the order. An order that was recovered
 * from an attempt log has one, and a purge removes it.
 */
export function missingPersonText(reason: string | null | undefined): string {
  return reason === null || reason === undefined ? 'removed' : 'name not known (recovered)'
}

/** Longer words are not compared, because the time grows with the product of both lengths. */
const maxComparedLength = 64

/** Returns the known word that a mistyped word probably means; undefined if none is similar. */
export function findNearestWord(word: string, known: readonly string[]): string | undefined {
  if (word.length > maxComparedLength) return undefined
  const limit = Math.max(1, Math.floor(word.length / 3))
  const typed = word.toLowerCase()
  let best: string | undefined
  let minSteps = limit + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > limit) continue
    const other = candidate.toLowerCase()
    const editDistance = distance(typed, other)
    // Two swapped letters count as one step.
    const steps = editDistance === 2 && sortedLetters(typed) === sortedLetters(other) ? 1 : editDistance
    if (steps < minSteps) [best, minSteps] = [candidate, steps]
  }
  return best
}

function sortedLetters(word: string): string {
  return word.split('').toSorted().join('')
}

/** Returns a text that begins with a capital letter. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
