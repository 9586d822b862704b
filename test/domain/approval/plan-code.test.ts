import fc from 'fast-check'
import { expect, test } from 'vitest'

import { parsePlanCode, planCode } from '../../../src/domain/approval/order-plan.ts'

test('a plan code is read in any case of the letters, with or without spaces and hyphen', () => {
  const code = planCode(Uint8Array.of(0, 1, 2, 3, 252, 253, 254, 255))
  expect(code).toBe('BCDF-TVWX')
  for (const typed of ['BCDF-TVWX', 'bcdftvwx', ' bcdf tvwx ']) expect(parsePlanCode(typed)).toBe(code)
})

test('every code is read back unchanged and contains no vowels, digits or letters that look alike', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 8, maxLength: 8 }), (bytes) => {
      const code = planCode(bytes)
      expect(parsePlanCode(code)).toBe(code)
      expect(code).toMatch(/^[^AEIOULNSYZ0-9]{4}-[^AEIOULNSYZ0-9]{4}$/)
    }),
  )
})

test.each(['', 'BCDF', 'BCDF-TVWA', '../../etc', 'BCDF-TVWXX', 'BCDF\u0000TVWX', 'ＢCDF-TVWX'])(
  'a text that is not a plan code is refused: %j',
  (text) => {
    expect(() => parsePlanCode(text)).toThrow('is not the code of a plan')
  },
)
