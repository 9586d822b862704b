import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { orderArguments } from '../harness/people.ts'
import { session } from '../harness/session.ts'

test('the calls of all commands are counted in the store, except pings', async () => {
  const { type, listCalls } = await session()
  await type('ping')
  expect(await type('quota')).toMatchInlineSnapshot(`
    $ refcheck quota
    Calls to the service, without those of other programs that use the same key
    60 in 60 s   [--------------------]  0 used,   60 left
    1000 in 1 h  [--------------------]  0 used, 1000 left
    exit 0
  `)
  await type('packages list')
  await type('users list')
  await type(orderArguments('Priya'))
  // The order read the package list and the schema before it was made.
  expect(listCalls()).toHaveLength(6)
  expect(await type('quota')).toMatchInlineSnapshot(`
    $ refcheck quota
    Calls to the service, without those of other programs that use the same key
    60 in 60 s   [#-------------------]  5 used,  55 left, free again in 60 s
    1000 in 1 h  [#-------------------]  5 used, 995 left, free again in 1 h
    exit 0
  `)
  expect(await type('quota --json')).toMatchInlineSnapshot(`
    $ refcheck quota --json
    {
      "windows": [
        {
          "calls": 60,
          "seconds": 60,
          "used": 5,
          "left": 55,
          "resets_at": "2026-11-20T12:01:01.600Z",
          "learnt": false
        },
        {
          "calls": 1000,
          "seconds": 3600,
          "used": 5,
          "left": 995,
          "resets_at": "2026-11-20T13:00:46.000Z",
          "learnt": false
        }
      ],
      "not_before": null
    }
    exit 0
  `)
})

test('later commands wait for the Retry-After of a 429', async () => {
  const { type, sandbox, clock, listCalls } = await session()
  const fault = { kind: 'status', status: 429, when: 'before', retryAfter: '40' } as const
  sandbox.inject({ on: 'GET *', fault })
  expect(await type('packages list --timeout 1s')).toMatchInlineSnapshot(`
    $ refcheck packages list --timeout 1s
    2> Error: the quota is used up for the next 40 s
    2> Run it again in 40 s, or wait automatically with a longer --timeout.
    exit 6
  `)
  expect(await type('quota')).toMatchInlineSnapshot(`
    $ refcheck quota
    Calls to the service, without those of other programs that use the same key
    60 in 60 s   [####################]  probably used up, free again in 40 s
    1000 in 1 h  [#-------------------]   1 used, 999 left, free again in 1 h

    The service takes calls again in 40 s.

    The service refused a call, probably because of the window of 60 s.
    exit 0
  `)
  expect(await type(orderArguments('Priya', ['--yes', '--timeout', '10s', '--json']))).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Example --email priya@example.com --phone +61412345678 --yes --timeout 10s --json
    {
      "error": {
        "code": "throttled",
        "message": "the quota is used up for the next 40 s",
        "hint": "Nothing was sent. Run it again in 40 s, or wait automatically with a longer --timeout.",
        "retry_after": 40
      }
    }
    2> Error: the quota is used up for the next 40 s
    exit 6
  `)
  expect(listCalls()).not.toContainEqual(expect.stringContaining('POST'))
  expect(await type(orderArguments('Priya'))).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Example --email priya@example.com --phone +61412345678 --yes
    2> The quota is used up; continuing in 40 s.
    created  REQUEST_1                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
  `)
  expect(clock.sleeps).toContain(40_000)
})

test('a batch does not exceed the quota', async () => {
  // The sandbox allows more calls, so the batch waits only because of the calls that refcheck counted.
  const { type, sandbox, folder, clock } = await session({ quota: [{ calls: 100_000, seconds: 60 }] })
  const file = writePeopleFile(folder, createEmails(65))
  expect(await type(`batch run ${file} --package 102 --yes --quiet`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --quiet
    ✔ All 65 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    65  accepted
    65  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(clock.sleeps.some((ms) => ms > 50_000)).toBe(true)
  expect(sandbox.requests()).toHaveLength(65)
})

test('REFCHECK_QUOTA is for a service on this machine only', async () => {
  const { type } = await session()
  const env = { REFCHECK_QUOTA: '5/60' }
  await type('packages list', { env })
  expect(await type('quota', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_QUOTA=5/60 refcheck quota
    Calls to the service, without those of other programs that use the same key
    5 in 60 s  [####----------------]  1 used, 4 left, free again in 60 s
    exit 0
  `)
  const remoteService = { ...env, REFCHECK_BASE_URL: 'https://api.example.com' }
  expect(await type('quota', { env: remoteService })).toMatchInlineSnapshot(`
    $ REFCHECK_QUOTA=5/60 REFCHECK_BASE_URL=https://api.example.com refcheck quota
    2> Error: REFCHECK_QUOTA is allowed for a sandbox on this machine only
    2> Unset it: https://api.example.com has a fixed quota.
    exit 2
  `)
  expect(await type('quota', { env: { REFCHECK_QUOTA: '0/60' } })).toMatchInlineSnapshot(`
    $ REFCHECK_QUOTA=0/60 refcheck quota
    2> Error: REFCHECK_QUOTA: "0/60" is not a quota window
    2> Give calls/seconds, separated by commas, such as: 60/60,1000/3600
    exit 2
  `)
})

test('a read succeeds even if it cannot be counted, with exit 0 and no message', async () => {
  const { type, folder } = await session()
  const store = join(folder, 'data', 'ledger.sqlite')
  await type('ping')
  await type('config list')
  const silentSuccess = { code: 0, stderr: '' }
  expect(await type('users list', { env: { REFCHECK_STORE: ':memory:' } })).toMatchObject(silentSuccess)
  expect(await type('users list', { env: { REFCHECK_STORE: 'postgres://db/x' } })).toMatchObject(
    silentSuccess,
  )
  expect(existsSync(join(folder, 'data'))).toBe(false)
  await type('packages list')
  const other = new DatabaseSync(store)
  other.exec('BEGIN EXCLUSIVE')
  const { code, stderr } = await type('packages list')
  other.close()
  expect({ code, stderr }).toEqual(silentSuccess)
})
