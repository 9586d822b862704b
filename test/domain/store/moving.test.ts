import { expect, test } from 'vitest'

import {
  type Move,
  requireEmpty,
  requireEqual,
  requireNoPassword,
  requireOtherAddress,
  requireUnused,
  requireSameTarget,
  requireMoveInProgress,
  storeMovedError,
} from '../../../src/domain/store/moving.ts'

const move: Move = { id: 'm', to: '/b o', isDone: false }
const unusedStore = { inFlight: 0, holder: undefined, isForwarding: false }

test('the error for a moved store contains a command with the new address', () => {
  expect(storeMovedError('/a', { ...move, isDone: true })).toMatchObject({
    message: 'the store "/a" was moved to "/b o"',
    hint: expect.stringContaining(`refcheck config set store '/b o'`) as string,
  })
  expect(storeMovedError('/a', move).hint).toContain(`refcheck store move /a '/b o'`)
})

test('a store that another process uses is not moved', () => {
  expect(() => requireUnused('/a', unusedStore)).not.toThrow()
  expect(() => requireUnused('/a', { ...unusedStore, inFlight: 1 })).toThrow('an order is in flight')
  expect(() => requireUnused('/a', { ...unusedStore, isForwarding: true })).toThrow('a receiver forwards')
  expect(() => requireUnused('/a', { ...unusedStore, holder: 'process 7' })).toThrow('process 7')
})

test('a move requires another, empty target, always the same one, and only one command at a time', () => {
  expect(() => requireOtherAddress('/a', '/a')).toThrow('the same store')
  expect(() => requireEmpty('/b', ['events'])).toThrow('a store already (events)')
  expect(() => requireSameTarget('/a', undefined, '/c')).not.toThrow()
  expect(() => requireSameTarget('/a', move, '/b o')).not.toThrow()
  expect(() => requireSameTarget('/a', move, '/c')).toThrow('is being moved to "/b o"')
  expect(() => requireSameTarget('/a', { ...move, isDone: true }, '/b o')).toThrow('was moved to')
  expect(() => requireMoveInProgress('/a', move, move)).not.toThrow()
  for (const currentMove of [undefined, { ...move, id: 'n' }, { ...move, isDone: true }])
    expect(() => requireMoveInProgress('/a', currentMove, move)).toThrow('another command moves it too')
})

test('a difference between the two stores is reported by table', () => {
  const digest = { table: 'events', rows: 1, sha256: 'a' }
  expect(() => requireEqual([digest], [digest])).not.toThrow()
  for (const other of [[], [{ ...digest, rows: 2 }], [{ ...digest, sha256: 'b' }]])
    expect(() => requireEqual([digest], other)).toThrow('differs from the store in: events')
})

test('an address with a password is refused on the command line', () => {
  expect(() => requireNoPassword('TO', 'postgres://u:p@127.0.0.1/d')).toThrow('TO: a password is refused')
  for (const address of ['postgres://u@127.0.0.1/d', 'a.sqlite']) requireNoPassword('TO', address)
})
