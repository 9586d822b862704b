import { expect, test } from 'vitest'

import { takenRequestOutcome, outcomeOf } from '../../../src/domain/submission/outcome.ts'
import {
  createAnswer,
  clientError,
  lostAnswer,
  requestId,
  serverError,
  answer201,
  connectionRefused,
} from '../../usecases/request/answers.ts'

test('201 with a UUID is accepted', () => {
  expect(outcomeOf(answer201())).toEqual({
    kind: 'accepted',
    requestId,
    requestStatus: 'RECEIVED',
    answerStatus: 201,
  })
})

test('201 with a UUID and no status is accepted, with the status RECEIVED', () => {
  const answer = createAnswer(201, { data: { request_id: requestId }, status_message: 'ok', message: '' })
  expect(outcomeOf(answer)).toMatchObject({ kind: 'accepted', requestStatus: 'RECEIVED' })
})

test('400 in the envelope is rejected, with the field that the message names', () => {
  const outcome = outcomeOf(clientError(400, 'recipient.phone: must be in E.164 format'))
  expect(outcome).toMatchObject({
    kind: 'rejected',
    answerStatus: 400,
    error: { code: 'invalid_input', field: 'recipient.phone', status: 400 },
  })
})

test('404 in the envelope is rejected', () => {
  expect(outcomeOf(clientError(404, 'resource not found'))).toMatchObject({
    kind: 'rejected',
    answerStatus: 404,
    error: { code: 'not_found', status: 404 },
  })
})

test.each([
  [401, 'invalid API key', 'unauthenticated'],
  [403, 'organisation has no credits remaining', 'forbidden'],
])(
  '%i in the envelope halts the batch, because the service would refuse the next order too',
  (status, message, code) => {
    expect(outcomeOf(clientError(status, message))).toMatchObject({
      kind: 'halted',
      error: { code, message },
    })
  },
)

test('a failure before the connection is established is unsent', () => {
  expect(outcomeOf(connectionRefused)).toMatchObject({ kind: 'unsent', error: { code: 'unavailable' } })
})

test('a failure after a byte may have been sent is unknown', () => {
  expect(outcomeOf(lostAnswer)).toMatchObject({
    kind: 'unknown',
    reason: 'the connection was cut',
    offeredId: undefined,
  })
})

test.each<[string, string | undefined, number, boolean]>([
  ['nothing', undefined, 60, false],
  ['an empty one', '', 60, false],
  ['0', '0', 1, true],
  ['1', '1', 1, true],
  ['17', '17', 17, true],
  ['60', '60', 60, true],
  ['3600', '3600', 3600, true],
  ['3660', '3660', 3660, true],
  ['a second too long', '3661', 60, false],
  ['huge', '99999999999999999999', 60, false],
  ['above setTimeout’s limit', '2147483648', 60, false],
  ['negative', '-1', 60, false],
  ['minus nothing', '-0', 60, false],
  ['NaN', 'NaN', 60, false],
  ['Infinity', 'Infinity', 60, false],
  ['a fraction', '1.5', 60, false],
  ['an exponent', '1e2', 60, false],
  ['hexadecimal', '0x10', 60, false],
  ['a date', 'Sat, 21 Nov 2026 10:00:00 GMT', 60, false],
  ['two values', '5, 10', 60, false],
  ['a unit', '30s', 60, false],
  ['text', 'soon', 60, false],
])('429, Retry-After %s: wait %s → %i s, isStated: %s', (_name, header, seconds, isStated) => {
  const outcome = outcomeOf(clientError(429, 'rate limit exceeded', header))
  expect(outcome).toMatchObject({ kind: 'throttled', seconds, isStated, error: { code: 'throttled' } })
})

const withoutEnvelope = undefined

test.each([
  [
    '200 with an id',
    createAnswer(200, { data: { request_id: requestId }, status_message: 'ok', message: '' }),
  ],
  [
    '201 without an id',
    createAnswer(201, { data: { status: 'RECEIVED' }, status_message: 'ok', message: '' }),
  ],
  [
    '201 whose id is no UUID',
    createAnswer(201, { data: { request_id: 'r-17' }, status_message: 'ok', message: '' }),
  ],
  [
    '201 with its data in a list',
    createAnswer(201, { data: [{ request_id: requestId }], status_message: 'ok', message: '' }),
  ],
  ['201 that is no envelope', createAnswer(201, withoutEnvelope)],
  [
    '202 with an id',
    createAnswer(202, { data: { request_id: requestId }, status_message: 'ok', message: '' }),
  ],
  ['204', createAnswer(204, withoutEnvelope)],
  ['301', createAnswer(301, withoutEnvelope)],
  ['307 in an envelope', createAnswer(307, { data: null, status_message: 'redirect', message: 'moved' })],
  ['308', createAnswer(308, withoutEnvelope)],
  ['400 that is no envelope', createAnswer(400, withoutEnvelope)],
  ['401 that is no envelope', createAnswer(401, withoutEnvelope)],
  ['403 that is no envelope (a proxy’s page)', createAnswer(403, withoutEnvelope)],
  ['404 that is no envelope', createAnswer(404, withoutEnvelope)],
  ['429 that is no envelope', createAnswer(429, withoutEnvelope, '5')],
  [
    '400 that says it is the server’s fault',
    createAnswer(400, { data: null, status_message: 'server_error', message: 'x' }),
  ],
  ['400 that says ok', createAnswer(400, { data: null, status_message: 'ok', message: '' })],
  [
    '400 with the id of a request',
    createAnswer(400, { data: { request_id: requestId }, status_message: 'client_error', message: 'x: y' }),
  ],
  ['402', clientError(402, 'payment required')],
  ['408', clientError(408, 'request timeout')],
  ['409', clientError(409, 'conflict')],
  ['413', clientError(413, 'too large')],
  ['418', clientError(418, 'teapot')],
  ['422', clientError(422, 'recipient.email: taken')],
  ['500', serverError(500)],
  ['500 that is no envelope', createAnswer(500, withoutEnvelope)],
  ['502', createAnswer(502, withoutEnvelope)],
  ['503', serverError(503)],
  ['504', createAnswer(504, withoutEnvelope)],
  ['599', serverError(599)],
  [
    'a 5xx that says client_error',
    createAnswer(500, { data: null, status_message: 'client_error', message: 'x' }),
  ],
])('%s is unknown', (_name, answer) => {
  expect(outcomeOf(answer)).toMatchObject({ kind: 'unknown', answerStatus: answer.status })
})

test.each([
  ['the data', serverError(500, { request_id: requestId }), requestId],
  ['the message', serverError(503, null, `request ${requestId} could not be started`), requestId],
  [
    'a 202',
    createAnswer(202, { data: { request_id: requestId }, status_message: 'ok', message: '' }),
    requestId,
  ],
  ['nowhere', serverError(500), undefined],
  ['a key of another name', serverError(500, { id: requestId }), undefined],
  ['an inherited property', serverError(500, Object.create({ request_id: requestId })), undefined],
])('an id in %s is offered as evidence', (_where, answer, id) => {
  expect(outcomeOf(answer)).toMatchObject({ kind: 'unknown', offeredId: id })
})

test.each([401, 403, 429])('a %i that may come from a firewall is unknown', (status) => {
  const inData = createAnswer(status, { data: {}, status_message: 'client_error', message: 'blocked' }, '5')
  const inMessage = clientError(status, `blocked; reference ${requestId}`, '5')
  const inEnvelope = createAnswer(
    status,
    { data: null, status_message: 'client_error', message: '', support_id: requestId },
    '5',
  )
  const noData = createAnswer(status, { status_message: 'client_error', message: 'blocked' } as never, '5')
  for (const answer of [inData, inMessage, inEnvelope, noData]) {
    expect(outcomeOf(answer)).toMatchObject({ kind: 'unknown', answerStatus: status })
  }
  // The id may be that of this order, so reading the request decides.
  expect(outcomeOf(inMessage)).toMatchObject({ offeredId: requestId })
})

test('a 400 whose message repeats an id that was sent is rejected', () => {
  expect(outcomeOf(clientError(400, `reference.employer: "${requestId}" is no name`))).toMatchObject({
    kind: 'rejected',
  })
})

test('request ids are stored in lowercase', () => {
  expect(outcomeOf(answer201(requestId.toUpperCase()))).toMatchObject({ kind: 'accepted', requestId })
})

test('an answer with the request of another order makes the outcome unknown and halts the batch', () => {
  const accepted = outcomeOf(answer201())
  if (accepted.kind !== 'accepted') throw new Error('it has to be accepted')
  expect(takenRequestOutcome(accepted, { batchId: 'b-1', row: 3 })).toMatchObject({
    kind: 'unknown',
    mustHalt: true,
    offeredId: undefined,
    reason: `the service answered with request ${requestId}, which is the order of row 3 of batch b-1 already`,
    error: { code: 'unavailable' },
  })
})

test('the status of a new request is that of the answer, or RECEIVED if the answer has none', () => {
  const withStatus = (status: unknown) =>
    outcomeOf(
      createAnswer(201, { data: { request_id: requestId, status }, status_message: 'ok', message: '' }),
    )
  expect(withStatus('PENDING')).toMatchObject({ requestStatus: 'PENDING' })
  for (const invalidStatus of ['', 5, null])
    expect(withStatus(invalidStatus)).toMatchObject({ requestStatus: 'RECEIVED' })
})

test('a 400 or 404 whose message contains an id is rejected; a 403 is unknown', () => {
  for (const status of [400, 404]) {
    expect(outcomeOf(clientError(status, `no such thing as ${requestId}`))).toMatchObject({
      kind: 'rejected',
    })
  }
  expect(outcomeOf(clientError(403, `no such thing as ${requestId}`))).toMatchObject({ kind: 'unknown' })
})

test('the reason of an unknown outcome contains the status and message of the answer', () => {
  expect(outcomeOf(serverError(503, null, 'try again later'))).toMatchObject({
    reason: 'the service failed (503): try again later',
  })
})

test('an id that is not a UUID is ignored', () => {
  const answer = createAnswer(201, { data: { request_id: 'r-1' }, status_message: 'ok', message: '' })
  expect(outcomeOf(answer)).toMatchObject({ kind: 'unknown', offeredId: undefined })
})
