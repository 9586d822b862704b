import { expect, test } from 'vitest'

import { keepDeclared, redactForAgent } from '../../../src/domain/agent/mask.ts'

const key = 'k'.repeat(32)
const redact = (text: string): string => text.replaceAll(key, '[API key]')
const showingOptions = { showsPersonalData: true, redact }
const maskingOptions = { showsPersonalData: false, redact }

test('API keys and signed URLs are removed, also if personal data is shown', () => {
  const url = 'https://api.example.com/v1/reports/checks/1/pdf?t=abc.def'
  const document = {
    report_pdf_url: url,
    note: `see ${url} with ${key}`,
    hidden: `${key.slice(0, 16)}\u200B${key.slice(16)}`,
    [key]: 1,
  }
  for (const options of [showingOptions, maskingOptions]) {
    const text = JSON.stringify(redactForAgent(document, options).data)
    expect(text).not.toContain('abc.def')
    expect(text).not.toContain(key)
    expect(text).toContain('"report_pdf_url":"withheld"')
  }
})

test('personal data is masked unless it is allowed; names from other documents are masked too', () => {
  const row = { email: 'priya@example.com', error: 'refused for Priya' }
  expect(redactForAgent(row, showingOptions).data).toEqual(row)
  expect(redactForAgent(row, { ...maskingOptions, others: [[{ first_name: 'Priya' }]] }).data).toEqual({
    email: 'p…@example.com',
    error: 'refused for …',
  })
  const hidden = {
    first_name: 'Priya',
    'e\u200Bmail': 'priya@example.com',
    error: 'refused for Pri\u200Bya, priya\u2060@example.com',
  }
  expect(redactForAgent(hidden, maskingOptions).data).toEqual({
    first_name: 'P.',
    email: 'p…@example.com',
    error: 'refused for …, …',
  })
})

test('a long list is cut and the number of omitted items is returned; deeply nested values are omitted', () => {
  const list = Array.from({ length: 250 }, (_, at) => at)
  expect(redactForAgent({ list, inner: { list } }, showingOptions)).toMatchObject({ leftOut: 100 })
  let deep: unknown = 'end'
  for (let at = 0; at < 100; at += 1) deep = { deep }
  expect(JSON.stringify(redactForAgent(deep, maskingOptions).data)).not.toContain('end')
})

test('field names are cleaned like texts, and __proto__ is an ordinary field name', () => {
  const document = JSON.parse('{"__proto__": {"polluted": "yes"}, "a\\u202eb": "c"}') as unknown
  const { data } = redactForAgent(document, showingOptions)
  expect(Object.keys(data as object)).toEqual(['__proto__', 'ab'])
  expect((data as { polluted?: unknown }).polluted).toBeUndefined()
})
test('keys that the schema of a result does not declare are removed, also from objects in lists', () => {
  const check = { properties: { id: {} }, additionalProperties: {} }
  const schema = {
    anyOf: [
      { properties: { status: {}, checks: { items: check }, counts: { additionalProperties: {} } } },
      { properties: { error: { properties: { code: {} } } } },
    ],
  }
  const document = {
    status: 'RECEIVED',
    note: 'born 1931-07-19',
    checks: [{ id: 'a', 'Zoraidax 61488017700': 1 }],
    counts: { RECEIVED: 2 },
    error: { code: 'usage', dob: '1931-07-19' },
  }
  expect(keepDeclared(document, schema)).toEqual({
    status: 'RECEIVED',
    checks: [{ id: 'a' }],
    counts: { RECEIVED: 2 },
    error: { code: 'usage' },
  })
})
