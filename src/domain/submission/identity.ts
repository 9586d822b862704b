import { isLoopbackHost } from '../../contract/url.ts'
import type { Recipient } from '../../contract/request.ts'

/** Invisible characters: joiners, soft hyphens, variation selectors and similar ones. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu
const whiteSpace = /\s/gu
const notDigit = /[^0-9]/g
const normalisedPhone = /^\+[0-9]+$/
/**
 * A country calling code (ITU-T E.164) and zeros after it: the trunk prefix of national numbers, which is written into
 * international ones by mistake, as in +44 0 20…. Where a zero belongs to the number, as in Italy, every number keeps it.
 */
const trunkZero =
  /^(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[03578]|9[679])\d)0+/
/** Printable ASCII, which needs no Unicode normalisation. Nearly every row of a file consists of it. */
const printableAscii = /^[\x20-\x7e]*$/

/**
 * Returns the service of a base URL: its origin and path, since one gateway may serve both staging and production.
 * All names of this machine count as one host.
 */
export function serviceOf(baseUrl: string): string {
  if (lastService.baseUrl === baseUrl) return lastService.service
  const url = new URL(baseUrl)
  if (isLoopbackHost(url.hostname)) url.hostname = 'localhost'
  lastService = { baseUrl, service: addressOf(url.href) }
  return lastService.service
}

/**
 * Returns the origin and path of a base URL. Two services on this machine may have the same port at different
 * addresses, so a report belongs to the service at exactly one address.
 */
export function addressOf(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl)
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, '')}`
}

/** Caches the service of the last base URL, since all rows of a file have the same one. */
let lastService = { baseUrl: '', service: '' }

/** The values by which two orders are the same. */
interface OrderKey {
  /** The account of the order; '' without one. */
  account: string
  baseUrl: string
  packageId: number
  recipient: Recipient
}

/**
 * Returns the normalised account, service, package and person, which are equal if two orders are the same. "Case,
 * spaces, Unicode form, phone punctuation and a trunk zero after the country code do not make a person new"
 * (src/docs/ordering.md, section 4). Additional information is not included, since users correct a field and run
 * again. Neither is the API key: an organisation changes its key and stays the same.
 */
export function orderIdentity({ account, baseUrl, packageId, recipient }: OrderKey): string {
  return JSON.stringify(['order', account, serviceOf(baseUrl), packageId, ...personKey(recipient)])
}

/**
 * Returns the normalised identities by which a person is found whatever was ordered. They are stored only as keyed
 * fingerprints.
 */
export function personIdentities(recipient: Recipient): { person: string; email: string; phone: string } {
  const [first, last, email, phone] = personKey(recipient)
  return {
    person: JSON.stringify(['person', first, last, email, phone]),
    email: emailIdentity(email),
    phone: JSON.stringify(['phone', phone]),
  }
}

/** Returns the normalised identity of an e-mail. */
export const emailIdentity = (email: string): string => JSON.stringify(['email', foldText(email)])

/** Returns an e-mail or phone that a user typed in the form in which it is compared. */
export function sharedKey(value: string): string {
  return value.includes('@') ? foldText(value) : phoneDigits(value)
}

/** Returns whether two recipients are the same person after normalisation. */
export function isSamePerson(one: Recipient, other: Recipient): boolean {
  return JSON.stringify(personKey(one)) === JSON.stringify(personKey(other))
}

/** Returns the four normalised values of a person; nothing else distinguishes people. */
export function personKey({
  first_name,
  last_name,
  email,
  phone,
}: Recipient): [first: string, last: string, email: string, phone: string] {
  return [foldText(first_name), foldText(last_name), foldText(email), phoneDigits(phone)]
}

function phoneDigits(phone: string): string {
  const text = printableAscii.test(phone) ? phone : phone.normalize('NFKC')
  const allDigits = normalisedPhone.test(text) ? text.slice(1) : text.replace(notDigit, '')
  return text.trimStart().startsWith('+') ? allDigits.replace(trunkZero, '$1') : allDigits
}

/**
 * Normalises a text nearly as Unicode's NFKC_Casefold does, without spaces. It is lower-cased, upper-cased and
 * lower-cased again: folding makes `ẞ`, `ß` and `SS`, or `ς` and `Σ`, the same, which lower case alone does not.
 */
function foldText(text: string): string {
  if (printableAscii.test(text)) {
    const lower = text.toLowerCase()
    return lower.includes(' ') ? lower.replaceAll(' ', '') : lower
  }
  const foldedText = text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')
  return foldedText.replace(invisible, '').replace(whiteSpace, '')
}

/** Returns the FNV-1a hash of a text (32 bits). Different texts seldom have the same hash. */
export function hashOf(text: string): number {
  let hash = 0x81_1c_9d_c5 | 0
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93)
  }
  return hash
}
