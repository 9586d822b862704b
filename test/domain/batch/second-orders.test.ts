import { expect, test } from 'vitest'

import {
  emptyBook,
  type OrphanBook,
  possibleSecondOrders,
  readable,
  withAcknowledged,
  withRead,
} from '../../../src/domain/batch/second-orders.ts'

const order = { requestId: 'x', batchId: 'b-1', row: 1 }
const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `id-${at}`)
const hour = 60 * 60_000
const service = 'https://api.example.com'
const by = (now: number, reader = 'a') => ({ service, reader, now })

function readAll(book: OrphanBook, all: readonly string[], now: number): OrphanBook {
  return all.reduce((sofar, id) => withRead(sofar, id, by(now), { createdAt: 't', order: undefined }), book)
}

test('at most ten reads an hour, and no request twice', () => {
  expect(readable(emptyBook, ids(12), by(0))).toEqual(ids(10))
  const full = readAll(emptyBook, ids(10), 0)
  expect(readable(full, ids(12), by(hour - 1))).toEqual([])
  expect(readable(full, ids(12), by(hour))).toEqual(['id-10', 'id-11'])
  expect(readable(readAll(emptyBook, ids(9), 0), ids(12), by(1))).toEqual(['id-9'])
  expect(readable(emptyBook, ['ID-1', 'id-1'], by(0))).toEqual(['id-1'])
})

test('reported until somebody acknowledges it; what is for nobody of ours is never told', () => {
  const stranger = withRead(emptyBook, 'id-1', by(0), undefined)
  const book = withRead(stranger, 'ID-2', by(0), { createdAt: 't', order })
  expect(possibleSecondOrders(book, service)).toEqual([{ requestId: 'id-2', createdAt: 't', order }])
  expect(withAcknowledged(book, service, 'id-1', { at: 1, by: 'a' })).toBeUndefined()
  expect(withAcknowledged(book, service, 'constructor', { at: 1, by: 'a' })).toBeUndefined()
  const after = withAcknowledged(book, service, 'Id-2', { at: 1, by: 'a' })
  expect(after && possibleSecondOrders(after, service)).toEqual([])
})

test('one that this user cannot read may be another organisation’s: not read again by this one', () => {
  const book = withRead(emptyBook, 'id-1', by(0), undefined)
  expect(readable(book, ['id-1'], by(1))).toEqual([])
  expect(readable(book, ['id-1'], by(1, 'b'))).toEqual(['id-1'])
})

test('of the reads only those of the last hour are kept', () => {
  const book = withRead(readAll(emptyBook, ids(2), 0), 'id-9', by(hour), undefined)
  expect(book.reads).toEqual([hour])
  expect(withRead(book, 'id-8', by(hour + 1), undefined).reads).toEqual([hour, hour + 1])
})

test('an id and a user are one in any case of the letters', () => {
  const book = withRead(emptyBook, 'ID-1', by(0, 'Ann@Example.com'), undefined)
  expect(readable(book, ['id-1'], by(1, 'ann@example.com'))).toEqual([])
})

test('a clock that was set back frees no place of the hour', () => {
  const full = readAll(emptyBook, ids(10), 5 * hour)
  expect(readable(full, ids(12), by(0))).toEqual([])
})

test('a request of another service that has the same id is another one', () => {
  const other = 'https://other.example.com'
  const book = withRead(emptyBook, 'id-1', by(0), { createdAt: 't', order })
  expect(readable(book, ['id-1'], { ...by(1), service: other })).toEqual(['id-1'])
  expect(possibleSecondOrders(book, other)).toEqual([])
  expect(withAcknowledged(book, other, 'id-1', { at: 1, by: 'a' })).toBeUndefined()
})
