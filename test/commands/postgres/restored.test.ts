import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { type Machines, startMachines } from './machines.ts'

import { createEmails } from '../../harness/batch-file.ts'
import { listEmailsOrderedTwice } from '../../harness/lost-data.ts'
import { createStore } from '../../harness/create-store.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { queryDatabase } from '../../harness/postgres.ts'
import { PostgresPair } from '../../harness/postgres-pair.ts'
import { clearStore } from '../../harness/postgres-store.ts'
import type { Outcome } from '../../harness/run-command.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('store-rolled-back', { mustNotHappen: 'ordered twice' })

/** Timeout of a test that starts, stops and copies servers. */
const longMs = 120_000

let pair: PostgresPair
/** The machines of the test. Machine A in the titles is `alpha`, and machine B is `beta`. */
let here: Machines

beforeAll(async () => {
  pair = await PostgresPair.start()
  await createStore(pair.url)
}, longMs)
afterAll(() => pair.stop())
beforeEach(async () => {
  await clearStore(pair.url)
  here = await startMachines(20, pair.url)
})

const createRunLine = (more = '', file = 'people.csv') =>
  `batch run ${file} --package 102 --yes --ignore-results${more}`

const refusal = Response.json(
  { status_code: 400, status_message: 'client_error', message: 'recipient.phone: is not in use', data: null },
  { status: 400 },
)

/** Gives a machine another host name, because all machines of the test run on the same host. */
const setHostName = (machine: string, host: string): Promise<unknown> =>
  queryDatabase(
    pair.url,
    `UPDATE refcheck.attempt_logs SET host = '${host}' WHERE path LIKE '${join(here.folder, machine)}/%'`,
  )

function expectClosed({ code, stderr }: Outcome, words: string): void {
  expect(stderr).toContain('is closed: ')
  expect(stderr).toContain(words)
  expect([1, 8]).toContain(code)
}

/** Checks the store on all machines, opens it, and orders the remaining rows. Expects that no person is ordered twice. */
async function expectCompleted(...machines: readonly string[]): Promise<void> {
  for (const machine of machines) await here.on(machine, 'store check')
  const accepted = await here.on(machines[0] ?? 'alpha', 'store check --accept-older --yes')
  expect([accepted.code, accepted.stdout]).toMatchObject([0, expect.stringContaining('sound')])
  for (const machine of machines) await here.on(machine, createRunLine())
  expect(listEmailsOrderedTwice(here)).toEqual([])
}

/** A clock that calls a function once, in the first sleep after ten orders, in which a run waits for its quota. */
class InterruptedClock extends ManualClock {
  #interrupt: (() => Promise<void>) | undefined

  constructor(interrupt: () => Promise<void>) {
    super({ auto: true })
    this.#interrupt = interrupt
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const interrupt = here.listOrderedEmails().length >= 10 ? this.#interrupt : undefined
    if (interrupt !== undefined) this.#interrupt = undefined
    await interrupt?.()
    await super.sleep(ms, signal)
  }
}

/** Starts a run that sends ten rows and then waits for its quota. Calls `meanwhile` during that wait. */
async function runWithInterruption(machine: string, meanwhile: () => Promise<void>): Promise<Outcome> {
  let wasCalled = false
  const clock = new InterruptedClock(async () => {
    await meanwhile()
    wasCalled = true
  })
  const ended = await here.on(machine, createRunLine(), { clock, env: { REFCHECK_QUOTA: '10/4' } })
  expect(wasCalled).toBe(true)
  return ended
}

describe('while a run waits for its quota', () => {
  test(
    'the database is restored to a snapshot, and nothing more is sent',
    async () => {
      await here.on('alpha', createRunLine(' --max 2'))
      const restore = await pair.snapshot()
      expectClosed(await runWithInterruption('alpha', restore), 'lacked')
      expect(here.listOrderedEmails()).toHaveLength(12)
      await expectCompleted('alpha')
    },
    longMs,
  )

  test(
    'the old primary returns after a failover, and nothing more is sent',
    async () => {
      await here.on('alpha', createRunLine(' --max 2'))
      await pair.failOver({ how: 'asynchronous', meanwhile: () => Promise.resolve(), canReturnFormer: true })
      await here.on('alpha', 'store check --accept-older --yes')
      expectClosed(
        await runWithInterruption('alpha', () => pair.returnFormer()),
        'it is an older copy of the store',
      )
      expect(here.listOrderedEmails()).toHaveLength(12)
      await expectCompleted('alpha')
    },
    longMs,
  )
})

/** Returns a function that recreates the tables with their current rows, as pg_restore --clean does. */
async function dumpTables(): Promise<() => Promise<void>> {
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
    await createStore(pair.url)
    const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
    const inserts = [...contents].map(
      ([name, rows]) =>
        `DELETE FROM ${name}; INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${name}, ${quoted(rows)});`,
    )
    await queryDatabase(pair.url, `SET search_path = refcheck; ${inserts.join('\n')}`)
  }
}

/**
 * Ways to return the database to an older state. Each function makes the preparations, and returns the function that
 * restores the older state, which is called after machine B has ordered more rows.
 */
const rollbacks: Record<string, () => Promise<() => Promise<void>>> = {
  'a snapshot': () => pair.snapshot(),
  'pg_restore --clean': dumpTables,
  'the return of the old primary': async () => {
    await pair.failOver({ how: 'asynchronous', meanwhile: () => Promise.resolve(), canReturnFormer: true })
    for (const machine of ['alpha', 'beta']) await here.on(machine, 'store check')
    await here.on('alpha', 'store check --accept-older --yes')
    return () => pair.returnFormer()
  },
}

describe.each(Object.keys(rollbacks))('machine A checks the store after %s', (rollback) => {
  async function loseOrdersOfB(): Promise<void> {
    await here.on('beta', createRunLine(' --max 2'))
    await here.on('alpha', createRunLine(' --max 2'))
    await setHostName('beta', 'hr-2')
    const restore = await (rollbacks[rollback] as (typeof rollbacks)[string])()
    await here.on('beta', createRunLine(' --max 10'))
    expect(here.listOrderedEmails()).toHaveLength(14)
    // A reads the attempt numbers that B has used.
    await here.on('alpha', 'batch list')
    await restore()
  }

  test(
    'if it had read the attempt numbers of machine B, the store is closed, and the people of B are not ordered again',
    async () => {
      await loseOrdersOfB()
      const checked = await here.on('alpha', 'store check')
      expectClosed(checked, 'is closed')
      expectClosed(await here.on('alpha', createRunLine()), 'is closed')
      expect(here.listOrderedEmails()).toHaveLength(14)
      await expectCompleted('alpha', 'beta')
    },
    longMs,
  )
})

test(
  'if machine A has read no attempts of B before a snapshot is restored, --restored closes the store until B reports',
  async () => {
    await here.on('beta', createRunLine(' --max 2'))
    await here.on('alpha', createRunLine(' --max 2'))
    await setHostName('beta', 'hr-2')
    const restore = await pair.snapshot()
    await here.on('beta', createRunLine(' --max 10'))
    await restore()
    const checked = await here.on('alpha', 'store check --restored')
    expectClosed(checked, 'hr-2')
    expect(checked.stderr).not.toContain('--accept-older')
    expectClosed(await here.on('alpha', createRunLine()), 'hr-2')
    expectClosed(await here.on('alpha', 'store check --accept-older --yes'), 'hr-2')
    expect(here.listOrderedEmails()).toHaveLength(14)
    await expectCompleted('alpha', 'beta')
  },
  longMs,
)

test(
  'if machine B was set up with a copy of A’s settings folder, the store is closed after a failover until B reports',
  async () => {
    await here.on('alpha', createRunLine(' --max 2'))
    cpSync(join(here.folder, 'alpha', 'config'), join(here.folder, 'beta', 'config'), { recursive: true })
    await here.on('beta', createRunLine(' --max 2'))
    await setHostName('beta', 'hr-2')
    await here.on('alpha', 'batch list')
    await pair.failOver({
      how: 'asynchronous',
      meanwhile: async () => {
        await here.on('beta', createRunLine(' --max 10'))
      },
    })
    expect(here.listOrderedEmails()).toHaveLength(14)
    expectClosed(await here.on('alpha', 'store check'), 'hr-2')
    expectClosed(await here.on('alpha', 'store check --accept-older --yes'), 'hr-2')
    expectClosed(await here.on('alpha', createRunLine()), 'hr-2')
    expect(here.listOrderedEmails()).toHaveLength(14)
    await expectCompleted('alpha', 'beta')
  },
  longMs,
)

describe('after a failover that lost orders of machine B', () => {
  const failOver = () =>
    pair.failOver({
      how: 'asynchronous',
      meanwhile: async () => {
        await here.on('beta', createRunLine(' --max 10'))
        await here.on('alpha', 'batch list')
      },
    })

  test(
    'B, which sent two days ago, has to report or be excluded by name before --accept-older is possible',
    async () => {
      await here.on('beta', createRunLine(' --max 2'))
      await here.on('alpha', createRunLine(' --max 2'))
      await setHostName('beta', 'hr-2')
      const twoDaysMs = 2 * 24 * 60 * 60_000
      await queryDatabase(
        pair.url,
        `UPDATE refcheck.attempts SET began_at = began_at - ${twoDaysMs} WHERE log_id IN (SELECT id FROM refcheck.attempt_logs WHERE host = 'hr-2')`,
      )
      await failOver()
      const checked = await here.on('alpha', 'store check')
      expectClosed(checked, 'not reported: hr-2')
      expect(checked.stderr).not.toContain('--accept-older')
      expectClosed(await here.on('alpha', 'store check --accept-older --yes'), 'hr-2')
      expect(here.listOrderedEmails()).toHaveLength(14)
      await expectCompleted('alpha', 'beta')
    },
    longMs,
  )

  test(
    'B is excluded by name: pending rows are held, and B reports when it returns',
    async () => {
      await here.on('beta', createRunLine(' --max 2'))
      await here.on('alpha', createRunLine(' --max 2'))
      await setHostName('beta', 'hr-2')
      await failOver()
      expectClosed(await here.on('alpha', 'store check --without hr-2 --yes'), '--accept-older')
      await here.on('alpha', 'store check --accept-older --yes')
      await here.on('alpha', createRunLine())
      expect(here.listOrderedEmails()).toHaveLength(14)
      await here.on('beta', createRunLine())
      expect(listEmailsOrderedTwice(here)).toEqual([])
    },
    longMs,
  )

  test(
    'if the first orders of B are lost, and A had read their numbers, pending rows are held',
    async () => {
      await here.on('alpha', createRunLine(' --max 2'))
      await failOver()
      expect(here.listOrderedEmails()).toHaveLength(12)
      expectClosed(await here.on('alpha', 'store check'), '--accept-older')
      await here.on('alpha', 'store check --accept-older --yes')
      await here.on('alpha', createRunLine())
      expect(listEmailsOrderedTwice(here)).toEqual([])
      await here.on('beta', createRunLine())
      expect(listEmailsOrderedTwice(here)).toEqual([])
    },
    longMs,
  )
})

test(
  'after an older state is restored, the new generation uses attempt numbers above those of all logs',
  async () => {
    await here.on('alpha', createRunLine(' --max 2'))
    await here.on('beta', createRunLine(' --max 2'))
    const restore = await dumpTables()
    await here.on('beta', createRunLine(' --max 4'))
    expect(here.listOrderedEmails()).toHaveLength(8)
    await restore()
    for (const machine of ['alpha', 'beta']) await here.on(machine, 'store check')
    await here.on('alpha', 'store check --accept-older --yes')
    await here.on('alpha', createRunLine(' --max 6'))
    await restore()
    expectClosed(await here.on('beta', createRunLine(' --max 10')), 'is closed')
    expectClosed(await here.on('alpha', createRunLine()), 'is closed')
    await expectCompleted('alpha', 'beta')
    const numbers = await queryDatabase(
      pair.url,
      'SELECT count(*)::int AS n, count(DISTINCT number)::int AS d FROM refcheck.attempts',
    )
    expect(numbers[0]?.['n']).toBe(numbers[0]?.['d'])
  },
  longMs,
)

test(
  'after a backup from before batch move is restored, people ordered under the new package conflict with the old one',
  async () => {
    await here.on('alpha', createRunLine(' --max 2'))
    const restore = await dumpTables()
    const [batch] = (await here.on('alpha', 'batch list --json')).json() as { batch_id: string }[]
    const successor = here.sandbox.replacePackage(102, { newField: false })
    await here.on('alpha', `batch move ${batch?.batch_id} --package ${successor}`)
    await here.on('alpha', `batch resume ${batch?.batch_id} --yes --max 4`)
    expect(here.listOrderedEmails()).toHaveLength(6)
    await restore()
    expectClosed(await here.on('alpha', 'store check'), 'is closed')
    await here.on('alpha', 'store check --accept-older --yes')
    rmSync(join(here.folder, 'people.results.csv'), { force: true })
    await here.on('alpha', `batch run people.csv --package ${successor} --yes --ignore-results`)
    expect(listEmailsOrderedTwice(here)).toEqual([])
    await here.on('alpha', `batch move ${batch?.batch_id} --package ${successor}`)
    await here.on('alpha', `batch resume ${batch?.batch_id} --yes`)
    expect(listEmailsOrderedTwice(here)).toEqual([])
  },
  longMs,
)

test(
  'a row that was refused for machine A and may be accepted for B is unknown, in any order of the reports',
  async () => {
    await here.on('alpha', `batch queue people.csv --package 102 --yes`)
    const [batch] = (await here.on('alpha', 'batch list --json')).json() as { batch_id: string }[]
    const resume = `batch resume ${batch?.batch_id} --yes --max 1`
    const restore = await dumpTables()
    here.intercept((request, ask) => (request.method === 'POST' ? refusal.clone() : ask(request)))
    await here.on('alpha', resume)
    here.intercept(async (request, ask) => {
      const answer = await ask(request)
      return request.method === 'POST' ? new Response('', { status: 502 }) : answer
    })
    await here.on('alpha', `batch retry ${batch?.batch_id}`)
    await here.on('beta', resume)
    here.intercept(undefined)
    expect(here.listOrderedEmails()).toEqual(createEmails(1))
    await restore()
    await here.on('beta', 'store check')
    await expectCompleted('alpha', 'beta')
    await here.on('alpha', `batch retry ${batch?.batch_id}`)
    await here.on('alpha', `batch resume ${batch?.batch_id} --yes`)
    expect(listEmailsOrderedTwice(here)).toEqual([])
    expect(
      (await here.on('alpha', `batch rows ${batch?.batch_id} --state unknown --json`)).json(),
    ).toMatchObject([{ row: 1 }])
  },
  longMs,
)
