import { expect, test } from 'vitest'

import {
  type Answers,
  readAnswers,
  bodyOf,
  changeChoices,
  setAnswer,
  reviewChoices,
  validAnswers,
} from '../../../src/domain/form/answers.ts'
import { formFields } from '../../../src/domain/form/fields.ts'
import { type DraftBody } from '../../../src/domain/form/validate.ts'
import { InvalidInputError } from '../../../src/errors/kinds.ts'
import { plainSchema, sampleBody, sampleSchema } from './sample-schema.ts'

const fields = formFields(sampleSchema)

test('a body converted to answers and back is unchanged', () => {
  const answers = readAnswers(sampleBody(), sampleSchema, fields)
  expect(answers.size).toBe(4 + 3 + 4)
  expect(bodyOf(sampleSchema, fields, answers)).toEqual(sampleBody())
})

test('an invalid value of the given body is refused before the first question', () => {
  const given = { package_id: 7, recipient: { phone: 'x' } } as DraftBody
  expect(() => readAnswers(given, plainSchema, formFields(plainSchema))).toThrow(InvalidInputError)
})

test('a removed answer is left out of the body, and so is a check without answers', () => {
  const answers: Answers = new Map()
  const [first] = fields
  const date = fields[4]
  if (first === undefined || date === undefined) throw new Error('the schema has fields')
  setAnswer(answers, first, 'Ann')
  setAnswer(answers, date, '1990-04-23')
  setAnswer(answers, date, undefined)
  expect(bodyOf(sampleSchema, fields, answers)).toEqual({ package_id: 12, recipient: { first_name: 'Ann' } })
})

test('a review offers to send only on its last page, and on every page to change an answer and to leave', () => {
  expect(reviewChoices(1, 1).map(({ value }) => value)).toEqual(['send', 'change', 'leave', 'drop'])
  expect(reviewChoices(1, 2).map(({ value }) => value)).toEqual(['more', 'change', 'leave', 'drop'])
  expect(reviewChoices(2, 2).map(({ value }) => value)).toEqual(['send', 'again', 'change', 'leave', 'drop'])
  expect(reviewChoices(1, 2, true).map(({ value }) => value)).toEqual(['more', 'leave'])
})

test('each field with its answer can be chosen for a change', () => {
  const offered = changeChoices(fields, readAnswers(sampleBody(), sampleSchema, fields))
  const labels = offered.map(({ label }) => label)
  expect(labels[0]).toBe('First name (Ann)')
  expect(labels).toContain('Check ncc_acic: Date of birth (1990-04-23)')
  expect(labels).toContain('Check licence: Issuer (name: State; since: 1990)')
  expect([labels.at(-1), offered.at(-1)?.value, labels.length]).toEqual([
    'Change nothing',
    undefined,
    fields.length + 1,
  ])
})

test('values of a stored draft that the schema no longer accepts are left out', () => {
  const stored = sampleBody()
  const changed = {
    ...stored,
    recipient: { ...stored.recipient, phone: '0400' },
    additional_information: [
      { code: 'ncc_acic', fields: { date_of_birth: '23/04/1990', years_resident: 3 } },
      { code: 'gone', fields: { a: 1 } },
    ],
  }
  const body = bodyOf(sampleSchema, fields, validAnswers(changed, fields))
  expect(body).toEqual({
    package_id: 12,
    recipient: { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' },
    additional_information: [{ code: 'ncc_acic', fields: { years_resident: 3 } }],
  })
})
