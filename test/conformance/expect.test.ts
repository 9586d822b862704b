import { expect, test } from 'vitest'

import { Answer } from '../../src/conformance/answer.ts'
import { expectPdf, expectRefusal } from '../../src/conformance/table.ts'
import { nullable, object, text, timestamp, uuid } from '../../src/conformance/shape.ts'
import { Secrets } from '../../src/host/secrets.ts'

function createAnswer(status: number, body: string, type = 'application/json'): Answer {
  const response = { status, headers: { 'content-type': type }, body: Buffer.from(body), milliseconds: 1 }
  return new Answer('GET /v1/there', response, true, new Secrets())
}

const createRefusal = (message: string): Answer =>
  createAnswer(400, JSON.stringify({ data: null, status_message: 'client_error', message }))

test.each([
  'additional_information[0].fields.name: is required',
  'additional_information.0.fields.name: is required',
  'additional_information[].fields.name: is required',
  '/additional_information/0/fields/name: is required',
  '$.additional_information[0].fields.name: is required',
  'body.additional_information.reference.name: is required',
  'additional_information[0].fields: name is required',
  'additional_information: the entry reference lacks name',
])('%s names the field', (message) => {
  expect(expectRefusal('additional_information[0].fields.name')(createRefusal(message))).toEqual([])
})

test.each([
  'is required',
  'name: is required',
  'the name: is required',
  'recipient.name: is required',
  'additional_information[0].fields.name',
  'additional_information[0].fields.name: ',
  'additional_information[0].fields.names: is required',
  'fields.name is required',
])('%j does not name the field', (message) => {
  expect(expectRefusal('additional_information[0].fields.name')(createRefusal(message))).toEqual([
    `GET /v1/there: expected the message "additional_information[0].fields.name: <reason>", got 400 ("${message}")`,
  ])
})

test('a field is refused only by a 400', () => {
  expect(expectRefusal('name')(createAnswer(500, 'oh'))).toEqual(['GET /v1/there: expected 400, got 500'])
})

test('a PDF is expected to have the beginning and the end of a PDF', () => {
  expect(expectPdf(createAnswer(200, '%PDF-1.7\n%%EOF\n', 'application/pdf'))).toEqual([])
  expect(expectPdf(createAnswer(200, '%PDF-1.7\n', 'application/pdf'))).toEqual([
    'GET /v1/there: the body is not a complete PDF',
  ])
  expect(expectPdf(createAnswer(404, ''))).toEqual(['GET /v1/there: expected 200, got 404'])
})

test('a shape reports wrong, missing and additional fields', () => {
  const shape = object({ id: uuid, name: nullable(text), at: timestamp })
  expect(shape({ id: '5', name: 7, extra: true }, 'there')).toEqual([
    'there.id: expected a UUID, got "5"',
    'there.name: expected a string or null, got 7',
    'there.at is missing',
    'advice: there.extra is not a field of the document',
  ])
})

test.each([
  '2026-03-02T09:00:00Z',
  '2026-03-02T09:00:00.123+00:00',
  '2026-03-02T09:00:00,5+1030',
  '2026-03-02T09:00',
])('%s is an ISO 8601 timestamp', (value) => expect(timestamp(value, 'at')).toEqual([]))

test.each(['2026-03-02', '2026-03-02 09:00:00Z', '2026-03-02T25:00:00Z', '2026-02-30T09:00:00Z', 'now', 1])(
  '%j is not an ISO 8601 timestamp',
  (value) => expect(timestamp(value, 'at')).toHaveLength(1),
)
