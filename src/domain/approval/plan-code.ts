import { redactArgument } from '../wording/redact-argument.ts'
import { UsageError } from '../../errors/kinds.ts'

/** Letters that are not confused with another letter or a digit, and of which no word is made. */
const letters = 'BCDFGHJKMPQRTVWX'
const length = 8

/** Random bytes that a code is made of. */
export const planCodeBytes = length

/** `KXRT-WMPH`, of 8 random bytes. */
export function planCode(bytes: Uint8Array): string {
  const code = Array.from(bytes.subarray(0, length), (byte) => letters[byte % letters.length]).join('')
  return shown(code)
}

/** A code as it was typed; UsageError for what is none. */
export function parsePlanCode(text: string): string {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase()
  if (code.length === length && Array.from(code).every((letter) => letters.includes(letter)))
    return shown(code)
  throw new UsageError(`CODE: "${redactArgument(text)}" is not the code of a plan`, {
    hint: 'A code looks like KXRT-WMPH. Choose among the plans that wait with: refcheck approve',
  })
}

const shown = (code: string): string => `${code.slice(0, length / 2)}-${code.slice(length / 2)}`
