import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

test('batch plan prints or writes a plan, and batch run --plan orders its rows', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  const plan = 'batch plan people.csv --package 102'
  expect(await type(plan, { tty: { stdout: true } })).toMatchInlineSnapshot(`
    $ refcheck batch plan people.csv --package 102
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    Save this plan with: --output plan.json
    exit 0
  `)
  expect((await type(plan)).json()).toMatchObject({ refcheck_plan: 1, counts: { pending: 2 } })
  expect(await type(`${plan} --output plan.json`)).toMatchInlineSnapshot(`
    $ refcheck batch plan people.csv --package 102 --output plan.json
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    The plan is saved in HOME/plan.json
    exit 0
  `)
  const planned = (await type(`${plan} --output again.json --json`)).json()
  expect(planned).toMatchObject({ counts: { pending: 2 }, package_id: 102, seconds: 0 })
  expect(listOrderedEmails()).toEqual([])
  expect(await type('batch run --plan plan.json --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run --plan plan.json --yes
    2>
    2> HOME/people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ✔ All 2 people in HOME/people.csv are ordered

    batch  BATCH_1
    HOME/people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test('batch run --plan refuses flags that change the plan, a file that has changed, and a file that is no plan', async () => {
  const { all, type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  await type('batch plan people.csv --package 102 --output plan.json')
  const flags = ['--package 101', '--map x=email', '--ignore email', '--default-country AU']
  expect(await all(flags.map((flag) => `batch run --plan plan.json --yes ${flag}`))).toMatchInlineSnapshot(`
    $ refcheck batch run --plan plan.json --yes --package 101
    2> Error: --package and --plan cannot be combined
    2> Show its help with: refcheck batch run --help
    exit 2

    $ refcheck batch run --plan plan.json --yes --map x=email
    2> Error: --map and --plan cannot be combined
    2> Show its help with: refcheck batch run --help
    exit 2

    $ refcheck batch run --plan plan.json --yes --ignore email
    2> Error: --ignore and --plan cannot be combined
    2> Show its help with: refcheck batch run --help
    exit 2

    $ refcheck batch run --plan plan.json --yes --default-country AU
    2> Error: --default-country and --plan cannot be combined
    2> Show its help with: refcheck batch run --help
    exit 2
  `)
  writePeopleFile(folder, createEmails(3))
  expect(await all(['batch run --plan plan.json --yes', 'batch run --plan people.csv --yes']))
    .toMatchInlineSnapshot(`
      $ refcheck batch run --plan plan.json --yes
      2> Error: HOME/people.csv has changed since it was planned
      2> Nothing was sent. Plan again with: refcheck batch plan HOME/people.csv --package 102 --output plan.json --overwrite
      exit 2

      $ refcheck batch run --plan people.csv --yes
      2> Error: people.csv is not a plan
      2> Make a plan with: refcheck batch plan FILE --output plan.json
      exit 2
    `)
  expect(listOrderedEmails()).toEqual([])
})

test('a plan of 5,000 rows takes more than four hours', async () => {
  const { type, folder } = await session()
  writePeopleFile(folder, createEmails(5000))
  const { stderr } = await type('batch plan people.csv --package 102')
  expect(stderr).toMatchInlineSnapshot(`
    "people.csv: 5000 rows
      5000 orders of 102 Identity check only
    Sending takes about 4 h 19 min within the quota, until 2026-11-20 16:19 +00:00
    "
  `)
})

test('the duration in a plan depends on how much of the quota was used before', async () => {
  const { type, write } = await session()
  const writePeople = (tag: string, phone: number): string => {
    const rows = createEmails(30, tag).map((email, at) => `${tag}${at},Low,${email},+${phone + at}`)
    return write(`${tag}.csv`, ['first_name,last_name,email,phone', ...rows].join('\n'))
  }
  const plan = `batch plan ${writePeople('mei', 61_400_000_100)} --package 102`
  expect((await type(plan)).stderr).toContain('takes under a minute')
  await type(`batch run ${writePeople('ana', 61_400_000_200)} --package 102 --yes --quiet`)
  expect((await type(plan)).stderr).toMatch(/takes about 6[12] s within the quota/)
})

test('a dry run of a file whose rows all wait in another batch counts the rows that it does not name, and shows no error', async () => {
  const { type, folder, sandbox } = await session()
  writePeopleFile(folder, createEmails(12))
  sandbox.setCredits(0)
  await type('batch run people.csv --package 102 --yes')
  writePeopleFile(folder, createEmails(11), 'again.csv')
  expect(await type('batch run again.csv --package 102 --dry-run')).toMatchInlineSnapshot(`
    $ refcheck batch run again.csv --package 102 --dry-run
    2> Dry run: nothing was sent.
    again.csv: 11 rows
      0 orders to send
      11 rows already waiting in a batch, not sent
        Ana Row1 (line 2): waiting in batch BATCH_1…
        Ana Row2 (line 3): waiting in batch BATCH_1…
        Ana Row3 (line 4): waiting in batch BATCH_1…
        Ana Row4 (line 5): waiting in batch BATCH_1…
        Ana Row5 (line 6): waiting in batch BATCH_1…
        Ana Row6 (line 7): waiting in batch BATCH_1…
        Ana Row7 (line 8): waiting in batch BATCH_1…
        Ana Row8 (line 9): waiting in batch BATCH_1…
        Ana Row9 (line 10): waiting in batch BATCH_1…
        Ana Row10 (line 11): waiting in batch BATCH_1…
        … and 1 more
    2> Resume that batch with: refcheck batch resume BATCH_1
    exit 10
  `)
})
