import { expect, test } from 'vitest'

import { Secrets } from '../../src/host/secrets.ts'
import { encodings, inUnicodeEscapes } from '../harness/faults/encodings.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { processorMs } from '../harness/processor-time.ts'

const fault = recordForFaultTable('echo', 'encodings with a secret left')

const key = String.raw`a/b\c"d+e&f=g%h<i>j'k é0123456789`
const json = JSON.stringify(key).slice(1, -1)

function known(...values: string[]): Secrets {
  const secrets = new Secrets()
  for (const value of values) secrets.add('API key', value)
  return secrets
}

test('a secret is replaced in every usual encoding', () => {
  const secrets = known(key)
  const left = Object.entries(encodings).filter(
    ([, encoded]) => secrets.redact(`<${encoded(key)}>`) !== '<[API key]>',
  )
  const count = Object.keys(encodings).length
  fault.countCases(count, count - left.length)
  expect(left).toEqual([])
})

test('a secret is replaced in a longer text that is in base64, wherever it begins', () => {
  for (const before of ['', 'a', 'ab', 'abc']) {
    const encoded = Buffer.from(`${before}${key} and more`).toString('base64')
    expect(known(key).redact(encoded)).toMatch(/^\w{0,6}\[API key\]\w+={0,2}$/)
  }
})

test('of a text with hidden characters only the secret with those in it is replaced', () => {
  expect(
    known('0123456789xyz').redact('\u001B[1ma\u00ADb\n0123\u001B[0m456\n789xyz\u200B\u001B[0m\nc\r\n'),
  ).toBe('\u001B[1ma\u00ADb\n[API key]\u200B\u001B[0m\nc\r\n')
})

test('an answer that may hold a secret with hidden characters is not taken as it came', () => {
  for (const part of ['\\u001b[1m', '\\n', '\\u00AD', '\\udb40\\udc41', '\\ud834\\udd73']) {
    expect(known('0123456789xyz').mayBeIn(`{"message":"01234${part}56789xyz"}`)).toBe(true)
  }
  const escaped = inUnicodeEscapes(Buffer.from(key).toString('base64'))
  expect(known(key).mayBeIn(`{"message":"${escaped}"}`)).toBe(true)
  expect(known('0123456789xyz').mayBeIn('{"message":"caf\\u00e9\\n"}')).toBe(false)
})

test('what stands around it stays', () => {
  expect(known(key).redact(`{"message":"key ${json}, twice ${json}"}`)).toBe(
    '{"message":"key [API key], twice [API key]"}',
  )
})

test('of two secrets, one a part of the other, the longer one is replaced', () => {
  expect(known('0123456789x', '0123456789xyz').redact('0123456789xyz 0123456789x')).toBe(
    '[API key] [API key]',
  )
})

test.each(['short', 'refcheck', 'first_name', '12345678', 'deadbeef-1'])(
  'what is an ordinary word, a number or a part of an id is not looked for: %s',
  (word) => {
    expect(known(word).redact(`{"${word}": "${word}"}`)).toBe(`{"${word}": "${word}"}`)
  },
)

test('the token of a signed URL is not shown, whatever the token is', () => {
  const secrets = known()
  expect(
    secrets.redact('https://a.example/v1/reports/1?t=ab%2Bc.d-e_f, and "/v1/reports/2?x=1&t=b\\/c"'),
  ).toBe('https://a.example/v1/reports/1?t=*** and "/v1/reports/2?x=1&t=***"')
  expect(secrets.redact('/v1/reports/1%3Ft%3Dabc')).toBe('/v1/reports/1%3Ft%3D***')
})

test('a token is known as it stands in its URL and decoded', () => {
  const secrets = new Secrets()
  secrets.addTokenOf('https://a.example/v1/reports/1?t=abcdef%2Bghijkl')
  for (const echo of ['abcdef%2Bghijkl', 'abcdef%2bghijkl', 'abcdef+ghijkl', 'abcdef ghijkl']) {
    expect(secrets.redact(`token ${echo}`)).toBe('token [token]')
  }
})

test('an answer loses secrets in texts and keys, and keeps the tokens of its signed URLs where they belong', () => {
  const url = 'https://a.example/v1/reports/1?t=abcdef%2Bghijkl'
  const answer = {
    message: `unknown key ${key}, t=abcdef+ghijkl`,
    data: { [key]: [1, key, { report_pdf_url: url, check_name: 'abcdef%2Bghijkl' }], other: null },
  }
  expect(known(key).redactAnswer(answer)).toEqual({
    message: 'unknown key [API key], t=[token]',
    data: { '[API key]': [1, '[API key]', { report_pdf_url: url, check_name: '[token]' }], other: null },
  })
})

test('a name of a field is a name, also where it is __proto__', () => {
  const answer = JSON.parse(`{"__proto__": {"a": ${JSON.stringify(key)}}}`) as unknown
  expect(JSON.stringify(known(key).redactAnswer(answer))).toBe('{"__proto__":{"a":"[API key]"}}')
})

test('an answer nested without end is cut off', () => {
  const answer = JSON.parse(`${'['.repeat(20_000)}"x"${']'.repeat(20_000)}`) as unknown
  expect(() => known(key).redactAnswer(answer)).not.toThrow()
})

test('a long text takes no longer than its length', () => {
  const secrets = known(key, '/////////////////\\\\\\\\\\\\\\\\')
  for (const part of [
    '\\',
    '/',
    '%25',
    '&amp;',
    'a/b',
    '\\u',
    '?t=',
    '\\/',
    '\u001B]',
    '\\u001b]',
    '\u001B[',
    '\n',
  ]) {
    const msFor = (length: number): number => {
      const text = part.repeat(length / part.length)
      return Math.min(...[1, 2].map(() => processorMs(() => secrets.redact(text))))
    }
    // Four times the length takes four times as long, or sixteen times where the time is its square.
    expect(msFor(200_000), `repeated ${part}`).toBeLessThan(9 * msFor(50_000) + 50)
  }
})
