import { isLoopbackHost } from '../../contract/url.ts'
import type { Recipient } from '../../contract/request.ts'

/** Characters that are not seen: joiners, soft hyphens, variation selectors and their like. */
const unseen = /\p{Default_Ignorable_Code_Point}/gu
const whiteSpace = /\s/gu
const notDigit = /[^0-9]/g
const tidy = /^\+[0-9]+$/
/**
 * A country calling code (ITU-T E.164) and zeros after it: the trunk prefix of national numbers, which is written into
 * international ones by mistake, as in +44 0 20…. Where a zero belongs to the number, as in Italy, every number keeps it.
 */
const trunkZero =
  /^(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[03578]|9[679])\d)0+/
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
  lastService = { baseUrl, service: addressOf(url.href) }
  return lastService.service
}

/**
 * Origin and path of a base URL. Two services of this machine may have one port at different addresses, so a report is
 * of the service at exactly this one.
 */
export function addressOf(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl)
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, '')}`
}

/** A file of people has one base URL for all of its rows. */
let lastService = { baseUrl: '', service: '' }

/** Whose order it is: everything that makes two orders the same, in one form. */
interface OrderKey {
  /** The account of these people; '' where none was named. */
  account: string
  baseUrl: string
  packageId: number
  recipient: Recipient
}

/**
 * What makes two orders the same, in one form: account, service, package and person. "Case, spaces, Unicode form,
 * phone punctuation and a trunk zero after the country code do not make a person new" (src/docs/ordering.md, section 4); additional
 * information is no part of it, since people fix a field and run again. The key is not either: an
 * organisation changes its key and stays the same.
 */
export function orderIdentity({ account, baseUrl, packageId, recipient }: OrderKey): string {
  return JSON.stringify(['order', account, serviceOf(baseUrl), packageId, ...personKey(recipient)])
}

/** What people are found by, whatever was ordered for them: each in one form, stored as keyed fingerprints alone. */
export function personIdentities(recipient: Recipient): { person: string; email: string; phone: string } {
  const [first, last, email, phone] = personKey(recipient)
  return {
    person: JSON.stringify(['person', first, last, email, phone]),
    email: emailIdentity(email),
    phone: JSON.stringify(['phone', phone]),
  }
}

/** The same of an e-mail alone. */
export const emailIdentity = (email: string): string => JSON.stringify(['email', folded(email)])

/** An e-mail or phone as a person typed it, in the form in which it is compared. */
export function sharedKey(value: string): string {
  return value.includes('@') ? folded(value) : digits(value)
}

/** Whether two recipients are one person, by the same rule. */
export function samePerson(one: Recipient, other: Recipient): boolean {
  return JSON.stringify(personKey(one)) === JSON.stringify(personKey(other))
}

/** A person's four parts, each in one form: nothing else distinguishes people. */
export function personKey({
  first_name,
  last_name,
  email,
  phone,
}: Recipient): [first: string, last: string, email: string, phone: string] {
  return [folded(first_name), folded(last_name), folded(email), digits(phone)]
}

function digits(phone: string): string {
  const text = plain.test(phone) ? phone : phone.normalize('NFKC')
  const all = tidy.test(text) ? text.slice(1) : text.replace(notDigit, '')
  return text.trimStart().startsWith('+') ? all.replace(trunkZero, '$1') : all
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

/** FNV-1a, 32 bits: the same number for the same text, seldom for another. */
export function hashOf(text: string): number {
  let hash = 0x81_1c_9d_c5 | 0
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93)
  }
  return hash
}
