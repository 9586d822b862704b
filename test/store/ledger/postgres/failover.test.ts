import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { beginAttempt, addOne, newAttempt } from '../batches.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'
import { createStore } from '../../../harness/create-store.ts'
import { clearStore } from '../../../harness/postgres-store.ts'
import { PostgresPair } from '../../../harness/postgres-pair.ts'
import type { RowVersion } from '../../../../src/domain/submission/submission.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'

/** Starting a primary and its standby takes long. */
const longMs = 60_000

let pair: PostgresPair
let setup: TemporaryStores

beforeAll(async () => {
  pair = await PostgresPair.start()
  await createStore(pair.url)
}, longMs)
afterAll(() => pair.stop())
beforeEach(() => {
  setup = createTemporaryStores()
})
afterEach(async () => {
  await setup.remove()
  await clearStore(pair.url)
})

async function beginRow({ ledger }: Store, row: RowVersion): Promise<void> {
  const attempt = await beginAttempt(ledger, row, newAttempt())
  expect(attempt).toMatchObject({ state: 'sending' })
}

const listStates = async (store: Store): Promise<string[]> =>
  (await store.ledger.list({})).map(({ state, recipient }) => `${recipient?.email} ${state}`).sort()

test(
  'a standby that the last commits did not reach takes over: a row that was sent becomes unknown, and is not sent again',
  async () => {
    const storeBefore = await setup.openStore(pair.url)
    const rows: RowVersion[] = []
    for (const name of ['kept', 'lost', 'next'])
      rows.push(await addOne(storeBefore.ledger, `${name}@example.com`, { kind: 'file' }))
    const [replicated, lost, next] = rows as [RowVersion, RowVersion, RowVersion]
    await beginRow(storeBefore, replicated)
    await pair.failOver({ how: 'asynchronous', meanwhile: () => beginRow(storeBefore, lost) })
    const storeAfter = await setup.openStore(pair.url)
    expect(await listStates(storeAfter)).toEqual([
      'kept@example.com sending',
      'lost@example.com pending',
      'next@example.com pending',
    ])
    const message = 'is closed: its database is on another server than before'
    await expect(beginAttempt(storeAfter.ledger, next, newAttempt())).rejects.toThrow(message)
    expect(await storeAfter.rollbacks.examine()).toMatchObject({ reopenStep: 'confirmation', unreported: [] })
    await storeAfter.rollbacks.acceptOlder()
    await beginRow(storeAfter, next)
    expect(await beginAttempt(storeAfter.ledger, lost, newAttempt())).toBeUndefined()
    expect(await listStates(storeAfter)).toContain('lost@example.com unknown')
  },
  longMs,
)

test(
  'a synchronous standby takes over with every commit: no attempt has to be recovered',
  async () => {
    const storeBefore = await setup.openStore(pair.url)
    const rows: RowVersion[] = []
    for (const name of ['last', 'next'])
      rows.push(await addOne(storeBefore.ledger, `${name}@example.com`, { kind: 'file' }))
    const [last, next] = rows as [RowVersion, RowVersion]
    await pair.failOver({ how: 'synchronous', meanwhile: () => beginRow(storeBefore, last) })
    const storeAfter = await setup.openStore(pair.url)
    await beginRow(storeAfter, next)
    expect(await listStates(storeAfter)).toEqual(['last@example.com sending', 'next@example.com sending'])
    expect(setup.messages.join()).not.toContain('lacked')
  },
  longMs,
)
