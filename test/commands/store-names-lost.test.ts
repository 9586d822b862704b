import { expect, test } from 'vitest'

import { copyDataFolder, loseOutcomes, sessionWithPeople, batchRunLine } from '../harness/lost-data.ts'
import { completeRequests } from '../harness/orders.ts'
import type { Session } from '../harness/session.ts'

/**
 * Orders three people, restores the store of before these orders, and accepts it. The recovered rows have only the
 * fingerprints of their people; with `hasRequestIds` the ids of their requests too.
 */
async function loseNames({ hasRequestIds = false } = {}): Promise<
  Session & { batchId: string; requestIds: string[] }
> {
  const here = await sessionWithPeople(3)
  await here.type('batch list')
  const restore = copyDataFolder(here)
  const { batch_id } = (await here.type(batchRunLine(' --json'))).json() as { batch_id: string }
  restore()
  if (!hasRequestIds) loseOutcomes(here)
  await here.type('store check --accept-older --yes')
  return { ...here, batchId: batch_id, requestIds: here.sandbox.requests().map((each) => each.request_id) }
}

test('a row without a name accepts only the id of its own person’s request', async () => {
  const { type, batchId, requestIds } = await loseNames()
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
    recovered orders

    1  accepted
    2  unknown
    3  rows
    exit 0
  `)
})

test('rows without a name are reconciled by events, with their fingerprints', async () => {
  const { type, write, batchId, requestIds } = await loseNames()
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

test('recovered orders with known request ids are read like other orders, until their person is erased', async () => {
  const here = await loseNames({ hasRequestIds: true })
  const { type, sandbox, requestIds } = here
  expect(await type('request list --jq .[].status')).toMatchInlineSnapshot(`
    $ refcheck request list --jq .[].status
    null
    null
    null
    exit 0
  `)
  const again = '--first-name Ana --last-name Row2 --email a2@example.com --phone +61400000002'
  expect(await type(`request create --package 102 ${again} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Row2 --email a2@example.com --phone +61400000002 --yes
    2> Error: package 102 was already ordered for this person: request REQUEST_2, on 2026-11-20 12:00 +00:00
    2> To order it once more, add --allow-duplicate. Show the request with: refcheck request get REQUEST_2
    exit 2
  `)
  completeRequests(sandbox)
  expect(
    await here.all([
      'request list',
      'batch list',
      'request list --refresh',
      'store check',
      'store purge --email a1@example.com --yes',
      `request get ${requestIds[0] ?? ''} --jq .status`,
      'request list --jq .[].recipient.last_name',
      `request create --package 102 ${again} --yes`,
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck request list
    REQUEST ID                            STATUS    ORDERED AT        NAME                 PACKAGE
    REQUEST_1                             accepted  2026-11-20 12:00  unknown (recovered)  102 Identity check only
    REQUEST_2                             accepted  2026-11-20 12:00  unknown (recovered)  102 Identity check only
    REQUEST_3                             accepted  2026-11-20 12:00  unknown (recovered)  102 Identity check only
    exit 0

    $ refcheck batch list
    BATCH ID                              NAME              ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               recovered orders  2026-11-20  3 of 3   0         done
    exit 0

    $ refcheck request list --refresh
    REQUEST ID                            STATUS     ORDERED AT  NAME      PACKAGE
    REQUEST_1                             COMPLETED  2026-11-20  Ana Row1  102 Identity check only
    REQUEST_2                             COMPLETED  2026-11-20  Ana Row2  102 Identity check only
    REQUEST_3                             COMPLETED  2026-11-20  Ana Row3  102 Identity check only
    exit 0

    $ refcheck store check
    sound  HOME/data/ledger.sqlite (by the attempt logs of this machine)
    exit 0

    $ refcheck store purge --email a1@example.com --yes
    Removed personal data of 1 row and 0 events.
    exit 0

    $ refcheck request get REQUEST_1 --jq .status
    COMPLETED
    exit 0

    $ refcheck request list --jq .[].recipient.last_name
    null
    Row2
    Row3
    exit 0

    $ refcheck request create --package 102 --first-name Ana --last-name Row2 --email a2@example.com --phone +61400000002 --yes
    2> Error: package 102 was already ordered for "a2@example.com": request REQUEST_2, on 2026-11-20 12:00 +00:00, seen COMPLETED on 2026-11-20 12:00 +00:00
    2> To order it once more, add --allow-duplicate. Show the request with: refcheck request get REQUEST_2
    exit 2
  `)
  expect(await type('report sync --output reports --quiet --jq .stored|length')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports --quiet --jq .stored|length
    2
    exit 0
  `)
})

test('status shows that an older copy of the store takes no orders before one is tried, and changes nothing', async () => {
  const here = await sessionWithPeople(2)
  await here.type(batchRunLine(' --quiet --max 1'))
  const restore = copyDataFolder(here)
  await here.type(batchRunLine(' --quiet'))
  restore()
  expect(await here.all(['status', 'store info --jq .closed'])).toMatchInlineSnapshot(`
    $ refcheck status
    The store takes no orders: it lacks attempts that were made with it
      See what is missing, and how to continue, with: refcheck store check
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      people.csv  stopped  refcheck batch resume BATCH_1
    exit 0

    $ refcheck store info --jq .closed
    []
    exit 0
  `)
})

test('status shows first that the store accepts no orders', async () => {
  const { type } = await sessionWithPeople(1)
  await type(batchRunLine(' --quiet'))
  await type('store check --restored')
  expect(await type('status', { tty: true })).toMatchInlineSnapshot(`
    $ refcheck status
    ␛[31mThe store takes no orders␛[39m: a backup of it was restored
      See what is missing, and how to continue, with: refcheck store check
    ␛[1m127.0.0.1:PORT␛[22m (olive.owner@example.com)   read just now
    ␛[1mRunning␛[22m    1 order   read again: refcheck request list --refresh
    ␛[1mNeeds you␛[22m  nothing
    exit 0
  `)
})
