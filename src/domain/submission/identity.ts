import type { Recipient } from '../../contract/request-body.ts'

/** Characters that are not seen: joiners, soft hyphens, variation selectors and their like. */
const unseen = /\p{Default_Ignorable_Code_Point}/gu
const whiteSpace = /\s/gu
const notDigit = /[^0-9]/g
const tidy = /^\+[0-9]+$/
/** Of these nothing but the case and the spaces can differ, and nearly every row of a file is of them. */
const plain = /^[\x20-\x7e]*$/

/**
 * What makes two orders the same, in one form: service, package and person. "Case, spaces, Unicode form
 * and phone punctuation do not make a person new" (ordering protocol, "The same order twice");
 * additional information is no part of it, since people mend a field and run again.
 *
 * The service's origin is: package ids are its own, and an order on a sandbox must neither stand in the
 * way of a real one nor be taken for it. The key is not: an organisation changes its key and stays the same.
 */
export function orderIdentity(baseUrl: string, packageId: number, recipient: Recipient): string {
  return JSON.stringify([originOf(baseUrl), packageId, ...personKey(recipient)])
}

let lastOrigin = { baseUrl: '', origin: '' }

/** A file of people has one base URL for all of its rows. */
function originOf(baseUrl: string): string {
  if (lastOrigin.baseUrl !== baseUrl) lastOrigin = { baseUrl, origin: new URL(baseUrl).origin }
  return lastOrigin.origin
}

/** Whether two recipients are one person, by the same rule. */
export function samePerson(one: Recipient, other: Recipient): boolean {
  return JSON.stringify(personKey(one)) === JSON.stringify(personKey(other))
}

/** A person's four parts, each in one form: nothing else tells people apart. */
export function personKey({ first_name, last_name, email, phone }: Recipient): string[] {
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
