import type { Recipient } from '../../contract/request-body.ts'
import { cutText } from './text.ts'

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
