import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

/** Both engines of the store have to print the same messages. */
const stores = ['SQLite', 'PostgreSQL'] as const

const header = 'first_name,last_name,email,phone'
const ann = 'Ann,Low,ann@example.com,+61400000901'
const createOrderLine = (first: string, email: string, phone: string): string =>
  `request create --package 102 --first-name ${first} --last-name Low --email ${email} --phone ${phone} --yes`

test.each(stores)(
  'after a corrected phone, a similar name (Anne) or a new e-mail, a person is ordered only with a confirmation (%s)',
  async (store) => {
    const { type, write, listOrderedEmails } = await session({ store })
    write('people.csv', `${header}\n${ann}\n`)
    await type('batch run people.csv --package 102 --yes')
    const otherPhoneLine = createOrderLine('Ann', 'ann@example.com', '+61400000902')
    const otherNameLine = createOrderLine('Anne', 'ann@example.com', '+61400000901')
    const otherEmailLine = createOrderLine('Ann', 'ann.low@example.com', '+61400000901')
    const declined = { answers: [{ ask: /Order anyway/, confirm: false }] }
    expect(await type(`${otherPhoneLine} --json`)).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ann --last-name Low --email ann@example.com --phone +61400000902 --yes --json
      {
        "error": {
          "code": "duplicate",
          "message": "somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for Ann Low (ann@example.com) has the same e-mail and name",
          "hint": "Nothing was sent. If these are two people, or this is meant to be ordered again, add --allow-similar.",
          "request_id": "REQUEST_1",
          "batch_id": "BATCH_1",
          "row": 1,
          "match": "similar"
        }
      }
      2> Error: somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for Ann Low (ann@example.com) has the same e-mail and name
      exit 2
    `)
    expect(await type(otherPhoneLine, declined)).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ann --last-name Low --email ann@example.com --phone +61400000902 --yes
      ? Somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for Ann Low (ann@example.com) has the same e-mail and name. Order anyway? no
      2> Nothing was ordered.
      exit 2
    `)
    expect(await type(otherNameLine, declined)).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Anne --last-name Low --email ann@example.com --phone +61400000901 --yes
      ? Somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for Ann Low (ann@example.com) has the same e-mail and phone. Order anyway? no
      2> Nothing was ordered.
      exit 2
    `)
    expect(await type(otherEmailLine, declined)).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ann --last-name Low --email ann.low@example.com --phone +61400000901 --yes
      ? Somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for Ann Low (ann@example.com) has the same phone and name. Order anyway? no
      2> Nothing was ordered.
      exit 2
    `)
    expect(listOrderedEmails()).toHaveLength(1)
    expect(await type(`${otherPhoneLine} --allow-similar`)).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ann --last-name Low --email ann@example.com --phone +61400000902 --yes --allow-similar
      created  REQUEST_2                             RECEIVED
      2> Follow it with: refcheck request wait REQUEST_2
      exit 0
    `)
    for (const line of [otherNameLine, otherEmailLine])
      expect((await type(`${line} --allow-similar`)).code).toBe(0)
    expect(listOrderedEmails()).toHaveLength(4)
  },
)

test.each(stores)(
  'of three rows of one file with one e-mail, the first is ordered, and the others are held until they are released (%s)',
  async (store) => {
    const { type, all, folder, listOrderedEmails } = await session({ store })
    const rows = ['Ann', 'Bob', 'Cyd'].map((name, at) => `${name},Low,office@example.com,+6140000091${at}`)
    writeFileSync(join(folder, 'people.csv'), `${header}\n${rows.join('\n')}\n`)
    const held = await type('batch run people.csv --package 102 --yes --json')
    expect(held).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes --json
      2>
      2> people.csv: 3 rows
      2>   1 order of 102 Identity check only
      2>   2 rows held, not sent until you release them
      2>     the same e-mail as Ann Low (office@example.com)
      2>       Bob Low (line 3), Cyd Low (line 4)
      2> Sending takes under a minute
      2>
      {
        "batch_id": "BATCH_1",
        "package_id": 102,
        "counts": {
          "total": 3,
          "pending": 0,
          "sending": 0,
          "accepted": 1,
          "rejected": 0,
          "unknown": 0,
          "dropped": 0,
          "held": 2,
          "invalid": 0,
          "duplicate": 0,
          "cancelled": 0
        },
        "results_file": "HOME/people.results.csv",
        "stopped": [
          {
            "row": 2,
            "line": 3,
            "state": "held",
            "email": "office@example.com",
            "reason": "held: has the same e-mail as request REQUEST_1 (row 1, ordered 2026-11-20 12:00 +00:00)",
            "matches": {
              "state": "accepted",
              "batch_id": "BATCH_1",
              "row": 1,
              "request_id": "REQUEST_1"
            }
          },
          {
            "row": 3,
            "line": 4,
            "state": "held",
            "email": "office@example.com",
            "reason": "held: has the same e-mail as request REQUEST_1 (row 1, ordered 2026-11-20 12:00 +00:00)",
            "matches": {
              "state": "accepted",
              "batch_id": "BATCH_1",
              "row": 1,
              "request_id": "REQUEST_1"
            }
          }
        ],
        "error": {
          "code": "incomplete",
          "message": "1 of 3 rows was accepted (2 held)",
          "hint": "See why rows are held: refcheck batch rows BATCH_1 --state held\\nBob Low (line 3) is another person: refcheck batch release BATCH_1 --row 2\\nBob Low (line 3) is the same person: refcheck batch cancel BATCH_1 --row 2"
        }
      }
      2> Error: 1 of 3 rows was accepted (2 held)
      exit 10
    `)
    const { batch_id } = held.json() as { batch_id: string }
    expect(listOrderedEmails()).toHaveLength(1)
    // Another run of the file does not send them.
    const again = [
      'batch run people.csv --package 102 --yes',
      `batch release ${batch_id} --row 2`,
      `batch cancel ${batch_id} --row 3`,
      `batch rows ${batch_id}`,
      `batch resume ${batch_id} --yes`,
    ]
    expect(await all(again)).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes
      2> people.csv is batch BATCH_1: 2 rows are held.
      1 of 3 people in people.csv is ordered; 2 held

      batch  BATCH_1
      people.csv, 102 Identity check only

      1  accepted
      2  held
      3  rows

      results  HOME/people.results.csv
      2> Error: 1 of 3 rows was accepted (2 held)
      2> See why rows are held: refcheck batch rows BATCH_1 --state held
      2> Bob Low (line 3) is another person: refcheck batch release BATCH_1 --row 2
      2> Bob Low (line 3) is the same person: refcheck batch cancel BATCH_1 --row 2
      exit 10

      $ refcheck batch release BATCH_1 --row 2
      2> Released 1 row: Bob Low (line 3). Order with: refcheck batch resume BATCH_1
      batch  BATCH_1
      people.csv, 102 Identity check only

      1  accepted
      1  pending
      1  held
      3  rows

      results  HOME/people.results.csv
      exit 0

      $ refcheck batch cancel BATCH_1 --row 3
      2> Cancelled 1 row; it will not be sent.
      2> To order Cyd Low (line 4) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again.csv
      batch  BATCH_1
      people.csv, 102 Identity check only

      1  accepted
      1  pending
      1  cancelled
      3  rows

      results  HOME/people.results.csv
      exit 0

      $ refcheck batch rows BATCH_1
      ROW  LINE  STATE      EMAIL               OUTCOME
      1    2     accepted   office@example.com  REQUEST_1
      2    3     pending    office@example.com  -
      3    4     cancelled  office@example.com  cancelled before it was sent
      exit 0

      $ refcheck batch resume BATCH_1 --yes
      ✔ 2 of 3 people in people.csv are ordered; left out: Cyd Low (line 4)

      batch  BATCH_1
      people.csv, 102 Identity check only

      2  accepted
      1  cancelled
      3  rows

      results  HOME/people.results.csv

      Next: refcheck request wait --batch BATCH_1
      2> To order Cyd Low (line 4) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again.csv
      exit 10
    `)
    expect(listOrderedEmails()).toHaveLength(2)
  },
)

test.each(stores)(
  'people of a halted file that is fixed and run again are reported as pending in the halted batch, not as ordered (%s)',
  async (store) => {
    const { type, folder, sandbox, listOrderedEmails } = await session({ store })
    writePeopleFile(folder, createEmails(3))
    sandbox.setCredits(0)
    await type('batch run people.csv --package 102 --yes --json')
    sandbox.setCredits(null)
    writeFileSync(join(folder, 'again.csv'), `${header}\nAna,Row1,a1@example.com,+61400000001\n`)
    expect(await type('batch run again.csv --package 102 --yes')).toMatchInlineSnapshot(`
      $ refcheck batch run again.csv --package 102 --yes
      again.csv: 1 row
        0 orders to send
        1 row already waiting in a batch, not sent
          Ana Row1 (line 2): waiting in batch BATCH_1…
      2> Error: nothing was sent: 1 row waits in batch BATCH_1
      2> Resume that batch with: refcheck batch resume BATCH_1
      exit 10
    `)
    expect(listOrderedEmails()).toEqual([])
  },
)

test.each(stores)(
  'a duplicate of a row that was cancelled before it was sent is ordered in the next run (%s)',
  async (store) => {
    const { type, all, folder, sandbox, listOrderedEmails } = await session({ store })
    writePeopleFile(folder, createEmails(2))
    sandbox.setCredits(0)
    const { batch_id } = (await type('batch run people.csv --package 102 --yes --json')).json() as {
      batch_id: string
    }
    sandbox.setCredits(null)
    const lines = ['a1', 'a2', 'a3'].map(
      (name, at) => `Ana,Row${at + 1},${name}@example.com,+6140000000${at + 1}`,
    )
    writeFileSync(join(folder, 'more.csv'), `${header}\n${lines.join('\n')}\n`)
    expect(await type('batch run more.csv --package 102 --yes')).toMatchInlineSnapshot(`
      $ refcheck batch run more.csv --package 102 --yes
      2>
      2> more.csv: 3 rows
      2>   1 order of 102 Identity check only
      2>   2 rows already waiting in a batch, not sent
      2>     Ana Row1 (line 2): waiting in batch BATCH_1…
      2>     Ana Row2 (line 3): waiting in batch BATCH_1…
      2> Sending takes under a minute
      2>
      1 of 3 people in more.csv is ordered; 2 waiting in another batch

      batch  BATCH_2
      more.csv, 102 Identity check only

      1  accepted
      2  duplicate
      3  rows

      results  HOME/more.results.csv
      2> Error: 1 of 3 rows was accepted (2 waiting in another batch)
      2> Resume the batch in which 2 duplicates wait: refcheck batch resume BATCH_1
      exit 10
    `)
    expect(listOrderedEmails()).toEqual(['a3@example.com'])
    expect(await all([`batch cancel ${batch_id} --yes`, 'batch run more.csv --package 102 --yes']))
      .toMatchInlineSnapshot(`
        $ refcheck batch cancel BATCH_1 --yes
        2> Cancelled 2 rows; they will not be sent.
        2> To order Ana Row1 (line 2), Ana Row2 (line 3) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again.csv
        2> Left out of more.csv because of these rows: Ana Row1 (line 2), Ana Row2 (line 3). To order these rows now: refcheck batch resume BATCH_2
        batch  BATCH_1
        people.csv, 102 Identity check only

        2  cancelled
        2  rows

        results  HOME/people.results.csv
        exit 0

        $ refcheck batch run more.csv --package 102 --yes
        2> more.csv is batch BATCH_2: 1 of 3 accepted, 2 rows are left to send.
        ✔ All 3 people in more.csv are ordered
           2 now: Ana Row1, Ana Row2
           1 before

        batch  BATCH_2
        more.csv, 102 Identity check only

        3  accepted
        3  rows

        results  HOME/more.results.csv

        Next: refcheck request wait --batch BATCH_2
        exit 0
      `)
    expect(listOrderedEmails().toSorted()).toEqual(createEmails(3))
  },
)

test.each(stores)(
  'a person with punctuation as first name, and the phone and surname of an order, is not ordered (%s)',
  async (store) => {
    const { type, write, listOrderedEmails } = await session({ store })
    expect((await type(createOrderLine('Ann', 'ann@example.com', '+61400000901'))).code).toBe(0)
    const names = ['-', '.', '—', '*']
    for (const [at, name] of names.entries()) {
      const order = createOrderLine('NAME', `new${at}@example.com`, '+61400000901').replace(
        '-name NAME',
        `-name=${name}`,
      )
      const refused = await type(`${order} --json`)
      expect([name, refused.code, refused.json()]).toMatchObject([
        name,
        2,
        { error: { code: 'duplicate', match: 'similar' } },
      ])
    }
    const rows = names.map((name, at) => `${name},Low,row${at}@example.com,+61400000901`)
    write('people.csv', `${header}\n${rows.join('\n')}\n`)
    const outcome = await type('batch run people.csv --package 102 --yes --json')
    expect([outcome.code, outcome.json()]).toMatchObject([10, { counts: { held: 4, accepted: 0 } }])
    expect(listOrderedEmails()).toEqual(['ann@example.com'])
  },
)

test.each(stores)('an account in another spelling is the same account (%s)', async (store) => {
  const { type, listOrderedEmails } = await session({ store })
  const [first_name, last_name, email, phone] = ann.split(',')
  const person = `--first-name ${first_name} --last-name ${last_name} --email ${email} --phone ${phone}`
  const order = `request create --package 102 ${person} --yes`
  expect((await type(order, { env: { REFCHECK_ACCOUNT: 'acme' } })).code).toBe(0)
  for (const account of ['acme', 'Acme', 'acme ', 'ACME']) {
    const again = await type(`${order} --json`, { env: { REFCHECK_ACCOUNT: account } })
    expect([account, again.code, again.json()]).toMatchObject([account, 2, { error: { code: 'duplicate' } }])
  }
  expect(listOrderedEmails()).toHaveLength(1)
  const refused = await type(order, { env: { REFCHECK_ACCOUNT: 'Acme Ltd' } })
  expect([refused.code, refused.stderr]).toMatchInlineSnapshot(`
    [
      2,
      "Error: account: "Acme Ltd" is not a name of 1 to 64 letters a to z, digits and . _ -
    For example: refcheck config set account acme
    ",
    ]
  `)
})

test.each(stores)(
  'a person ordered under one account can be ordered under another account, but not without an account (%s)',
  async (store) => {
    const { type, folder, listOrderedEmails, clock } = await session({ store })
    writeFileSync(join(folder, 'people.csv'), `${header}\n${ann}\n`)
    const run = 'batch run people.csv --package 102 --yes'
    expect((await type(run, { env: { REFCHECK_ACCOUNT: 'acme' } })).code).toBe(0)
    expect((await type('store accounts add other')).code).toBe(0)
    await clock.advance(1_000)
    expect((await type(run, { env: { REFCHECK_ACCOUNT: 'other' } })).code).toBe(0)
    expect(await type(run)).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes
      ✔ 1 person in people.csv is ordered, on 2026-11-20 12:00 +00:00; nothing to do

      people.csv: 1 row
        0 orders to send
        1 row ordered before, not sent
          Ann Low (line 2): ordered 2026-11-20 12:00 +00:00
      exit 0
    `)
    expect(listOrderedEmails()).toHaveLength(2)
  },
)
