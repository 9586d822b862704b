import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import type { Answer } from '../harness/scripted-prompter.ts'
import { session } from '../harness/session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('replaced', { mustNotHappen: 'ordered under both' })

const unavailable = { kind: 'status', status: 503, when: 'before' } as const

const createOrderLine = (first: string, packageId: number, more = ''): string =>
  `request create --package ${packageId} --first-name ${first} --last-name Low --email ann@example.com --phone +61400000901 --yes${more}`

/** The flag for the additional field of the package that replaces 102. */
const consent = ' --field consent.consent_method=email'

test('resume sends nothing under a replaced package, and a person ordered under the old package is held under the successor', async () => {
  const { type, write, folder, sandbox, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(3))
  const started = await type('batch run people.csv --package 102 --yes --json --max 1')
  const { batch_id } = started.json() as { batch_id: string }
  const successor = sandbox.replacePackage(102)
  expect(await type(`batch resume ${batch_id} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch resume BATCH_1 --yes
    1 of 3 people in people.csv is ordered; 2 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    2  pending
    3  rows

    halted  2026-11-20 12:00 +00:00  package 102 ("Identity check only") is INACTIVE and can no longer be ordered

    results  HOME/people.results.csv
    2> Error: halted: package 102 ("Identity check only") is INACTIVE and can no longer be ordered; 1 accepted so far, 2 not sent yet
    2> Its likely successor is package 107 (same name, newer id). consent.consent_method: new and required.
    2> Write the rows that were not sent to a file: refcheck batch export BATCH_1 --state pending,held,rejected --output rest.csv
    2> Fix them there, set their package_id to 107, and order them: refcheck batch run rest.csv
    2> Then cancel them here: refcheck batch cancel BATCH_1
    exit 5
  `)
  expect(listOrderedEmails()).toEqual(createEmails(1))
  expect(await type(`batch move ${batch_id} --package ${successor}`)).toMatchInlineSnapshot(`
    $ refcheck batch move BATCH_1 --package 107
    2> Error: 2 rows are invalid for package 107: consent.consent_method is required, in lines 3, 4
    2> Nothing was moved. Write the rows that were not sent to a file: refcheck batch export BATCH_1 --state pending,held,rejected --output rest.csv
    2> Fix them there, set their package_id to 107, and order them: refcheck batch run rest.csv
    2> Then cancel them here: refcheck batch cancel BATCH_1
    exit 2
  `)
  const lines = createEmails(3).map((email, at) => `Ana,Row${at + 1},${email},+6140000000${at + 1},email`)
  write('fixed.csv', `first_name,last_name,email,phone,consent.consent_method\n${lines.join('\n')}\n`)
  expect(await type(`batch run fixed.csv --package ${successor} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch run fixed.csv --package 107 --yes
    2>
    2> fixed.csv: 3 rows
    2>   2 orders of 107 Identity check only
    2>   1 row held, not sent until you release it
    2>     was ordered under the package that this one replaces
    2>       Ana Row1 (line 2)
    2> Sending takes under a minute
    2>
    2 of 3 people in fixed.csv are ordered; 1 held

    batch  BATCH_2
    fixed.csv, 107 Identity check only

    2  accepted
    1  held
    3  rows

    results  HOME/fixed.results.csv
    2> Error: 2 of 3 rows were accepted (1 held)
    2> See why it is held: refcheck batch rows BATCH_2 --state held
    2> Order Ana Row1 (line 2): refcheck batch release BATCH_2 --row 1
    2> Leave Ana Row1 (line 2) out: refcheck batch cancel BATCH_2 --row 1
    exit 10
  `)
  expect(listOrderedEmails().toSorted()).toEqual(createEmails(3))
})

test('after a refused move, the commands of its hint order only the people who were not ordered before', async () => {
  const { type, write, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(3))
  const started = await type('batch run people.csv --package 102 --yes --json --max 1')
  const { batch_id } = started.json() as { batch_id: string }
  expect(await type(`batch move ${batch_id} --package 101`)).toMatchInlineSnapshot(`
    $ refcheck batch move BATCH_1 --package 101
    2> Error: 2 rows are invalid for package 101
    2>   reference.position_title is required, in lines 3, 4
    2>   ncc_acic.date_of_birth is required, in lines 3, 4
    2>   ncc_acic.is_volunteer is required, in lines 3, 4
    2>   ncc_acic.previous_names is required; write none if there are none, in lines 3, 4
    2>   ncc_acic.residential_address is required, in lines 3, 4
    2>   icrc.years_of_history is required, in lines 3, 4
    2>   icrc.annual_income is required, in lines 3, 4
    2> Nothing was moved. Write the rows that were not sent to a file: refcheck batch export BATCH_1 --state pending,held,rejected --output rest.csv
    2> Fix them there, set their package_id to 101, and order them: refcheck batch run rest.csv
    2> Then cancel them here: refcheck batch cancel BATCH_1
    exit 2
  `)
  await type(`batch export ${batch_id} --state pending,held,rejected --output rest.csv`)
  const exported = readFileSync(join(folder, 'rest.csv'), 'utf8')
  write('rest.csv', exported.replaceAll(',102,', ',103,'))
  expect(await type('batch run rest.csv --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run rest.csv --yes
    2>
    2> rest.csv: 2 rows
    2>   2 orders of 103 Two references
    2> Sending takes under a minute
    2>
    ✔ All 2 people in rest.csv are ordered

    batch  BATCH_2
    rest.csv

    2  accepted
    2  rows

    results  HOME/rest.results.csv

    Next: refcheck request wait --batch BATCH_2
    exit 0
  `)
  expect(await type(`batch cancel ${batch_id} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch cancel BATCH_1 --yes
    2> Cancelled 2 rows; they will not be sent.
    2> To order Ana Row2 (line 3), Ana Row3 (line 4) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again.csv
    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    2  cancelled
    3  rows

    results  HOME/people.results.csv
    exit 0
  `)
  expect(listOrderedEmails().toSorted()).toEqual(createEmails(3))
})

test('request create under the successor is refused with the request under the old package', async () => {
  const { type, sandbox, listOrderedEmails } = await session()
  await type(createOrderLine('Ann', 102))
  const successor = sandbox.replacePackage(102)
  expect(await type(createOrderLine('Ann', successor, consent))).toMatchInlineSnapshot(`
    $ refcheck request create --package 107 --first-name Ann --last-name Low --email ann@example.com --phone +61400000901 --yes --field consent.consent_method=email
    2> Error: package 102, which this package seems to replace, was ordered for this person: request REQUEST_1, on 2026-11-20 12:00 +00:00
    2> Nothing was sent. To order this package as well, add --allow-similar.
    exit 2
  `)
  expect(listOrderedEmails()).toHaveLength(1)
})

test('a person similar to one ordered under the old package is refused too; --allow-similar orders the same person', async () => {
  const { type, sandbox, listOrderedEmails } = await session()
  await type(createOrderLine('Ann', 102))
  const successor = sandbox.replacePackage(102)
  expect(await type(createOrderLine('Anne', successor, consent))).toMatchInlineSnapshot(`
    $ refcheck request create --package 107 --first-name Anne --last-name Low --email ann@example.com --phone +61400000901 --yes --field consent.consent_method=email
    2> Error: somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for Ann Low (ann@example.com) has the same e-mail and phone
    2> Nothing was sent. If these are two people, or this is meant to be ordered again, add --allow-similar.
    exit 2
  `)
  expect(listOrderedEmails()).toHaveLength(1)
  expect(await type(createOrderLine('Ann', successor, `${consent} --allow-similar`))).toMatchInlineSnapshot(`
    $ refcheck request create --package 107 --first-name Ann --last-name Low --email ann@example.com --phone +61400000901 --yes --field consent.consent_method=email --allow-similar
    created  REQUEST_2                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_2
    exit 0
  `)
  expect(listOrderedEmails()).toHaveLength(2)
})

test('a person whose order under the replaced package was dropped may have been ordered, and is not called ordered', async () => {
  const { type, write, sandbox } = await session()
  const una = 'first_name,last_name,email,phone\nUna,Wolf,una+cut-after@example.com,+61400000001\n'
  write('r.csv', una)
  const { batch_id: id } = (await type('batch run r.csv --package 102 --yes --json')).json() as {
    batch_id: string
  }
  await type(`batch reconcile ${id} --row 1 --drop`)
  const successor = sandbox.replacePackage(102, { newField: false })
  write('d.csv', una)
  const later = { ask: /^Una Wolf may have been ordered on /, choose: 'Decide later' }
  expect(await type(`batch run d.csv --package ${successor} --yes`, { answers: [later] }))
    .toMatchInlineSnapshot(`
    $ refcheck batch run d.csv --package 107 --yes
    2>
    2> d.csv: 1 row
    2>   0 orders to send
    2>   1 row held, not sent until you release it
    2>     may have been ordered under the package that this one replaces
    2>       Una Wolf (line 2)
    2>
    2>
    2> Una Wolf (line 2) of d.csv is held (1 of 1)
    2>
    ? Una Wolf may have been ordered on 2026-11-20 12:00 +00:00 under 102 Identity check only, which 107 Identity check only seems to replace. Order 107 Identity check only as well?: Decide later
    0 of 1 person in d.csv is ordered; 1 held

    batch  BATCH_2
    d.csv, 107 Identity check only

    1  held
    1  row

    results  HOME/d.results.csv

    Next: refcheck batch release BATCH_2
    exit 10
  `)
})

test('a package chosen at the prompt conflicts with the orders of its predecessor', async () => {
  const { type, sandbox, listOrderedEmails } = await session()
  await type(createOrderLine('Ann', 102))
  sandbox.replacePackage(102)
  const answers: Answer[] = [
    { ask: /Which package/, choose: /Identity check only/ },
    { ask: /seems to replace/, confirm: false },
  ]
  const person = '--first-name Ann --last-name Low --email ann@example.com --phone +61400000901'
  expect(await type(`request create ${person}`, { answers })).toMatchInlineSnapshot(`
    $ refcheck request create --first-name Ann --last-name Low --email ann@example.com --phone +61400000901
    ? Which package?: Identity check only (107)
    ? Package 102, which this package seems to replace, was ordered for this person: request REQUEST_1, on 2026-11-20 12:00 +00:00. Go on all the same? no
    2> Cancelled; nothing was ordered
    2> Continue from these answers with: refcheck request create --package 107 --first-name Ann --last-name Low --email ann@example.com --phone +61400000901
    exit 130
  `)
  expect(listOrderedEmails()).toEqual(['ann@example.com'])
})

test('a file is not planned while the replaced packages cannot be read', async () => {
  const { type, folder, sandbox, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  sandbox.inject({ on: 'GET /v1/packages', times: 40, fault: unavailable })
  expect(await type('batch run people.csv --package 102 --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> answer 503; try 2 of 4 in 0.3 s
    2> answer 503; try 3 of 4 in 0.8 s
    2> answer 503; try 4 of 4 in 2.0 s
    2> Error: the service failed (503): internal server error
    2> Try again in a moment. Check whether the service is up with: refcheck ping
    exit 7
  `)
  expect(listOrderedEmails()).toEqual([])
  expect((await type('batch list --json')).json()).toEqual([])
})

test('a batch whose package cannot be ordered any more is not asked about, and status names the command that moves it', async () => {
  const { type, folder, sandbox, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(3))
  const run = 'batch run people.csv --package 102 --yes'
  const started = await type(`${run} --json --max 1`)
  const { batch_id } = started.json() as { batch_id: string }
  const successor = sandbox.replacePackage(102, { newField: false })
  expect(await type(`batch resume ${batch_id}`, { answers: [] })).toMatchInlineSnapshot(`
    $ refcheck batch resume BATCH_1
    2> Error: package 102 ("Identity check only") is INACTIVE and can no longer be ordered
    2> Its likely successor is package 107 (same name, newer id). It has the same fields. Move what is left of the batch to it with: refcheck batch move BATCH_1 --package 107
    exit 5
  `)
  expect((await type('batch run people.csv --package 102', { answers: [] })).stderr).toContain(
    `Move what is left of the batch to it with: refcheck batch move ${batch_id} --package ${successor}`,
  )
  await type(run)
  expect(await type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      people.csv  halted  refcheck batch move BATCH_1 --package 107
        package 102 ("Identity check only") is INACTIVE and can no longer be ordered; left to send: Ana Row2, Ana Row3
    exit 0
  `)
  await type(`batch move ${batch_id} --package ${successor}`)
  await type(`batch resume ${batch_id}`, { answers: [{ ask: /^Order 107 /, confirm: true }] })
  expect(listOrderedEmails()).toEqual(createEmails(3))
})
