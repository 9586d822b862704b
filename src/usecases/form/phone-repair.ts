import type { PhoneRepair } from '../../domain/form/recipient.ts'
import { UsageError } from '../../errors/kinds.ts'

/**
 * Reads numbers without + as of one country (ISO 3166-1 alpha-2, such as AU); only ever where the person
 * named it. Costs its metadata's loading, so it is made when asked for.
 */
export async function phoneRepair(country: string): Promise<PhoneRepair> {
  const { default: parse, isSupportedCountry } = await import('libphonenumber-js/min')
  const code = country.toUpperCase()
  if (!/^[A-Z]{2}$/.test(code) || !isSupportedCountry(code)) {
    throw new UsageError(`--default-country: unknown country "${country.slice(0, 20)}"`, {
      hint: 'Give the two-letter code of ISO 3166, such as AU, NZ, GB or DE.',
    })
  }
  return (text) => {
    const given = text.trim()
    if (given.length > 40 || !/^[\d\s().-]+$/.test(given) || !/\d/.test(given) || isDate(given))
      return undefined
    const number = parse(given, code)
    if (number?.isValid() !== true) return undefined
    // Without a 0 in front it may be an international number that lost its +: then it is not guessed.
    const digits = given.replaceAll(/\D/g, '')
    const abroad = digits.startsWith('0') ? undefined : parse(`+${digits}`)
    return abroad?.isValid() === true && abroad.number !== number.number ? undefined : number.number
  }
}

/** `12.03.2026`, `2026-03-12`. */
function isDate(text: string): boolean {
  return /^(?:\d{1,2}[.-]\d{1,2}[.-](?:\d{2}|\d{4})|\d{4}[.-]\d{1,2}[.-]\d{1,2})$/.test(text)
}
