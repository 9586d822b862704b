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

/** The spelling under which the service has the person was compared no more, so that the person was ordered again. */
test.each(['SQLite', 'PostgreSQL'] as const)(
  'a request that was recorded for a row in another spelling is still compared in its own spelling (%s)',
  async (store) => {
    const here = await session({ store })
    const { type, write, sandbox, listOrderedEmails } = here
    writePeopleFile(here.folder, ['a1@example.com'])
    const ownEmail = person.replace('a1@example.com', 'ana.private@example.com')
    await type(`request create --package 102 ${ownEmail} --yes`, { env: { REFCHECK_STORE: ':memory:' } })
    const requestId = sandbox.requests()[0]?.request_id ?? ''
    const event = { event: 'request.updated', request_id: requestId, status: 'PARTIAL' }
    write('events.ndjson', `${JSON.stringify(event)}\n`)
    await type('batch reconcile --events events.ndjson')
    const held = await type('batch run people.csv --package 102 --yes --json')
    const { batch_id: batchId } = held.json() as { batch_id: string }
    const answers = [{ ask: /another spelling/, confirm: true }]
    expect(await type(`batch reconcile ${batchId} --row 1 --request-id ${requestId}`, { answers }))
      .toMatchInlineSnapshot(`
      $ refcheck batch reconcile BATCH_1 --row 1 --request-id REQUEST_1
      ? Request REQUEST_1 is Ana Row1 (ana.private@example.com, +61400000001), created 2026-11-20 12:00 +00:00 by olive.owner@example.com. The row is for Ana Row1 (a1@example.com, +61400000001). Different: another spelling of the person. Record this request for Ana Row1 (line 2)? yes
      Ana Row1 (line 2) is ordered: request REQUEST_1

      batch  BATCH_1
      people.csv, 102 Identity check only

      1  accepted
      1  row

      results  HOME/people.results.csv
      exit 0
    `)
    const otherPhone = ownEmail.replace('+61400000001', '+61400000777')
    expect(await type(`request create --package 102 ${otherPhone} --yes`)).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ana --last-name Row1 --email ana.private@example.com --phone +61400000777 --yes
      2> Error: request REQUEST_1, which was not ordered with this store, is for somebody with the same e-mail: package 102, on 2026-11-20 12:00 +00:00
      2> Nothing was sent. See who ordered it: refcheck request get REQUEST_1
      2> To order it all the same, add --allow-similar.
      exit 2
    `)
    expect(listOrderedEmails()).toEqual(['ana.private@example.com'])
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

test('a person who is similar to a row that may have been ordered is not sent before that row is settled', async () => {
  const { type, write, batchId, listOrderedEmails } = await sessionWithHeldRows()
  write(
    'late.csv',
    'first_name,last_name,email,phone\nAna,Row3,a3@example.com,+61499999993\nAna,Row4,new@example.com,+61400000004\n',
  )
  expect(await type('batch run late.csv --package 102 --yes --allow-similar')).toMatchInlineSnapshot(`
    $ refcheck batch run late.csv --package 102 --yes --allow-similar
    2>
    2> late.csv: 2 rows
    2>   0 orders to send
    2>   2 rows held, not sent until you release them
    2>     is similar to an order whose outcome is unknown
    2>       Ana Row3 (line 2), Ana Row4 (line 3)
    2>
    0 of 2 people in late.csv are ordered; 2 held

    batch  BATCH_2
    late.csv, 102 Identity check only

    2  held
    2  rows

    results  HOME/late.results.csv
    2> Error: 0 of 2 rows were accepted (2 held)
    2> See why rows are held: refcheck batch rows BATCH_2 --state held
    2> Settle the order with an unknown outcome first: refcheck batch release BATCH_1
    exit 10
  `)
  const [{ batch_id: lateId } = { batch_id: '' }] = (await type('batch list --json')).json() as {
    batch_id: string
  }[]
  expect(await type(`batch rows ${lateId} --state held`)).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_2 --state held
    ROW  LINE  STATE  EMAIL            OUTCOME
    1    2     held   a3@example.com   held: has the same e-mail and name as Ana Row3 (a3@example.com), held
    2    3     held   new@example.com  held: has the same phone and name as Ana Row4 (a4@example.com), held
    2> Settle the order with an unknown outcome first: refcheck batch release BATCH_1
    exit 0
  `)
  const corrected = '--first-name Ana --last-name Row5 --email a5@example.com --phone +61499999995'
  expect(await type(`request create --package 102 ${corrected} --yes --allow-similar`))
    .toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Row5 --email a5@example.com --phone +61499999995 --yes --allow-similar
    2> Error: somebody similar may have been ordered: package 102 (row 5 of batch BATCH_1, held, 2026-11-20 12:00 +00:00) for Ana Row5 (a5@example.com) has the same e-mail and name
    2> Nothing was sent. Settle that order first: refcheck batch release BATCH_1
    exit 2
  `)
  expect((await type(`batch release ${batchId} --row 4`)).code).toBe(0)
  expect(await type(`batch release ${lateId} --all`)).toMatchInlineSnapshot(`
    $ refcheck batch release BATCH_2 --all
    2> Released 1 row: Ana Row4 (line 3). Order with: refcheck batch resume BATCH_2
    batch  BATCH_2
    late.csv, 102 Identity check only

    1  pending
    1  held
    2  rows

    results  HOME/late.results.csv
    2> Error: 1 row stays held, because its person may have been ordered (an order of a similar person has an unknown outcome): Ana Row3 (line 2)
    2> Settle the order with an unknown outcome first: refcheck batch release BATCH_1
    exit 10
  `)
  expect(listOrderedEmails()).toHaveLength(2)
})
