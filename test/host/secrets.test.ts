import { expect, test } from 'vitest'

import { Secrets } from '../../src/host/secrets.ts'
import { encodings, inUnicodeEscapes } from '../harness/faults/encodings.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { processorMs } from '../harness/processor-time.ts'

// Tests of this file are the row `echo` of the fault table (test/resilience/rows.ts).
const faultRow = recordForFaultTable('echo', { mustNotHappen: 'encodings with a secret left' })

const key = String.raw`a/b\c"d+e&f=g%h<i>j'k é0123456789`
const jsonKey = JSON.stringify(key).slice(1, -1)

function createSecrets(...values: string[]): Secrets {
  const secrets = new Secrets()
  for (const value of values) secrets.add('API key', value)
  return secrets
}

test('a secret is replaced in every usual encoding', () => {
  const secrets = createSecrets(key)
  const unmasked = Object.entries(encodings).filter(
    ([, encoded]) => secrets.redact(`<${encoded(key)}>`) !== '<[API key]>',
  )
  const count = Object.keys(encodings).length
  faultRow.countCases(count, count - unmasked.length)
  expect(unmasked).toEqual([])
})

test('a secret is replaced in a longer base64 text, at every offset', () => {
  for (const prefix of ['', 'a', 'ab', 'abc']) {
    const encoded = Buffer.from(`${prefix}${key} and more`).toString('base64')
    expect(createSecrets(key).redact(encoded)).toMatch(/^\w{0,6}\[API key\]\w+={0,2}$/)
  }
})

test('in a text with hidden characters, only the secret and the hidden characters inside it are replaced', () => {
  expect(
    createSecrets('0123456789xyz').redact(
      '\u001B[1ma\u00ADb\n0123\u001B[0m456\n789xyz\u200B\u001B[0m\nc\r\n',
    ),
  ).toBe('\u001B[1ma\u00ADb\n[API key]\u200B\u001B[0m\nc\r\n')
})

test('an answer that may contain a secret with hidden or escaped characters is recognised', () => {
  for (const part of ['\\u001b[1m', '\\n', '\\u00AD', '\\udb40\\udc41', '\\ud834\\udd73']) {
    expect(createSecrets('0123456789xyz').mayBeIn(`{"message":"01234${part}56789xyz"}`)).toBe(true)
  }
  const escaped = inUnicodeEscapes(Buffer.from(key).toString('base64'))
  expect(createSecrets(key).mayBeIn(`{"message":"${escaped}"}`)).toBe(true)
  expect(createSecrets('0123456789xyz').mayBeIn('{"message":"caf\\u00e9\\n"}')).toBe(false)
})

test('the text around a secret is not changed', () => {
  expect(createSecrets(key).redact(`{"message":"key ${jsonKey}, twice ${jsonKey}"}`)).toBe(
    '{"message":"key [API key], twice [API key]"}',
  )
})

test('if one secret is a part of another, the longer one is replaced', () => {
  expect(createSecrets('0123456789x', '0123456789xyz').redact('0123456789xyz 0123456789x')).toBe(
    '[API key] [API key]',
  )
})

test.each(['short', 'refcheck', 'first_name', '12345678', 'deadbeef-1'])(
  'an ordinary word, a number or a part of an id is not masked: %s',
  (word) => {
    expect(createSecrets(word).redact(`{"${word}": "${word}"}`)).toBe(`{"${word}": "${word}"}`)
  },
)

test('the token of a signed URL is not shown, whatever the token is', () => {
  const secrets = createSecrets()
  expect(
    secrets.redact('https://a.example/v1/reports/1?t=ab%2Bc.d-e_f, and "/v1/reports/2?x=1&t=b\\/c"'),
  ).toBe('https://a.example/v1/reports/1?t=*** and "/v1/reports/2?x=1&t=***"')
  expect(secrets.redact('/v1/reports/1%3Ft%3Dabc')).toBe('/v1/reports/1%3Ft%3D***')
})

test('a token is masked both as encoded in its URL and decoded', () => {
  const secrets = new Secrets()
  secrets.addTokenOf('https://a.example/v1/reports/1?t=abcdef%2Bghijkl')
  for (const echo of ['abcdef%2Bghijkl', 'abcdef%2bghijkl', 'abcdef+ghijkl', 'abcdef ghijkl']) {
    expect(secrets.redact(`token ${echo}`)).toBe('token [token]')
  }
})

test('secrets in the values and property names of an answer are masked, but a token is not masked inside its own signed URL', () => {
  const url = 'https://a.example/v1/reports/1?t=abcdef%2Bghijkl'
  const answer = {
    message: `unknown key ${key}, t=abcdef+ghijkl`,
    data: { [key]: [1, key, { report_pdf_url: url, check_name: 'abcdef%2Bghijkl' }], other: null },
  }
  expect(createSecrets(key).redactAnswer(answer)).toEqual({
    message: 'unknown key [API key], t=[token]',
    data: { '[API key]': [1, '[API key]', { report_pdf_url: url, check_name: '[token]' }], other: null },
  })
})

test('a field with the name __proto__ remains a field', () => {
  const answer = JSON.parse(`{"__proto__": {"a": ${JSON.stringify(key)}}}`) as unknown
  expect(JSON.stringify(createSecrets(key).redactAnswer(answer))).toBe('{"__proto__":{"a":"[API key]"}}')
})

test('an answer with 20,000 nested arrays causes no error', () => {
  const answer = JSON.parse(`${'['.repeat(20_000)}"x"${']'.repeat(20_000)}`) as unknown
  expect(() => createSecrets(key).redactAnswer(answer)).not.toThrow()
})

test('the time for a long text is proportional to its length', () => {
  const secrets = createSecrets(key, '/////////////////\\\\\\\\\\\\\\\\')
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
    const measureMs = (length: number): number => {
      const text = part.repeat(length / part.length)
      return Math.min(...[1, 2].map(() => processorMs(() => secrets.redact(text))))
    }
    // Four times the length takes four times as long; if the time were quadratic, it would take sixteen times as long.
    expect(measureMs(200_000), `repeated ${part}`).toBeLessThan(9 * measureMs(50_000) + 50)
  }
})
