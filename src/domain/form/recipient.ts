import { propertyOf } from '../../contract/parse-json.ts'
import type { RecipientField } from '../../contract/package-schema.ts'
import { emailAddress, phoneNumber } from '../../contract/request.ts'
import type { Change } from './problem.ts'

/** The result of reading one field: the value to send, or its problem. */
type FieldReading =
  | { value: string; problem?: undefined; suggestion?: undefined }
  | { problem: string; suggestion?: string | undefined; value?: undefined }

const controlCharacter = /\p{Cc}/u
const hiddenCharacter = /[\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/u

/** Real names are shorter, and comparing longer names would take very long. */
const maxNameLength = 1_000

export const isLongName = (text: string): boolean => text.length > maxNameLength

export const longNameProblem = (text: string): string =>
  `has ${text.length} characters; a name has at most ${maxNameLength}`

/** Reads one of the four fields of the recipient, given by a user or a spreadsheet. Checks the length first. */
export function readRecipientField(name: RecipientField, text: string): FieldReading {
  if (text.trim() === '') return { problem: 'is empty, but required' }
  if (name === 'phone') return readPhone(text)
  if (name === 'email') return readEmail(text)
  const value = text.trim()
  if (isLongName(value)) return { problem: longNameProblem(value) }
  const position = value.search(controlCharacter)
  if (position === -1) return { value }
  return { problem: `contains ${codePoint(value, position)}, a control character, which a name cannot have` }
}

function readEmail(text: string): FieldReading {
  const position = text.search(hiddenCharacter)
  if (position !== -1) {
    const kind = controlCharacter.test(text.charAt(position))
      ? 'a line break or control character'
      : 'an invisible character'
    return { problem: `contains ${codePoint(text, position)}, ${kind}; which an address cannot have` }
  }
  const value = text.trim()
  if (value.length > 254) {
    return { problem: `has ${value.length} characters; an e-mail address has at most 254` }
  }
  if (emailAddress.safeParse(value).success) return { value }
  const mailtoAddress = /^mailto:([^?]*)/i.exec(value)?.[1]
  if (mailtoAddress !== undefined)
    return { problem: 'begins with mailto:; give the address alone', suggestion: validAddress(mailtoAddress) }
  const bracketedAddress = /<([^<>]*)>\s*$/.exec(value)?.[1]
  if (bracketedAddress !== undefined) {
    return {
      problem: 'holds a name beside the address; give the address alone',
      suggestion: validAddress(bracketedAddress),
    }
  }
  const parts = value.split('@').length - 1
  if (parts === 0) return { problem: 'has no @; an e-mail address looks like ann@example.com' }
  if (parts > 1) return { problem: 'has more than one @; give one address, such as ann@example.com' }
  if (/\s/.test(value))
    return {
      problem: 'holds a space; an e-mail address has none',
      suggestion: validAddress(value.replaceAll(/\s/g, '')),
    }
  return { problem: 'is not a valid e-mail address such as ann@example.com' }
}

function validAddress(address: string): string | undefined {
  return emailAddress.safeParse(address).success ? address : undefined
}

/** Calling codes of countries whose national numbers keep their first 0 in international calls. */
const codesWithZero: ReadonlySet<string> = new Set(['39', '378', '379', '225', '229', '241', '242'])

/** The start of the problem of a number without a country code. */
export const noPlus = 'has no +'

const expectedPhone = 'start it with + and the country code, such as +61400000000'

/**
 * Reads a phone as E.164 (POST /v1/requests). Spaces, (), - and . are removed from a number that starts with +
 * (src/docs/cli.md, "Batch files"). Nothing else is repaired, because a guessed number reaches another person.
 */
function readPhone(text: string): FieldReading {
  if (text.length > 64) {
    return { problem: `has ${text.length} characters; a phone number has at most 15 digits` }
  }
  const typed = text.trim()
  const position = typed.search(hiddenCharacter)
  if (position !== -1)
    return { problem: `contains ${codePoint(typed, position)}, an invisible character; type it again` }
  if (/^[+-]?\d+(?:[.,]\d+)?e[+-]?\d+$/i.test(typed)) {
    return {
      problem:
        'is in scientific notation: the spreadsheet has dropped digits; ' +
        'format the column as text and give the whole number, such as +61400000000',
    }
  }
  if (!typed.startsWith('+'))
    return { problem: `${noPlus}; ${expectedPhone}`, suggestion: suggestInternational(typed) }
  if (/\(\s*0/.test(typed)) {
    return {
      problem:
        'holds (0, which is not dialled after a country calling code; leave the 0 out or type it plain',
    }
  }
  if (/^\+\d+\.0{1,2}$/.test(typed)) {
    return {
      problem: 'ends in .0: a spreadsheet took it for a number; format the column as text and type it again',
    }
  }
  const callingCode = /^\+(\d{1,3})[\p{Zs}.-]+0/u.exec(typed)?.[1]
  if (callingCode !== undefined && !codesWithZero.has(callingCode)) {
    return {
      problem: `has a 0 after the country calling code +${callingCode}, which is not dialled there; leave it out`,
    }
  }
  return checkDigits(typed.slice(1).replaceAll(/[\p{Zs}().-]/gu, ''))
}

function checkDigits(digits: string): FieldReading {
  const position = digits.search(/\D/)
  if (position !== -1)
    return {
      problem: `holds "${String.fromCodePoint(digits.codePointAt(position) ?? 0)}"; only digits may follow the +`,
    }
  if (digits.length > 15) return { problem: `has ${digits.length} digits; a phone number has at most 15` }
  if (digits.startsWith('0'))
    return { problem: `has 0 after the +, but no country code starts with 0; ${expectedPhone}` }
  const value = `+${digits}`
  return phoneNumber.safeParse(value).success
    ? { value }
    : { problem: `has too few digits; ${expectedPhone}` }
}

/** Suggests `+61400…` for `0061 400 …`, which is the same number in most countries. The suggestion is only printed. */
function suggestInternational(typed: string): string | undefined {
  const value = `+${typed.replaceAll(/[\p{Zs}().-]/gu, '').slice(2)}`
  return typed.startsWith('00') && phoneNumber.safeParse(value).success ? value : undefined
}

function codePoint(text: string, index: number): string {
  return `U+${(text.codePointAt(index) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Converts a national number to E.164; undefined if it is not a number of that country. */
export type PhoneRepair = (text: string) => string | undefined

/** Converts a number without + by the rules of the country. Any other text is returned unchanged. */
export function repairPhone(text: string, repair: PhoneRepair | undefined): string {
  return text.trimStart().startsWith('+') ? text : (repair?.(text) ?? text)
}

/**
 * Returns a body whose phone is converted from a national number, and the change. Other bodies are returned unchanged.
 */
export function withNationalPhone<T>(
  body: T,
  repair: PhoneRepair | undefined,
): { body: T; changes: Change[] } {
  const recipient = propertyOf(body, 'recipient')
  const phone = propertyOf(recipient, 'phone')
  if (repair === undefined || typeof phone !== 'string') return { body, changes: [] }
  const to = repairPhone(phone, repair)
  if (to === phone) return { body, changes: [] }
  const change = { path: 'recipient.phone', column: 'phone', from: phone, to }
  return { body: { ...body, recipient: { ...(recipient as object), phone: to } }, changes: [change] }
}
