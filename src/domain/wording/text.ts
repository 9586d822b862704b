import type { Recipient } from '../../contract/request.ts'

/** `1 row`, `2 rows`; `many` where an s is not enough. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
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
