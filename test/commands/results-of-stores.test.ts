import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { colleague } from '../harness/service-env.ts'
import { type Session, session } from '../harness/session.ts'

/* src/docs/ordering.md, section 4, "Results files". */
const run = 'batch run people.csv --package 102 --yes'
const header = 'first_name,last_name,email,phone'

const people = {
  Tom: 'Tom,Silva,tom@example.com,+61400000001',
  Mei: 'Mei,Tanaka,mei@example.com,+61400000002',
  Bob: 'Bob,Hale,bob@example.com,+61400000003',
  Zoe: 'Zoe,Quinn,zoe@example.com,+61400000004',
}

type Name = keyof typeof people

/** Lets a colleague with another store run the file before the next order of this store is sent. */
function runElsewhereMeanwhile(here: Session): void {
  let isRunning = false
  here.intercept(async (request, ask) => {
    if (request.method === 'POST' && !isRunning) {
      isRunning = true
      await here.type(run, colleague(here))
    }
    return ask(request)
  })
}

const refused = { kind: 'status', status: 400, when: 'before', message: 'not accepted today' } as const

/** The names and states in the text of a results file. */
const statesOf = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => `${line.split(',')[0]} ${line.split(',')[4]}`)

/** Returns a line of a results file with refcheck's columns in upper case. */
const upperResults = (line: string): string =>
  line
    .split(',')
    .map((cell, at) => (at < 4 ? cell : cell.toUpperCase()))
    .join(',')

const writePeople = ({ write }: Session, names: readonly Name[]): string =>
  write('people.csv', [header, ...names.map((name) => people[name]), ''].join('\n'))

const orderedNames = ({ listOrderedEmails }: Session): string[] =>
  listOrderedEmails().map((email) => email.replace(/@.*/, ''))

/** A session in which a colleague with another store has ordered people, and the text of the colleague's results file. */
async function sessionWithResults(names: readonly Name[], line = run) {
  const here = await session()
  writePeople(here, names)
  expect((await here.type(line, colleague(here))).code).toBe(0)
  const results = here.read('people.results.csv')
  rmSync(join(here.folder, 'people.results.csv'))
  return { here, results }
}

const countPlanned = async ({ type }: Session): Promise<unknown> =>
  ((await type(`${run} --dry-run --json`)).json() as { counts: { pending: number } }).counts.pending

describe('the path of the results', () => {
  test.each([
    ['a results file of another store', (results: string) => results],
    ['a file without results', () => 'my,notes\n1,2\n'],
  ])('is another one if %s arrives there during the run, which is not overwritten', async (_what, change) => {
    const { here, results } = await sessionWithResults(['Zoe'])
    const text = change(results)
    writePeople(here, ['Tom'])
    here.intercept((request, ask) => {
      if (request.method === 'POST') here.write('people.results.csv', text)
      return ask(request)
    })
    expect((await here.type(`${run} --json`)).json()).toMatchObject({
      results_file: expect.stringMatching(/people\.results-2\.csv$/) as string,
    })
    expect(here.read('people.results.csv')).toBe(text)
  })
})

describe('a results file of an earlier batch', () => {
  test('is not overwritten by a batch of other people, since another store would order its people again', async () => {
    const here = await session()
    writePeople(here, ['Tom', 'Mei'])
    await here.type(run)
    const results = here.read('people.results.csv')
    writePeople(here, ['Zoe'])
    expect((await here.type(`${run} --json`)).json()).toMatchObject({
      results_file: expect.stringMatching(/people\.results-2\.csv$/) as string,
    })
    expect(here.read('people.results.csv')).toBe(results)
    writePeople(here, ['Tom', 'Mei', 'Bob', 'Zoe'])
    expect((await here.type(run, colleague(here))).code).toBe(0)
    expect(orderedNames(here)).toEqual(['tom', 'mei', 'zoe', 'bob'])
  })

  test('is replaced by that of a batch of the same people and more, and has the new people as pending during its run', async () => {
    const here = await session()
    writePeople(here, ['Tom', 'Mei'])
    await here.type(run)
    writePeople(here, ['Mei', 'Bob', 'Tom'])
    let during = ''
    here.intercept((request, ask) => {
      if (request.method === 'POST') during = here.read('people.results.csv')
      return ask(request)
    })
    await here.type(run)
    expect([during, here.read('people.results.csv')].map(statesOf)).toEqual([
      ['Mei duplicate', 'Bob pending', 'Tom duplicate'],
      ['Mei duplicate', 'Bob accepted', 'Tom duplicate'],
    ])
    expect(existsSync(join(here.folder, 'people.results-2.csv'))).toBe(false)
  })

  test('is not overwritten by a later run of a batch that had this file before', async () => {
    const here = await session()
    writePeople(here, ['Tom', 'Mei'])
    here.sandbox.inject({ on: 'POST /v1/requests', times: 1, fault: refused })
    const { batch_id } = (await here.type(`${run} --json`)).json() as { batch_id: string }
    writePeople(here, ['Tom', 'Mei', 'Bob'])
    await here.type(run)
    const results = here.read('people.results.csv')
    writePeople(here, ['Tom', 'Mei'])
    await here.all([`batch retry ${batch_id} --row 1`, `batch resume ${batch_id} --yes`])
    expect(here.read('people.results.csv')).toBe(results)
    expect(statesOf(here.read('people.results-2.csv'))).toEqual(['Tom duplicate', 'Mei accepted'])
  })
})

describe('result columns in the input file', () => {
  test('are found by person if they were shifted to other lines, so that no person in the file is ordered again', async () => {
    const { here, results } = await sessionWithResults(['Tom', 'Mei', 'Bob'])
    const [head, ...rows] = results.trimEnd().split('\n')
    const shifted = [people.Mei, people.Bob, people.Zoe].map((person, at) =>
      person.concat(
        rows[at]
          ?.split(',')
          .slice(4)
          .map((cell) => `,${cell}`)
          .join('') ?? '',
      ),
    )
    here.write('team.csv', `${[head, ...shifted].join('\n')}\n`)
    expect(await here.type('batch run team.csv --package 102 --yes')).toMatchInlineSnapshot(`
      $ refcheck batch run team.csv --package 102 --yes
      2>
      2> team.csv: 3 rows
      2>   1 order of 102 Identity check only
      2>   2 rows ordered before, not sent
      2>     Mei Tanaka (line 2): ordered, by line 3 of team.csv
      2>     Bob Hale (line 3): ordered, by line 4 of team.csv
      2> Sending takes under a minute
      2>
      ✔ All 3 people in team.csv are ordered
         1 now: Zoe Quinn
         2 before, on 2026-11-20 12:00 +00:00

      batch  BATCH_2
      team.csv, 102 Identity check only

      1  accepted
      2  duplicate
      3  rows

      results  HOME/team.results.csv

      Next: refcheck request wait --batch BATCH_2
      exit 0
    `)
    expect(orderedNames(here)).toEqual(['tom', 'mei', 'bob', 'zoe'])
  })

  test.each(['csv', 'json'])(
    'are read if their names are in upper case (%s), and are not there twice in the new results',
    async (format) => {
      const here = await session()
      writePeople(here, ['Zoe', 'Bob'])
      await here.type(`${run} --max 1 --results sent.${format}`, colleague(here))
      const sent = here.read(`sent.${format}`)
      const again = sent.replaceAll(/refcheck_\w+/g, (name) => name.toUpperCase())
      here.write(`again.${format}`, again)
      const outcome = await here.type(`batch run again.${format} --package 102 --yes --json`)
      expect(outcome.json()).toMatchObject({ counts: { duplicate: 1, held: 1 } })
      expect(here.read(`again.results.${format}`).match(/refcheck_state/gi)).toEqual(
        sent.match(/refcheck_state/g),
      )
    },
  )
})

describe('a results file of another store', () => {
  test('at a path where this store had its results is read, and not overwritten', async () => {
    const { here, results } = await sessionWithResults(['Zoe'])
    writePeople(here, ['Tom'])
    await here.type(run)
    here.write('people.results.csv', results)
    writePeople(here, ['Zoe', 'Bob'])
    expect((await here.type(run)).code).toBe(0)
    expect(orderedNames(here)).toEqual(['zoe', 'tom', 'bob'])
    expect(here.read('people.results.csv')).toBe(results)
  })

  test.each([
    'people.results-DESKTOP-7AB12.csv',
    'people.results - Copy (2).csv',
    'people.results copy 2.csv',
    'people.results (Ana’s conflicted copy 2026-11-20).csv',
    'PEOPLE.RESULTS-2 (1).CSV',
  ])('is recognized under the name %s of a copy', async (name) => {
    const { here, results } = await sessionWithResults(['Zoe'])
    here.write(name, results)
    expect(await countPlanned(here)).toBe(0)
  })

  test('is not assumed in a file without result columns under another name than that of results', async () => {
    const { here } = await sessionWithResults(['Zoe'])
    here.write('people.results-march.csv', 'total,price\n12,40\n')
    here.write('people.results - Copy.csv', `${header}\n`)
    expect(await here.type(`${run} --dry-run`)).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes --dry-run
      2> Dry run: nothing was sent.
      people.csv: 1 row
        1 order of 102 Identity check only
      Sending takes under a minute
      exit 0
    `)
  })

  test.each([
    ['has its column names and states in upper case', (text: string) => text.replace(/^.*$/gm, upperResults)],
    ['has lost its states and request ids', (text: string) => text.replace(/,accepted,[^,]*,/g, ',,,')],
  ])('is read if it %s', async (_what, change) => {
    const { here, results } = await sessionWithResults(['Zoe'])
    here.write('people.results.csv', change(results))
    expect(await countPlanned(here)).toBe(0)
  })

  test.each([
    ['has lost its header line', (text: string) => text.replace(/^.*\n/, '')],
    ['has only its header line', (text: string) => text.replace(/\n[^]*/, '\n')],
    [
      'has other names of columns',
      (text: string) => text.replaceAll(/refcheck_(state|request_id)/g, 'my_$1'),
    ],
  ])('that %s stops a new file, unless --ignore-results is given', async (_what, change) => {
    const { here, results } = await sessionWithResults(['Zoe'])
    here.write('people.results.csv', change(results))
    const stopped = await here.type(run)
    expect([stopped.code, stopped.stderr]).toEqual([2, expect.stringContaining('could not be read')])
    expect((await here.type(`${run} --ignore-results`)).code).toBe(0)
    expect(here.read('people.results.csv')).toBe(change(results))
  })

  test('that was written while the question was open stops the run before it sends anything', async () => {
    const here = await session()
    writePeople(here, ['Tom', 'Mei'])
    const answers = [
      { ask: /^Order .* for 2 people/, confirm: true, meanwhile: () => here.type(run, colleague(here)) },
    ]
    const line = 'batch run people.csv --package 102'
    expect(await here.type(line, { answers })).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102
      2>
      2> people.csv: 2 rows
      2>   2 orders of 102 Identity check only
      2> Sending takes under a minute
      2>
      ? Order 102 Identity check only for 2 people (Tom Silva (tom@example.com), Mei Tanaka (mei@example.com)) at 127.0.0.1:PORT as olive.owner@example.com? yes
      2> Error: people.results.csv was written by another run since this file was compared with it
      2> Nothing was sent. People of this file may be ordered now. Run it again: refcheck batch run people.csv --package 102
      exit 2
    `)
    expect(existsSync(join(here.folder, 'people.results-2.csv'))).toBe(false)
    expect(await here.type(line, { answers: [] })).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102
      2>
      2> people.csv: 2 rows
      2>   0 orders to send
      2>   2 rows ordered before, not sent
      2>     Tom Silva (line 2): ordered, by line 2 of people.results.csv
      2>     Mei Tanaka (line 3): ordered, by line 3 of people.results.csv
      2>
      ✔ All 2 people in people.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

      batch  BATCH_2
      people.csv, 102 Identity check only

      2  duplicate
      2  rows

      results  HOME/people.results-2.csv

      Next: refcheck report sync
      exit 0
    `)
    expect(orderedNames(here)).toEqual(['tom', 'mei'])
  })

  test.each(['run', 'resume'])(
    'that was written while the question of batch %s about a known batch was open is compared with its rows',
    async (verb) => {
      const here = await session()
      writePeople(here, ['Tom', 'Mei'])
      here.sandbox.setCredits(0)
      const { batch_id } = (await here.type(`${run} --results mine.csv --json`)).json() as {
        batch_id: string
      }
      here.sandbox.setCredits(null)
      const meanwhile = () => here.type(run, colleague(here))
      const line = verb === 'run' ? 'batch run people.csv --package 102' : `batch resume ${batch_id}`
      const { code } = await here.type(line, { answers: [{ ask: /^Order/, confirm: true, meanwhile }] })
      expect([code, orderedNames(here)]).toEqual([0, ['tom', 'mei']])
    },
  )
})

describe('a results file that cannot be read', () => {
  test('stops no new file if it is at a path of the results of this store', async () => {
    const here = await session()
    writePeople(here, ['Tom'])
    await here.type(run)
    here.write('people.results.csv', `${header}\n`)
    writePeople(here, ['Zoe'])
    const { code, stderr } = await here.type(run)
    expect([code, stderr]).toEqual([0, expect.stringContaining('people.results.csv could not be read')])
    expect(here.read('people.results.csv')).toBe(`${header}\n`)
  })

  test('is reported once by batch resume with a question', async () => {
    const here = await session()
    writePeople(here, ['Tom', 'Mei'])
    const { batch_id } = (await here.type(`${run} --max 1 --json`)).json() as { batch_id: string }
    here.write('people.results-2.csv', `${header}\n`)
    const { stderr } = await here.type(`batch resume ${batch_id}`, {
      answers: [{ ask: /^Order/, confirm: true }],
    })
    expect(stderr.match(/could not be read/g)).toHaveLength(1)
  })
})

describe('the people who wait in a stopped batch', () => {
  test.each(['was deleted', 'was replaced by that of another batch'])(
    'are not ordered by another store during the next run if the results file %s',
    async (what) => {
      const here = await session()
      const path = join(here.folder, 'people.results.csv')
      writePeople(here, ['Zoe'])
      await here.type(`${run} --results zoe.csv`)
      writePeople(here, ['Tom', 'Mei'])
      here.sandbox.setCredits(0)
      const { batch_id } = (await here.type(`${run} --json`)).json() as { batch_id: string }
      here.sandbox.setCredits(null)
      if (what === 'was deleted') rmSync(path)
      else renameSync(join(here.folder, 'zoe.csv'), path)
      runElsewhereMeanwhile(here)
      expect((await here.type(`batch resume ${batch_id} --yes`)).code).toBe(0)
      expect(orderedNames(here)).toEqual(['zoe', 'tom', 'mei'])
    },
  )

  test('stay in their results file if a file of other people is run meanwhile', async () => {
    const here = await session()
    writePeople(here, ['Tom', 'Mei'])
    here.sandbox.setCredits(0)
    await here.type(run)
    here.sandbox.setCredits(null)
    writePeople(here, ['Zoe'])
    expect((await here.type(run)).code).toBe(0)
    expect(statesOf(here.read('people.results.csv'))).toEqual(['Tom pending', 'Mei pending'])
    expect(statesOf(here.read('people.results-2.csv'))).toEqual(['Zoe accepted'])
  })

  test('are sent by the next run also if the columns of batches were deleted from their results file', async () => {
    const here = await session()
    writePeople(here, ['Tom', 'Mei'])
    await here.type(`${run} --max 1`)
    const lines = here.read('people.results.csv').split('\n')
    here.write('people.results.csv', lines.map((line) => line.split(',').slice(0, 7).join(',')).join('\n'))
    expect((await here.type(run)).code).toBe(0)
    expect(orderedNames(here)).toEqual(['tom', 'mei'])
  })
})
