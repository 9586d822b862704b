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
const coded = (code: unknown, message = 'x'): Error => Object.assign(new Error(message), { code })

test.each<[string, unknown, string]>([
  ['a state', coded('3D000'), 'there is no such database'],
  ['a state of a class', coded('28999'), 'the server refused this user'],
  ['another', coded('08006'), 'the connection broke'],
  ['an unknown state', coded('99999'), 'PostgreSQL reported error 99999'],
  ['a code of the network', coded('EPIPE'), 'the connection broke'],
  [
    'a code of TLS',
    coded('ERR_TLS_CERT_ALTNAME_INVALID'),
    'the server’s certificate is not trusted (ERR_TLS_CERT_ALTNAME_INVALID)',
  ],
  [
    'a text of the driver',
    new Error('The server does not support SSL connections'),
    'the server does not offer TLS',
  ],
  ['a code that is no text', coded(7), 'the connection broke'],
  ['no error', 'x', 'the connection broke'],
  [
    'the first of several addresses',
    new AggregateError([coded('ECONNREFUSED'), coded('3D000')]),
    'connection refused',
  ],
])('%s: says so, and no password', (_what, error, why) => {
  const { message } = storeFailure(server, error)
  expect(message).toBe(`cannot use the store "${server.displayUrl}": ${why}`)
  expect(message).not.toContain('secret')
})

test('what may be waited for, what is over soon, and what is our own', () => {
  expect(storeFailure(server, coded('40P01'))).toBeInstanceOf(StoreBusyError)
  expect(storeFailure(server, coded('57P01'))).toBeInstanceOf(StoreDownError)
  expect(storeFailure(server, coded('23505'))).toMatchObject({ code: 'internal' })
  expect(storeFailure(server, coded(movedState, '/new'))).toMatchObject({ code: 'io' })
  const own = new UsageError('no')
  expect(storeFailure(server, own)).toBe(own)
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
])('%s: the server itself undid what it was asked: %s', (code, refused) => {
  expect(isRefusal(coded(code))).toBe(refused)
})

test('a state has five letters or digits, and no code of the network is one', () => {
  expect([sqlState(coded('23505')), sqlState(coded('EPIPE')), sqlState(coded('x'))]).toEqual([
    '23505',
    undefined,
    undefined,
  ])
})
