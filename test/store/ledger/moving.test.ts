import { afterEach, beforeEach, expect, test } from 'vitest'

import { beginAttempt, addOne, batchOf, beginOne, newAttempt, someTime } from './batches.ts'
import { fileBatch, orderRow } from './files.ts'
import { backends, type Backend, scratch, type Scratch } from './scratch.ts'
import { requestFor } from '../../usecases/batch/unknown-rows.ts'
import { makeStore } from '../../harness/create-store.ts'
import { queryDatabase, emptyDatabase } from '../../harness/postgres.ts'
import { InternalError } from '../../../src/errors/kinds.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import type { Moving } from '../../../src/store/ledger/move.ts'
import { Database } from '../../../src/store/ledger/sqlite/engine.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { tables } from '../../../src/store/ledger/schema.ts'
import { moveStore } from '../../../src/usecases/store/move.ts'

let here: Scratch
beforeEach(() => {
  here = scratch()
})
afterEach(() => here.end())

async function addressOf(backend: Backend, name: string): Promise<string> {
  if (backend === 'SQLite') return `${here.folder}/${name}.sqlite`
  const url = await emptyDatabase()
  await makeStore(url)
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

/** Of everything a bit: what was accepted, released, decided, joined and received, and a text that no database keeps whole. */
async function filled(store: Store): Promise<void> {
  const { ledger, batches, waiting, inbox, unmatched } = store
  const sent = await beginOne(ledger, 'sent@example.com')
  const requestId = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'
  await ledger.move(sent, { to: 'accepted', at: someTime, requestId, requestStatus: 'IN_PROGRESS' })
  await ledger.recordStatus(
    'http://127.0.0.1:4010',
    requestId,
    'IN_PROGRESS',
    someTime,
    '{"reference":{"IN_PROGRESS":1}}',
  )
  const lost = await beginOne(ledger, 'lost@example.com')
  await ledger.move(lost, { to: 'unknown', at: someTime, reason: 'no\0 answer' })
  const file = fileBatch({ name: 'Zoë’s “people”.csv' })
  await batches.add(file, [orderRow(1, 'SENT@example.com'), orderRow(2, 'new@example.com')])
  await waiting.recordSameService(['https://a.example.com', 'https://b.example.com'], true, {
    at: someTime,
    by: 'a person',
  })
  await inbox.add([eventOf('1'), eventOf('2'), eventOf('3')], true)
  const reading = { service: 'http://localhost:4010', reader: 'hr@example.com', now: someTime }
  await unmatched.record('1'.repeat(8), reading, requestFor(1))
  await unmatched.record('2'.repeat(8), reading, undefined)
}

const contentOf = async ({ ledger, batches, inbox, unmatched }: Store): Promise<unknown> => {
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

/** A process that is killed at one of its steps: what it did by then stands, and nothing else is done. */
function killedAt(
  store: Store,
  step: 'closeForMove' | 'fillFrom' | 'moveAway' | 'cancelMove',
  when: 'before' | 'after',
): Store {
  const killed = () => Promise.reject(new InternalError('killed'))
  return {
    ...store,
    async moving() {
      const whole = await store.moving()
      const dying: Partial<Record<keyof Moving, unknown>> = {
        cancelMove: killed,
        async [step](...given: never[]) {
          if (when === 'after')
            await (whole[step] as (...all: never[]) => Promise<unknown>).apply(whole, given)
          return killed()
        },
      }
      return new Proxy(whole, {
        get: (target, name) => {
          const own = dying[name as keyof Moving] ?? Reflect.get(target, name, target)
          return typeof own === 'function' && dying[name as keyof Moving] === undefined
            ? own.bind(target)
            : own
        },
      })
    },
  }
}

const directions = backends.flatMap((from) => backends.map((to) => [from, to] as const))

test.each(directions)(
  'from %s to %s: killed anywhere it is continued by the same command, and all of it is there once',
  async (fromBackend, toBackend) => {
    const [fromAddress, toAddress] = [await addressOf(fromBackend, 'from'), await addressOf(toBackend, 'to')]
    const first = await here.store(fromAddress)
    await filled(first)
    const before = await contentOf(first)
    await first.close()
    const move = async (change: (store: Store) => Store = (store) => store, changeTo = change) => {
      const from = await here.store(fromAddress)
      const to = await here.store(toAddress)
      try {
        return await moveStore({
          oldStore: change(from),
          openNewStore: async () => changeTo(await here.store(toAddress)),
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
    const same = (store: Store) => store
    await expect(move((store) => killedAt(store, 'closeForMove', 'after'), same)).rejects.toThrow('killed')
    const closed = await here.store(fromAddress)
    await expect(closed.batches.acquire('b')).rejects.toThrow('is being moved to')
    await expect(move(same, (store) => killedAt(store, 'fillFrom', 'before'))).rejects.toThrow('killed')
    const stays = await here.store(fromAddress)
    expect(await (await stays.moving()).readMove()).toBeUndefined()
    await expect(move((store) => killedAt(store, 'moveAway', 'before'), same)).rejects.toThrow('killed')
    const dead = (store: Store) => killedAt(store, 'cancelMove', 'before')
    await expect(move(dead, (store) => killedAt(store, 'fillFrom', 'after'))).rejects.toThrow('killed')
    const { tables: moved } = await move()

    expect(moved.map(({ table, rows }) => [table, rows])).toContainEqual(['events', 3])
    const after = await here.store(toAddress)
    expect(await contentOf(after)).toEqual(before)
    expect(await after.maintenance.check()).toEqual([])
    expect(await after.inbox.add([eventOf('4')], false)).toEqual([{ id: 4, repeated: false }])
    expect(await after.ledger.add(batchOf(['Sent@example.com']), { allowDuplicate: false })).toMatchObject({
      order: { state: 'accepted' },
    })
    const old = await here.store(fromAddress)
    await expect(old.inbox.add([eventOf('5')], false)).rejects.toThrow('was moved to')
    await expect(addOne(old.ledger, 'late@example.com')).rejects.toThrow('was moved to')
    await expect(old.rollbacks.acceptOlder()).rejects.toThrow('was moved to')
    await expect(move()).rejects.toThrow('was moved to')
  },
)

test('no store is moved while a process orders with it, or to the address of another store', async () => {
  const store = await here.store()
  const other = await here.store(await addressOf('SQLite', 'other'))
  await addOne(other.ledger, 'somebody@example.com')
  const move = (openNewStore: () => Promise<Store>) =>
    moveStore({
      oldStore: store,
      openNewStore,
      address: undefined,
      confirm: () => Promise.resolve(),
      clock: systemClock,
      random: systemRandom,
    })
  await expect(move(() => Promise.resolve(other))).rejects.toThrow(
    'is a store already (batches, submissions, accounts)',
  )
  const batch = batchOf(['now@example.com'])
  const lease = await store.ledger.acquire(batch)
  await store.ledger.add(batch, { allowDuplicate: false })
  const from = { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined } as const
  await beginAttempt(store.ledger, from, newAttempt())
  const free = await addressOf('SQLite', 'free')
  await expect(move(() => here.store(free))).rejects.toThrow('an order is in flight')
  await lease?.release()
  expect((await move(() => here.store(free))).tables).toContainEqual(
    expect.objectContaining({ table: 'attempts', rows: 1 }),
  )
})

test('no table and no column of either engine is left out', async () => {
  await (await here.store()).close()
  const database = new Database(here.path, 50)
  const sqlite = database.all(
    `SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c
      WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`,
  )
  database.close()
  const own = `table_name IN ('runners', 'runs', 'pauses', 'epoch') OR column_name IN ('serial', 'runner')`
  const postgres = await queryDatabase(
    await addressOf('PostgreSQL', ''),
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
      WHERE table_schema = 'refcheck' AND NOT (${own})`,
  )
  const taken = tables.flatMap(({ name, columns }) =>
    Object.keys(columns).map((column) => `${name}.${column}`),
  )
  for (const found of [sqlite, postgres] as { table: string; column: string }[][])
    expect(found.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(taken.toSorted())
})
