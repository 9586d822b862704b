import { expect, test } from 'vitest'

import { orderQuestion } from '../../../src/domain/batch/confirmation.ts'
import { ann } from './rows.ts'

test('the question names who is about to be ordered where they are few', () => {
  expect(orderQuestion(1, [ann])).toBe('Order checks for 1 person: Ann Lee?')
  expect(orderQuestion(5, Array(5).fill(ann))).toMatch(/^Order checks for 5 people: (Ann Lee, ){4}Ann Lee\?$/)
  expect(orderQuestion(6, Array(6).fill(ann))).toBe('Order checks for 6 people?')
})

test('a removed person has no name, so nobody is named', () => {
  expect(orderQuestion(2, [ann, undefined])).toBe('Order checks for 2 people?')
})
