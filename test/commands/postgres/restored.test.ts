import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { type Machines, machines } from './machines.ts'

import { emails } from '../../harness/batch-file.ts'
import { orderedTwice } from '../../harness/lost-data.ts'
import { makeStore } from '../../harness/create-store.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { queryDatabase } from '../../harness/postgres.ts'
import { PostgresPair } from '../../harness/postgres-pair.ts'
import { clearStore } from '../../harness/postgres-store.ts'
import type { Outcome } from '../../harness/run-command.ts'
import { faultRow } from '../../harness/faults/fault-row.ts'

faultRow('forgotten', 'ordered twice')

/** Servers are started, stopped and copied. */
const longMs = 120_000

let pair: PostgresPair
let here: Machines

beforeAll(async () => {
  pair = await PostgresPair.start()
  await makeStore(pair.url)
}, longMs)
afterAll(() => pair.stop())
beforeEach(async () => {
  await clearStore(pair.url)
  here = await machines(20, pair.url)
})

const runOf = (more = '', file = 'people.csv') =>
  `batch run ${file} --package 102 --yes --ignore-results${more}`

const refusal = Response.json(
  { status_code: 400, status_message: 'client_error', message: 'recipient.phone: is not in use', data: null },
  { status: 400 },
)

/** A person distinguishes machines by host names; those of the test all have one. */
const rename = (machine: string, host: string): Promise<unknown> =>
  queryDatabase(
    pair.url,
    `UPDATE refcheck.attempt_logs SET host = '${host}' WHERE path LIKE '${join(here.folder, machine)}/%'`,
  )

function expectClosed({ code, stderr }: Outcome, words: string): void {
  expect(stderr).toContain('is closed: ')
  expect(stderr).toContain(words)
  expect([1, 8]).toContain(code)
}

/** All machines check, a person opens the store, and the rest is ordered: no one twice, and no one is left out. */
async function seenThrough(...all: readonly string[]): Promise<void> {
  for (const machine of all) await here.on(machine, 'store check')
  const opened = await here.on(all[0] ?? 'alpha', 'store check --accept-older --yes')
  expect([opened.code, opened.stdout]).toMatchObject([0, expect.stringContaining('sound')])
  for (const machine of all) await here.on(machine, runOf())
  expect(orderedTwice(here)).toEqual([])
}

/** A clock whose first long sleep is used to do something: a run waits for its quota. */
class InterruptedClock extends ManualClock {
  #work: (() => Promise<void>) | undefined

  constructor(work: () => Promise<void>) {
    super({ auto: true })
    this.#work = work
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const work = here.ordered().length >= 10 ? this.#work : undefined
    if (work !== undefined) this.#work = undefined
    await work?.()
    await super.sleep(ms, signal)
  }
}

/** A run of which ten rows are sent, and that waits for its quota then; `meanwhile` happens in that wait. */
async function runWaiting(machine: string, meanwhile: () => Promise<void>): Promise<Outcome> {
  let done = false
  const clock = new InterruptedClock(async () => {
    await meanwhile()
    done = true
  })
  const ended = await here.on(machine, runOf(), { clock, env: { REFCHECK_QUOTA: '10/4' } })
  expect(done).toBe(true)
  return ended
}

describe('a run waits for its quota, and meanwhile', () => {
  test(
    'the database is restored to a snapshot: nothing more is sent',
    async () => {
      await here.on('alpha', runOf(' --max 2'))
      const restore = await pair.snapshot()
      expectClosed(await runWaiting('alpha', restore), 'lacked')
      expect(here.ordered()).toHaveLength(12)
      await seenThrough('alpha')
    },
    longMs,
  )

  test(
    'the old primary returns after a failover: nothing more is sent',
    async () => {
      await here.on('alpha', runOf(' --max 2'))
      await pair.failOver({ how: 'asynchronous', meanwhile: () => Promise.resolve(), canReturnFormer: true })
      await here.on('alpha', 'store check --accept-older --yes')
      expectClosed(await runWaiting('alpha', () => pair.returnFormer()), 'it is an older copy of the store')
      expect(here.ordered()).toHaveLength(12)
      await seenThrough('alpha')
    },
    longMs,
  )
})

/** As pg_restore --clean does: the tables are dropped and made again, with the rows that they had. */
async function dump(): Promise<() => Promise<void>> {
  const names = (await queryDatabase(
    pair.url,
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'refcheck'::regnamespace AND relkind = 'r' ORDER BY oid`,
  )) as { name: string }[]
  const contents = new Map<string, string>()
  for (const { name } of names) {
    const [rows] = await queryDatabase(
      pair.url,
      `SELECT coalesce(json_agg(t), '[]')::text AS all FROM refcheck.${name} t`,
    )
    contents.set(name, String(rows?.['all']))
  }
  return async () => {
    await queryDatabase(pair.url, 'DROP SCHEMA refcheck CASCADE')
    await makeStore(pair.url)
    const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
    const inserts = [...contents].map(
      ([name, rows]) =>
        `DELETE FROM ${name}; INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${name}, ${quoted(rows)});`,
    )
    await queryDatabase(pair.url, `SET search_path = refcheck; ${inserts.join('\n')}`)
  }
}

/** B orders the later half after the moment to which the database goes back. */
const ways: Record<string, () => Promise<() => Promise<void>>> = {
  'a snapshot': () => pair.snapshot(),
  'pg_restore --clean': dump,
  'the return of the old primary': async () => {
    await pair.failOver({ how: 'asynchronous', meanwhile: () => Promise.resolve(), canReturnFormer: true })
    for (const machine of ['alpha', 'beta']) await here.on(machine, 'store check')
    await here.on('alpha', 'store check --accept-older --yes')
    return () => pair.returnFormer()
  },
}

describe.each(Object.keys(ways))('machine A checks the store after %s', (way) => {
  async function lost(): Promise<void> {
    await here.on('beta', runOf(' --max 2'))
    await here.on('alpha', runOf(' --max 2'))
    await rename('beta', 'hr-2')
    const restore = await (ways[way] as (typeof ways)[string])()
    await here.on('beta', runOf(' --max 10'))
    expect(here.ordered()).toHaveLength(14)
    // A has seen the numbers that B took.
    await here.on('alpha', 'batch list')
    await restore()
  }

  test(
    'B sent since, and A has read its numbers: the store is closed, and B is not ordered again',
    async () => {
      await lost()
      const checked = await here.on('alpha', 'store check')
      expectClosed(checked, 'is closed')
      expectClosed(await here.on('alpha', runOf()), 'is closed')
      expect(here.ordered()).toHaveLength(14)
      await seenThrough('alpha', 'beta')
    },
    longMs,
  )
})

test(
  'machine A has seen nothing of what B sent before a snapshot was restored: --restored closes it until B has reported',
  async () => {
    await here.on('beta', runOf(' --max 2'))
    await here.on('alpha', runOf(' --max 2'))
    await rename('beta', 'hr-2')
    const restore = await pair.snapshot()
    await here.on('beta', runOf(' --max 10'))
    await restore()
    const checked = await here.on('alpha', 'store check --restored')
    expectClosed(checked, 'hr-2')
    expect(checked.stderr).not.toContain('--accept-older')
    expectClosed(await here.on('alpha', runOf()), 'hr-2')
    expectClosed(await here.on('alpha', 'store check --accept-older --yes'), 'hr-2')
    expect(here.ordered()).toHaveLength(14)
    await seenThrough('alpha', 'beta')
  },
  longMs,
)

test(
  'B was set up by copying A’s settings folder: after a failover A waits for B',
  async () => {
    await here.on('alpha', runOf(' --max 2'))
    cpSync(join(here.folder, 'alpha', 'config'), join(here.folder, 'beta', 'config'), { recursive: true })
    await here.on('beta', runOf(' --max 2'))
    await rename('beta', 'hr-2')
    await here.on('alpha', 'batch list')
    await pair.failOver({
      how: 'asynchronous',
      meanwhile: async () => {
        await here.on('beta', runOf(' --max 10'))
      },
    })
    expect(here.ordered()).toHaveLength(14)
    expectClosed(await here.on('alpha', 'store check'), 'hr-2')
    expectClosed(await here.on('alpha', 'store check --accept-older --yes'), 'hr-2')
    expectClosed(await here.on('alpha', runOf()), 'hr-2')
    expect(here.ordered()).toHaveLength(14)
    await seenThrough('alpha', 'beta')
  },
  longMs,
)

describe('after a failover that lost orders of B', () => {
  const failOver = () =>
    pair.failOver({
      how: 'asynchronous',
      meanwhile: async () => {
        await here.on('beta', runOf(' --max 10'))
        await here.on('alpha', 'batch list')
      },
    })

  test(
    'B, which had sent two days ago, must report or be excluded by name: --accept-older is not offered before',
    async () => {
      await here.on('beta', runOf(' --max 2'))
      await here.on('alpha', runOf(' --max 2'))
      await rename('beta', 'hr-2')
      const days = 2 * 24 * 60 * 60_000
      await queryDatabase(
        pair.url,
        `UPDATE refcheck.attempts SET began_at = began_at - ${days} WHERE log_id IN (SELECT id FROM refcheck.attempt_logs WHERE host = 'hr-2')`,
      )
      await failOver()
      const checked = await here.on('alpha', 'store check')
      expectClosed(checked, 'not reported: hr-2')
      expect(checked.stderr).not.toContain('--accept-older')
      expectClosed(await here.on('alpha', 'store check --accept-older --yes'), 'hr-2')
      expect(here.ordered()).toHaveLength(14)
      await seenThrough('alpha', 'beta')
    },
    longMs,
  )

  test(
    'B is excluded by name: what waits is held, and B reports when it comes back',
    async () => {
      await here.on('beta', runOf(' --max 2'))
      await here.on('alpha', runOf(' --max 2'))
      await rename('beta', 'hr-2')
      await failOver()
      expectClosed(await here.on('alpha', 'store check --without hr-2 --yes'), '--accept-older')
      await here.on('alpha', 'store check --accept-older --yes')
      await here.on('alpha', runOf())
      expect(here.ordered()).toHaveLength(14)
      await here.on('beta', runOf())
      expect(orderedTwice(here)).toEqual([])
    },
    longMs,
  )

  test(
    'B, which sent for the first time in the lost window, and whose numbers A has read: what waits is held',
    async () => {
      await here.on('alpha', runOf(' --max 2'))
      await failOver()
      expect(here.ordered()).toHaveLength(12)
      expectClosed(await here.on('alpha', 'store check'), '--accept-older')
      await here.on('alpha', 'store check --accept-older --yes')
      await here.on('alpha', runOf())
      expect(orderedTwice(here)).toEqual([])
      await here.on('beta', runOf())
      expect(orderedTwice(here)).toEqual([])
    },
    longMs,
  )
})

test(
  'a database restored into the live one below what another machine has overtaken: the new generation numbers above all logs',
  async () => {
    await here.on('alpha', runOf(' --max 2'))
    await here.on('beta', runOf(' --max 2'))
    const restore = await dump()
    await here.on('beta', runOf(' --max 4'))
    expect(here.ordered()).toHaveLength(8)
    await restore()
    for (const machine of ['alpha', 'beta']) await here.on(machine, 'store check')
    await here.on('alpha', 'store check --accept-older --yes')
    await here.on('alpha', runOf(' --max 6'))
    await restore()
    expectClosed(await here.on('beta', runOf(' --max 10')), 'is closed')
    expectClosed(await here.on('alpha', runOf()), 'is closed')
    await seenThrough('alpha', 'beta')
    const numbers = await queryDatabase(
      pair.url,
      'SELECT count(*)::int AS n, count(DISTINCT number)::int AS d FROM refcheck.attempts',
    )
    expect(numbers[0]?.['n']).toBe(numbers[0]?.['d'])
  },
  longMs,
)

test(
  'a backup from before batch move is restored and accepted: who was ordered under the new package is known under the old one',
  async () => {
    await here.on('alpha', runOf(' --max 2'))
    const restore = await dump()
    const [batch] = (await here.on('alpha', 'batch list --json')).json() as { batch_id: string }[]
    const successor = here.sandbox.replacePackage(102, { newField: false })
    await here.on('alpha', `batch move ${batch?.batch_id} --package ${successor}`)
    await here.on('alpha', `batch resume ${batch?.batch_id} --yes --max 4`)
    expect(here.ordered()).toHaveLength(6)
    await restore()
    expectClosed(await here.on('alpha', 'store check'), 'is closed')
    await here.on('alpha', 'store check --accept-older --yes')
    rmSync(join(here.folder, 'people.results.csv'), { force: true })
    await here.on('alpha', `batch run people.csv --package ${successor} --yes --ignore-results`)
    expect(orderedTwice(here)).toEqual([])
    await here.on('alpha', `batch move ${batch?.batch_id} --package ${successor}`)
    await here.on('alpha', `batch resume ${batch?.batch_id} --yes`)
    expect(orderedTwice(here)).toEqual([])
  },
  longMs,
)

test(
  'machine A’s order of a row was refused, B’s may have been accepted: in any order of reports, the row is unknown',
  async () => {
    await here.on('alpha', `batch queue people.csv --package 102 --yes`)
    const [batch] = (await here.on('alpha', 'batch list --json')).json() as { batch_id: string }[]
    const resume = `batch resume ${batch?.batch_id} --yes --max 1`
    const restore = await dump()
    here.intercept((request, ask) => (request.method === 'POST' ? refusal.clone() : ask(request)))
    await here.on('alpha', resume)
    here.intercept(async (request, ask) => {
      const answer = await ask(request)
      return request.method === 'POST' ? new Response('', { status: 502 }) : answer
    })
    await here.on('alpha', `batch retry ${batch?.batch_id}`)
    await here.on('beta', resume)
    here.intercept(undefined)
    expect(here.ordered()).toEqual(emails(1))
    await restore()
    await here.on('beta', 'store check')
    await seenThrough('alpha', 'beta')
    await here.on('alpha', `batch retry ${batch?.batch_id}`)
    await here.on('alpha', `batch resume ${batch?.batch_id} --yes`)
    expect(orderedTwice(here)).toEqual([])
    expect(
      (await here.on('alpha', `batch rows ${batch?.batch_id} --state unknown --json`)).json(),
    ).toMatchObject([{ row: 1 }])
  },
  longMs,
)
