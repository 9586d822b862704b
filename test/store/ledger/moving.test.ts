import { afterEach, beforeEach, expect, test } from 'vitest'

import { beginAttempt, addOne, batchOf, beginOne, newAttempt, someTime } from './batches.ts'
import { fileBatch, orderRow } from './files.ts'
import { backends, type Backend, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import { requestFor } from '../../usecases/batch/unknown-rows.ts'
import { createStore } from '../../harness/create-store.ts'
import { queryDatabase, emptyDatabase } from '../../harness/postgres.ts'
import { InternalError } from '../../../src/errors/kinds.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import type { Moving } from '../../../src/store/ledger/move.ts'
import { Database } from '../../../src/store/ledger/sqlite/engine.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { tables } from '../../../src/store/ledger/schema.ts'
import { moveStore } from '../../../src/usecases/store/move.ts'

let setup: TemporaryStores
beforeEach(() => {
  setup = createTemporaryStores()
})
afterEach(() => setup.remove())

async function createAddress(backend: Backend, name: string): Promise<string> {
  if (backend === 'SQLite') return `${setup.folder}/${name}.sqlite`
  const url = await emptyDatabase()
  await createStore(url)
  return url
}

const eventOf = (digit: string) => ({
  receivedAt: someTime,
  body: Buffer.from([0xff, 0x00, 0x7b]),
  signature: digit.repeat(64),
  requestId: `${digit.repeat(8)}-1111-4111-8111-111111111111`,
  status: 'PARTIAL',
  event: undefined,
  oddity: undefined,
})

/**
 * Adds data of each kind: an accepted order, an unknown outcome, a file, two URLs of one service, events and unmatched
 * requests. One reason has a NUL, which PostgreSQL cannot store.
 */
async function fillStore(store: Store): Promise<void> {
  const { ledger, batches, heldRows, inbox, unmatched } = store
  const acceptedAttempt = await beginOne(ledger, 'sent@example.com')
  const requestId = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'
  await ledger.move(acceptedAttempt, {
    to: 'accepted',
    at: someTime,
    requestId,
    requestStatus: 'IN_PROGRESS',
  })
  await ledger.recordStatus(
    'http://127.0.0.1:4010',
    requestId,
    'IN_PROGRESS',
    someTime,
    '{"reference":{"IN_PROGRESS":1}}',
  )
  const unknownAttempt = await beginOne(ledger, 'lost@example.com')
  await ledger.move(unknownAttempt, { to: 'unknown', at: someTime, reason: 'no\0 answer' })
  const file = fileBatch({ name: 'Zoë’s “people”.csv' })
  await batches.add(file, [orderRow(1, 'SENT@example.com'), orderRow(2, 'new@example.com')])
  await heldRows.recordSameService(['https://a.example.com', 'https://b.example.com'], true, {
    at: someTime,
    by: 'a person',
  })
  await inbox.add([eventOf('1'), eventOf('2'), eventOf('3')], true)
  const reading = { service: 'http://localhost:4010', reader: 'hr@example.com', now: someTime }
  await unmatched.record('1'.repeat(8), reading, requestFor(1))
  await unmatched.record('2'.repeat(8), reading, undefined)
}

const readContent = async ({ ledger, batches, inbox, unmatched }: Store): Promise<unknown> => {
  const events: unknown[] = []
  for await (const event of inbox.list())
    events.push({ ...event, body: Buffer.from(event.body ?? []).toString('hex') })
  return JSON.parse(
    JSON.stringify([
      await ledger.list({}),
      await batches.list({ includesSingleOrders: true }),
      events,
      await unmatched.selectIdsToRead(['1'.repeat(8), '2'.repeat(8), '3'.repeat(8)], {
        service: 'http://localhost:4010',
        reader: 'hr@example.com',
        now: someTime,
      }),
    ]).replaceAll(String.raw`\u0000`, '\uFFFD'),
  ) as unknown
}

/**
 * Returns a store whose move fails before or after one step, as if the process was killed there. Earlier steps have been
 * done, and no later step is.
 */
function failAt(
  store: Store,
  step: 'closeForMove' | 'fillFrom' | 'copyAndCloseAsMoved' | 'cancelMove',
  when: 'before' | 'after',
): Store {
  const failAsKilled = () => Promise.reject(new InternalError('killed'))
  return {
    ...store,
    async openForMove() {
      const realMoving = await store.openForMove()
      const failing: Partial<Record<keyof Moving, unknown>> = {
        cancelMove: failAsKilled,
        async [step](...args: never[]) {
          if (when === 'after')
            await (realMoving[step] as (...all: never[]) => Promise<unknown>).apply(realMoving, args)
          return failAsKilled()
        },
      }
      return new Proxy(realMoving, {
        get: (target, name) => {
          const method = failing[name as keyof Moving] ?? Reflect.get(target, name, target)
          return typeof method === 'function' && failing[name as keyof Moving] === undefined
            ? method.bind(target)
            : method
        },
      })
    },
  }
}

const directions = backends.flatMap((from) => backends.map((to) => [from, to] as const))

test.each(directions)(
  'a move from %s to %s that is killed at any step is continued by the same command, and all data is there once',
  async (fromBackend, toBackend) => {
    const [fromAddress, toAddress] = [
      await createAddress(fromBackend, 'from'),
      await createAddress(toBackend, 'to'),
    ]
    const filledStore = await setup.openStore(fromAddress)
    await fillStore(filledStore)
    const contentBefore = await readContent(filledStore)
    await filledStore.close()
    const move = async (change: (store: Store) => Store = (store) => store, changeTo = change) => {
      const from = await setup.openStore(fromAddress)
      const to = await setup.openStore(toAddress)
      try {
        return await moveStore({
          oldStore: change(from),
          openNewStore: async () => changeTo(await setup.openStore(toAddress)),
          address: undefined,
          confirm: () => Promise.resolve(),
          clock: systemClock,
          random: systemRandom,
        })
      } finally {
        await from.close()
        await to.close()
      }
    }
    const unchanged = (store: Store) => store
    await expect(move((store) => failAt(store, 'closeForMove', 'after'), unchanged)).rejects.toThrow('killed')
    const closed = await setup.openStore(fromAddress)
    await expect(closed.batches.acquire('b')).rejects.toThrow('is being moved to')
    await expect(move(unchanged, (store) => failAt(store, 'fillFrom', 'before'))).rejects.toThrow('killed')
    const reopened = await setup.openStore(fromAddress)
    expect(await (await reopened.openForMove()).readMove()).toBeUndefined()
    await expect(move((store) => failAt(store, 'copyAndCloseAsMoved', 'before'), unchanged)).rejects.toThrow(
      'killed',
    )
    const failBeforeCancel = (store: Store) => failAt(store, 'cancelMove', 'before')
    await expect(move(failBeforeCancel, (store) => failAt(store, 'fillFrom', 'after'))).rejects.toThrow(
      'killed',
    )
    const { tables: moved } = await move()

    expect(moved.map(({ table, rows }) => [table, rows])).toContainEqual(['events', 3])
    const movedStore = await setup.openStore(toAddress)
    expect(await readContent(movedStore)).toEqual(contentBefore)
    expect(await movedStore.maintenance.check()).toEqual([])
    expect(await movedStore.inbox.add([eventOf('4')], false)).toEqual([{ id: 4, repeated: false }])
    expect(
      await movedStore.ledger.add(batchOf(['Sent@example.com']), { allowDuplicate: false }),
    ).toMatchObject({
      order: { state: 'accepted' },
    })
    const oldStore = await setup.openStore(fromAddress)
    await expect(oldStore.inbox.add([eventOf('5')], false)).rejects.toThrow('was moved to')
    await expect(addOne(oldStore.ledger, 'late@example.com')).rejects.toThrow('was moved to')
    await expect(oldStore.rollbacks.acceptOlder()).rejects.toThrow('was moved to')
    await expect(move()).rejects.toThrow('was moved to')
  },
)

test('no store is moved while a process orders with it, or to the address of another store', async () => {
  const store = await setup.openStore()
  const otherStore = await setup.openStore(await createAddress('SQLite', 'other'))
  await addOne(otherStore.ledger, 'somebody@example.com')
  const move = (openNewStore: () => Promise<Store>) =>
    moveStore({
      oldStore: store,
      openNewStore,
      address: undefined,
      confirm: () => Promise.resolve(),
      clock: systemClock,
      random: systemRandom,
    })
  await expect(move(() => Promise.resolve(otherStore))).rejects.toThrow(
    'is a store already (batches, submissions, accounts)',
  )
  const batch = batchOf(['now@example.com'])
  const lease = await store.ledger.acquire(batch)
  await store.ledger.add(batch, { allowDuplicate: false })
  const row = { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined } as const
  await beginAttempt(store.ledger, row, newAttempt())
  const freeAddress = await createAddress('SQLite', 'free')
  await expect(move(() => setup.openStore(freeAddress))).rejects.toThrow('an order is in flight')
  await lease?.release()
  expect((await move(() => setup.openStore(freeAddress))).tables).toContainEqual(
    expect.objectContaining({ table: 'attempts', rows: 1 }),
  )
})

test('every table and every column of both engines is moved', async () => {
  await (await setup.openStore()).close()
  const database = new Database(setup.path, 50)
  const sqlite = database.all(
    `SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c
      WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`,
  )
  database.close()
  const postgresOnly = `table_name IN ('runners', 'runs', 'pauses', 'epoch') OR column_name IN ('serial', 'runner')`
  const postgres = await queryDatabase(
    await createAddress('PostgreSQL', ''),
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
      WHERE table_schema = 'refcheck' AND NOT (${postgresOnly})`,
  )
  const movedColumns = tables.flatMap(({ name, columns }) =>
    Object.keys(columns).map((column) => `${name}.${column}`),
  )
  for (const found of [sqlite, postgres] as { table: string; column: string }[][])
    expect(found.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(movedColumns.toSorted())
})
