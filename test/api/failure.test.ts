import { expect, test } from 'vitest'

import { responseError, forbiddenCause, fieldOfMessage } from '../../src/api/answer.ts'
import { exitCodes } from '../../src/errors/kinds.ts'
import type { Envelope } from '../../src/contract/envelope.ts'

/** The status matrix of the document ("Errors"), against the exit codes of src/docs/cli.md. */

function envelopeOf(message: string, status_message = 'client_error'): Envelope {
  return { data: null, status_message, message }
}

test.each([
  [400, 'invalid_input', 2],
  [401, 'unauthenticated', 3],
  [403, 'forbidden', 4],
  [404, 'not_found', 5],
  [422, 'invalid_input', 2],
  [429, 'throttled', 6],
  [500, 'unavailable', 7],
  [502, 'unavailable', 7],
  [503, 'unavailable', 7],
  [599, 'unavailable', 7],
  [202, 'unavailable', 7],
  [204, 'unavailable', 7],
  [301, 'unavailable', 7],
  [308, 'unavailable', 7],
  [402, 'unavailable', 7],
  [405, 'unavailable', 7],
  [408, 'unavailable', 7],
  [409, 'unavailable', 7],
  [413, 'unavailable', 7],
  [418, 'unavailable', 7],
])('a %i in the envelope is "%s", exit %i', (status, code, exit) => {
  const error = responseError({ status, envelope: envelopeOf('as the service says') })
  expect(error).toMatchObject({ code, status })
  expect(exitCodes[error.code]).toBe(exit)
  expect(error.hint).toMatch(/\S/)
})

test.each([400, 401, 403, 404, 408, 422])(
  'a %i without the envelope is reported as an answer that does not come from the service',
  (status) => {
    expect(responseError({ status, envelope: undefined })).toMatchObject({
      code: 'unavailable',
      status,
      message: `the answer (${status}) does not come from the service: it has no envelope`,
      hint: 'Check the base URL: something between this machine and the service may have answered.',
    })
  },
)

test.each([
  [429, 'throttled'],
  [500, 'unavailable'],
  [503, 'unavailable'],
  [302, 'unavailable'],
])('a %i without the envelope is still "%s"', (status, code) => {
  expect(responseError({ status, envelope: undefined })).toMatchObject({ code, status })
})

test('the message of the service becomes the message of the error', () => {
  expect(responseError({ status: 401, envelope: envelopeOf(' invalid API key\n') }).message).toBe(
    'invalid API key',
  )
  expect(
    responseError({ status: 500, envelope: envelopeOf('internal server error', 'server_error') }).message,
  ).toBe('the service failed (500): internal server error')
})

test.each([
  [400, 'the service refused the request as invalid'],
  [401, 'the API key was refused'],
  [403, 'the service does not allow this'],
  [404, 'not found'],
  [429, 'the quota is used up'],
  [503, 'the service failed (503)'],
])('a %i with an empty message says: %s', (status, message) => {
  expect(responseError({ status, envelope: envelopeOf('') }).message).toBe(message)
})

test('the error for a redirect says that redirects are not followed, and has a hint', () => {
  expect(responseError({ status: 302, envelope: undefined })).toMatchObject({
    message: 'the service answered with a redirect (302); redirects are not followed',
    hint: 'Set the base URL to the service’s own address.',
  })
})

test('the error for a 429 says how long to wait', () => {
  expect(
    responseError({ status: 429, envelope: envelopeOf('rate limit exceeded'), retryAfter: 42 }),
  ).toMatchObject({
    retryAfter: 42,
    hint: 'Wait 42 s and run it again.',
  })
  expect(responseError({ status: 429, envelope: envelopeOf('') })).toMatchObject({
    hint: 'Wait and run it again.',
  })
})

test('the hints of an endpoint replace the general hints for a 401 or a 404', () => {
  const hints = { 401: 'read again', 404: 'not ready' }
  expect(responseError({ status: 401, envelope: envelopeOf('x'), hints }).hint).toBe('read again')
  expect(responseError({ status: 404, envelope: envelopeOf('x'), hints }).hint).toBe('not ready')
  expect(responseError({ status: 403, envelope: envelopeOf('x'), hints }).hint).not.toMatch(
    /read again|not ready/,
  )
})

test.each([
  ['recipient.email: must be a valid email address', 'recipient.email'],
  ['additional_information[0].fields.start_date: is required', 'additional_information[0].fields.start_date'],
  ['package_id: not ACTIVE', 'package_id'],
  ['x-y.z_1: bad', 'x-y.z_1'],
  ['Invalid JSON', undefined],
  ['Invalid JSON: unexpected token', undefined],
  ['recipient.email:no space', undefined],
  [': nothing before', undefined],
  ['', undefined],
  [`${'a'.repeat(201)}: too long to be a path`, undefined],
])('the field that the message of a 400 names: %j → %j', (message, field) => {
  expect(fieldOfMessage(message)).toBe(field)
  expect(responseError({ status: 400, envelope: envelopeOf(message) }).field).toBe(field)
})

test.each([
  ['organisation has no credits remaining', 'credits'],
  ['Insufficient credits', 'credits'],
  ['trial expired', 'trial'],
  ['The organisation has an expired trial', 'trial'],
  ['organisation subscription not active', 'subscription'],
  ['Inactive subscription', 'subscription'],
  ['user not a member of the organisation', 'membership'],
  ['User is not an active member of the organisation', 'membership'],
  ['User not a permitted member of the organisation', 'membership'],
  ['User email does not match an active user of the organisation', 'membership'],
  ['The role does not permit the action', 'role'],
  ['Role "member" may not create requests', 'role'],
  ['This action is not permitted', 'role'],
  ['No access to the package', 'package'],
  ['', 'unknown'],
  ['Forbidden', 'unknown'],
  ['Access was patrolled and industrial', 'unknown'],
] as const)('the cause of a 403 that its message names: %j → %s', (message, cause) => {
  expect(forbiddenCause(message)).toBe(cause)
})

test('each cause of a 403 has a different hint', () => {
  const messages = [
    'no credits',
    'trial expired',
    'subscription',
    'role',
    'the package',
    'not a member',
    'no',
  ]
  const hints = messages.map((message) => responseError({ status: 403, envelope: envelopeOf(message) }).hint)
  expect(new Set(hints).size).toBe(messages.length)
})

test.each(['a', 'a.', 'a: ', ' member', 'subscri', ' '])(
  'a message of %j repeated a million times is read before the test times out, as it would not be in quadratic time',
  (piece) => {
    const envelope = envelopeOf(piece.repeat(1_000_000))
    expect(responseError({ status: 400, envelope }).code).toBe('invalid_input')
    expect(responseError({ status: 403, envelope }).code).toBe('forbidden')
  },
)
