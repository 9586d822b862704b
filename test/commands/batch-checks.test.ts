import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

const minute = 60_000

const fields = {
  'reference.position_title': 'Nurse',
  'ncc_acic.date_of_birth': '1990-04-30',
  'ncc_acic.is_volunteer': 'no',
  'ncc_acic.previous_names': '[]',
  'ncc_acic.residential_address.street': '1 High St',
  'icrc.years_of_history': '5',
  'icrc.annual_income': '60000',
}

test('batch status counts the checks by status and type, as the requests were last read', async () => {
  const here = await session()
  const { type, write, clock, listCalls } = here
  const person = (number: number) => `Ana,Row${number},a${number}@example.com,+6140000000${number}`
  const people = [1, 2, 3].map((number) => [person(number), ...Object.values(fields)].join(','))
  write(
    'people.csv',
    [`first_name,last_name,email,phone,${Object.keys(fields).join(',')}`, ...people].join('\n'),
  )
  const run = 'batch run people.csv --package 101 --yes --json --quiet'
  const { batch_id: id } = (await type(run)).json() as { batch_id: string }
  const checks = async () => ((await type(`batch status ${id} --json`)).json() as { checks: unknown }).checks
  expect(await checks()).toEqual({ requests: 0, by_type: {} })
  await clock.advance(15 * minute)
  const listed = (await type(`request list --batch ${id} --json`)).json() as { request_id: string }[]
  const first = listed[0]?.request_id
  await type(`request get ${first}`)
  const before = listCalls().length
  expect(await type(`batch status ${id}`)).toMatchInlineSnapshot(`
    $ refcheck batch status BATCH_1
    batch  BATCH_1
    people.csv, 101 Standard employment screen

    3  accepted
    3  rows

    results  HOME/people.results.csv

    requests  1 IN_PROGRESS, 2 RECEIVED
    checks    3 in progress (1 of 3 requests read)
      background: 2 in progress
      reference: 1 in progress
    exit 0
  `)
  await type(`request list --batch ${id} --refresh`)
  expect(await type(`batch status ${id}`)).toMatchInlineSnapshot(`
    $ refcheck batch status BATCH_1
    batch  BATCH_1
    people.csv, 101 Standard employment screen

    3  accepted
    3  rows

    results  HOME/people.results.csv

    requests  3 IN_PROGRESS
    checks    9 in progress
      background: 6 in progress
      reference: 3 in progress
    exit 0
  `)
  expect(listCalls()).toHaveLength(before + 3)
  await type(`request wait --batch ${id} --quiet`)
  expect(await checks()).toMatchInlineSnapshot(`
    {
      "by_type": {
        "background": {
          "COMPLETED": 6,
        },
        "reference": {
          "COMPLETED": 3,
        },
      },
      "requests": 3,
    }
  `)
})
