import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

const terminal = { tty: true, exported: { NO_COLOR: '1' } }

test('status names the command for held rows, the reason why a batch halted, and how many more people a line is about', async () => {
  const here = await session()
  here.write(
    'people.csv',
    `first_name,last_name,email,phone
Lena,Vogt-Maier-Lindenberger,l1@example.com,+61400000001
Lenna,Vogt-Maier-Lindenberger,l2@example.com,+61400000001
Lenaa,Vogt-Maier-Lindenberger,l3@example.com,+61400000001
`,
  )
  await here.type('batch run people.csv --package 102 --yes --quiet')
  here.sandbox.setCredits(0)
  writePeopleFile(here.folder, createEmails(2), 'more.csv')
  await here.type('batch run more.csv --package 102 --yes --quiet')
  expect(await here.type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      more.csv                              halted  refcheck batch resume BATCH_2…
        organisation has no credits remaining; left to send: Ana Row1, Ana Row2
      Lenna Vogt-Maier-Lindenb… and 1 more  held    refcheck batch release BATCH_1…
    exit 0
  `)
  expect(await here.type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      more.csv                              halted  refcheck batch resume BATCH_2
        organisation has no credits remaining; left to send: Ana Row1, Ana Row2
      Lenna Vogt-Maier-Lindenb… and 1 more  held    refcheck batch release BATCH_1
    exit 0
  `)
})

test('a request that ended without a result is counted once in status: listed until the user looks at it, then as looked at', async () => {
  const here = await session()
  const { type, folder, clock, read, write } = here
  const people = ['a1+error@example.com', 'a2+declined@example.com']
  writePeopleFile(folder, people)
  await type('batch run people.csv --package 102 --yes --quiet')
  await clock.advance(30 * 24 * 60 * 60_000)
  await type('request list --refresh --quiet')
  await type(`request get ${people[0]}`, terminal)
  expect(await type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)
    Running    nothing
    Needs you
      Ana Row2  cancelled  refcheck request get REQUEST_2…
    Ended, looked at: 1 ERROR → refcheck request list --status error
    exit 0
  `)
  await type(`request get ${people[1]}`, terminal)
  expect(await type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)
    Running    nothing
    Needs you  nothing
    Ended, looked at: 1 ERROR → refcheck request list --status error
    Ended, looked at: 1 CANCELLED → refcheck request list --status cancelled
    exit 0
  `)
  const others = read('people.csv').replace(/^.*a1\+error.*\n/m, '')
  write('again.csv', `${others}Cleo,Hart,cleo@example.com,+61400000099\n`)
  await type('batch run again.csv --package 102 --yes --quiet')
  const [batch] = (await type('batch list --json')).json() as { batch_id: string }[]
  await type(`batch export ${batch?.batch_id} --output again.html`)
  const [section] = /<h2 id="attention">.*?<\/section>/s.exec(read('again.html')) ?? []
  expect(section?.replaceAll(/\s+/g, ' ')).toMatchInlineSnapshot(
    `"<h2 id="attention">Needs a person</h2> <p>Nothing new needs a person.</p> <p>1 request ended without a result: see the list of people.</p> </section>"`,
  )
})

test('the page of people counts a person with two rejected rows once', async () => {
  const { sandbox, write, type, read } = await session()
  const ana = 'Ana,Lee,ana@example.com,+61400000001'
  write('people.csv', `first_name,last_name,email,phone,package_id\n${ana},102\n${ana},103\n`)
  sandbox.inject({
    on: 'POST /v1/requests',
    times: 9,
    fault: { kind: 'status', status: 400, when: 'before' },
  })
  await type('batch run people.csv --yes --quiet')
  await type('status --html people.html')
  expect(read('people.html').replaceAll(/\s+/g, ' ')).toContain('<dd>2 <small>1 person</small></dd>')
})

test('status --all lists each person who needs the user by name', async () => {
  const { write, type } = await session()
  for (let file = 1; file <= 9; file += 1) {
    const rows = ['Lena', 'Lenna', 'Lenaa'].map(
      (first, at) => `${first},Vogt${file},l${file}${at}@example.com,+6140000000${file}`,
    )
    write(`f${file}.csv`, `first_name,last_name,email,phone\n${rows.join('\n')}\n`)
    await type(`batch run f${file}.csv --package 102 --yes --quiet`)
  }
  const short = await type('status', terminal)
  expect(short.stdout.split('\n').at(-2)).toBe('  and 1 more; each person: refcheck status --all')
  const whole = await type('status --all', terminal)
  expect(whole.stdout.match(/^ {2}\S+ Vogt\d +held {2}refcheck batch release /gm)).toHaveLength(18)
  expect(whole.stdout).not.toContain(' more')
})

test('batch status says once that a row is held, and of whom it may be', async () => {
  const { write, type } = await session()
  const rows = ['Lena,Vogt,l1@example.com,+61400000001', 'Lenna,Vogt,l2@example.com,+61400000001']
  write('people.csv', `first_name,last_name,email,phone\n${rows.join('\n')}\n`)
  const run = await type('batch run people.csv --package 102 --yes --max 1 --json')
  const { batch_id: id } = run.json() as { batch_id: string }
  expect((await type(`batch status ${id}`)).stdout).toContain(
    '  1 held  people.csv: Lenna Vogt: has the same phone as Lena Vogt (l1@example.com), ',
  )
})

test('the end of a run and status name the people whose rows were left out as invalid, until the corrected file is run', async () => {
  const here = await session()
  writePeopleFile(here.folder, ['a1@example.com', 'no e-mail'])
  const run = 'batch run people.csv --package 102 --yes --on-invalid skip'
  expect((await here.type(run)).stdout).toContain(
    'Not ordered, because invalid: Ana Row2 (line 3)\nTo order invalid rows, correct them in the file and run it again.',
  )
  expect(await here.type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      Ana Row2  invalid  refcheck batch rows BATCH_1… --state invalid
        correct people.csv and run it again
    exit 0
  `)
  expect((await here.type('status --json')).json()).toMatchObject({
    attention: [{ kind: 'invalid', first_name: 'Ana', last_name: 'Row2', row: 2 }],
  })
  writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'])
  const changed = await here.type('status', terminal)
  expect(changed.stdout).toMatch(/^ {2}no e-mail {2}invalid /m)
  await here.clock.advance(60_000)
  await here.type(run)
  expect((await here.type('status', terminal)).stdout).toMatch(/^Needs you +nothing$/m)
})

test('an invalid row is not listed after its person was ordered by another file', async () => {
  const here = await session()
  writePeopleFile(here.folder, ['a1@example.com', 'no e-mail'])
  await here.type('batch run people.csv --package 102 --yes --on-invalid skip')
  writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'], 'corrected.csv')
  await here.type('batch run corrected.csv --package 102 --yes')
  expect((await here.type('status', terminal)).stdout).toMatch(/^Needs you +nothing$/m)
})
