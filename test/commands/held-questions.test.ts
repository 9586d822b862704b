import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

const run = 'batch run people.csv --package 102'
const header = 'first_name,last_name,email,phone'
const ana = 'Anna,Müller,anna.mueller@example.com,+491512345678'
const people = `${header}\n${ana}\nAnna,Mueller,anna.m@example.com,+491512345678\nBen,Low,ben@example.com,+61400000077\n`
const samePersonQuestion = 'Is this one person?'

test('a run asks about a held row at its end, and orders it after the answer', async () => {
  const { type, write, listOrderedEmails } = await session()
  write('people.csv', people)
  const answers = [{ ask: samePersonQuestion, choose: 'Two people: order Anna Mueller (anna.m@example.com)' }]
  expect(await type(`${run} --yes`, { answers })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 3 rows
    2>   2 orders of 102 Identity check only
    2>   1 row held, not sent until you release it
    2>     the same phone as Anna Müller (anna.mueller@example.com): +491512345678
    2>       Anna Mueller (line 3)
    2> Sending takes under a minute
    2>
    2>
    2> Anna Mueller (line 3) of people.csv is held (1 of 1)
    2>   new      Anna Mueller  anna.m@example.com
    2>   ordered  Anna Müller  anna.mueller@example.com, 2026-11-20 12:00 +00:00
    2>   same     phone +491512345678
    2>
    ? Is this one person?: Two people: order Anna Mueller (anna.m@example.com)
    ✔ All 3 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    3  accepted
    3  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(['anna.mueller@example.com', 'ben@example.com', 'anna.m@example.com'])
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a row is left out after the answer that it is the same person; batch release asks again about a row with the answer "Decide later" (%s)',
  async (store) => {
    const { type, write, read, listOrderedEmails } = await session({ store })
    write('people.csv', `${people}Benny,Low,ben@example.com,+61400000078\n`)
    const answers = [
      {
        ask: samePersonQuestion,
        choose: 'The same person: leave out',
        offered: [
          'Decide later',
          'Two people: order Anna Mueller (anna.m@example.com)',
          'The same person: leave out',
        ],
      },
      { ask: samePersonQuestion, choose: 'Decide later' },
    ]
    const first = await type(`${run} --yes`, { answers })
    expect(first.code).toBe(10)
    expect(first.text).toMatch(
      /2 of 3 people in people.csv are ordered; 1 held; left out as the same person: Anna Mueller \(line 3\)$/m,
    )
    const [, id = ''] = /^batch {2}(\S+)$/m.exec(first.stdout) ?? []
    const release = await type(`batch release ${id}`, {
      answers: [{ ask: samePersonQuestion, choose: 'Two people: release Benny Low (ben@example.com)' }],
    })
    expect([release.code, release.stderr]).toMatchObject([
      0,
      expect.stringContaining('Released 1 row. Order with: refcheck batch resume '),
    ])
    expect(listOrderedEmails()).toHaveLength(2)
    const resumed = await type(`batch resume ${id} --yes`, { answers: [] })
    expect([resumed.code, resumed.stdout]).toMatchObject([
      0,
      expect.stringMatching(
        /^✔ All 3 people in people\.csv are ordered; left out as the same person: Anna Mueller \(line 3\)$/m,
      ),
    ])
    expect(resumed.text).not.toMatch('after all')
    const results = read('people.results.csv').split('\n')
    expect(results[2]).toMatch(/,cancelled,[^,]+,RECEIVED,"not ordered again: is the same order as request /)
    const page = await type(`batch export ${id} --format html`)
    expect(page.stdout).toMatch(/<dt>people<\/dt>\s*<dd>3<\/dd>/)
    expect(page.stdout).not.toContain('left out')
    const again = await type('batch run people.csv --package 102 --yes', { answers: [] })
    expect(again.stdout).toMatch(/^✔ All 3 people in people\.csv are ordered, .*; nothing to do$/m)
    expect(listOrderedEmails()).toContain('ben@example.com')
  },
)

test('the answer that a row is the same person also leaves that row out of the batch of an earlier version of the file', async () => {
  const { type, write, read } = await session()
  write('people.csv', people)
  await type(`${run} --yes`, { answers: [{ ask: samePersonQuestion, choose: 'Decide later' }] })
  write('corrected.csv', `${people}Cara,Fay,cara@example.com,+61400000079\n`)
  const answers = [{ ask: samePersonQuestion, choose: 'The same person: leave out' }]
  const corrected = await type(`${run.replace('people', 'corrected')} --yes`, { answers })
  expect(corrected.stderr).toMatch(/^Anna Mueller is left out of people\.csv \(batch [0-9a-f]{8}\) too$/m)
  expect((await type('status --json')).json()).toMatchObject({ attention: [] })
  expect((await type('batch list')).stdout).not.toContain('held')
  expect(read('people.results.csv')).toMatch(/anna\.m@example\.com.*,cancelled,/)
})

test('Ctrl-C at the first question says that no row was decided', async () => {
  const { type, write } = await session()
  write('people.csv', people)
  const answers = [{ ask: samePersonQuestion, leave: true as const }]
  expect((await type(`${run} --yes`, { answers })).stderr).toMatch(/^Stopped; no row was decided$/m)
})

test('Ctrl-C at a question orders nothing more, and earlier answers are recorded', async () => {
  const { type, write, listOrderedEmails } = await session()
  write('people.csv', `${people}Benny,Low,ben@example.com,+61400000078\n`)
  const answers = [
    { ask: samePersonQuestion, choose: /^The same person/ },
    { ask: samePersonQuestion, leave: true as const },
  ]
  const cancelled = await type(`${run} --yes`, { answers })
  expect([cancelled.code, cancelled.stderr]).toMatchObject([
    130,
    expect.stringMatching(
      /^Stopped; the answers given before are recorded\nContinue with: refcheck batch release [-0-9a-f]{36}$/m,
    ),
  ])
  expect(listOrderedEmails()).toHaveLength(2)
  expect((await type(`${run} --json`)).json()).toMatchObject({
    counts: { held: 1, cancelled: 1, accepted: 2 },
  })
})

test('batch list shows how many rows of a stopped batch are held', async () => {
  const { type, write } = await session()
  write('people.csv', `${people}Benny,Low,ben@example.com,+61400000078\n`)
  const { batch_id: id } = (await type(`${run} --yes --json`)).json() as { batch_id: string }
  await type(`batch release ${id} --row 2`)
  const list = await type('batch list')
  expect(list.stdout).toContain('stopped, 1 held')
})

test('batch rows lists held rows with the similar person and the next command; its JSON has the reason', async () => {
  const { type, write } = await session()
  write('people.csv', people)
  const first = (await type(`${run} --yes --json`)).json() as { batch_id: string }
  const rows = `batch rows ${first.batch_id} --state held`
  expect(await type(rows, { tty: true, exported: { NO_COLOR: '1' } })).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_1 --state held
    ROW  LINE  NAME          STATE  EMAIL               OUTCOME
    2    3     Anna Mueller  held   anna.m@example.com  held: has the same phone as
                                                        Anna Müller
                                                        (anna.mueller@example.com),
                                                        line 2, ordered 2026-11-20
                                                        12:00 +00:00
    2> Decide about each held row:
    2>   refcheck batch release BATCH_1
    exit 0
  `)
  expect(await type(rows, { answers: [] })).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_1 --state held
    ROW  LINE  STATE  EMAIL               OUTCOME
    2    3     held   anna.m@example.com  held: has the same phone as Anna Müller (anna.mueller@example.com), line 2, ordered 2026-11-20 12:00 +00:00
    2> Decide about each held row: refcheck batch release BATCH_1
    exit 0
  `)
  expect(await type(rows)).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_1 --state held
    ROW  LINE  STATE  EMAIL               OUTCOME
    2    3     held   anna.m@example.com  held: has the same phone as Anna Müller (anna.mueller@example.com), line 2, ordered 2026-11-20 12:00 +00:00
    2> Anna Mueller (line 3) is another person: refcheck batch release BATCH_1 --row 2
    2> Anna Mueller (line 3) is the same person: refcheck batch cancel BATCH_1 --row 2
    exit 0
  `)
  const listed = await type(`${rows} --json`)
  expect([listed.stderr, (listed.json() as { error: string }[])[0]?.error]).toEqual([
    '',
    expect.stringMatching(
      /^held: has the same phone as request \S+ \(row 1, ordered 2026-11-20 12:00 \+00:00\)$/,
    ),
  ])
})

test('a held row that is similar to an order with an unknown outcome names that order, which has to be reconciled first', async () => {
  const { type, write } = await session()
  write('people.csv', `${header}\n${ana.replace('anna.mueller@', 'anna+cut-after@')}\n`)
  await type(`${run} --yes`)
  write('more.csv', people.replace(`${ana}\n`, ''))
  const more = (await type('batch run more.csv --package 102 --yes --json')).json() as { batch_id: string }
  expect(await type(`batch rows ${more.batch_id} --state held`, { answers: [] })).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_2 --state held
    ROW  LINE  STATE  EMAIL               OUTCOME
    1    2     held   anna.m@example.com  held: has the same phone as Anna Müller (anna+cut-after@example.com), unknown outcome
    2> Settle the order with an unknown outcome first: refcheck batch reconcile BATCH_1
    exit 0
  `)
})
