import { statSync } from 'node:fs'

import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'

import { backends, type TemporaryStores, createTemporaryStores } from './temporary-stores.ts'
import { claimCall, emptyBook, type QuotaBook } from '../../../src/domain/quota/book.ts'
import type { QuotaClaim } from '../../../src/domain/quota/windows.ts'

const windows = [{ calls: 60, seconds: 60 }]
const now = Date.UTC(2026, 10, 21, 9)
const url = 'https://api.example.com'
const key = 'k'.repeat(32)

const createClaim = (account: string, kind: 'create' | 'poll' = 'create'): QuotaClaim => ({
  account,
  decide: (state) => claimCall((state as QuotaBook | undefined) ?? emptyBook(windows), kind, now),
})

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores

  beforeEach(() => {
    setup = createTemporaryStores(5000, backend)
  })
  afterEach(() => setup.remove())

  test('eight connections to one store share one window', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => setup.openStore()))
    let usedCount = 0
    for (let round = 0; round < 20; round += 1) {
      for (const { quota } of stores) {
        const { waitMs } = await quota.update(createClaim(quota.account(url, key)))
        if (waitMs === 0) usedCount += 1
      }
    }
    expect(usedCount).toBe(60)
  })

  test('each key and origin has one account, whatever the path of the URL', async () => {
    const { quota } = await setup.openStore()
    const account = quota.account(url, key)
    expect(quota.account(`${url}/checks`, key)).toBe(account)
    expect(quota.account('https://api.example.org', key)).not.toBe(account)
    expect(quota.account(url, 'x'.repeat(32))).not.toBe(account)
    await quota.update(createClaim(account))
    expect((await quota.read(quota.account(url, 'x'.repeat(32)))).state).toBeUndefined()
  })

  test('a decision that fails changes nothing', async () => {
    const { quota } = await setup.openStore()
    const account = quota.account(url, key)
    await quota.update(createClaim(account))
    const { state: before } = await quota.read(account)
    const broken: QuotaClaim = {
      account,
      decide: () => {
        throw new RangeError('no')
      },
    }
    await expect(quota.update(broken)).rejects.toThrow('no')
    expect((await quota.read(account)).state).toEqual(before)
    expect((await quota.update(createClaim(account))).waitMs).toBe(0)
  })
})

test('a process that has to wait a second time writes nothing', async () => {
  const setup = createTemporaryStores(5000)
  onTestFinished(() => setup.remove())
  const { quota } = await setup.openStore()
  const account = quota.account(url, key)
  for (let usedCount = 0; usedCount < 57; usedCount += 1) await quota.update(createClaim(account))
  const pollClaim = createClaim(account, 'poll')
  expect((await quota.update(pollClaim)).waitMs).toBeGreaterThan(0)
  const before = statSync(`${setup.path}-wal`)
  expect((await quota.update(pollClaim)).waitMs).toBeGreaterThan(0)
  const after = statSync(`${setup.path}-wal`)
  expect([after.size, after.mtimeMs]).toEqual([before.size, before.mtimeMs])
})
