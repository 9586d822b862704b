import { expect, test } from 'vitest'

import { StoreBusyError, StoreDownError, UsageError } from '../../../../src/errors/kinds.ts'
import {
  isRefusal,
  movedState,
  sqlState,
  storeFailure,
} from '../../../../src/store/ledger/postgres/failure.ts'
import { serverOf } from './connect.ts'

const server = serverOf('postgres://ledger:secret@localhost/orders')
const errorWithCode = (code: unknown, message = 'x'): Error => Object.assign(new Error(message), { code })

test.each<[string, unknown, string]>([
  ['an SQL state', errorWithCode('3D000'), 'there is no such database'],
  ['an SQL state that is known by its class', errorWithCode('28999'), 'the server refused this user'],
  ['another SQL state that is known by its class', errorWithCode('08006'), 'the connection broke'],
  ['an unknown state', errorWithCode('99999'), 'PostgreSQL reported error 99999'],
  ['a code of the network', errorWithCode('EPIPE'), 'the connection broke'],
  [
    'a code of TLS',
    errorWithCode('ERR_TLS_CERT_ALTNAME_INVALID'),
    'the server’s certificate is not trusted (ERR_TLS_CERT_ALTNAME_INVALID)',
  ],
  [
    'a text of the driver',
    new Error('The server does not support SSL connections'),
    'the server does not offer TLS',
  ],
  ['a code that is no text', errorWithCode(7), 'the connection broke'],
  ['no error', 'x', 'the connection broke'],
  [
    'the first of several addresses',
    new AggregateError([errorWithCode('ECONNREFUSED'), errorWithCode('3D000')]),
    'connection refused',
  ],
])('the message for %s states the reason, and does not contain the password', (_what, error, why) => {
  const { message } = storeFailure(server, error)
  expect(message).toBe(`cannot use the store "${server.displayUrl}": ${why}`)
  expect(message).not.toContain('secret')
})

test('a deadlock is a busy store, a server that shuts down is a store that is down, and an error of refcheck is not changed', () => {
  expect(storeFailure(server, errorWithCode('40P01'))).toBeInstanceOf(StoreBusyError)
  expect(storeFailure(server, errorWithCode('57P01'))).toBeInstanceOf(StoreDownError)
  expect(storeFailure(server, errorWithCode('23505'))).toMatchObject({ code: 'internal' })
  expect(storeFailure(server, errorWithCode(movedState, '/new'))).toMatchObject({ code: 'io' })
  const usageError = new UsageError('no')
  expect(storeFailure(server, usageError)).toBe(usageError)
})

test.each([
  ['23505', true],
  ['40001', true],
  ['01000', false],
  ['08006', false],
  ['57P01', false],
  ['58030', false],
  ['XX000', false],
  ['EPIPE', false],
  [undefined, false],
])('the code %s shows that the server itself undid the statement: %s', (code, refused) => {
  expect(isRefusal(errorWithCode(code))).toBe(refused)
})

test('an SQL state has five letters or digits, and no code of a network error is an SQL state', () => {
  expect([
    sqlState(errorWithCode('23505')),
    sqlState(errorWithCode('EPIPE')),
    sqlState(errorWithCode('x')),
  ]).toEqual(['23505', undefined, undefined])
})
