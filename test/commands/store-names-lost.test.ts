import { cpSync, chmodSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { loseOutcomes, peopleAtOnce, runOf } from '../harness/forgetful-store.ts'
import type { Session } from '../harness/session.ts'

/** Three people were ordered, of whom the restored store has the fingerprints alone. */
async function namesLost(): Promise<Session & { batchId: string; requestIds: string[] }> {
  const here = await peopleAtOnce(3)
  await here.type('batch list')
  const data = join(here.folder, 'data')
  cpSync(data, `${data}.copy`, { recursive: true })
  const { batch_id } = (await here.type(runOf(' --json'))).json() as { batch_id: string }
  rmSync(data, { recursive: true })
  renameSync(`${data}.copy`, data)
  chmodSync(data, 0o700)
  loseOutcomes(here)
  await here.type('store check --accept-older --yes')
  return { ...here, batchId: batch_id, requestIds: here.sandbox.requests().map((each) => each.request_id) }
}

test('a row without a name takes the id of its own person’s request, and of no other', async () => {
  const { type, batchId, requestIds } = await namesLost()
  const reconcileRow = (at: number) =>
    type(`batch reconcile ${batchId} --row 1 --request-id ${requestIds[at]}`)
  expect(await reconcileRow(1)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 1 --request-id REQUEST_2
    2> Error: request REQUEST_2 is for somebody else, so it is not the order of row 1
    2> Nothing was recorded. Check the id with the provider; "refcheck request get REQUEST_2" shows that request.
    exit 2
  `)
  expect(await reconcileRow(0)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 1 --request-id REQUEST_1
    row 1 is ordered: request REQUEST_1

    batch  BATCH_1
    a file

    1  accepted
    2  unknown
    3  rows
    exit 0
  `)
})

test('rows without a name are reconciled by events, by their fingerprints', async () => {
  const { type, write, batchId, requestIds } = await namesLost()
  const events = requestIds.map((request_id) =>
    JSON.stringify({ request_id, event: 'status_updated', status: 'RECEIVED' }),
  )
  write('events.ndjson', `${events.join('\n')}\n`)
  expect(await type(`batch reconcile ${batchId} --events events.ndjson`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --events events.ndjson
    row 1 was accepted: request REQUEST_1
    row 2 was accepted: request REQUEST_2
    row 3 was accepted: request REQUEST_3
    exit 0
  `)
})
