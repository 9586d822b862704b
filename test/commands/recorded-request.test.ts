import { expect, test } from 'vitest'

import { writePeopleFile } from '../harness/batch-file.ts'
import { sessionWithHeldRows } from '../harness/lost-data.ts'
import { completeRequests } from '../harness/orders.ts'
import { session } from '../harness/session.ts'

const person = '--first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001'

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a request that another program ordered becomes the order of the held row when the user says so, and its report is synced (%s)',
  async (store) => {
    const here = await session({ store })
    const { type, write, sandbox, listOrderedEmails } = here
    writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'])
    await type(`request create --package 102 ${person} --yes`, { env: { REFCHECK_STORE: ':memory:' } })
    const requestId = sandbox.requests()[0]?.request_id ?? ''
    const event = { event: 'request.updated', request_id: requestId, status: 'PARTIAL' }
    write('events.ndjson', `${JSON.stringify(event)}\n`)
    await type('batch reconcile --events events.ndjson')
    const answers = [
      { ask: /^Order 102 Identity check only/, confirm: true },
      {
        ask: /^Request .* which was not ordered with this store/,
        choose: 'No: that request is this order, record it',
      },
    ]
    expect(await type('batch run people.csv --package 102', { answers })).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102
      2>
      2> people.csv: 2 rows
      2>   1 order of 102 Identity check only
      2>   1 row held, not sent until you release it
      2>     request REQUEST_1, which was not ordered with this store, is for this person
      2>       Ana Row1 (line 2)
      2> Sending takes under a minute
      2>
      ? Order 102 Identity check only for Ana Row2 (a2@example.com) at 127.0.0.1:PORT as olive.owner@example.com, and leave out 1 row? yes
      2>
      2> Ana Row1 (line 2) of people.csv is held (1 of 1)
      2>
      ? Request REQUEST_1, which was not ordered with this store, is for Ana Row1. Order as well?: No: that request is this order, record it
      2>
      2> Ana Row1 (line 2) is ordered: request REQUEST_1
      2>
      ✔ All 2 people in people.csv are ordered
         1 now: Ana Row2
         1 before

      batch  BATCH_1
      people.csv, 102 Identity check only

      2  accepted
      2  rows

      results  HOME/people.results.csv

      Next: refcheck request wait --batch BATCH_1
      exit 0
    `)
    expect(listOrderedEmails()).toEqual(['a1@example.com', 'a2@example.com'])
    const listed = (await type('request list --json')).json()
    expect(listed).toContainEqual(
      expect.objectContaining({ request_id: requestId, row: 1, state: 'accepted' }),
    )
    expect((await type('batch reconcile')).stdout).toBe('Nothing to settle.\n')
    completeRequests(sandbox)
    expect((await type('report sync --output reports')).stdout).toMatch(/Row1-Ana_Identity-check_.*pdf/)
  },
)

test('a request of another person with the same phone is not recorded, and an order under a successor waits for the decision', async () => {
  const here = await sessionWithHeldRows()
  const { type, batchId, sandbox } = here
  const exported = { REFCHECK_STORE: 'other.sqlite', REFCHECK_QUOTA: '10000/60' }
  const bob = '--first-name Bob --last-name Other --email bob@example.com --phone +61400000003'
  const created = await type(`request create --package 102 ${bob} --yes --json`, { exported })
  const { request_id: requestId } = created.json() as { request_id: string }
  const { stderr } = await type(`batch reconcile ${batchId} --row 3 --request-id ${requestId}`)
  expect(stderr).toContain(`request ${requestId} is for somebody else`)
  const successor = sandbox.replacePackage(102, { newField: false })
  const ana = '--first-name Ana --last-name Row4 --email a4@example.com --phone +61400000004'
  expect(await type(`request create --package ${successor} ${ana} --yes --allow-similar`))
    .toMatchInlineSnapshot(`
    $ refcheck request create --package 107 --first-name Ana --last-name Row4 --email a4@example.com --phone +61400000004 --yes --allow-similar
    2> Error: package 102 may have been ordered for "a4@example.com": row 4 of batch BATCH_1 is held, because the store had lost attempts
    2> Decide about that row first: refcheck batch release BATCH_1
    exit 2
  `)
})

test('another store holds the people whose rows may have been ordered according to the results file', async () => {
  const { type, batchId } = await sessionWithHeldRows()
  await type(`batch resume ${batchId} --yes`)
  const exported = { REFCHECK_STORE: 'other.sqlite', REFCHECK_QUOTA: '10000/60' }
  const run = await type('batch run people.csv --package 102 --yes --json', { exported })
  expect(run.json()).toMatchObject({ counts: { accepted: 0, held: 3, duplicate: 2 } })
})
