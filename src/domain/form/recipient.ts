import type { RecipientField } from '../../contract/package-schema.ts'
import { emailAddress } from '../../contract/email-address.ts'
import { phoneNumber } from '../../contract/request-body.ts'

/** What became of one given text: the value to send, or why it cannot be sent. */
export type Reading =
  | { value: string; problem?: undefined; suggestion?: undefined }
  | { problem: string; suggestion?: string | undefined; value?: undefined }

const control = /\p{Cc}/u
const hidden = /[\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/u

/** Reads one of the recipient's four fields as a person or a spreadsheet gives it. Linear; length first. */
export function readRecipientField(name: RecipientField, text: string): Reading {
  if (text.trim() === '') return { problem: 'is empty, and is required' }
  if (name === 'phone') return readPhone(text)
  if (name === 'email') return readEmail(text)
  const value = text.trim()
  const at = value.search(control)
  if (at === -1) return { value }
  return { problem: `holds ${codePoint(value, at)}, a control character; a name has none` }
}

function readEmail(text: string): Reading {
  const at = text.search(control)
  if (at !== -1) {
    return { problem: `holds ${codePoint(text, at)}, a line break or control character; an address has none` }
  }
  const value = text.trim()
  if (value.length > 254) {
    return { problem: `has ${String(value.length)} characters; an e-mail address has at most 254` }
  }
  if (emailAddress.safeParse(value).success) return { value }
  const parts = value.split('@').length - 1
  if (parts === 0) return { problem: 'has no @; an e-mail address looks like ann@example.com' }
  if (parts > 1) return { problem: 'has more than one @; give one address, such as ann@example.com' }
  return { problem: 'is not a valid e-mail address such as ann@example.com' }
}

const expectedPhone = 'give it with + and the country calling code, such as +61400000000'

/**
 * E.164 (POST /v1/requests). What starts with + loses its spaces, (), - and . (cli-contract "Batch files");
 * nothing else is repaired, because a guessed number reaches somebody else.
 */
function readPhone(text: string): Reading {
  if (text.length > 64) {
    return { problem: `has ${String(text.length)} characters; a phone number has at most 15 digits` }
  }
  const given = text.trim()
  const at = given.search(hidden)
  if (at !== -1) return { problem: `holds ${codePoint(given, at)}, an invisible character; type it anew` }
  if (/^[+-]?\d+(?:[.,]\d+)?e[+-]?\d+$/i.test(given)) {
    return {
      problem:
        'is in scientific notation: a spreadsheet has dropped digits of it; ' +
        'format the column as text and give the whole number, such as +61400000000',
    }
  }
  if (!given.startsWith('+'))
    return { problem: `has no +; ${expectedPhone}`, suggestion: international(given) }
  if (/\(0\)/.test(given)) {
    return {
      problem: 'holds (0), which is not dialled after a country calling code; leave it out or type it plain',
    }
  }
  return checkDigits(given.slice(1).replaceAll(/[\p{Zs}().-]/gu, ''))
}

function checkDigits(digits: string): Reading {
  const at = digits.search(/\D/)
  if (at !== -1)
    return {
      problem: `holds "${String.fromCodePoint(digits.codePointAt(at) ?? 0)}"; after the + only digits`,
    }
  if (digits.length > 15) return { problem: `has ${String(digits.length)} digits; E.164 allows at most 15` }
  if (digits.startsWith('0'))
    return { problem: `has 0 after the +, and no country calling code starts so; ${expectedPhone}` }
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
