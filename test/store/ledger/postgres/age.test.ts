import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { addOne, newAttempt, someTime } from '../batches.ts'
import { fileBatch, orderRows } from '../files.ts'
import { type Scratch, scratch } from '../scratch.ts'
import { asked } from '../../../harness/postgres.ts'
import { suiteStore } from '../../../harness/postgres-store.ts'
import type { Attempt } from '../../../../src/domain/submission/submission.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'

let alpha: Scratch
let beta: Scratch
let url: string

beforeEach(async () => {
  alpha = scratch(50, 'PostgreSQL')
  beta = scratch(50, 'PostgreSQL')
  url = await suiteStore()
})
afterEach(async () => {
  await alpha.end()
  await beta.end()
})

const sql = (text: string): Promise<Record<string, unknown>[]> =>
  asked(url, `SET search_path = refcheck; ${text}`)

/** Everything of these orders was on the old server alone. */
async function failsOver(lost: readonly Attempt[] = []): Promise<void> {
  for (const { attemptId, batchId, row } of lost) {
    const where = `batch_id = '${batchId}' AND row_number = ${row}`
    await sql(`UPDATE submissions SET state = 'pending', attempt_id = NULL, request_id = NULL WHERE ${where};
      DELETE FROM attempts WHERE id = '${attemptId}'`)
  }
  await sql(`UPDATE epoch SET timeline = '00000000'`)
}

const room = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }

async function begin(store: Store, email: string): Promise<Attempt> {
  const row = await addOne(store.ledger, email, { kind: 'file' })
  const { attempt } = await store.ledger.beginInQuota(row, newAttempt(), room)
  if (attempt === undefined) throw new Error('it did not begin')
  return attempt
}

const states = async (store: Store): Promise<string[]> =>
  (await store.ledger.list({})).map(({ state, recipient }) => `${recipient?.email} ${state}`)

const closed = {
  code: 'io',
  message: expect.stringContaining('is closed: its database is on another server') as string,
}

test('a standby that lacks what this machine sent: it is put back as unknown, and the next row goes out', async () => {
  const store = await alpha.store()
  const lost = await begin(store, 'lost@example.com')
  await failsOver([lost])
  const next = await begin(store, 'next@example.com')
  expect(next.state).toBe('sending')
  expect(await states(store)).toEqual(['lost@example.com unknown', 'next@example.com sending'])
  expect(alpha.notices.join()).toContain('did not know 1 of the orders sent from here')
  expect(
    await store.ledger.begin({ ...lost, state: 'pending', attemptId: undefined }, newAttempt()),
  ).toBeUndefined()
})

test('a machine that has not said what it sent is waited for by all; once it has, all go on', async () => {
  const [a, b] = [await alpha.store(), await beta.store()]
  const row = await addOne(a.ledger, 'waits@example.com', { kind: 'file' })
  await begin(a, 'a@example.com')
  const lost = await begin(b, 'b@example.com')
  await failsOver([lost])
  await expect(a.ledger.begin(row, newAttempt())).rejects.toMatchObject(closed)
  expect(await states(a)).toEqual([
    'waits@example.com pending',
    'a@example.com sending',
    'b@example.com pending',
  ])
  expect(await b.maintenance.closed()).toBeUndefined()
  expect(await a.ledger.begin(row, newAttempt())).toMatchObject({ state: 'sending' })
  expect(await states(a)).toEqual([
    'waits@example.com sending',
    'a@example.com sending',
    'b@example.com unknown',
  ])
})

test('one process of a machine says what all of them sent', async () => {
  const first = await alpha.store()
  const lost = await begin(first, 'lost@example.com')
  await first.close()
  await failsOver([lost])
  const second = await alpha.store()
  await begin(second, 'next@example.com')
  expect(await states(second)).toEqual(['lost@example.com unknown', 'next@example.com sending'])
})

test('a machine that is gone for good: a person goes on without it', async () => {
  const [a, b] = [await alpha.store(), await beta.store()]
  const row = await addOne(a.ledger, 'waits@example.com', { kind: 'file' })
  await begin(a, 'a@example.com')
  await begin(b, 'b@example.com')
  await failsOver()
  await expect(a.ledger.begin(row, newAttempt())).rejects.toMatchObject(closed)
  expect(await a.maintenance.closed()).toMatchObject({ by: ['server'], untold: false })
  expect(await a.maintenance.acceptOlder()).toEqual({ held: 0 })
  expect(await a.ledger.begin(row, newAttempt())).toMatchObject({ state: 'sending' })
})

test('a database put back to an older state is told by its own list, and closed for everybody', async () => {
  const [a, b] = [await alpha.store(), await beta.store()]
  const lost = await begin(a, 'lost@example.com')
  await begin(b, 'before@example.com')
  const row = await addOne(b.ledger, 'waits@example.com', { kind: 'file' })
  await sql(`DELETE FROM attempts WHERE batch_id = '${lost.batchId}'; DELETE FROM submissions WHERE batch_id = '${lost.batchId}';
    DELETE FROM batches WHERE id = '${lost.batchId}'`)
  const again = await alpha.store()
  await expect(
    addOne(again.ledger, 'x@example.com').then((each) => again.ledger.begin(each, newAttempt())),
  ).rejects.toMatchObject({
    message: expect.stringContaining('it did not know 1 attempt') as string,
  })
  await expect(b.ledger.begin(row, newAttempt())).rejects.toMatchObject({ code: 'io' })
  const found = await again.maintenance.closed()
  expect(found).toMatchObject({ by: ['older'], untold: false })
  expect(found && (await again.maintenance.putBack(found))).toEqual([
    expect.stringContaining('a person whose name is lost: package 12') as string,
  ])
  await again.maintenance.acceptOlder()
  expect(await b.ledger.begin(row, newAttempt())).toMatchObject({ state: 'sending' })
})

test('a database that is behind what was seen of it is closed, and nobody knows what is missing', async () => {
  const store = await alpha.store()
  await begin(store, 'a@example.com')
  const batch = fileBatch()
  await store.batches.add(batch, orderRows(2, 5))
  const folder = join(alpha.folder, 'config', 'attempts')
  const seen = join(folder, readdirSync(folder).find((name) => name.endsWith('.seen')) ?? '')
  writeFileSync(seen, readFileSync(seen, 'utf8').replace(/[0-9A-F]+\/[0-9A-F]+/, 'FF/0'))
  const again = await alpha.store()
  await again.batches.add(fileBatch({ addedAt: someTime }), []).catch(() => undefined)
  expect(await again.maintenance.closed()).toMatchObject({ by: ['behind'], untold: true })
  await expect(again.batches.add(fileBatch(), orderRows(1))).rejects.toMatchObject({
    message: expect.stringContaining('its database is older than it was') as string,
  })
  expect(await again.maintenance.acceptOlder()).toEqual({ held: 2 })
  expect(await again.maintenance.acceptOlder()).toEqual({ held: 0 })
  const by = { at: someTime, by: 'owner@example.com' }
  expect(await again.waiting.release(batch.id, { kind: 'rows', rows: [1] }, by)).toEqual({
    rows: [1],
    left: [],
  })
  expect(await again.waiting.release(batch.id, { kind: 'all' }, by)).toEqual({ rows: [2], left: [] })
  expect(await again.batches.add(fileBatch(), orderRows(1))).toBeUndefined()
})

test('where no list can be kept nothing is sent, unless a person allows it', async () => {
  const store = await alpha.store()
  const row = await addOne(store.ledger, 'ann@example.com', { kind: 'file' }).catch((error: unknown) => error)
  expect(row).toMatchObject({ state: 'pending' })
  const other = scratch(50, 'PostgreSQL')
  try {
    mkdirSync(join(other.folder, 'config'))
    writeFileSync(join(other.folder, 'config', 'attempts'), 'no folder')
    const listless = await other.store()
    await expect(
      addOne(listless.ledger, 'bob@example.com').then((each) => listless.ledger.begin(each, newAttempt())),
    ).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('cannot list the attempts') as string,
    })
    await listless.maintenance.allowUnlisted()
    expect((await begin(listless, 'cy@example.com')).state).toBe('sending')
    await failsOver()
    expect((await begin(listless, 'di@example.com')).state).toBe('sending')
  } finally {
    await other.end()
  }
})

test('what is noted of a server and cannot be read says nothing', async () => {
  await begin(await alpha.store(), 'a@example.com')
  const folder = join(alpha.folder, 'config', 'attempts')
  const seen = join(folder, readdirSync(folder).find((name) => name.endsWith('.seen')) ?? '')
  writeFileSync(seen, 'half a li')
  expect((await begin(await alpha.store(), 'b@example.com')).state).toBe('sending')
})

test('a store whose key is gone is damaged', async () => {
  const rename = (from: string, to: string) => sql(`UPDATE meta SET name = '${to}' WHERE name = '${from}'`)
  await rename('fingerprint_key', 'gone')
  await expect(alpha.store()).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('the key of its fingerprints is missing') as string,
  })
  await rename('gone', 'fingerprint_key')
})
