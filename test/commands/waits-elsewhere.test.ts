import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { type Session, type Step, session } from '../harness/session.ts'

test('a corrected copy of a file that was not sent to its end names the batch in which the other people wait as well as the held row', async () => {
  const here = await session()
  const { type, write, read } = here
  writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com', 'a3@example.com', 'a4@example.com'])
  await type('batch run people.csv --package 102 --yes --max 2')
  write('corrected.csv', read('people.csv').replace('Row4', 'Rowe4'))
  const answers = [{ ask: /^Is this one person/, choose: 'Decide later' }]
  expect(await type('batch run corrected.csv --package 102', { answers })).toMatchInlineSnapshot(`
    $ refcheck batch run corrected.csv --package 102
    2>
    2> corrected.csv: 4 rows
    2>   0 orders to send
    2>   2 rows ordered before, not sent
    2>     Ana Row1 (line 2): ordered 2026-11-20 12:00 +00:00
    2>     Ana Row2 (line 3): ordered 2026-11-20 12:00 +00:00
    2>   1 row already waiting in a batch, not sent
    2>     Ana Row3 (line 4): waiting in batch BATCH_1…
    2>   1 row held, not sent until you release it
    2>     the same e-mail and phone as Ana Row4 (a4@example.com)
    2>       Ana Rowe4 (line 5)
    2>
    2>
    2> Ana Rowe4 (line 5) of corrected.csv is held (1 of 1)
    2>   new      Ana Rowe4  a4@example.com
    2>   waiting  Ana Row4  a4@example.com, 2026-11-20 12:00 +00:00
    2>   same     e-mail a4@example.com, phone +61400000004
    2>
    ? Is this one person?: Decide later
    2 of 4 people in corrected.csv are ordered; 1 held, 1 waiting in another batch

    batch  BATCH_2
    corrected.csv, 102 Identity check only

    1  held
    3  duplicate
    4  rows

    results  HOME/corrected.results.csv
    2> Error: 2 of 4 rows are ordered (1 held, 1 waiting in another batch)
    2> See why it is held: refcheck batch rows BATCH_2 --state held
    2> Ana Rowe4 (line 5) is another person: refcheck batch release BATCH_2 --row 4
    2> The same person, and the row that waits is right: refcheck batch cancel BATCH_2 --row 4
    2> The same person, and this row is right: refcheck batch cancel BATCH_1 --row 4
    2> Then order this row: refcheck batch resume BATCH_2
    2> Resume the batch in which 1 duplicate waits: refcheck batch resume BATCH_1
    exit 10
  `)
})

test('a row that is left out as the same person as a dropped order is shown as perhaps ordered', async () => {
  const here = await session()
  const { type, write, read, sandbox } = here
  writePeopleFile(here.folder, ['a1@example.com'])
  sandbox.inject({ on: 'POST *', fault: { kind: 'cut', when: 'after' }, times: 1 })
  await type('batch run people.csv --package 102 --yes')
  const [{ batch_id: batchId }] = (await type('batch list --json')).json() as [{ batch_id: string }]
  write('corrected.csv', read('people.csv').replace('a1@', 'a-1@'))
  const open = await type('batch run corrected.csv --package 102 --yes --json')
  const { batch_id: other } = open.json() as { batch_id: string }
  expect(await type(`batch release ${other}`, { answers: [] })).toMatchInlineSnapshot(`
    $ refcheck batch release BATCH_2
    batch  BATCH_2
    corrected.csv, 102 Identity check only

    1  held
    1  row

    results  HOME/corrected.results.csv
    2> Error: 1 row stays held, because its person may have been ordered (an order of a similar person has an unknown outcome): Ana Row1 (line 2)
    2> Settle the order with an unknown outcome first: refcheck batch reconcile BATCH_1
    exit 10
  `)
  await type(`batch reconcile ${batchId} --row 1 --drop`)
  const answers = [{ ask: /^Is this one person/, choose: 'The same person: leave out' }]
  expect(await type(`batch release ${other}`, { answers })).toMatchInlineSnapshot(`
    $ refcheck batch release BATCH_2
    2>
    2> Ana Row1 (line 2) of corrected.csv is held (1 of 1)
    2>   new      Ana Row1  a-1@example.com
    2>   perhaps  Ana Row1  a1@example.com, perhaps ordered 2026-11-20 12:00 +00:00
    2>   same     phone +61400000001, name
    2>
    ? Is this one person?: The same person: leave out
    2> Left out Ana Row1 (line 2); nothing is ordered for this row.
    batch  BATCH_2
    corrected.csv, 102 Identity check only

    1  cancelled
    1  row

    results  HOME/corrected.results.csv
    exit 0
  `)
  expect(await type('batch run corrected.csv --package 102')).toMatchInlineSnapshot(`
    $ refcheck batch run corrected.csv --package 102
    2> corrected.csv is batch BATCH_2: nothing left to send.
    0 of 1 person in corrected.csv is ordered; may have been ordered: Ana Row1 (line 2)

    batch  BATCH_2
    corrected.csv, 102 Identity check only

    1  cancelled
    1  row

    results  HOME/corrected.results.csv
    2> Error: nothing was sent: 1 of 1 row was cancelled
    2> See the orders that may exist: refcheck batch rows BATCH_2 --state cancelled
    exit 2
  `)
  expect(await type(`batch rows ${other} --state cancelled`)).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_2 --state cancelled
    ROW  LINE  STATE      EMAIL            OUTCOME
    1    2     cancelled  a-1@example.com  may have been ordered by row 1 of batch BATCH_1 (dropped); left out as the same person
    exit 0
  `)
  expect(await type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)
    Running    nothing
    Needs you  nothing
    exit 0
  `)
})

test('a held row whose other row is cancelled is explained when it is not held any more', async () => {
  const here = await session()
  const { type, write, read } = here
  writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'])
  const first = (await type('batch run people.csv --package 102 --yes --max 1 --json')).json()
  const { batch_id: firstId } = first as { batch_id: string }
  write('corrected.csv', read('people.csv').replace('Row2', 'Rowe2'))
  const second = (await type('batch run corrected.csv --package 102 --yes --json')).json()
  const { batch_id: secondId } = second as { batch_id: string }
  await type(`batch cancel ${firstId} --row 2`)
  const { stderr } = await type(`batch release ${secondId}`, { answers: [] })
  expect(stderr).toMatch(
    /^1 row is not held any more: the other order is gone\. Order with: refcheck batch resume /m,
  )
})

test('an invalid person who is ordered by a corrected file of another name is not called not ordered', async () => {
  const { type, write } = await session()
  const row = (phone: string) =>
    `first_name,last_name,email,phone\nIva,Inn,iva@example.com,${phone}\nOle,Fit,ole@example.com,+61400000002\n`
  write('i.csv', row('123'))
  const run = 'batch run i.csv --package 102 --yes --on-invalid skip'
  const invalidText = 'Not ordered, because invalid: Iva Inn (line 2)'
  expect((await type(run)).stdout).toContain(invalidText)
  write('fixed.csv', row('+61400000001'))
  await type('batch run fixed.csv --package 102 --yes')
  const again = await type(run)
  expect(again.stdout + again.stderr).not.toContain('Not ordered')
})

test('a held person who is ordered by another file is not listed by status, and release names the order', async () => {
  const { type, write } = await session()
  const ada = 'first_name,last_name,email,phone\nAda,Arm,ada@example.com,+61400000001\n'
  write('h1.csv', `${ada}Adah,Arm,adah@example.com,+61400000001\n`)
  const held = (await type('batch run h1.csv --package 102 --yes --json')).json() as { batch_id: string }
  expect((await type('status --json')).json()).toMatchObject({ attention: [{ kind: 'held' }] })
  const person = '--first-name Adah --last-name Arm --email adah@example.com --phone +61400000001'
  const question = {
    ask: /^Adah Arm is held in a batch .* batch release [0-9a-f]{8}\. Somebody similar was ordered/,
    confirm: true,
  }
  await type(`request create --package 102 ${person} --yes`, { answers: [question] })
  expect((await type('status --json')).json()).toMatchObject({ attention: [] })
  const { stderr } = await type(`batch release ${held.batch_id}`, { answers: [] })
  expect(stderr).toMatch(
    /^1 row is not held any more: the same order exists\. See it with: refcheck batch rows /m,
  )
})

const corrected = 'batch run people.csv --package 102'
const samePersonQuestion = 'Is this one person?'
const sendInstead = 'The same person: send this one instead'

/** Runs the first 2 of 4 people, and corrects the e-mail of the last one in the file. Returns the id of the batch. */
async function correctStoppedFile(here: Session): Promise<string> {
  const { type, write, read, folder } = here
  writePeopleFile(folder, [...createEmails(3), 'a4@exmaple.com'])
  const stopped = await type(`${corrected} --yes --max 2 --json`)
  write('people.csv', read('people.csv').replace('a4@exmaple', 'a4@example'))
  return (stopped.json() as { batch_id: string }).batch_id
}

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a corrected row is sent instead of the row that waits in the batch of the stopped file (%s)',
  async (store) => {
    const here = await session({ store })
    const { type, listOrderedEmails } = here
    const oldId = await correctStoppedFile(here)
    const answers = [
      {
        ask: samePersonQuestion,
        choose: sendInstead,
        offered: [
          'Decide later',
          'Two people: order Ana Row4 (a4@example.com)',
          sendInstead,
          'The same person: leave out, and send the row that waits',
        ],
      },
    ]
    const run = await type(`${corrected} --yes`, { answers })
    expect(run.stderr).toMatch(
      /^Ana Row4 \(a4@exmaple\.com\) is cancelled in people\.csv \(batch [0-9a-f]{8}\)$/m,
    )
    expect(run.stderr).toMatch(/^Resume the batch in which 1 duplicate waits: refcheck batch resume /m)
    expect(listOrderedEmails()).toEqual([...createEmails(2), 'a4@example.com'])
    const resumed = await type(`batch resume ${oldId} --yes`)
    expect([resumed.code, resumed.stdout]).toMatchObject([
      0,
      expect.stringMatching(
        /^✔ All 4 people in people\.csv are ordered; left out as the same person: Ana Row4$/m,
      ),
    ])
    expect(listOrderedEmails()).toEqual([...createEmails(2), 'a4@example.com', 'a3@example.com'])
    expect((await type('status --json')).json()).toMatchObject({ attention: [] })
    const rows = await type(`batch rows ${oldId} --state cancelled`)
    expect(rows.stdout).toMatch(/ a4@exmaple\.com  not ordered again: is the same order as request /)
  },
)

test('a row that waits no more at the answer to send another one instead is compared again, and nothing is ordered twice', async () => {
  const here = await session()
  const { type, listOrderedEmails } = here
  const oldId = await correctStoppedFile(here)
  const answers = [
    {
      ask: samePersonQuestion,
      choose: sendInstead,
      meanwhile: async () => void (await type(`batch resume ${oldId} --yes`)),
    },
    { ask: samePersonQuestion, choose: 'The same person: leave out' },
  ]
  const { stderr } = await type(`${corrected} --yes`, { answers })
  expect(stderr).toMatch(/^Ana Row4 does not wait any more in people\.csv; nothing was changed there$/m)
  expect(stderr).toMatch(/^ {2}ordered {2}Ana Row4 {2}a4@exmaple\.com, /m)
  expect(listOrderedEmails()).toEqual([...createEmails(3), 'a4@exmaple.com'])
})

test('a row of a batch that is running is not cancelled for another row, which stays held', async () => {
  const here = await session()
  const { type, listOrderedEmails } = here
  const oldId = await correctStoppedFile(here)
  const { batch_id: newId } = (await type(`${corrected} --yes --json`)).json() as { batch_id: string }
  let released: Step | undefined
  const answers = [{ ask: samePersonQuestion, choose: sendInstead }]
  here.intercept(async (request, ask) => {
    if (request.method === 'POST') released ??= await type(`batch release ${newId}`, { answers })
    return ask(request)
  })
  await type(`batch resume ${oldId} --yes`)
  expect(released?.stderr).toMatch(/^Batch \S+ is being run by process /m)
  expect(released?.stderr).toMatch(/^No row was released\. Decide later with: refcheck batch release /m)
  expect(listOrderedEmails()).toEqual([...createEmails(3), 'a4@exmaple.com'])
})

test('a held row that another command releases while the question is open is not compared, and the row that waits stays', async () => {
  const here = await session()
  const { type } = here
  const oldId = await correctStoppedFile(here)
  const { batch_id: newId } = (await type(`${corrected} --yes --json`)).json() as { batch_id: string }
  const release = `batch release ${newId}`
  const meanwhile = async () => void (await type(`${release} --row 4`))
  const answers = [{ ask: samePersonQuestion, choose: sendInstead, meanwhile }]
  const { stderr } = await type(release, { answers })
  expect(stderr).toMatch(
    /^Ana Row4 was changed by another command; nothing was changed in people\.csv \(batch /m,
  )
  expect((await type(`batch status ${oldId} --json`)).json()).toMatchObject({ counts: { pending: 2 } })
})

test('the hints about a corrected row of a stopped file order that row, and name a person who waits and is not in the file any more', async () => {
  const { type, write, read, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, [...createEmails(3), 'a4@exmaple.com', 'a5@example.com'])
  await type(`${corrected} --yes --max 2`)
  const copy = read('people.csv').replace('a4@exmaple', 'a4@example')
  write('people.csv', copy.replace(/^.*a3@.*\n/m, ''))
  const run = await type(`${corrected} --yes`)
  expect(run.text.slice(run.text.indexOf('2> See why'))).toMatchInlineSnapshot(`
    "2> See why it is held: refcheck batch rows BATCH_2 --state held
    2> Ana Row4 (line 4) is another person: refcheck batch release BATCH_2 --row 3
    2> The same person, and the row that waits is right: refcheck batch cancel BATCH_2 --row 3
    2> The same person, and this row is right: refcheck batch cancel BATCH_1 --row 4
    2> Then order this row: refcheck batch resume BATCH_2
    2> Resume the batch in which 1 duplicate waits: refcheck batch resume BATCH_1
    2> That batch also orders Ana Row3, not in this file. To leave this person out: refcheck batch cancel BATCH_1 --row 3
    exit 10"
  `)
  const commands = run.stderr.match(/(?<=this (?:row is right|row|person out): )refcheck .*$/gm) ?? []
  expect(commands).toHaveLength(3)
  for (const command of commands) await type(`${command.replace('refcheck ', '')} --yes`)
  expect(listOrderedEmails()).toEqual([...createEmails(2), 'a4@example.com'])
  await type(`${corrected} --yes`)
  const resume = /refcheck (batch resume .*)$/.exec(run.stderr.trim().split('\n').at(-2) ?? '')?.[1] ?? ''
  await type(`${resume} --yes`)
  expect(listOrderedEmails()).toEqual([...createEmails(2), 'a4@example.com', 'a5@example.com'])
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a duplicate of a row that was cancelled is listed with the command that orders it, until it is ordered (%s)',
  async (store) => {
    const { type, folder, listOrderedEmails } = await session({ store })
    writePeopleFile(folder, createEmails(2), 'f1.csv')
    const first = await type('batch run f1.csv --package 102 --yes --max 1 --json')
    const { batch_id: firstId } = first.json() as { batch_id: string }
    writePeopleFile(folder, [...createEmails(2), 'a3@example.com'], 'f2.csv')
    const second = await type('batch run f2.csv --package 102 --yes --json')
    const { batch_id: secondId } = second.json() as { batch_id: string }
    const resume = `batch resume ${secondId}`
    expect((await type(`batch cancel ${firstId} --yes`)).stderr).toContain(
      `\nLeft out of f2.csv because of these rows: Ana Row2 (line 3). To order this row now: refcheck ${resume}\n`,
    )
    const reason = 'duplicates of cancelled rows, not ordered: Ana Row2'
    expect((await type('status --json')).json()).toMatchObject({
      attention: [{ kind: 'stopped', batch: 'f2.csv', reason, command: `refcheck ${resume}` }],
    })
    const list = (await type('batch list --json')).json()
    expect(list).toMatchObject([{ name: 'f2.csv', state: 'stopped' }, { state: 'done' }])
    expect((await type('status')).stdout).toMatch(
      / {2}f2\.csv {2}stopped {2}refcheck batch resume \S+\n {4}duplicates of cancelled rows, not ordered: Ana Row2$/m,
    )
    expect((await type(`batch status ${secondId}`)).stdout).toContain(reason)
    expect((await type(`${resume} --yes`)).code).toBe(0)
    expect(listOrderedEmails()).toEqual(['a1@example.com', 'a3@example.com', 'a2@example.com'])
    expect((await type('status --json')).json()).toMatchObject({ attention: [] })
    expect((await type('batch list')).stdout).not.toContain('stopped')
  },
)

test('the other row of a person who is twice in a file is named when the first one is cancelled', async () => {
  const { type, folder, read, write, listOrderedEmails } = await session()
  writePeopleFile(folder, ['bo@example.com', 'a1@example.com'])
  write('people.csv', read('people.csv').replace(/.*a1@.*\n/, '$&$&'))
  const run = (await type(`${corrected} --yes --max 1 --json`)).json() as { batch_id: string }
  const cancel = `batch cancel ${run.batch_id}`
  expect((await type(`${cancel} --row 2`)).stderr).toContain(
    `\nThe next run of people.csv orders, instead of the cancelled rows: Ana Row2 (line 4). To leave out this row too: refcheck ${cancel} --row 3\n`,
  )
  expect((await type(`${cancel} --row 3`)).stderr).not.toContain('next run')
  await type(`batch resume ${run.batch_id} --yes`)
  expect(listOrderedEmails()).toEqual(['bo@example.com'])
})

test('a duplicate of a cancelled row is not listed when its person is ordered or waits otherwise, or when it is cancelled', async () => {
  const { type, folder } = await session()
  const run = async (name: string, max = 9): Promise<string> => {
    const ran = await type(`batch run ${name} --package 102 --yes --max ${max} --json`)
    return (ran.json() as { batch_id: string }).batch_id
  }
  const readAttention = async () =>
    ((await type('status --json')).json() as { attention: { batch: string }[] }).attention.map(
      ({ batch }) => batch,
    )
  writePeopleFile(folder, createEmails(4), 'f1.csv')
  const firstId = await run('f1.csv', 1)
  writePeopleFile(folder, [...createEmails(2), 'bo@example.com'], 'f2.csv')
  writePeopleFile(folder, [...createEmails(3), 'cy@example.com'], 'f3.csv')
  await run('f2.csv')
  const thirdId = await run('f3.csv')
  expect((await type(`batch cancel ${firstId} --row 4`)).stderr).not.toContain('Left out of')
  await type(`batch cancel ${firstId} --yes`)
  expect(await readAttention()).toEqual(['f3.csv', 'f2.csv'])
  await run('f3.csv', 1)
  expect(await readAttention()).toEqual(['f3.csv'])
  await type(`batch cancel ${thirdId} --yes`)
  expect(await readAttention()).toEqual([])
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a dry run of the file of an existing batch shows what a run would send, and changes no row (%s)',
  async (store) => {
    const { type, folder } = await session({ store })
    writePeopleFile(folder, createEmails(2), 'f1.csv')
    const first = await type('batch run f1.csv --package 102 --yes --max 1 --json')
    const { batch_id: firstId } = first.json() as { batch_id: string }
    writePeopleFile(folder, [...createEmails(2), 'bo@example.com'], 'f2.csv')
    const second = await type('batch run f2.csv --package 102 --yes --json')
    const { batch_id: secondId } = second.json() as { batch_id: string }
    await type(`batch cancel ${firstId} --yes`)
    const readRows = async () => (await type(`batch rows ${secondId} --json`)).stdout
    const before = await readRows()
    const dryRun = await type('batch run f2.csv --package 102 --dry-run --json')
    expect(dryRun.json()).toMatchObject({
      counts: { accepted: 1, duplicate: 1, pending: 1 },
      stopped: [{ row: 1, state: 'duplicate' }],
    })
    expect(await readRows()).toBe(before)
    expect((await type('status --json')).json()).toMatchObject({
      attention: [{ batch: 'f2.csv', reason: 'duplicates of cancelled rows, not ordered: Ana Row2' }],
    })
  },
)
