import { readdirSync, rmSync } from 'node:fs'

import { expect, test } from 'vitest'

import { type SessionWithOrders, sessionWithOrders, listPdfs } from '../harness/orders.ts'

const createDownloadLine = ({ ids }: SessionWithOrders, more = ''): string =>
  `report download --request ${ids[0]} --output reports${more}`

test('tokens that expired for all reports of a request cost one more read, also if the new tokens are refused', async () => {
  const here = await sessionWithOrders(['Priya'], { full: true })
  const fault = { kind: 'status', status: 401, when: 'before' } as const
  here.sandbox.inject({ on: 'GET /v1/reports/*', times: 4, fault })
  here.countNewQuotaCalls()
  expect((await here.type(createDownloadLine(here))).code).toBe(0)
  expect(here.countNewQuotaCalls()).toBe(2)
  rmSync(here.reports, { recursive: true })
  here.sandbox.inject({ on: 'GET /v1/reports/*', times: 99, fault })
  expect(await here.type(createDownloadLine(here, ' --concurrency 1'))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --concurrency 1
    unavailable  Priya Example: the report URL was refused: its token is invalid or has expired
    unavailable  Priya Example: the report URL was refused: its token is invalid or has expired
    unavailable  Priya Example: the report URL was refused: its token is invalid or has expired
    unavailable  Priya Example: the report URL was refused: its token is invalid or has expired

    0 reports stored, 4 unavailable
    2> Error: 4 reports are unavailable; the first: the report URL was refused: its token is invalid or has expired
    2> A signed URL is valid for one hour. Download the report by its ids: refcheck report download CHECK_1 --referee 911340
    exit 10
  `)
  expect(here.countNewQuotaCalls()).toBe(2)
})

test('after a 403 for one report the others are stored, that report is listed, and the exit code is 10', async () => {
  const here = await sessionWithOrders(['Priya'], { full: true })
  const fault = { kind: 'status', status: 403, when: 'before' } as const
  here.sandbox.inject({ on: 'GET /v1/reports/*', fault })
  expect(await here.type(createDownloadLine(here, ' --concurrency 1'))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --concurrency 1
    stored  reports/Example-Priya_reference-Jordan-Referee_HASH.pdf  # kB
    stored  reports/Example-Priya_National-police-check_HASH.pdf  # kB
    stored  reports/Example-Priya_Credit-history-check_HASH.pdf  # kB
    unavailable  Priya Example: user is not an active member of the organisation

    3 reports stored (# kB), 1 unavailable
    2> Error: 1 report is unavailable
    2> The user e-mail must belong to an active user of the key’s organisation. An active user can list them with: refcheck users list
    exit 10
  `)
  expect(listPdfs(here.reports)).toHaveLength(3)
})

test('after a 404 for one report the others are stored', async () => {
  const here = await sessionWithOrders(['Priya'], { full: true })
  const fault = { kind: 'status', status: 404, when: 'before' } as const
  here.sandbox.inject({ on: 'GET /v1/reports/*', fault })
  expect(await here.type(createDownloadLine(here, ' --concurrency 1'))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --concurrency 1
    stored  reports/Example-Priya_reference-Jordan-Referee_HASH.pdf  # kB
    stored  reports/Example-Priya_National-police-check_HASH.pdf  # kB
    stored  reports/Example-Priya_Credit-history-check_HASH.pdf  # kB
    unavailable  Priya Example: resource not found

    3 reports stored (# kB), 1 unavailable
    2> Error: 1 report is unavailable
    2> Check the ids and whether the report is ready with: refcheck request get REQUEST_1
    exit 10
  `)
  expect(listPdfs(here.reports)).toHaveLength(3)
})

test('missing reports have their own field in JSON, and no hint to try again if they will never exist', async () => {
  const here = await sessionWithOrders(['Ana+declined', 'Ben+error', 'Cleo+report-never'])
  const downloadLineFor = (...at: number[]) =>
    `report download ${at.map((each) => `--request ${here.ids[each]}`).join(' ')} --output reports`
  expect(await here.type(`${downloadLineFor(0)} --json`)).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --json
    [
      {
        "request_id": "REQUEST_1",
        "check_id": "CHECK_1",
        "referee_id": null,
        "error": {
          "code": "not_found",
          "message": "Identity check: no report; the check ended CANCELLED",
          "hint": "No report will follow."
        }
      }
    ]
    2> Error: 1 report is unavailable
    2> No report will follow.
    exit 10
  `)
  expect(await here.all([downloadLineFor(0), downloadLineFor(1), downloadLineFor(2), downloadLineFor(0, 2)]))
    .toMatchInlineSnapshot(`
      $ refcheck report download --request REQUEST_1 --output reports
      unavailable  Ana Example: Identity check: no report; the check ended CANCELLED
      2> Error: 1 report is unavailable
      2> No report will follow.
      exit 10

      $ refcheck report download --request REQUEST_2 --output reports
      unavailable  Ben Example: request REQUEST_2 has no reports; it ended ERROR
      2> Error: 1 report is unavailable
      2> No report will follow.
      exit 10

      $ refcheck report download --request REQUEST_3 --output reports
      unavailable  Cleo Example: Identity check: the check is COMPLETED, but its report is not available yet
      2> What is on disk is skipped. Run again later: refcheck report download --request REQUEST_3 --output reports
      exit 10

      $ refcheck report download --request REQUEST_1 --request REQUEST_3 --output reports
      unavailable  Ana Example: Identity check: no report; the check ended CANCELLED
      unavailable  Cleo Example: Identity check: the check is COMPLETED, but its report is not available yet

      0 reports stored, 2 unavailable
      2> Error: 2 reports are unavailable; the first: Identity check: no report; the check ended CANCELLED
      2> What is on disk is skipped. Run again later: refcheck report download --request REQUEST_1 --request REQUEST_3 --output reports
      exit 10
    `)
})

test('--wait waits until every report is ready', async () => {
  const here = await sessionWithOrders(['Ana'], { minutes: 0 })
  const waiting = here.type(createDownloadLine(here, ' --wait'))
  const hasNextRead = async (): Promise<boolean> =>
    Promise.race([here.clock.waitUntilSleeping().then(() => true), waiting.then(() => false)])
  while (await hasNextRead()) await here.clock.advance(60_000)
  expect(await waiting).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --wait
    2> REQUEST_1                             RECEIVED
    2> REQUEST_1                             IN_PROGRESS
    2> REQUEST_1                             COMPLETED
    2> 0 of 1 file, # kB
    stored  reports/Example-Ana_Identity-check_HASH.pdf  # kB
    exit 0
  `)
  expect(listPdfs(here.reports)).toHaveLength(1)
})

test('flags that cannot be combined, and paths outside the folder, are refused with exit 2', async () => {
  const { all, folder } = await sessionWithOrders([])
  const check = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'
  const flags = [
    '--since 7d',
    '--all-completed --referee 7',
    `--all-completed --batch ${check}`,
    '--all-completed --since 2026-02-30',
    '--all-completed --name-template ../{id}',
    '--all-completed --output -',
    '--all-completed --output one.pdf',
    `${check} --wait`,
    `${check} --name-template {id}`,
    '--batch nonsense',
  ]
  expect(await all(flags.map((each) => `report download ${each}`))).toMatchInlineSnapshot(`
    $ refcheck report download --since 7d
    2> Error: --since requires --all-completed
    2> Add --all-completed, or leave out --since.
    exit 2

    $ refcheck report download --all-completed --referee 7
    2> Error: --referee requires the CHECK_ID of a reference check
    2> "refcheck request get" with the id of its request shows both ids.
    exit 2

    $ refcheck report download --all-completed --batch 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    2> Error: CHECK_ID, --request, --batch, --all-completed and --url cannot be combined
    2> Give one of them.
    exit 2

    $ refcheck report download --all-completed --since 2026-02-30
    2> Error: --since: "2026-02-30" is not a date
    2> Give a date such as 2026-11-01 or 2026-11-01T09:30:00Z, or how long ago: 7d or 12h.
    exit 2

    $ refcheck report download --all-completed --name-template ../{id}
    2> Error: --name-template: ".." points to another folder
    2> Fields: {last_name} {first_name} {email} {check_name} {referee_name} {date} {request_id} {check_id} {referee_id} {package_id} {id}
    exit 2

    $ refcheck report download --all-completed --output -
    2> Error: --output - writes a single report
    2> Give a CHECK_ID or --url.
    exit 2

    $ refcheck report download --all-completed --output one.pdf
    2> Error: --output: one.pdf is a file, but there may be several reports
    2> Give a folder.
    exit 2

    $ refcheck report download 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --wait
    2> Error: --wait and --name-template need a request, not a single report
    2> Leave them out, or give the request with --request ID.
    exit 2

    $ refcheck report download 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --name-template {id}
    2> Error: --wait and --name-template need a request, not a single report
    2> Leave them out, or give the request with --request ID.
    exit 2

    $ refcheck report download --batch nonsense
    2> Error: --batch: "nonsense" is not a batch id
    2> Give at least the first 4 characters of the id. List the batches with: refcheck batch list
    exit 2
  `)
  expect(readdirSync(folder).filter((name) => name.endsWith('.pdf') || name.startsWith('.'))).toEqual([])
})
