import { isLoopbackHost } from '../../contract/loopback.ts'
import type { Recipient } from '../../contract/request-body.ts'

/** Characters that are not seen: joiners, soft hyphens, variation selectors and their like. */
const unseen = /\p{Default_Ignorable_Code_Point}/gu
const whiteSpace = /\s/gu
const notDigit = /[^0-9]/g
const tidy = /^\+[0-9]+$/
/** Of these nothing but the case and the spaces can differ, and nearly every row of a file is of them. */
const plain = /^[\x20-\x7e]*$/

/**
 * Which service a base URL is: origin and path, since one gateway may front staging and production. The names of
 * this machine are one.
 */
export function serviceOf(baseUrl: string): string {
  if (lastService.baseUrl === baseUrl) return lastService.service
  const url = new URL(baseUrl)
  if (isLoopbackHost(url.hostname)) url.hostname = 'localhost'
  lastService = { baseUrl, service: `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}` }
  return lastService.service
}

/** A file of people has one base URL for all of its rows. */
let lastService = { baseUrl: '', service: '' }

/** Whose order it is: everything that makes two orders the same, in one form. */
export interface OrderKey {
  /** Whose people these are; '' where nobody named an account. */
  account: string
  baseUrl: string
  packageId: number
  recipient: Recipient
}

/**
 * What makes two orders the same, in one form: account, service, package and person. "Case, spaces, Unicode form
 * and phone punctuation do not make a person new" (ordering protocol, "The same order twice"); additional
 * information is no part of it, since people fix a field and run again. The key is not either: an
 * organisation changes its key and stays the same.
 */
export function orderIdentity({ account, baseUrl, packageId, recipient }: OrderKey): string {
  return JSON.stringify(['order', account, serviceOf(baseUrl), packageId, ...personKey(recipient)])
}

/** As 0.1.0 wrote it: by origin, and with no account. What it purged is known by nothing else. */
export function firstFormIdentity(baseUrl: string, packageId: number, recipient: Recipient): string {
  return JSON.stringify([new URL(baseUrl).origin, packageId, ...personKey(recipient)])
}

/** What people are found by, whatever was ordered for them: each in one form, kept as keyed fingerprints alone. */
export function personIdentities(recipient: Recipient): { person: string; email: string; phone: string } {
  const [first, last, email, phone] = personKey(recipient)
  return {
    person: JSON.stringify(['person', first, last, email, phone]),
    email: JSON.stringify(['email', email]),
    phone: JSON.stringify(['phone', phone]),
  }
}

/** An e-mail or phone as a person typed it, in the form in which it is compared. */
export function sharedKey(value: string): string {
  return value.includes('@') ? folded(value) : digits(value)
}

/** Whether two recipients are one person, by the same rule. */
export function samePerson(one: Recipient, other: Recipient): boolean {
  return JSON.stringify(personKey(one)) === JSON.stringify(personKey(other))
}

/** A person's four parts, each in one form: nothing else tells people apart. */
export function personKey({
  first_name,
  last_name,
  email,
  phone,
}: Recipient): [first: string, last: string, email: string, phone: string] {
  return [folded(first_name), folded(last_name), folded(email), digits(phone)]
}

function digits(phone: string): string {
  if (tidy.test(phone)) return phone.slice(1)
  return (plain.test(phone) ? phone : phone.normalize('NFKC')).replace(notDigit, '')
}

/**
 * Close to Unicode's NFKC_Casefold. Down, up and down again, because folding makes `ẞ`, `ß` and `SS`, or
 * `ς` and `Σ`, the same, and one plain lower case does not.
 */
function folded(text: string): string {
  if (plain.test(text)) {
    const lower = text.toLowerCase()
    return lower.includes(' ') ? lower.replaceAll(' ', '') : lower
  }
  const same = text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')
  return same.replace(unseen, '').replace(whiteSpace, '')
}
