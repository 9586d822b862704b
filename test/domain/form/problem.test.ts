import { expect, test } from 'vitest'

import { problemsError, problemText, formatForMessage } from '../../../src/domain/form/problem.ts'

test('a value is shown as it is, anything but a text as JSON, and cut after 80 characters', () => {
  expect(formatForMessage('a "b"')).toBe('a "b"')
  expect(formatForMessage({ a: [1] })).toBe('{"a":[1]}')
  expect(formatForMessage(undefined)).toBe('undefined')
  expect(formatForMessage('x'.repeat(80))).toBe('x'.repeat(80))
  expect(formatForMessage('x'.repeat(81))).toBe(`${'x'.repeat(80)}…`)
})

test('a value that JSON cannot say is named by its kind', () => {
  const round: unknown[] = []
  round.push(round)
  expect(formatForMessage(round)).toBe('a list')
  expect(formatForMessage({ round })).toBe('an object')
})

test('a sentence names the field, the value, what is wrong and what was meant', () => {
  expect(problemText({ path: 'phone', value: '04', problem: 'has no +' })).toContain('phone: "04" has no +')
  expect(problemText({ path: 'phone', problem: 'is required', suggestion: '+61' })).toMatch(
    /^phone: is required.*"\+61"/,
  )
})

test('several problems are one refusal that names each, its field the first', () => {
  const found = problemsError(
    [
      { path: 'phone', problem: 'is required' },
      { path: 'email', problem: 'has no @' },
    ],
    'Correct them.',
  )
  expect(found).toMatchObject({ code: 'invalid_input', field: 'phone', hint: 'Correct them.' })
  expect(found.message).toMatch(/phone[\s\S]*email/)
})
