import { expect, test } from 'vitest'

import { movedBody, notMovable } from '../../../src/domain/batch/moving.ts'
import { schemaOf } from '../form/sample-schema.ts'
import { ann } from './rows.ts'

const body = new TextEncoder().encode(JSON.stringify({ package_id: 7, recipient: ann }))

test('a row that fits the successor is sent under it, and is otherwise what it was', () => {
  const schema = schemaOf({})
  const moved = movedBody(body, schema)
  expect(JSON.parse(new TextDecoder().decode(moved.body))).toEqual({ package_id: schema.id, recipient: ann })
})

test('a row that lacks what the successor asks for does not fit, and nothing is moved', () => {
  const { problem } = movedBody(body, schemaOf({ consent: { method: ['string', true] } }))
  expect(problem).toContain('consent')
  expect(notMovable(8, [])).toBeUndefined()
  const refused = notMovable(8, [{ row: 3, problem: 'consent is missing' }])
  expect(refused?.message).toMatch(/^1 row does not fit package 8: row 3/)
  expect(refused?.hint).toContain('Nothing was moved')
  const many = Array.from({ length: 5 }, (_, at) => ({ row: at + 1, problem: 'x' }))
  expect(notMovable(8, many)?.message).toMatch(/^5 rows do .*and 2 more$/)
  expect(notMovable(8, many.slice(0, 3))?.message).toMatch(/row 3: x$/)
})

test('three rows that do not fit are named, the others counted', () => {
  const many = Array.from({ length: 5 }, (_, at) => ({ row: at + 1, problem: 'x' }))
  expect(notMovable(8, many)?.message).toMatch(/: row 1: x; row 2: x; row 3: x; and 2 more$/)
})
