import { expect, test } from 'vitest'

import { fileIdentity, newRow, readingText } from '../../../src/domain/batch/intake.ts'
import { orderIdentity } from '../../../src/domain/submission/identity.ts'
import { ann, problem, rowReading } from './rows.ts'

const base = 'https://api.example.com'

test('a row that is fit is kept to the byte, with the identity of its order', () => {
  const row = newRow(rowReading({ row: 4 }), base)
  expect(row).toMatchObject({
    row: 4,
    state: 'pending',
    packageId: 7,
    recipient: ann,
    identity: orderIdentity(base, 7, ann),
  })
  expect(row.state === 'pending' && new TextDecoder().decode(row.body)).toBe(
    JSON.stringify({ package_id: 7, recipient: ann }),
  )
})

test('a row that is wrong keeps what is wrong, the first field, and the e-mail as far as it was read', () => {
  const problems = [problem(1, 'last_name', '', 'is required'), problem(1, 'phone', 'x', 'has no +')]
  const reading = rowReading({ body: undefined, problems })
  expect(newRow(reading, base)).toEqual({
    row: 1,
    state: 'invalid',
    packageId: 7,
    email: 'ann@example.com',
    reason: 'last_name is required; phone has no +',
    field: 'last_name',
    matchesRow: undefined,
  })
  const nobody = { ...reading, person: { ...ann, email: '' } }
  expect(newRow(nobody, base)).toMatchObject({ email: undefined })
})

test('a duplicate is never sent, whether it is valid or not', () => {
  expect(newRow(rowReading({ row: 5, duplicateOf: 2 }), base)).toMatchObject({
    state: 'duplicate',
    matchesRow: 2,
    reason: expect.stringMatching(/row 2$/) as string,
  })
  const problems = [problem(5, 'phone', 'x', 'has no +')]
  const both = rowReading({ row: 5, duplicateOf: 2, body: undefined, problems })
  expect(newRow(both, base)).toMatchObject({ state: 'duplicate', reason: 'phone has no +' })
})

test('a file is the same by its bytes, its service and its package, whatever its path', () => {
  const one = fileIdentity(base, 'ab', 7)
  expect(fileIdentity(`${base}/`, 'ab', 7)).toBe(one)
  for (const other of [
    fileIdentity('https://other.example.com', 'ab', 7),
    fileIdentity(base, 'ac', 7),
    fileIdentity(base, 'ab', 8),
    fileIdentity(base, 'ab', undefined),
  ]) {
    expect(other).not.toBe(one)
  }
})

test('how a file is read is one text, in whichever order it was said', () => {
  const one = readingText({ sheet: null, map: { b: 'x', a: 'y' }, ignore: ['n', 'm'], default_country: 'au' })
  const other = readingText({
    sheet: null,
    map: { a: 'y', b: 'x' },
    ignore: ['m', 'n'],
    default_country: 'AU',
  })
  expect(one).toBe(other)
  expect(readingText({ sheet: 'S', map: {}, ignore: [], default_country: null })).not.toBe(one)
})
