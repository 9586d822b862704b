import { expect, test } from 'vitest'

import { orderElsewhere, sessionWithHeldRows } from '../harness/lost-data.ts'

const question = /^This store had lost attempts, so Ana Row\d may have been ordered/
const idQuestion = 'Id of their request:'
const recordIt = 'The provider has one: record it'

test('a request that the provider has is recorded as the order of the row, so that a later file does not order the person', async () => {
  const here = await sessionWithHeldRows()
  const { type, write, batchId, listOrderedEmails } = here
  const requestId = await orderElsewhere(here, 3)
  const otherId = here.sandbox.requests()[0]?.request_id ?? ''
  const answers = [
    { ask: question, choose: recordIt },
    { ask: idQuestion, type: otherId },
    { ask: question, choose: recordIt },
    { ask: idQuestion, type: requestId },
    { ask: question, choose: recordIt },
    { ask: idQuestion, type: '' },
    { ask: question, choose: 'Decide later' },
  ]
  expect(await type(`batch release ${batchId}`, { answers })).toMatchInlineSnapshot(`
    $ refcheck batch release BATCH_1
    2>
    2> Ana Row3 (line 4) of people.csv is held (1 of 3)
    2>
    ? This store had lost attempts, so Ana Row3 may have been ordered. Does the provider have a request?: The provider has one: record it
    ? Id of their request: REQUEST_1
    2>
    2> Request REQUEST_1 is the order of Ana Row1 (a1@example.com) already
    2> Nothing was recorded. One request is one order: check the id with the provider.
    2>
    2>
    2> Ana Row3 (line 4) of people.csv is held (1 of 3)
    2>
    ? This store had lost attempts, so Ana Row3 may have been ordered. Does the provider have a request?: The provider has one: record it
    ? Id of their request: REQUEST_3
    2>
    2> Ana Row3 (line 4) is ordered: request REQUEST_3
    2>
    2>
    2> Ana Row4 (line 5) of people.csv is held (2 of 3)
    2>
    ? This store had lost attempts, so Ana Row4 may have been ordered. Does the provider have a request?: The provider has one: record it
    ? Id of their request:
    2>
    2> Ana Row5 (line 6) of people.csv is held (3 of 3)
    2>
    ? This store had lost attempts, so Ana Row5 may have been ordered. Does the provider have a request?: Decide later
    batch  BATCH_1
    people.csv, 102 Identity check only

    3  accepted
    2  held
    5  rows

    results  HOME/people.results.csv
    exit 0
  `)
  expect(here.read('people.results.csv')).toContain(
    `a3@example.com,+61400000003,accepted,${requestId},RECEIVED,`,
  )
  expect((await type(`request get ${requestId} --json`)).json()).toMatchObject({ request_id: requestId })
  expect((await type('request list --json')).stdout).toContain(requestId)
  expect((await type(`batch resume ${batchId} --yes`)).stderr).not.toMatch('after all')
  write('late.csv', here.read('people.csv').split('\n').toSpliced(1, 2).join('\n'))
  expect(await type('batch run late.csv --package 102 --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run late.csv --package 102 --yes
    late.csv: 3 rows
      0 orders to send
      1 row ordered before, not sent
        Ana Row3 (line 2): ordered 2026-11-20 12:00 +00:00
      2 rows that may have been ordered before, not sent
        Ana Row4 (line 3): held in batch BATCH_1…
        Ana Row5 (line 4): held in batch BATCH_1…
    2> Error: nothing was sent: 2 rows are held in batch BATCH_1
    2> Decide about the held rows of the other batch first: refcheck batch release BATCH_1
    exit 10
  `)
  expect(listOrderedEmails().filter((email) => email === 'a3@example.com')).toHaveLength(1)
})

test('a request of the package that replaced the one of the row is recorded as well, and one of another package is not', async () => {
  const here = await sessionWithHeldRows()
  const { type, batchId, sandbox } = here
  const otherId = await orderElsewhere(here, 3, 103)
  const requestId = await orderElsewhere(here, 3, sandbox.replacePackage(102, { newField: false }))
  const answers = [
    { ask: question, choose: recordIt },
    { ask: idQuestion, type: otherId },
    { ask: question, choose: recordIt },
    { ask: idQuestion, type: requestId },
    { ask: question, choose: 'Decide later' },
    { ask: question, choose: 'Decide later' },
  ]
  const { stderr } = await type(`batch release ${batchId}`, { answers })
  expect(stderr).toContain(`Request ${otherId} is of package 103, so it is not the order of Ana Row3`)
  expect(stderr).toContain(`Ana Row3 (line 4) is ordered: request ${requestId}`)
  expect(await type(`batch status ${batchId}`)).toMatchInlineSnapshot(`
    $ refcheck batch status BATCH_1
    batch  BATCH_1
    people.csv, 102 Identity check only

    3  accepted, 1 of them under package 107
    2  held
    5  rows

    results  HOME/people.results.csv

    requests  3 RECEIVED

    Needs a person
      2 held  people.csv: Ana Row4, Ana Row5: may have been ordered, because the store had lost attempts
        refcheck batch release BATCH_1
    exit 0
  `)
  const person = '--first-name Ana --last-name Row3 --email a3@example.com --phone +61400000003'
  const successor = here.sandbox.requests().find((each) => each.request_id === requestId)?.package_id
  expect(await type(`request create --package ${successor} ${person} --yes`)).toMatchObject({ code: 2 })
  expect(here.listOrderedEmails().filter((email) => email === 'a3@example.com')).toHaveLength(2)
})

test('without a terminal, a request is recorded for a held row by its id, if it is the request of that person alone', async () => {
  const here = await sessionWithHeldRows()
  const { type, batchId, listOrderedEmails } = here
  const requestId = await orderElsewhere(here, 4)
  const otherId = await orderElsewhere(here, 5)
  const record = (row: number, id: string) => `batch reconcile ${batchId} --row ${row} --request-id ${id}`
  expect(
    await here.all([record(4, otherId), record(4, requestId), record(4, requestId), record(3, requestId)]),
  ).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 4 --request-id REQUEST_4
    2> Error: request REQUEST_4 is for somebody else, so it is not the order of Ana Row4 (line 5)
    2> Nothing was recorded. Check the id with the provider; "refcheck request get REQUEST_4" shows that request.
    exit 2

    $ refcheck batch reconcile BATCH_1 --row 4 --request-id REQUEST_3
    Ana Row4 (line 5) is ordered: request REQUEST_3

    batch  BATCH_1
    people.csv, 102 Identity check only

    3  accepted
    2  held
    5  rows

    results  HOME/people.results.csv
    exit 0

    $ refcheck batch reconcile BATCH_1 --row 4 --request-id REQUEST_3
    2> Error: Ana Row4 (line 5) is accepted, not unknown: there is nothing to decide
    2> List the unknown rows with: refcheck batch rows BATCH_1 --state unknown
    exit 2

    $ refcheck batch reconcile BATCH_1 --row 3 --request-id REQUEST_3
    2> Error: request REQUEST_3 is the order of Ana Row4 (a4@example.com) already
    2> Nothing was recorded. One request is one order: check the id with the provider.
    exit 2
  `)
  expect(await type(`batch reconcile ${batchId} --row 3`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 3
    2> Error: Ana Row3 (line 4) is held, not unknown: there is nothing to decide
    2> Decide about held rows with: refcheck batch release BATCH_1
    exit 2
  `)
  expect((await type(`batch resume ${batchId} --yes --json`)).json()).toMatchObject({
    counts: { accepted: 3, held: 2 },
  })
  expect(listOrderedEmails().filter((email) => email === 'a4@example.com')).toHaveLength(1)
})

test('a request with another spelling of the person is recorded for a held row only if the user confirms it', async () => {
  const here = await sessionWithHeldRows()
  const { type, batchId } = here
  const person = '--first-name Anna --last-name Row3 --email a3@example.com --phone +61400000003'
  const exported = { REFCHECK_STORE: 'other.sqlite', REFCHECK_QUOTA: '10000/60' }
  const created = await type(`request create --package 102 ${person} --yes --json`, { exported })
  const { request_id: requestId } = created.json() as { request_id: string }
  const answers = [
    { ask: question, choose: recordIt },
    { ask: idQuestion, type: requestId },
    { ask: /^Request .* is Anna Row3 .*Different: another spelling of the person/, confirm: false },
    { ask: question, choose: recordIt },
    { ask: idQuestion, type: requestId },
    { ask: /^Request .* is Anna Row3 .*Different: another spelling of the person/, confirm: true },
    { ask: question, choose: 'Decide later' },
    { ask: question, choose: 'Decide later' },
  ]
  const { stderr } = await type(`batch release ${batchId}`, { answers })
  expect(stderr).toContain(`Ana Row3 (line 4) is ordered: request ${requestId}`)
  expect((await type(`batch status ${batchId} --json`)).json()).toMatchObject({
    counts: { accepted: 3, held: 2, cancelled: 0 },
  })
})

test('a row that may have been ordered is neither cancelled nor removed with its person', async () => {
  const here = await sessionWithHeldRows()
  const { type, batchId, listOrderedEmails } = here
  expect(await type(`batch cancel ${batchId} --row 4`)).toMatchInlineSnapshot(`
    $ refcheck batch cancel BATCH_1 --row 4
    2> Error: Ana Row4 cannot be cancelled: the order may have been sent, because this store had lost attempts
    2> The provider has no request for Ana Row4: refcheck batch release BATCH_1 --row 4
    2> The provider has one: refcheck batch reconcile BATCH_1 --row 4 --request-id UUID
    exit 2
  `)
  expect(await type(`batch cancel ${batchId} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch cancel BATCH_1 --yes
    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    3  held
    5  rows

    results  HOME/people.results.csv
    2> Error: 3 rows stay held, because their people may have been ordered (this store had lost attempts): Ana Row3 (line 4), Ana Row4 (line 5), Ana Row5 (line 6)
    2> The provider has no request for Ana Row3 (line 4): refcheck batch release BATCH_1 --row 3
    2> The provider has one: refcheck batch reconcile BATCH_1 --row 3 --request-id UUID
    exit 10
  `)
  expect(await type('store purge --email a5@example.com --yes')).toMatchInlineSnapshot(`
    $ refcheck store purge --email a5@example.com --yes
    Removed personal data of 0 rows and 0 events; 1 row not settled yet is kept. See what needs a decision: refcheck status
    exit 0
  `)
  here.write('late.csv', here.read('people.csv').split('\n').toSpliced(1, 3).join('\n'))
  expect((await type('batch run late.csv --package 102 --yes')).code).toBe(10)
  expect(listOrderedEmails()).toHaveLength(2)
  expect((await type('store check')).code).toBe(0)
})

test('release --all asks on a terminal about rows that may have been ordered, and otherwise leaves them held', async () => {
  const { type, batchId } = await sessionWithHeldRows()
  const line = `batch release ${batchId} --all`
  const answers = [{ ask: /^Release these rows all the same/, confirm: false }]
  expect(await type(line, { answers })).toMatchInlineSnapshot(`
    $ refcheck batch release BATCH_1 --all
    2> Warning: 3 rows of people.csv may have been ordered, because this store had lost attempts: Ana Row3 (line 4), Ana Row4 (line 5), Ana Row5 (line 6). Releasing a row whose person was ordered orders that person twice. To decide about each row: refcheck batch release BATCH_1
    ? Release these rows all the same? no
    2> Not confirmed; nothing was done
    exit 130
  `)
  expect(await type(line)).toMatchInlineSnapshot(`
    $ refcheck batch release BATCH_1 --all
    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    3  held
    5  rows

    results  HOME/people.results.csv
    2> Error: 3 rows stay held, because their people may have been ordered (this store had lost attempts): Ana Row3 (line 4), Ana Row4 (line 5), Ana Row5 (line 6)
    2> The provider has no request for Ana Row3 (line 4): refcheck batch release BATCH_1 --row 3
    2> The provider has one: refcheck batch reconcile BATCH_1 --row 3 --request-id UUID
    exit 10
  `)
  const asJson = await type(`${line} --json`)
  expect([asJson.code, asJson.json()]).toMatchObject([
    10,
    { batch_id: batchId, counts: { held: 3 }, error: { code: 'incomplete' } },
  ])
  expect((await type(`batch release ${batchId} --row 3`)).code).toBe(0)
  const confirmed = [{ ask: /^Release these rows all the same/, confirm: true }]
  expect((await type(line, { answers: confirmed })).stderr).toContain('Released 2 rows: ')
})

test('a row that may have been ordered stays held after batch move, and no other command orders its person', async () => {
  const here = await sessionWithHeldRows()
  const { type, batchId, sandbox, listOrderedEmails } = here
  const person = '--first-name Ana --last-name Row4 --email a4@example.com --phone +61400000004'
  expect(await type(`request create --package 102 ${person} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Row4 --email a4@example.com --phone +61400000004 --yes
    2> Error: package 102 may have been ordered for "a4@example.com": row 4 of batch BATCH_1 is held, because the store had lost attempts
    2> Decide about that row first: refcheck batch release BATCH_1
    exit 2
  `)
  const successor = sandbox.replacePackage(102, { newField: false })
  await type(`batch move ${batchId} --package ${successor}`)
  expect((await type(`batch resume ${batchId} --yes --json`)).json()).toMatchObject({ counts: { held: 3 } })
  expect(await type(`request create --package ${successor} ${person} --yes`)).toMatchObject({ code: 2 })
  expect(listOrderedEmails()).not.toContain('a4@example.com')
})

test('a later file of a person who is held because of lost attempts names the command that decides about that row', async () => {
  const here = await sessionWithHeldRows()
  const row4 = 'Ana,Row4,a4@example.com,+61400000004'
  const header = here.read('people.csv').split('\n')[0] ?? ''
  here.write('one.csv', `${header}\n${row4}\n`)
  here.write('two.csv', `${header}\n${row4}\nNew,Row,new@example.com,+61400000099\n`)
  const { stderr } = await here.type('batch run one.csv --package 102 --yes')
  expect(stderr).toContain('first: refcheck batch release ')
  expect(await here.type('batch run two.csv --package 102 --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run two.csv --package 102 --yes
    2>
    2> two.csv: 2 rows
    2>   1 order of 102 Identity check only
    2>   1 row that may have been ordered before, not sent
    2>     Ana Row4 (line 2): held in batch BATCH_1…
    2> Sending takes under a minute
    2>
    1 of 2 people in two.csv is ordered; 1 waiting in another batch

    batch  BATCH_2
    two.csv, 102 Identity check only

    1  accepted
    1  duplicate
    2  rows

    results  HOME/two.results.csv
    2> Error: 1 of 2 rows was accepted (1 waiting in another batch)
    2> Decide about the held rows of the other batch first: refcheck batch release BATCH_1
    exit 10
  `)
  const [batch] = (await here.type('batch list --json')).json() as { batch_id: string }[]
  expect(await here.type(`batch cancel ${batch?.batch_id} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch cancel BATCH_2 --yes
    2> Cancelled 1 row; it will not be sent.
    2> May have been ordered by another row or command: Ana Row4 (line 2)
    2> Settle that order with: refcheck batch release BATCH_1
    batch  BATCH_2
    two.csv, 102 Identity check only

    1  accepted
    1  cancelled
    2  rows

    results  HOME/two.results.csv
    exit 0
  `)
  expect(await here.type('batch run two.csv --package 102 --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run two.csv --package 102 --yes
    2> two.csv is batch BATCH_2: nothing left to send.
    1 of 2 people in two.csv is ordered; may have been ordered: Ana Row4 (line 2)

    batch  BATCH_2
    two.csv, 102 Identity check only

    1  accepted
    1  cancelled
    2  rows

    results  HOME/two.results.csv
    2> Error: 1 of 2 rows was accepted (1 cancelled)
    2> Decide about the held rows of the other batch first: refcheck batch release BATCH_1
    exit 10
  `)
})
