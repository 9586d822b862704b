import { propertyOf } from '../../contract/parse-json.ts'
import type { RecipientField } from '../../contract/package-schema.ts'
import { emailAddress, phoneNumber } from '../../contract/request.ts'
import type { Change } from './problem.ts'

/** What became of one given text: the value to send, or why it cannot be sent. */
type FieldReading =
  | { value: string; problem?: undefined; suggestion?: undefined }
  | { problem: string; suggestion?: string | undefined; value?: undefined }

const control = /\p{Cc}/u
const hidden = /[\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/u

/** No person has a longer one, and to compare such names takes very long. */
const maxNameLength = 1_000

export const isLongName = (text: string): boolean => text.length > maxNameLength

export const longName = (text: string): string =>
  `has ${text.length} characters; a name has at most ${maxNameLength}`

/** Reads one of the recipient's four fields as a person or a spreadsheet gives it. Linear; length first. */
export function readRecipientField(name: RecipientField, text: string): FieldReading {
  if (text.trim() === '') return { problem: 'is empty, but required' }
  if (name === 'phone') return readPhone(text)
  if (name === 'email') return readEmail(text)
  const value = text.trim()
  if (isLongName(value)) return { problem: longName(value) }
  const at = value.search(control)
  if (at === -1) return { value }
  return { problem: `contains ${codePoint(value, at)}, a control character, which a name cannot have` }
}

function readEmail(text: string): FieldReading {
  const at = text.search(hidden)
  if (at !== -1) {
    const kind = control.test(text.charAt(at))
      ? 'a line break or control character'
      : 'an invisible character'
    return { problem: `contains ${codePoint(text, at)}, ${kind}; which an address cannot have` }
  }
  const value = text.trim()
  if (value.length > 254) {
    return { problem: `has ${value.length} characters; an e-mail address has at most 254` }
  }
  if (emailAddress.safeParse(value).success) return { value }
  const link = /^mailto:([^?]*)/i.exec(value)?.[1]
  if (link !== undefined)
    return { problem: 'begins with mailto:; give the address alone', suggestion: good(link) }
  const named = /<([^<>]*)>\s*$/.exec(value)?.[1]
  if (named !== undefined) {
    return { problem: 'holds a name beside the address; give the address alone', suggestion: good(named) }
  }
  const parts = value.split('@').length - 1
  if (parts === 0) return { problem: 'has no @; an e-mail address looks like ann@example.com' }
  if (parts > 1) return { problem: 'has more than one @; give one address, such as ann@example.com' }
  if (/\s/.test(value))
    return {
      problem: 'holds a space; an e-mail address has none',
      suggestion: good(value.replaceAll(/\s/g, '')),
    }
  return { problem: 'is not a valid e-mail address such as ann@example.com' }
}

function good(address: string): string | undefined {
  return emailAddress.safeParse(address).success ? address : undefined
}

/** Countries whose national numbers begin with 0 abroad too. */
const keepsZero: ReadonlySet<string> = new Set(['39', '378', '379', '225', '229', '241', '242'])

/** How the problem of a number without its country begins. */
export const noPlus = 'has no +'

const expectedPhone = 'start it with + and the country code, such as +61400000000'

/**
 * E.164 (POST /v1/requests). What starts with + loses its spaces, (), - and . (src/docs/cli.md, "Batch files");
 * nothing else is repaired, because a guessed number reaches another person.
 */
function readPhone(text: string): FieldReading {
  if (text.length > 64) {
    return { problem: `has ${text.length} characters; a phone number has at most 15 digits` }
  }
  const given = text.trim()
  const at = given.search(hidden)
  if (at !== -1) return { problem: `contains ${codePoint(given, at)}, an invisible character; type it again` }
  if (/^[+-]?\d+(?:[.,]\d+)?e[+-]?\d+$/i.test(given)) {
    return {
      problem:
        'is in scientific notation: the spreadsheet has dropped digits; ' +
        'format the column as text and give the whole number, such as +61400000000',
    }
  }
  if (!given.startsWith('+'))
    return { problem: `${noPlus}; ${expectedPhone}`, suggestion: international(given) }
  if (/\(\s*0/.test(given)) {
    return {
      problem:
        'holds (0, which is not dialled after a country calling code; leave the 0 out or type it plain',
    }
  }
  if (/^\+\d+\.0{1,2}$/.test(given)) {
    return {
      problem: 'ends in .0: a spreadsheet took it for a number; format the column as text and type it again',
    }
  }
  const code = /^\+(\d{1,3})[\p{Zs}.-]+0/u.exec(given)?.[1]
  if (code !== undefined && !keepsZero.has(code)) {
    return {
      problem: `has a 0 after the country calling code +${code}, which is not dialled there; leave it out`,
    }
  }
  return checkDigits(given.slice(1).replaceAll(/[\p{Zs}().-]/gu, ''))
}

function checkDigits(digits: string): FieldReading {
  const at = digits.search(/\D/)
  if (at !== -1)
    return {
      problem: `holds "${String.fromCodePoint(digits.codePointAt(at) ?? 0)}"; only digits may follow the +`,
    }
  if (digits.length > 15) return { problem: `has ${digits.length} digits; a phone number has at most 15` }
  if (digits.startsWith('0'))
    return { problem: `has 0 after the +, but no country code starts with 0; ${expectedPhone}` }
  const value = `+${digits}`
  return phoneNumber.safeParse(value).success
    ? { value }
    : { problem: `has too few digits; ${expectedPhone}` }
}

/** `0061 400 …` is `+61400…` in most of the world; only a hint, never taken by itself. */
function international(given: string): string | undefined {
  const value = `+${given.replaceAll(/[\p{Zs}().-]/gu, '').slice(2)}`
  return given.startsWith('00') && phoneNumber.safeParse(value).success ? value : undefined
}

function codePoint(text: string, at: number): string {
  return `U+${(text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** A national number in E.164, or undefined where it is none of that country's. */
export type PhoneRepair = (text: string) => string | undefined

/** A number without + as the country has it; any other text as it is. */
export function repairPhone(text: string, repair: PhoneRepair | undefined): string {
  return text.trimStart().startsWith('+') ? text : (repair?.(text) ?? text)
}

/** A body whose recipient's phone is read as a national number, and what was changed. Anything else is left as it is. */
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
