import { createHmac } from 'node:crypto'

import { assert, asyncProperty, constantFrom, oneof, string, uint8Array } from 'fast-check'
import { expect, test } from 'vitest'

import { verify } from '../../src/exports/webhook.ts'
import { verify as verifyOnEdge } from '../../src/exports/webhook-edge.ts'

type Received = Parameters<typeof verify>[1]

/** Returns the result of both verify functions, which must be equal: the event, or the error as text. */
async function verifyWithBoth(
  body: Uint8Array | string,
  received: Received,
  secret: string,
): Promise<unknown> {
  const toText = (error: unknown): string => String(error)
  const onNode = await Promise.resolve()
    .then(() => verify(body, received, secret))
    .catch(toText)
  const onEdge = await verifyOnEdge(body, received, secret).catch(toText)
  expect(onEdge).toEqual(onNode)
  return onNode
}

const signatureOf = (body: Uint8Array | string, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex')

const event = {
  event: 'request.updated',
  request_id: '6b450a6d-74f9-474b-95f9-ba6b11a8536f',
  status: 'PARTIAL',
}
const body = JSON.stringify(event)
const validSignature = signatureOf(body, 'Jefe')
const mismatch = 'BadSignatureError: the signature does not match the body'
const malformed = 'BadSignatureError: the signature is not 64 lowercase hexadecimal characters'

test.each<[name: string, received: Received, expected: unknown]>([
  ['the signature itself', validSignature, event],
  ['the signature in a list of one', [validSignature], event],
  ['no signature', undefined, 'BadSignatureError: the signature is missing'],
  ['null', null, 'BadSignatureError: the signature is missing'],
  ['an empty list', [], 'BadSignatureError: the signature is missing'],
  ['two signatures', [validSignature, validSignature], 'BadSignatureError: there are several signatures'],
  ['upper case', validSignature.toUpperCase(), malformed],
  ['a prefix', `sha256=${validSignature}`, malformed],
  ['cut by one', validSignature.slice(0, -1), malformed],
  ['one character more', `${validSignature}0`, malformed],
  ['a new line after', `${validSignature}\n`, malformed],
  ['base64', Buffer.from(validSignature, 'hex').toString('base64'), malformed],
  ['a last character of two bytes', `${validSignature.slice(0, -1)}\u0133`, malformed],
  ['another secret’s signature', signatureOf(body, 'other'), mismatch],
  ['another body’s signature', signatureOf('x', 'Jefe'), mismatch],
])('both verify functions: %s', async (_name, received, expected) => {
  expect(await verifyWithBoth(body, received, 'Jefe')).toEqual(expected)
  expect(await verifyWithBoth(new TextEncoder().encode(body), received, 'Jefe')).toEqual(expected)
})

test.each(['{"event":1}', '', 'null', '[]'])(
  'both verify functions refuse a signed body that is no event: %j',
  async (other) => {
    expect(await verifyWithBoth(other, signatureOf(other, 'Jefe'), 'Jefe')).toBe(
      'InvalidInputError: the signature matches, but the body is not an event',
    )
  },
)

test('both verify functions refuse an empty secret, whatever the signature', async () => {
  expect(await verifyWithBoth(body, validSignature, '')).toBe('UsageError: the webhook secret is empty')
})

test('both verify functions accept the signature of RFC 4231, test case 2, although the body is no event', async () => {
  const published = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
  const data = 'what do ya want for nothing?'
  expect(await verifyWithBoth(data, published, 'Jefe')).toMatch(/^InvalidInputError: the signature matches/)
  expect(await verifyWithBoth(data, published.replace('5', '6'), 'Jefe')).toBe(mismatch)
})

test('both verify functions give the same result for any bytes, secret and signature', async () => {
  await assert(
    asyncProperty(
      uint8Array({ maxLength: 200 }),
      string({ minLength: 1, unit: 'grapheme' }),
      oneof(constantFrom('right', 'of another body'), string()),
      async (bytes, secret, kind) => {
        const received =
          kind === 'right'
            ? signatureOf(bytes, secret)
            : kind === 'of another body'
              ? signatureOf('another', secret)
              : kind
        const outcome = await verifyWithBoth(bytes, received, secret)
        expect(String(outcome).startsWith('BadSignatureError')).toBe(kind !== 'right')
      },
    ),
  )
})
