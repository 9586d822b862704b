import { expect, test } from 'vitest'

import { withoutSecrets } from '../../src/api/echo.ts'
import { faultRow } from '../harness/faults/fault-row.ts'

faultRow('echo', 'shown')

const key = 'sk0123456789abcdefghijklmnopqrst'
const secrets = [
  { value: key, name: 'API key' },
  { value: 'eyJ0b2tlbiI6MX0', name: 'token' },
]
const told = (text: string): string => Buffer.from(withoutSecrets(Buffer.from(text), secrets)).toString()

test('an answer without them stays the very same bytes', () => {
  const body = Buffer.from('{"message": "nein"}')
  expect(withoutSecrets(body, secrets)).toBe(body)
})

test('a key or token that is sent back is replaced wherever it stands', () => {
  expect(told(`{"message":"unknown key ${key}, t=eyJ0b2tlbiI6MX0","data":{"${key}":1}}`)).toBe(
    '{"message":"unknown key [API key], t=[token]","data":{"[API key]":1}}',
  )
})

test('one of them is enough, and the rest stays as it was written', () => {
  expect(told(`{ "message": "${key}" }`)).toBe('{ "message": "[API key]" }')
  expect(told('{ "message": "eyJ0b2tlbiI6MX0" }')).toBe('{ "message": "[token]" }')
})

test('also with its letters written as escapes', () => {
  expect(told(`{"message":"\\u0073${key.slice(1)}"}`)).toBe('{"message":"[API key]"}')
})

test('also in what is no JSON', () => {
  expect(told(`<p>\\u0041 ${key}</p>`)).toBe('<p>\\u0041 [API key]</p>')
})
