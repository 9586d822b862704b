import { stripVTControlCharacters } from 'node:util'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { orderArguments } from '../harness/people.ts'
import { session } from '../harness/session.ts'

test('request wait --batch waits for all requests of a batch, and stores their statuses', async () => {
  const here = await session()
  const { type, folder } = here
  writePeopleFile(folder, [...createEmails(2), 'a3+error@example.com', 'a4+declined@example.com', 'bad'])
  const run = 'batch run people.csv --package 102 --yes --json --on-invalid skip --quiet'
  const { batch_id: id } = (await type(run)).json() as { batch_id: string }
  expect(await type(`request wait --batch ${id.slice(0, 8)}`)).toMatchInlineSnapshot(`
    $ refcheck request wait --batch BATCH_1…
    2> 1 row of the batch has no request to wait for. See: refcheck batch status BATCH_1
    2> REQUEST_1                             RECEIVED
    2> REQUEST_2                             RECEIVED
    2> REQUEST_3                             RECEIVED
    2> REQUEST_4                             RECEIVED
    2> The next read is in 56 s, to stay within the quota.
    2> REQUEST_4                             IN_PROGRESS
    2> REQUEST_3                             IN_PROGRESS
    2> The next read is in 8 s, to stay within the quota.
    2> REQUEST_2                             IN_PROGRESS
    2> REQUEST_3                             ERROR
    2> REQUEST_1                             IN_PROGRESS
    2> REQUEST_4                             CANCELLED
    2> REQUEST_1                             COMPLETED
    2> REQUEST_2                             COMPLETED
    2> Statuses updated in people.results.csv
    NAME      STATUS     REQUEST ID
    Ana Row1  COMPLETED  REQUEST_1
    Ana Row2  COMPLETED  REQUEST_2
    Ana Row3  ERROR      REQUEST_3
    Ana Row4  CANCELLED  REQUEST_4

    2 COMPLETED, 1 ERROR, 1 CANCELLED
    2> Error: Ana Row3 ended in ERROR, Ana Row4 was CANCELLED
    2> These statuses do not change any more. Show the checks with: refcheck request get REQUEST_3 REQUEST_4
    exit 10
  `)
  expect(await type(`batch status ${id}`)).toMatchInlineSnapshot(`
    $ refcheck batch status BATCH_1
    batch  BATCH_1
    people.csv, 102 Identity check only

    4  accepted
    1  invalid
    5  rows

    results  HOME/people.results.csv

    requests  2 COMPLETED, 1 ERROR, 1 CANCELLED
    checks    2 completed, 1 needs attention, 1 cancelled

    Needs a person
      1 could not be done  people.csv: Ana Row3
        refcheck request get REQUEST_3
      1 cancelled  people.csv: Ana Row4
        refcheck request get REQUEST_4
      1 invalid  people.csv: Ana Row5: email has no @; an e-mail address looks like ann@example.com
        refcheck batch rows BATCH_1 --state invalid
    exit 0
  `)
  expect(await here.all(['request wait', `request wait ${id} --batch ${id}`, 'request wait --batch ffff']))
    .toMatchInlineSnapshot(`
    $ refcheck request wait
    2> Error: no request was named
    2> Give the ids of requests, or --batch BATCH_ID.
    exit 2

    $ refcheck request wait BATCH_1 --batch BATCH_1
    2> Error: REQUEST_ID and --batch cannot be combined
    2> Give the ids of requests, or --batch BATCH_ID.
    exit 2

    $ refcheck request wait --batch ffff
    2> Error: no batch ffff in this store
    2> List the batches with: refcheck batch list
    exit 5
  `)
})

test('request wait on a terminal updates one view, and accepts the beginning of an id', async () => {
  const { type } = await session()
  const argv = orderArguments('Priya', ['--yes', '--json', '--quiet'])
  const { request_id: id } = (await type(argv)).json() as { request_id: string }
  const shown = await type(`request wait ${id.slice(0, 6)}`, { tty: true })
  // Three lines are drawn repeatedly in the same position, and erased before the result is printed.
  const escape = '\u001B'
  const frames = shown.stderr
    .replaceAll(`\r${escape}[2K${escape}[1A`, '')
    .split(`\r${escape}[2K`)
    .map((each) => stripVTControlCharacters(each).replaceAll(id.slice(0, 8), 'REQUEST'))
  expect(frames.find((each) => each !== '')).toMatchInlineSnapshot(`
    "[--------------------]  0 of 1 finished
    1 RECEIVED
    REQUEST  Priya Example  RECEIVED"
  `)
  expect(frames.find((each) => each.includes('COMPLETED'))).toMatchInlineSnapshot(`
    "[####################]  1 of 1 finished
    1 COMPLETED
    REQUEST  Priya Example  RECEIVED
    REQUEST  Priya Example  IN_PROGRESS
    REQUEST  Priya Example  COMPLETED"
  `)
  expect(frames.at(-1)).toBe('')
  expect(shown.code).toBe(0)
})

test('the beginning of an id is enough in each command if the store has the id', async () => {
  const here = await session()
  const argv = orderArguments('Priya', ['--yes', '--json', '--quiet'])
  const { request_id: id } = (await here.type(argv)).json() as { request_id: string }
  const idStart = id.slice(0, 5).toUpperCase()
  const shown = await here.type(['request', 'get', idStart, '--jq', '.request_id'])
  expect(shown.stdout.trim()).toBe(id)
  expect((await here.type(`webhook events list --request-id ${idStart}`)).code).toBe(0)
  expect((await here.type(`store purge --request-id ${idStart} --dry-run --jq .rows`)).stdout).toBe('1\n')
  await here.type(`request wait ${idStart}`)
  expect((await here.type(`report download --request ${idStart} --output reports --quiet`)).code).toBe(0)
  expect(await here.all(['request get fff0', 'request get ff', 'batch status fff0', 'request get zzzz']))
    .toMatchInlineSnapshot(`
      $ refcheck request get fff0
      2> Error: no request of this store starts with "fff0"
      2> List the requests with: refcheck request list
      exit 5

      $ refcheck request get ff
      2> Error: REQUEST_ID: "ff" is not a request id
      2> Give at least the first 4 characters of the id. List the requests with: refcheck request list
      exit 2

      $ refcheck batch status fff0
      2> Error: no batch fff0 in this store
      2> List the batches with: refcheck batch list
      exit 5

      $ refcheck request get zzzz
      2> Error: REQUEST_ID: "zzzz" is not a request id
      2> Give at least the first 4 characters of the id. List the requests with: refcheck request list
      exit 2
    `)
})

test('request wait on a terminal shows when the first read is possible if the quota is used up', async () => {
  const { type } = await session({ quota: [{ calls: 2, seconds: 60 }] })
  const argv = orderArguments('Priya', ['--yes', '--json', '--quiet'])
  const { request_id: id } = (await type(argv)).json() as { request_id: string }
  const { stderr } = await type(`request wait ${id}`, { tty: true })
  expect(stderr).toContain('0 of 1 finished; next read in ')
  expect(stderr).toContain('1 not read yet')
  expect(stderr).not.toContain('to stay within the quota')
})
