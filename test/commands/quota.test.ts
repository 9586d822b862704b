import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { orderOf } from '../harness/people.ts'
import { world } from '../harness/world.ts'

const clock = (): ManualClock => new ManualClock({ auto: true })

interface Standing {
  windows: { calls: number; used: number; left: number; learnt: boolean; resets_at: string | null }[]
  not_before: string | null
}

test('calls of every command on the store are counted, the ping is not', async () => {
  const { run } = await world()
  await run(['ping'])
  expect(((await run(['quota', '--json'])).json() as Standing).windows.map(({ used }) => used)).toEqual([
    0, 0,
  ])
  await run(['packages', 'list'])
  await run(['users', 'list'])
  await run(orderOf('Priya'))
  const { windows, not_before } = (await run(['quota', '--json'])).json() as Standing
  // The order read the package list and the schema before it was made.
  expect(windows).toMatchObject([
    { calls: 60, used: 5, left: 55, learnt: false },
    { calls: 1000, used: 5, left: 995, learnt: false },
  ])
  expect(not_before).toBeNull()
})

test('as a table', async () => {
  const { run } = await world()
  const time = clock()
  await run(['packages', 'list'], { clock: time })
  expect((await run(['quota'], { clock: time })).stdout).toMatchInlineSnapshot(`
    "WINDOW       USED  LEFT  FREE AGAIN  KNOWN
    60 in 60 s   1     59    in 62 s     counted here
    1000 in 1 h  1     999   in 61 min   counted here
    "
  `)
})

test('a 429 is remembered by the commands after it', async () => {
  const { run, sandbox } = await world()
  const time = clock()
  sandbox.inject({ on: 'GET *', fault: { kind: 'status', status: 429, when: 'before', retryAfter: '40' } })
  await run(['packages', 'list', '--timeout', '1s'], { clock: time })
  const { windows, not_before } = (await run(['quota', '--json'], { clock: time })).json() as Standing
  expect(windows[0]).toMatchObject({ learnt: true, left: 0 })
  expect(Date.parse(not_before ?? '') - time.now()).toBe(40_000)
  const late = await run(orderOf('Priya', ['--yes', '--timeout', '10s', '--json']), { clock: time })
  expect(late.code).toBe(6)
  expect(late.json()).toMatchObject({ error: { code: 'throttled', retry_after: 40 } })
  expect(sandbox.requests()).toEqual([])
  expect((await run(orderOf('Priya'), { clock: time })).code).toBe(0)
})

test('a batch keeps within the quota by itself', async () => {
  // The sandbox would refuse nothing, so what holds the batch back is what was counted.
  const { run, sandbox, folder } = await world({ quota: [{ calls: 100_000, seconds: 60 }] })
  const file = peopleFile(folder, emails(65))
  const time = clock()
  const outcome = await run(['batch', 'run', file, '--package', '102', '--yes', '--json'], { clock: time })
  expect(outcome.code).toBe(0)
  expect(time.sleeps.some((ms) => ms > 50_000)).toBe(true)
  expect(sandbox.requests()).toHaveLength(65)
})

test('REFCHECK_QUOTA is for a service on this machine', async () => {
  const { run } = await world()
  const env = { REFCHECK_QUOTA: '5/60' }
  await run(['packages', 'list'], { env })
  expect(((await run(['quota', '--json'], { env })).json() as Standing).windows).toMatchObject([
    { calls: 5, used: 1 },
  ])
  const elsewhere = await run(['quota'], { env: { ...env, REFCHECK_BASE_URL: 'https://api.example.com' } })
  expect([elsewhere.code, elsewhere.stderr.split('\n')[0]]).toEqual([
    2,
    'Error: REFCHECK_QUOTA is for a sandbox on this machine only',
  ])
  expect((await run(['quota'], { env: { REFCHECK_QUOTA: '0/60' } })).code).toBe(2)
})

describe('counting a read is never a fault of the read', () => {
  test('a store that another program holds: the answer, exit 0, no word', async () => {
    const { run, folder } = await world()
    await run(['packages', 'list'])
    const other = new DatabaseSync(join(folder, 'data', 'ledger.sqlite'))
    other.exec('BEGIN EXCLUSIVE')
    const { code, stderr } = await run(['packages', 'list'])
    other.close()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('a store that cannot be', async () => {
    const { run } = await world()
    const { code, stderr } = await run(['packages', 'list'], { env: { REFCHECK_STORE: 'postgres://db/x' } })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('a store in memory is not opened for it, nor one on disk in its place', async () => {
    const { run, folder } = await world()
    expect((await run(['users', 'list'], { env: { REFCHECK_STORE: ':memory:' } })).code).toBe(0)
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })

  test('a ping and settings make no store', async () => {
    const { run, folder } = await world()
    await run(['ping'])
    await run(['config', 'list'])
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })
})
