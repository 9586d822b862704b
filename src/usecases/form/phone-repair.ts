import type { PhoneRepair } from '../../domain/form/recipient.ts'
import { UsageError } from '../../errors/kinds.ts'

/**
 * Returns a function that reads phone numbers without + as numbers of one country (ISO 3166-1 alpha-2, such
 * as AU). The function is used only if the user named the country. Loads the metadata of all countries, so it
 * is called only when needed.
 */
export async function createPhoneRepair(country: string): Promise<PhoneRepair> {
  const { default: parse, isSupportedCountry } = await import('libphonenumber-js/min')
  const code = country.toUpperCase()
  if (!/^[A-Z]{2}$/.test(code) || !isSupportedCountry(code)) {
    throw new UsageError(`--default-country: unknown country "${country.slice(0, 20)}"`, {
      hint: 'Give the two-letter code of ISO 3166, such as AU, NZ, GB or DE.',
    })
  }
  return (text) => {
    const trimmed = text.trim()
    if (trimmed.length > 40 || !/^[\d\s().-]+$/.test(trimmed) || !/\d/.test(trimmed) || isDate(trimmed))
      return undefined
    const number = parse(trimmed, code)
    if (number?.isValid() !== true) return undefined
    // A number without a leading 0 may be an international one whose + was lost. If both are valid, it is not
    // repaired.
    const digits = trimmed.replaceAll(/\D/g, '')
    const international = digits.startsWith('0') ? undefined : parse(`+${digits}`)
    return international?.isValid() === true && international.number !== number.number
      ? undefined
      : number.number
  }
}

/** Whether the text is a date such as `12.03.2026` or `2026-03-12`. */
function isDate(text: string): boolean {
  return /^(?:\d{1,2}[.-]\d{1,2}[.-](?:\d{2}|\d{4})|\d{4}[.-]\d{1,2}[.-]\d{1,2})$/.test(text)
}
