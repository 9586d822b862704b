import { expect, test } from 'vitest'

import { type Answers, answersIn, bodyOf, keep, nextSteps } from '../../../src/domain/form/answers.ts'
import { formFields } from '../../../src/domain/form/fields.ts'
import { type DraftBody } from '../../../src/domain/form/validate.ts'
import { InvalidInputError } from '../../../src/errors/kinds.ts'
import { plainSchema, sampleBody, sampleSchema } from './sample-schema.ts'

const fields = formFields(sampleSchema)

test('a body becomes answers, and answers the same body', () => {
  const answers = answersIn(sampleBody(), sampleSchema, fields)
  expect(answers.size).toBe(4 + 3 + 4)
  expect(bodyOf(sampleSchema, fields, answers)).toEqual(sampleBody())
})

test('what was given wrongly is refused before anything is asked', () => {
  const given = { package_id: 7, recipient: { phone: 'x' } } as DraftBody
  expect(() => answersIn(given, plainSchema, formFields(plainSchema))).toThrow(InvalidInputError)
})

test('an answer taken back is gone, and so is a check without any', () => {
  const answers: Answers = new Map()
  const [first] = fields
  const date = fields[4]
  if (first === undefined || date === undefined) throw new Error('the schema has fields')
  keep(answers, first, 'Ann')
  keep(answers, date, '1990-04-23')
  keep(answers, date, undefined)
  expect(bodyOf(sampleSchema, fields, answers)).toEqual({ package_id: 12, recipient: { first_name: 'Ann' } })
})

test('a review offers to send, to change each field, and to leave', () => {
  const steps = nextSteps(fields, answersIn(sampleBody(), sampleSchema, fields))
  expect([steps[0]?.value, steps.at(-1)?.value, steps.length]).toEqual(['send', 'leave', fields.length + 2])
  expect(steps[0]?.label).toBe('Yes, go on')
  expect(steps[1]?.label).toMatch(/First name \(Ann\)$/)
  expect(steps[5]?.label).toMatch(/Check ncc_acic: Date of birth/)
})
