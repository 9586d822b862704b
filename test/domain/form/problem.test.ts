import { expect, test } from 'vitest'

import { problemsError, problemText, formatForMessage } from '../../../src/domain/form/problem.ts'

test('a text is shown unchanged and other values as JSON, cut after 80 characters', () => {
  expect(formatForMessage('a "b"')).toBe('a "b"')
  expect(formatForMessage({ a: [1] })).toBe('{"a":[1]}')
  expect(formatForMessage(undefined)).toBe('undefined')
  expect(formatForMessage('x'.repeat(80))).toBe('x'.repeat(80))
  expect(formatForMessage('x'.repeat(81))).toBe(`${'x'.repeat(80)}…`)
})

test('a value that JSON cannot represent is shown by its kind', () => {
  const circularList: unknown[] = []
  circularList.push(circularList)
  expect(formatForMessage(circularList)).toBe('a list')
  expect(formatForMessage({ circularList })).toBe('an object')
})

test('the text of a problem contains the field, the value, the problem and the suggestion', () => {
  expect(problemText({ path: 'phone', value: '04', problem: 'has no +' })).toContain('phone: "04" has no +')
  expect(problemText({ path: 'phone', problem: 'is required', suggestion: '+61' })).toMatch(
    /^phone: is required.*"\+61"/,
  )
})

test('several problems become one error that names each of them and has the first field', () => {
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
