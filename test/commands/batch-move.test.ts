import { expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

/** 0.1.0 led to `--package 107`, and 16 people were ordered twice. */
test('60 rows under 102, replaced after 16: resume sends nothing, a move takes the rest over, the 16 are known', async () => {
  const here = await session()
  peopleFile(here.folder, emails(60))
  const begun = await here.type('batch run people.csv --package 102 --yes --json --max 16')
  const { batch_id } = begun.json() as { batch_id: string }
  const successor = here.sandbox.replacePackage(102, { newField: false })
  const resumed = await here.type(`batch resume ${batch_id} --yes`)
  expect([resumed.code, here.ordered().length]).toEqual([5, 16])
  expect(await here.type(`batch move ${batch_id} --package ${successor}`)).toMatchInlineSnapshot(`
    $ refcheck batch move BATCH_1 --package 107
    2> Moved 44 rows to package 107.
    2> Order them with: refcheck batch resume BATCH_1
    batch  BATCH_1
    people.csv, package 107

    16  accepted
    44  pending
    60  rows

    results  HOME/people.results.csv
    exit 0
  `)
  const moved = await here.type(`batch resume ${batch_id} --yes --json`)
  expect([moved.code, moved.json()]).toMatchObject([
    0,
    { package_id: successor, counts: { total: 60, accepted: 60 } },
  ])
  expect(here.ordered()).toEqual(emails(60))
  expect(here.sandbox.requests().map(({ package_id }) => package_id)).toEqual([
    ...Array<number>(16).fill(102),
    ...Array<number>(44).fill(successor),
  ])
  peopleFile(here.folder, emails(20), 'again.csv')
  const again = await here.type(`batch run again.csv --package ${successor} --yes --json`)
  expect([again.code, again.json()]).toMatchObject([2, { counts: { duplicate: 20, pending: 0 } }])
  expect(here.ordered()).toHaveLength(60)
})

test('--drop: nobody runs the batch, and the person stays blocked', async () => {
  const here = await session()
  peopleFile(here.folder, ['a1+cut-after@example.com'])
  const begun = await here.type('batch run people.csv --package 102 --yes --json')
  const { batch_id } = begun.json() as { batch_id: string }
  expect(await here.type(`batch reconcile ${batch_id} --row 1 --drop`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 1 --drop
    batch  BATCH_1
    people.csv, package 102

    1  dropped
    1  row

    results  HOME/people.results.csv
    exit 0
  `)
  const again = await here.type(
    'request create --package 102 --first-name Ana --last-name Row1 --email a1+cut-after@example.com --phone +61400000001 --yes',
  )
  expect([again.code, here.ordered()]).toEqual([2, ['a1+cut-after@example.com']])
})
