import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { connectAgent } from '../harness/agent.ts'
import { orderBody } from '../harness/agent-plans.ts'
import { completeRequests } from '../harness/orders.ts'
import { session } from '../harness/session.ts'

const day = 86_400_000

test('doctor reports data older than the retention, and store purge without a selection and a worker remove it', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  await here.type('batch run people.csv --package 102 --yes')
  completeRequests(here.sandbox)
  await here.type('request list --refresh')
  const readRetentionCheck = async () =>
    /^.* {2}retention .*(?:\n {8,}.*)*$/m.exec((await here.type('doctor')).stdout)?.[0]
  expect(await here.type('store purge --yes')).toMatchInlineSnapshot(`
    $ refcheck store purge --yes
    2> Error: --email, --request-id or --older-than is required, as no retention is set
    2> For example: refcheck store purge --older-than 365d --dry-run
    2> Or say for how long personal data is kept: refcheck config set retention 24mo
    exit 2
  `)
  expect(await readRetentionCheck()).toMatchInlineSnapshot(
    `"ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)"`,
  )
  expect(await here.all(['config set retention soon', 'config set retention 2mo'])).toMatchInlineSnapshot(`
    $ refcheck config set retention soon
    2> Error: retention: "soon" is not a period such as 365d, 24mo or 2y
    2> For example: refcheck config set retention 24mo
    exit 2

    $ refcheck config set retention 2mo
    retention is 2mo
    2> Nothing is removed by this alone. A worker removes what is older once a day; without one, run every night: refcheck store purge --yes
    exit 0
  `)
  expect(await readRetentionCheck()).toMatchInlineSnapshot(
    `"ok    retention     personal data is kept for 2mo; nothing is older"`,
  )
  await here.clock.advance(70 * day)
  expect(await readRetentionCheck()).toMatchInlineSnapshot(`
    "warn  retention     personal data is kept for 2mo; 2 rows, events or drafts are older
                        Remove them with: refcheck store purge"
  `)
  expect(await here.all(['store purge', 'store purge --dry-run'])).toMatchInlineSnapshot(`
    $ refcheck store purge
    2> Error: there is no terminal to confirm on
    2> Nothing was done. Run it again with --yes to skip the confirmation.
    exit 2

    $ refcheck store purge --dry-run
    Would remove personal data of 2 rows and 0 events.
    exit 0
  `)
  const { stdout } = await here.type('worker --once')
  expect(stdout).toMatch(/"event":"purged","rows":2,"events":0/)
  expect(await readRetentionCheck()).toMatchInlineSnapshot(
    `"ok    retention     personal data is kept for 2mo; nothing is older"`,
  )
  expect(await here.type('store purge --yes')).toMatchInlineSnapshot(`
    $ refcheck store purge --yes
    Nothing to remove: no personal data is old enough.
    exit 0
  `)
})

test('purging a person also removes an agent’s plan that contains that person', async () => {
  const here = await session()
  const agent = await connectAgent(here, [], { clock: here.clock })
  const planned = await agent.call('plan_order', { body: JSON.parse(orderBody('Priya')) as unknown })
  const { code } = planned.data as { code: string }
  expect(await here.type('store purge --email PRIYA@example.com --yes')).toMatchInlineSnapshot(`
    $ refcheck store purge --email PRIYA@example.com --yes
    Removed personal data of 0 rows, 0 events and 1 plan.
    exit 0
  `)
  expect((await here.type(['approve', code])).stderr).not.toContain('Priya')
})

test('a worker removes drafts that are older than the retention, and reports how many', async () => {
  const here = await session()
  const answers = [
    { ask: /First name/, type: 'Mei' },
    { ask: /Last name/, leave: true },
  ] as const
  await here.type('request create --package 102', { answers })
  await here.type('config set retention 7d')
  const drafts = join(here.env['REFCHECK_DATA_DIR'] ?? '', 'drafts')
  await here.clock.advance(6 * day)
  expect((await here.type('worker --once')).stdout).not.toContain('purged')
  expect(readdirSync(drafts)).toHaveLength(1)
  await here.clock.advance(2 * day)
  expect((await here.type('doctor')).stdout).toContain('1 row, event or draft is older')
  const { stdout } = await here.type('worker --once')
  expect(stdout).toContain('"event":"purged","rows":0,"events":0,"drafts":1')
  expect(readdirSync(drafts)).toEqual([])
})
