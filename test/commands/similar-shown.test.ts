import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { orderArguments } from '../harness/people.ts'
import { type Session, session } from '../harness/session.ts'

/* batch validate, batch plan, batch run and the final question name similar people. */
const header = 'first_name,last_name,email,phone'
const people = [
  'Ann,Low,ann@example.com,+61400000901',
  'Anne,Low,ann@example.com,+61400000901',
  'Bob,Low,bob@example.com,+61400000901',
  'Cyd,Ray,cyd@example.com,+61400000903',
]

async function sessionWithSimilarPeople(): Promise<Session> {
  const here = await session()
  here.write('before.csv', `${header}\nCid,Ray,cyd@example.com,+61400000909\n`)
  await here.type('batch run before.csv --package 102 --yes')
  here.write('people.csv', `${header}\n${people.join('\n')}\n`)
  return here
}

test('batch validate names similar people in groups, and mentions a phone of two different people', async () => {
  const here = await sessionWithSimilarPeople()
  expect(await here.type('batch validate people.csv --package 102')).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    people.csv: 4 rows, 4 valid

      2 rows held, not sent until you release them
        the same e-mail and phone as Ann Low (ann@example.com)
          Anne Low (line 3)
        the same e-mail as Cid Ray (cyd@example.com)
          Cyd Ray (line 5)
      1 row has the phone of another person: it is sent
        Bob Low (line 4) and Ann Low (ann@example.com)
      To leave one of them out, remove its line from the file first
    2> Order them with: refcheck batch run people.csv --package 102
    exit 0
  `)
  expect(await here.type('batch validate people.csv --package 102 --json')).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --json
    {
      "rows": 4,
      "valid": 4,
      "invalid": 0,
      "problems": [],
      "duplicates": [],
      "similar": [
        {
          "row": 2,
          "line": 3,
          "like": {
            "row": 1
          },
          "shares": [
            "email",
            "phone"
          ],
          "reason": "similar",
          "matches": {
            "state": "pending",
            "batch_id": null,
            "row": 1,
            "request_id": null
          }
        },
        {
          "row": 4,
          "line": 5,
          "like": {
            "request_id": "REQUEST_1"
          },
          "shares": [
            "email"
          ],
          "reason": "similar",
          "matches": {
            "state": "accepted",
            "batch_id": "BATCH_1",
            "row": 1,
            "request_id": "REQUEST_1"
          }
        }
      ],
      "ordered_before": [],
      "shared_phones": [
        {
          "row": 3,
          "line": 4,
          "like": {
            "row": 1
          }
        }
      ],
      "shared_names": [],
      "changes": [],
      "unlikely": []
    }
    2> Order them with: refcheck batch run people.csv --package 102
    exit 0
  `)
  expect(await here.type('batch validate people.csv --package 102 --allow-similar')).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --allow-similar
    people.csv: 4 rows, 4 valid

      1 row held, not sent until you release it
        the same e-mail as Cid Ray (cyd@example.com)
          Cyd Ray (line 5)
    2> Order them with: refcheck batch run people.csv --package 102 --allow-similar
    exit 0
  `)
})

test('batch plan and the plan of batch run name the same similar people', async () => {
  const here = await sessionWithSimilarPeople()
  expect(await here.type('batch plan people.csv --package 102')).toMatchInlineSnapshot(`
    $ refcheck batch plan people.csv --package 102
    2> people.csv: 4 rows
    2>   2 orders of 102 Identity check only
    2>   2 rows held, not sent until you release them
    2>     the same e-mail and phone as Ann Low (ann@example.com)
    2>       Anne Low (line 3)
    2>     the same e-mail as Cid Ray (cyd@example.com)
    2>       Cyd Ray (line 5)
    2>   1 row has the phone of another person: it is sent
    2>     Bob Low (line 4) and Ann Low (ann@example.com)
    2>   To leave one of them out, remove its line from the file first
    2> Sending takes under a minute
    {
      "refcheck_plan": 1,
      "file": "HOME/people.csv",
      "sha256": "e623982443a257be7834713bac24a0c150f8412fb10724579e992df6be0489bc",
      "base_url": "http://127.0.0.1:PORT",
      "package_id": 102,
      "reading": {
        "sheet": null,
        "map": {},
        "ignore": [],
        "default_country": null,
        "header_row": null,
        "encoding": null,
        "hidden": null,
        "accept_lines": []
      },
      "shared": [],
      "counts": {
        "total": 4,
        "pending": 2,
        "sending": 0,
        "accepted": 0,
        "rejected": 0,
        "unknown": 0,
        "dropped": 0,
        "held": 2,
        "invalid": 0,
        "duplicate": 0,
        "cancelled": 0
      },
      "duplicates": [],
      "changes": [],
      "unlikely": [],
      "ordered_before": [],
      "held": [
        {
          "row": 2,
          "reason": "similar",
          "request_id": null
        },
        {
          "row": 4,
          "reason": "similar",
          "request_id": "REQUEST_1"
        }
      ],
      "seconds": 0
    }
    exit 0
  `)
  const answers = [
    {
      ask: /^Order .* for 2 people \(Ann Low \(ann@example\.com\), Bob Low \(bob@example\.com\)\)/,
      confirm: false,
    },
  ]
  expect(await here.type('batch run people.csv --package 102', { answers })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    2>
    2> people.csv: 4 rows
    2>   2 orders of 102 Identity check only
    2>   2 rows held, not sent until you release them
    2>     the same e-mail and phone as Ann Low (ann@example.com)
    2>       Anne Low (line 3)
    2>     the same e-mail as Cid Ray (cyd@example.com)
    2>       Cyd Ray (line 5)
    2>   1 row has the phone of another person: it is sent
    2>     Bob Low (line 4) and Ann Low (ann@example.com)
    2>   To leave one of them out, remove its line from the file first
    2> Sending takes under a minute
    2>
    ? Order 102 Identity check only for 2 people (Ann Low (ann@example.com), Bob Low (bob@example.com)) at 127.0.0.1:PORT as olive.owner@example.com, and leave out 2 rows? no
    2> Not confirmed; nothing was done
    exit 130
  `)
})

test('request create names the similar order in its final question', async () => {
  const { type, listOrderedEmails } = await session()
  await type(orderArguments('Ana'))
  const line =
    'request create --package 102 --first-name Anna --last-name Example --email ana@example.com --phone +61412345678'
  const declined = await type(line, {
    answers: [
      { ask: 'Is everything correct?', choose: /^Yes/ },
      { ask: /^Somebody similar was ordered.* Order 102 /, confirm: false },
      { ask: 'Is everything correct?', choose: /^Cancel/ },
      { ask: 'Delete all answers about Anna Example?', confirm: true },
    ],
  })
  expect(declined).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Anna --last-name Example --email ana@example.com --phone +61412345678
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Anna
    2> Recipient  Last name   Example
    2> Recipient  Email       ana@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Yes, go on
    ? Somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for Ana Example (ana@example.com) has the same e-mail and phone. Order 102 Identity check only for Anna Example (ana@example.com) at 127.0.0.1:PORT as olive.owner@example.com? no
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Anna
    2> Recipient  Last name   Example
    2> Recipient  Email       ana@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Cancel, and delete the answers
    ? Delete all answers about Anna Example? yes
    2> Cancelled; nothing was ordered, and the answers are deleted
    exit 130
  `)
  expect(listOrderedEmails()).toHaveLength(1)
  const confirmed = await type(line, {
    answers: [
      { ask: 'Is everything correct?', choose: /^Yes/ },
      { ask: /^Somebody similar was ordered/, confirm: true },
    ],
  })
  expect([confirmed.code, listOrderedEmails().length]).toEqual([0, 2])
})

test('request create --dry-run reports a duplicate and a similar person', async () => {
  const { type, listOrderedEmails } = await session()
  await type(orderArguments('Ana'))
  expect(await type(orderArguments('Ana', ['--dry-run']))).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Example --email ana@example.com --phone +61412345678 --dry-run
    2> Dry run: nothing was sent.
    {
      "package_id": 102,
      "recipient": {
        "first_name": "Ana",
        "last_name": "Example",
        "email": "ana@example.com",
        "phone": "+61412345678"
      }
    }
    2> Error: package 102 was already ordered for "ana@example.com": request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered
    2> To order it once more, add --allow-duplicate. Show the request with: refcheck request get REQUEST_1
    exit 2
  `)
  const similar = await type(
    'request create --package 102 --first-name Anna --last-name Example --email ana@example.com --phone +61412345678 --dry-run --json',
  )
  expect([similar.code, similar.json()]).toMatchObject([
    2,
    { recipient: { first_name: 'Anna' }, error: { code: 'duplicate', match: 'similar' } },
  ])
  expect((await type(orderArguments('Ana', ['--dry-run', '--allow-duplicate']))).code).toBe(0)
  expect(listOrderedEmails()).toHaveLength(1)
})

test('a file that is read with another mapping is another batch, whose rows are compared with earlier orders', async () => {
  const here = await session()
  const file = `given,${header}\nAnnabel,Ann,Low,ann@example.com,+61400000901\n`
  here.write('people.csv', file)
  expect((await here.type('batch run people.csv --package 102 --yes --ignore given')).code).toBe(0)
  const otherMapping = ['--map', 'given=first_name', '--ignore', 'first_name']
  const again = await here.type(`batch run people.csv --package 102 --yes --json ${otherMapping.join(' ')}`)
  expect([again.code, again.json()]).toMatchObject([10, { counts: { held: 1 } }])
  const { batch_id } = again.json() as { batch_id: string }
  const third = await here.type(`batch run people.csv --package 102 --yes --json ${otherMapping.join(' ')}`)
  expect(third.json()).toMatchObject({ batch_id })
  expect(here.listOrderedEmails()).toHaveLength(1)
})

test.each([
  [['person_print'], 0],
  [['email_print'], 0],
  [['person_print', 'email_print', 'phone_print'], 1],
])(
  'store check finds a damaged fingerprint (%j), and the person is not ordered again',
  async (columns, code) => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(2))
    await here.type('batch run people.csv --package 102 --yes')
    const database = new DatabaseSync(join(here.folder, 'data', 'ledger.sqlite'))
    for (const column of columns) database.exec(`UPDATE submissions SET ${column} = 'x' WHERE row_number = 1`)
    database.close()
    const check = await here.type('store check')
    expect([check.code, check.stdout + check.stderr]).toEqual([
      1,
      expect.stringContaining('its fingerprint is not that of its person'),
    ])
    here.write('again.csv', `${header}\nAna,Row1,a1@example.com,+61400000001\n`)
    const again = await here.type('batch run again.csv --package 102 --yes')
    expect([again.code, here.listOrderedEmails()]).toEqual([code, createEmails(2)])
    const orderLine = 'request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com'
    const created = await here.type(`${orderLine} --phone +61400000001 --yes`)
    expect([created.code === 0, here.listOrderedEmails()]).toEqual([false, createEmails(2)])
  },
)

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a row with the name of an earlier order, but another e-mail and phone, is reported and sent: %s',
  async (store) => {
    const here = await session({ store })
    const { type, listOrderedEmails, write } = here
    const person = '--first-name Mei --last-name Ito --email mei@example.com --phone +61400000001'
    await type(`request create --package 102 ${person} --yes`)
    write(
      'people.csv',
      [
        'first_name,last_name,email,phone',
        'MEI,Ito,mei.ito@example.net,+61400000002',
        'Mei,Itoh,other@example.net,+61400000003',
        '',
      ].join('\n'),
    )
    const validated = await type('batch validate people.csv --package 102 --json')
    expect(validated.json()).toMatchObject({
      similar: [],
      shared_names: [{ row: 1, line: 2, ordered_at: expect.stringMatching(/^2026-/) as string }],
    })
    const otherPackage = await type('batch validate people.csv --package 103 --json')
    expect(otherPackage.json()).toMatchObject({ shared_names: [] })
    const run = await type('batch run people.csv --package 102 --yes')
    expect(run.stderr).toMatch(
      /^  1 row has the name of a person ordered before with another e-mail and phone: it is sent\n    MEI Ito \(line 2\): ordered 2026-\S+ \d\d:\d\d \+00:00$/m,
    )
    expect(run.code).toBe(0)
    const similarPerson = person.replace('mei@example.com', 'm@example.org').replace('0001', '0009')
    const answers = [
      { ask: 'Is everything correct?', choose: /^Yes/ },
      {
        ask: /^A person named Mei Ito was ordered 2026-.* with another e-mail and phone\. Order/,
        confirm: true,
      },
    ]
    expect((await type(`request create --package 102 ${similarPerson}`, { answers })).code).toBe(0)
    expect(listOrderedEmails()).toEqual([
      'mei@example.com',
      'mei.ito@example.net',
      'other@example.net',
      'm@example.org',
    ])
    await type('store purge --email mei@example.com --yes')
    await type('store purge --email mei.ito@example.net --yes')
    await type('store purge --email m@example.org --yes')
    const erased = await type('batch validate people.csv --package 102 --ignore-results --json')
    expect(erased.json()).toMatchObject({ shared_names: [] })
  },
)
