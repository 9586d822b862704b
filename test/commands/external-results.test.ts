import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { colleague } from '../harness/service-env.ts'
import { type Session, session } from '../harness/session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('colleagues-results', { mustNotHappen: 'ordered twice' })

const run = 'batch run people.csv --package 102 --yes'

const header = 'first_name,last_name,email,phone'

/**
 * In an early version, people.results.csv next to people.csv was used only to choose another name for the new results, so a
 * colleague with another store ordered all people of the file again.
 */
describe('a results file of another store next to the input', () => {
  test('each person who was ordered according to the results file is a duplicate, with the request id of the results file', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(3))
    await here.type(run)
    expect(await here.type(run, colleague(here))).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes
      2>
      2> people.csv: 3 rows
      2>   0 orders to send
      2>   3 rows ordered before, not sent
      2>     Ana Row1 (line 2): ordered, by line 2 of people.results.csv
      2>     Ana Row2 (line 3): ordered, by line 3 of people.results.csv
      2>     Ana Row3 (line 4): ordered, by line 4 of people.results.csv
      2>
      ✔ All 3 people in people.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

      batch  BATCH_2
      people.csv, 102 Identity check only

      3  duplicate
      3  rows

      results  HOME/people.results-2.csv

      Next: refcheck report sync --output reports
      exit 0
    `)
    expect(here.listOrderedEmails()).toEqual(createEmails(3))
  })

  test('a person who was ordered under two packages is a duplicate in each row, also when the results file is run twice', async () => {
    const here = await session()
    const person = 'Ana,Row1,a1@example.com,+61400000001'
    here.write('people.csv', `package_id,${header}\n102,${person}\n103,${person}\n`)
    await here.type('batch run people.csv --yes')
    const { exported: env } = colleague(here)
    for (const file of ['people.csv', 'people.results.csv', 'people.results.csv'])
      await here.type(`batch run ${file} --yes`, { exported: env })
    expect(here.sandbox.requests().map(({ package_id: id }) => id)).toEqual([102, 103])
  })

  test('a row that was added at any position is ordered, and the results have the request ids of the other rows', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(2))
    await here.type(run)
    here.write(
      'people.csv',
      `${header}\nNew,Row,new@example.com,+61400000100\nAna,Row1,a1@example.com,+61400000001\nAna,Row2,a2@example.com,+61400000002\n`,
    )
    expect(await here.type(run, colleague(here))).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes
      2>
      2> people.csv: 3 rows
      2>   1 order of 102 Identity check only
      2>   2 rows ordered before, not sent
      2>     Ana Row1 (line 3): ordered, by line 2 of people.results.csv
      2>     Ana Row2 (line 4): ordered, by line 3 of people.results.csv
      2> Sending takes under a minute
      2>
      ✔ All 3 people in people.csv are ordered
         1 now: New Row
         2 before, on 2026-11-20 12:00 +00:00

      batch  BATCH_2
      people.csv, 102 Identity check only

      1  accepted
      2  duplicate
      3  rows

      results  HOME/people.results-2.csv

      Next: refcheck request wait --batch BATCH_2
      exit 0
    `)
    expect(here.listOrderedEmails()).toEqual([...createEmails(2), 'new@example.com'])
    expect(here.cat('people.results-2.csv')).toMatchInlineSnapshot(`
      $ cat people.results-2.csv
      first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
      New,Row,new@example.com,+61400000100,accepted,REQUEST_3,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_2,1,x14d46e14e2788836e89208047b1454be,xdaf10015cc5727d381b39b53a68d3a53,xf638685f0d825080eb333fcc3d1c8974
      Ana,Row1,a1@example.com,+61400000001,duplicate,REQUEST_1,,"is the same order as request REQUEST_1 (line 2 of people.results.csv, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_2,2,x5931154f64741b42466b02baab621880,xb092fe445001552b4d6d8e97740ee606,xac32bfb8ae31c22dd56f91ef1db8fc06
      Ana,Row2,a2@example.com,+61400000002,duplicate,REQUEST_2,,"is the same order as request REQUEST_2 (line 3 of people.results.csv, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_2,3,x541523fdb3c8524810ab068adffc5435,x74bcd92f32d00c1ee52d51d62320dcca,x6b9e6d39ff534b7a83962f01b1f2c29a
    `)
  })

  test('rows that are pending in the results file are held, and are ordered once a user releases them', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(3))
    await here.type(`${run} --max 1`)
    const other = colleague(here)
    const held = await here.type(`${run} --json`, other)
    expect([held.code, held.json()]).toMatchObject([10, { counts: { duplicate: 1, held: 2 } }])
    const { batch_id } = held.json() as { batch_id: string }
    expect(await here.type(`batch rows ${batch_id}`, { exported: other.exported })).toMatchInlineSnapshot(`
      $ refcheck batch rows BATCH_2
      ROW  LINE  STATE      EMAIL           OUTCOME
      1    2     duplicate  a1@example.com  is the same order as request REQUEST_1 (line 2 of people.results.csv, ordered 2026-11-20 12:00 +00:00)
      2    3     held       a2@example.com  held: may have been ordered, by what a results file says: line 3 of people.results.csv (pending)
      3    4     held       a3@example.com  held: may have been ordered, by what a results file says: line 4 of people.results.csv (pending)
      2> Order Ana Row2 (line 3): refcheck batch release BATCH_2 --row 2
      2> Leave Ana Row2 (line 3) out: refcheck batch cancel BATCH_2 --row 2
      exit 0
    `)
    const released = await here.all([`batch release ${batch_id} --row 2`, `batch resume ${batch_id} --yes`], {
      exported: other.exported,
    })
    expect(released).toMatchInlineSnapshot(`
      $ refcheck batch release BATCH_2 --row 2
      2> Released 1 row: Ana Row2 (line 3). Order with: refcheck batch resume BATCH_2
      batch  BATCH_2
      people.csv, 102 Identity check only

      1  pending
      1  held
      1  duplicate
      3  rows

      results  HOME/people.results-2.csv
      exit 0

      $ refcheck batch resume BATCH_2 --yes
      2 of 3 people in people.csv are ordered; 1 held

      batch  BATCH_2
      people.csv, 102 Identity check only

      1  accepted
      1  held
      1  duplicate
      3  rows

      results  HOME/people.results-2.csv
      2> Error: 2 of 3 rows are ordered (1 held)
      2> See why it is held: refcheck batch rows BATCH_2 --state held
      2> Order Ana Row3 (line 4): refcheck batch release BATCH_2 --row 3
      2> Leave Ana Row3 (line 4) out: refcheck batch cancel BATCH_2 --row 3
      exit 10
    `)
    expect(here.listOrderedEmails()).toEqual(createEmails(2))
  })

  test('a person who is spelled differently in the results file is held', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(1))
    await here.type(run)
    here.write('people.csv', `${header}\nAnna,Row1,a1@example.com,+61400000009\n`)
    const { code, stderr } = await here.type(run, colleague(here))
    expect([code, stderr]).toEqual([
      10,
      expect.stringContaining('the same e-mail as line 2 of people.results.csv'),
    ])
    expect(here.listOrderedEmails()).toHaveLength(1)
  })

  test('other people in the same rows (last year’s file as a template) are ordered, and that is reported', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(2))
    await here.type(run)
    writePeopleFile(here.folder, ['new1@example.com', 'new2@example.com'])
    const { code, stderr } = await here.type(run, colleague(here))
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(
        'people.results.csv: 2 rows name another person than this file, and were ignored.',
      ),
    ])
    expect(here.listOrderedEmails()).toHaveLength(4)
  })

  test.each([['run'], ['plan']])(
    'batch %s compares the rows with the results file, unless --ignore-results is given',
    async (verb) => {
      const here = await session()
      writePeopleFile(here.folder, createEmails(2))
      await here.type(run)
      const flags = verb === 'run' ? '--dry-run --json' : '--json'
      const other = colleague(here)
      const line = `batch ${verb} people.csv --package 102 ${flags}`
      const [compared, ignored] = [
        await here.type(line, other),
        await here.type(`${line} --ignore-results`, other),
      ]
      expect([compared.code, ignored.code]).toEqual([0, 0])
      expect(existsSync(join(here.folder, 'people.results-2.csv'))).toBe(false)
      expect((await here.type(`${run} --ignore-results`, other)).code).toBe(0)
      expect(here.listOrderedEmails()).toHaveLength(4)
    },
  )

  test('rows that are duplicates because of a results file are ordered by a later run with --ignore-results', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(1))
    await here.type(run)
    const other = colleague(here)
    here.write(
      'people.csv',
      `${header}\nAna,Row1,a1@example.com,+61400000001\nBo,Row2,bo@example.com,+61400000002\n`,
    )
    expect((await here.type(run, other)).code).toBe(0)
    expect((await here.type(`${run} --ignore-results`, other)).code).toBe(0)
    expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'bo@example.com', 'a1@example.com'])
  })

  test('rejected rows of the results file do not prevent an order', async () => {
    const here = await session()
    writePeopleFile(here.folder, ['a1+reject@example.com'])
    here.intercept((request, ask) =>
      request.method === 'POST'
        ? Response.json(
            {
              status_code: 400,
              status_message: 'client_error',
              message: 'recipient.email: is not deliverable',
              data: null,
            },
            { status: 400 },
          )
        : ask(request),
    )
    expect((await here.type(run)).code).toBe(10)
    here.intercept(undefined)
    expect((await here.type(run, colleague(here))).code).toBe(0)
  })
})

describe.each(['csv', 'xlsx', 'json'])(
  'a results file of another store as %s, used as the input',
  (format) => {
    test('orders no person again', async () => {
      const here = await session()
      writePeopleFile(here.folder, createEmails(2))
      await here.type(`${run} --results sent.${format}`)
      const again = await here.type(`batch run sent.${format} --package 102 --yes --json`, colleague(here))
      expect([again.code, here.listOrderedEmails()]).toEqual([0, createEmails(2)])
      const ids = here.sandbox.requests().map(({ request_id }) => request_id)
      expect(again.json()).toMatchObject({
        counts: { duplicate: 2 },
        stopped: ids.map((request_id) => ({ matches: { request_id } })),
      })
    })
  },
)

describe('a results file', () => {
  const joinRows = (rows: readonly string[]): string => `${rows.join('\n')}\n`

  /** Orders one row, and changes the results file. */
  async function sessionWithChangedResults(change: (text: string) => string): Promise<Session> {
    const here = await session()
    writePeopleFile(here.folder, createEmails(1))
    await here.type(run)
    here.write('people.results.csv', change(here.read('people.results.csv')))
    return here
  }

  test.each([
    [
      'of a rehearsal on another loopback service does not prevent the real orders',
      (text: string) => text.replace(/http:\/\/localhost:\d+/, 'http://localhost:1'),
    ],
    [
      'of another package does not prevent the orders of this package',
      (text: string) => text.replace(',102,', ',103,'),
    ],
  ])('%s, and an unchanged results file does', async (_, change) => {
    const here = await sessionWithChangedResults((text) => text)
    const original = here.read('people.results.csv')
    expect((await here.type(run, colleague(here))).code).toBe(0)
    expect(here.listOrderedEmails()).toHaveLength(1)
    rmSync(join(here.folder, 'people.results-2.csv'))
    here.write('people.results.csv', change(original))
    expect((await here.type(run, colleague(here, 'third'))).code).toBe(0)
    expect(here.listOrderedEmails()).toHaveLength(2)
  })

  test('of another account does not prevent the orders of this account', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(1))
    await here.type(run, { env: { REFCHECK_ACCOUNT: 'acme' } })
    const other = colleague(here).exported
    expect((await here.type(run, { env: { ...other, REFCHECK_ACCOUNT: 'beta' } })).code).toBe(0)
    expect(here.listOrderedEmails()).toHaveLength(2)
  })

  test('of the package that this package replaces makes the rows held', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(1))
    await here.type(run)
    const successor = here.sandbox.replacePackage(102)
    here.write('people.csv', `${header},consent.consent_method\nAna,Row1,a1@example.com,+61400000001,email\n`)
    const held = await here.type(`batch run people.csv --package ${successor} --yes --json`, colleague(here))
    expect([held.code, held.json()]).toMatchObject([10, { counts: { held: 1 } }])
    expect(here.listOrderedEmails()).toHaveLength(1)
  })

  const createOldResults = (id: string, person = 'Ana,Row1,a1@example.com,+61400000001') =>
    joinRows([
      `${header},refcheck_state,refcheck_request_id,refcheck_status,refcheck_error`,
      `${person},accepted,${id},RECEIVED,`,
    ])

  test.each([
    ['the same package and person', 'Ana,Row1,a1@example.com,+61400000001', 0, 1],
    ['another person', 'Ben,Low,ben@example.com,+61400000077', 0, 2],
  ])(
    'a request id without digests, as version 0.1.0 wrote it, is read once: %s',
    async (_what, currentPerson, code, orders) => {
      const here = await session()
      writePeopleFile(here.folder, createEmails(1))
      await here.type(run)
      const [request] = here.sandbox.requests()
      here.write('people.results.csv', createOldResults(request?.request_id ?? '', currentPerson))
      here.write('people.csv', `${header}\n${currentPerson}\n`)
      const before = here.listCalls().length
      expect((await here.type(run, colleague(here))).code).toBe(code)
      expect(
        here
          .listCalls()
          .slice(before)
          .filter((call) => call.startsWith('GET /v1/requests/')),
      ).toHaveLength(1)
      expect(here.listOrderedEmails()).toHaveLength(orders)
    },
  )

  test('a row whose request id has no digests is held if the request cannot be read, and the reason is reported', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(1))
    here.write('people.results.csv', createOldResults('9d3c1a52-6f0e-4b7d-8a21-5c4e7f90b3d6'))
    const { code, stderr } = await here.type(run)
    expect([code, stderr]).toEqual([
      10,
      expect.stringContaining('a results file has a request of it that cannot be read'),
    ])
    expect(here.listOrderedEmails()).toEqual([])
  })

  test('of the same store is overridden by the store: rows that were cancelled later are ordered', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(2))
    const first = await here.type(`${run} --max 1 --json`)
    await here.type(`batch cancel ${(first.json() as { batch_id: string }).batch_id} --yes`)
    const again = await here.type('batch run people.results.csv --package 102 --yes')
    expect([again.code, here.listOrderedEmails()]).toEqual([0, createEmails(2)])
  })
})

test('an empty results file that another run reserves while the question is open also stops a run with --results', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(1))
  const reserve = async () => here.write('people.results.csv', '')
  const answers = [{ ask: /^Order /, confirm: true, meanwhile: reserve }]
  expect((await here.type('batch run people.csv --package 102 --results o.csv', { answers })).code).toBe(2)
  expect(here.listOrderedEmails()).toEqual([])
})
