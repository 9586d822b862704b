import { distance } from 'fastest-levenshtein'

import type { Recipient } from '../../contract/request.ts'

/** `1 row`, `2 rows`; `many` where an s is not enough. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Returns a number of bytes with its unit, such as `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** No character that people read consists of more UTF-16 units. */
const longestGrapheme = 64

/** The first `max` UTF-16 units of a text with a mark, cut between characters as people see them; a shorter text whole. */
export function cutText(text: string, max: number): string {
  return text.length > max ? `${startOf(text, max).trimEnd()}…` : text
}

/** As much of the start of a text as has room in `max` UTF-16 units, without a part of a character. */
function startOf(text: string, max: number): string {
  let end = 0
  for (const { index } of new Intl.Segmenter().segment(text.slice(0, max + longestGrapheme))) {
    if (index <= max) end = index
  }
  // An endless row of marks on one letter is cut within.
  return end > Math.max(0, max - longestGrapheme)
    ? text.slice(0, end)
    : text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A text as XML's element content, or in an attribute between double quotes. */
export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign)
}

/** Characters of a name that are shown; a longer one could push the rest of a plan off the screen. */
const maxNameLength = 100
/** RFC 5321 allows no longer address. */
const maxEmailLength = 254

/** A name or another value of a person, cut with a mark. */
export function cutName(name: string): string {
  return cutText(name, maxNameLength)
}

/** A name as a review or a question shows it: on one line, white space as single spaces, cut with a mark. */
export function shownName(name: string): string {
  return cutName(name.trim().replaceAll(/\s+/g, ' '))
}

/** A person by first and last name. */
export function personName({
  first_name: first,
  last_name: last,
}: Pick<Recipient, 'first_name' | 'last_name'>): string {
  return `${shownName(first)} ${shownName(last)}`.trim()
}

/** A person by name and e-mail. */
export function personWithEmail(person: Pick<Recipient, 'first_name' | 'last_name' | 'email'>): string {
  return `${personName(person)} (${cutText(person.email, maxEmailLength)})`
}

/** Longer words are not compared, because the time grows with the product of both lengths. */
const maxComparedLength = 64

/** Returns the known word that a mistyped word probably means; undefined if none is similar. */
export function nearest(word: string, known: readonly string[]): string | undefined {
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
