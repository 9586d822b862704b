import { expect, test } from 'vitest'

import { sign, signingKey } from '../../../src/contract/signature.ts'
import { type LoggedDelivery, readHar, readLog } from '../../../src/domain/webhook/capture.ts'
import { verifyLog } from '../../../src/usecases/webhook/verify.ts'

const secret = 'whsec-of-a-test'
const logBody = '{"event":"request.updated","request_id":"3f2b8c1e","status":"ERROR","error_reason":"café"}'
const signature = sign(Buffer.from(logBody), signingKey(secret))
const base64 = Buffer.from(logBody).toString('base64')
const headers = { 'x-service-signature': signature }

async function verifyLines(log: Iterable<LoggedDelivery>): Promise<string[]> {
  const { deliveries } = await verifyLog(log, secret, () => Promise.resolve([]))
  return deliveries.map(({ place, valid, failure, diagnosis }) =>
    valid
      ? `${place} valid`
      : `${place}: ${failure?.message}${diagnosis === undefined ? '' : `; ${diagnosis.cause}`}`,
  )
}

test.each<[string, object]>([
  ['signature and body', { signature, body: logBody }],
  ['headers and body', { headers, body: logBody }],
  ['names of headers in any case', { headers: { 'X-SERVICE-Signature': signature }, body: logBody }],
  [
    'several values of a header',
    { multiValueHeaders: { 'X-Service-Signature': [signature] }, body: logBody },
  ],
  ['headers as pairs', { headers: [['X-Service-Signature', signature]], body: logBody }],
  [
    'headers as names and values',
    { headers: [{ name: 'X-Service-Signature', value: signature }], body: logBody },
  ],
  ['base64 by its field', { signature, body_base64: base64 }],
  ['base64 by its encoding', { signature, body: base64, encoding: 'base64' }],
  ['base64 as behind an API gateway', { headers, body: base64, isBase64Encoded: true }],
  ['not base64 as behind an API gateway', { headers, body: logBody, isBase64Encoded: false }],
  ['raw_body', { signature, raw_body: logBody }],
  ['rawBody', { headers, rawBody: logBody }],
  ['payload', { headers, payload: logBody }],
  [
    'pino with its request',
    { level: 30, time: 1764000000000, req: { headers, body: logBody }, msg: 'webhook' },
  ],
  [
    'pino with a body of its own',
    { level: 30, req: { method: 'POST', headers }, body: logBody, msg: 'webhook' },
  ],
  [
    'webhook.site',
    { uuid: 'x', method: 'POST', content: logBody, headers: { 'x-service-signature': [signature] } },
  ],
])('a line of a log: %s', async (_name, entry) => {
  expect(await verifyLines(readLog(Buffer.from(JSON.stringify(entry))))).toEqual(['line 1 valid'])
})

test('a log may be an answer of the API of webhook.site over several lines', async () => {
  const createEntry = (content: string): object => ({
    content,
    headers: { 'x-service-signature': [signature] },
  })
  const text = JSON.stringify({ data: [createEntry(logBody), createEntry(`${logBody} `)], total: 2 }, null, 2)
  expect(await verifyLines(readLog(Buffer.from(text)))).toEqual([
    'entry 1 valid',
    'entry 2: the signature does not match the body; white_space_added',
  ])
})

test('the time of receipt is read only if it has an offset', () => {
  const readReceivedAt = (received_at: unknown) =>
    [...readLog(Buffer.from(JSON.stringify({ signature, body: logBody, received_at })))][0]?.receivedAt
  expect(readReceivedAt('2026-11-01T12:00:00.000Z')).toBe(Date.UTC(2026, 10, 1, 12))
  expect(readReceivedAt('2026-11-01T12:00:00+01:00')).toBe(Date.UTC(2026, 10, 1, 11))
  for (const other of ['2026-11-01', '2026-11-01T12:00:00', 'soon', 7, null])
    expect(readReceivedAt(other)).toBeUndefined()
})

test('each line has its own result and position', async () => {
  const lines = [
    JSON.stringify({ signature, body: logBody }),
    '',
    '{"signature": ',
    '[1]',
    JSON.stringify({ signature }),
    JSON.stringify({ body: logBody }),
    JSON.stringify({ signature, body: JSON.parse(logBody) as unknown }),
    JSON.stringify({ signature, body: `${logBody}\n` }),
    JSON.stringify({ signature, body_base64: '***' }),
    JSON.stringify({
      headers: [
        ['X-Service-Signature', signature],
        ['x-service-signature', signature],
      ],
      body: logBody,
    }),
    JSON.stringify({ signature: 7, body: logBody }),
  ]
  expect(await verifyLines(readLog(Buffer.from(`\uFEFF${lines.join('\r\n')}\r\n`)))).toEqual([
    'line 1 valid',
    'line 3: it is not a JSON object',
    'line 4: it is not a JSON object',
    'line 5: it has no body',
    'line 6: the signature is missing',
    'line 7: its body was logged as parsed JSON: the signed bytes are lost',
    'line 8: the signature does not match the body; trailing_newline_added',
    'line 9: its body is marked as base64 but is not',
    'line 10: there are several signatures; signature_repeated',
    'line 11: the signature is empty',
  ])
})

test('one JSON array is a log as well', async () => {
  const log = Buffer.from(
    JSON.stringify([{ signature, body: logBody }, { headers, body: logBody }, null], null, 2),
  )
  expect(await verifyLines(readLog(log))).toEqual([
    'entry 1 valid',
    'entry 2 valid',
    'entry 3: it is not a JSON object',
  ])
})

test('the POSTs of an HTTP archive are read as text and as base64', async () => {
  const pairs = [{ name: 'X-Service-Signature', value: signature }]
  const post = (postData: object): object => ({ request: { method: 'POST', headers: pairs, postData } })
  const har = {
    log: {
      version: '1.2',
      entries: [
        { request: { method: 'GET', headers: [] } },
        post({ mimeType: 'application/json', text: logBody }),
        post({ mimeType: 'application/json', text: base64, encoding: 'base64' }),
        post({ mimeType: 'application/json', text: base64, _encoding: 'base64' }),
        post({ mimeType: 'application/x-www-form-urlencoded', params: [] }),
        { request: { method: 'POST', headers: [], postData: { text: logBody } } },
      ],
    },
  }
  expect(await verifyLines(readHar(Buffer.from(JSON.stringify(har))))).toEqual([
    'entry 2 valid',
    'entry 3 valid',
    'entry 4 valid',
    'entry 5: it has no body',
    'entry 6: the signature is missing',
  ])
})

test.each([
  ['nothing', () => readLog(Buffer.from('\n\n')), 'the file contains no deliveries'],
  ['an array without its end', () => readLog(Buffer.from('[{')), 'starts like a JSON array'],
  [
    'an array of millions of values',
    () => readLog(Buffer.from(`[${'{},'.repeat(2_000_000)}{}]`)),
    'one JSON document of more than',
  ],
  [
    'an archive of millions of values',
    () => readHar(Buffer.from(`{"log":{"entries":[${'{},'.repeat(2_000_000)}{}]}}`)),
    'one JSON document of more than',
  ],
  ['an archive that is none', () => readHar(Buffer.from('{}')), 'has no log.entries'],
])('a file that is not a log is refused: %s', async (_name, read, message) => {
  await expect(verifyLines(read())).rejects.toThrow(message)
})

test('of a thousand forged lines only the first fifty get a diagnosis', async () => {
  const line = JSON.stringify({ signature, body: `${logBody}\n` })
  const lines = await verifyLines(readLog(Buffer.from(`${line}\n`.repeat(1000))))
  expect(lines.filter((each) => each.endsWith('trailing_newline_added'))).toHaveLength(50)
  expect(lines).toHaveLength(1000)
})

test('a line of more bytes or values than a delivery has is not parsed, and the next one is', async () => {
  const good = JSON.stringify({ signature, body: logBody })
  const [values, bytes] = [`{"a":[${'{},'.repeat(1_000_000)}{}]}`, `{"a":"${'a'.repeat(9_000_000)}"}`]
  const lines = await verifyLines(readLog(Buffer.from(`${good}\n${values}\n${bytes}\n${good}\n`)))
  const fault = 'it is longer than 8388608 bytes or holds more than 500000 values'
  expect(lines).toEqual(['line 1 valid', `line 2: ${fault}`, `line 3: ${fault}`, 'line 4 valid'])
})
