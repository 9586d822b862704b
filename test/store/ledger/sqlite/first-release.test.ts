import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { scratch, type Scratch } from '../scratch.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'

let place: Scratch
let store: Store

beforeEach(async () => {
  place = scratch()
  mkdirSync(dirname(place.path), { recursive: true, mode: 0o700 })
  copyFileSync(new URL('../../../vectors/stores/0.1.0.sqlite', import.meta.url), place.path)
  store = await place.store()
})
afterEach(() => place.end())

const inTheWay = async (
  first_name: string,
  last_name: string,
  email: string,
  phone: string,
  baseUrl?: string,
) => {
  const recipient = { first_name, last_name, email, phone }
  const stop = await store.ledger.add(
    {
      id: '99999999-9999-4999-8999-999999999999',
      kind: 'single',
      addedAt: Date.UTC(2026, 11, 1),
      baseUrl: baseUrl ?? 'http://localhost:4817',
      userEmail: 'owner@example.com',
      submissions: [{ packageId: 102, recipient, body: Buffer.from('{}') }],
    },
    { allowDuplicate: false },
  )
  return stop && [stop.becomes, stop.reason, stop.order.state]
}

test('a store of 0.1.0 is opened with every row where it stood', async () => {
  const [batch] = await store.batches.list()
  expect(batch?.counts).toMatchObject({ total: 4, accepted: 1, unknown: 1, pending: 1, duplicate: 1 })
  expect((await store.maintenance.info()).format).toBeGreaterThanOrEqual(7)
  expect(await store.maintenance.check()).toEqual([])
})

test('of what 0.1.0 ordered no checks are known until it is read again', async () => {
  const [order] = await store.ledger.list({ states: ['accepted'] })
  expect(order?.checks).toBe(undefined)
  const checks = '{"background":{"IN_PROGRESS":1}}'
  await store.ledger.recordStatus(order?.requestId ?? '', 'IN_PROGRESS', Date.UTC(2026, 11, 1), checks)
  expect(await store.ledger.list({ requestId: order?.requestId })).toMatchObject([{ checks }])
})

test('whom 0.1.0 ordered is known by today’s rules, by any name of this machine', async () => {
  expect(await inTheWay('ANA', 'One', 'ana@example.com', '+61 400 000 001')).toEqual([
    'duplicate',
    'same',
    'accepted',
  ])
  expect(await inTheWay('Ana', 'One', 'ana@example.com', '+61400000009')).toEqual([
    'held',
    'similar',
    'accepted',
  ])
})

test('whom 0.1.0 forgot is known in its own form', async () => {
  expect(await inTheWay('Eve', 'Gone', 'eve@example.com', '+61400000005', 'http://127.0.0.1:4817')).toEqual([
    'duplicate',
    'same',
    'accepted',
  ])
})

test('and nobody else is in anybody’s way', async () => {
  expect(await inTheWay('Dan', 'Four', 'dan@example.com', '+61400000004')).toBeUndefined()
})
