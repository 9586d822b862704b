import { expect, test } from 'vitest'

import { compileQuickCheck } from '../../../src/domain/batch/row.ts'
import { type DraftBody, validateBody } from '../../../src/domain/form/validate.ts'
import { plainSchema, recipientOf, sampleBody, sampleSchema } from './sample-schema.ts'

const quickCheck = compileQuickCheck(sampleSchema)

/** Returns the valid sample body after `change`. */
function changeSampleBody(change: (body: ReturnType<typeof sampleBody>) => void): DraftBody {
  const body = sampleBody()
  change(body)
  return body
}

test('the quick check returns a valid body unchanged', () => {
  expect(quickCheck(sampleBody())).toEqual(sampleBody())
  const plain = { package_id: 7, recipient: recipientOf() } as DraftBody
  expect(compileQuickCheck(plainSchema)(plain)).toEqual(plain)
})

test.each<[string, (body: ReturnType<typeof sampleBody>) => void]>([
  ['another package', (body) => (body.package_id = 13)],
  ['white space around a name', (body) => (body.recipient.first_name = ' Ann')],
  ['a phone with punctuation', (body) => (body.recipient.phone = '+61 400')],
  ['an invalid e-mail address', (body) => (body.recipient.email = 'ann')],
  ['a check that is missing', (body) => body.additional_information.pop()],
  ['a check twice', (body) => body.additional_information.push(...body.additional_information.slice(0, 1))],
  [
    'a check that the package does not have',
    (body) => (body.additional_information[0] = { code: 'x', fields: {} } as never),
  ],
  [
    'a required field that is missing',
    (body) => (body.additional_information[0] = { code: 'ncc_acic', fields: {} } as never),
  ],
  [
    'a day that does not exist',
    (body) =>
      body.additional_information.splice(0, 1, {
        code: 'ncc_acic',
        fields: { date_of_birth: '1990-02-30' },
      } as never),
  ],
])('the quick check returns undefined for %s', (_what, change) => {
  expect(quickCheck(changeSampleBody(change))).toBeUndefined()
})

test('the quick check returns the same body as validateBody', () => {
  const { body, problems, changes } = validateBody(sampleBody(), sampleSchema)
  expect(problems ?? []).toEqual([])
  expect(changes ?? []).toEqual([])
  expect(quickCheck(sampleBody())).toEqual(body)
})
