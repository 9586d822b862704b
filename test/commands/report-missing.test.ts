import { readdirSync, rmSync } from 'node:fs'

import { expect, test } from 'vitest'

import { type FiledSession, filedSession } from '../harness/filed-session.ts'
import { pdfsIn } from '../harness/ordered.ts'

const download = ({ ids }: FiledSession, more = ''): string =>
  `report download --request ${ids[0]} --output reports${more}`

test('a token that has expired for all reports of a request costs one more read; one that is never good too', async () => {
  const here = await filedSession(['Priya'], { full: true })
  const fault = { kind: 'status', status: 401, when: 'before' } as const
  here.sandbox.inject({ on: 'GET /v1/reports/*', times: 4, fault })
  here.quotaCalls()
  expect((await here.type(download(here))).code).toBe(0)
  expect(here.quotaCalls()).toBe(2)
  rmSync(here.reports, { recursive: true })
  here.sandbox.inject({ on: 'GET /v1/reports/*', times: 99, fault })
  expect(await here.type(download(here, ' --concurrency 1'))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --concurrency 1
    absent  Priya Example: invalid API key
    absent  Priya Example: invalid API key
    absent  Priya Example: invalid API key
    absent  Priya Example: invalid API key
    2> Error: 4 reports are not there; the first: invalid API key
    2> A signed URL is good for an hour. Read the request for a fresh one: refcheck request get REQUEST_ID --json
    exit 10
  `)
  expect(here.quotaCalls()).toBe(2)
})

test.each([403, 404])('a %i of one report leaves the others: listed, exit 10', async (status) => {
  const here = await filedSession(['Priya'], { full: true })
  here.sandbox.inject({ on: 'GET /v1/reports/*', fault: { kind: 'status', status, when: 'before' } })
  const { code, stdout } = await here.type(download(here, ' --concurrency 1'))
  expect(code).toBe(10)
  expect(stdout.match(/Priya Example: /g)).toHaveLength(1)
  expect(pdfsIn(here.reports)).toHaveLength(3)
})

test('what is missing: listed with --json on stderr; nobody is told to come again for what never comes', async () => {
  const here = await filedSession(['Ana+declined', 'Ben+error', 'Cleo+report-never'])
  const of = (...at: number[]) =>
    `report download ${at.map((each) => `--request ${here.ids[each]}`).join(' ')} --output reports`
  expect(await here.type(`${of(0)} --json`)).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --json
    2> absent  Ana Example: Identity check: no report, it ended CANCELLED
    []
    exit 10
  `)
  expect(await here.all([of(0), of(1), of(2), of(0, 2)])).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports
    absent  Ana Example: Identity check: no report, it ended CANCELLED
    2> Error: Identity check: no report, it ended CANCELLED
    2> No report will come of it.
    exit 10

    $ refcheck report download --request REQUEST_2 --output reports
    absent  Ben Example: request REQUEST_2 has no reports, it ended ERROR
    2> Error: request REQUEST_2 has no reports, it ended ERROR
    2> No report will come of it.
    exit 10

    $ refcheck report download --request REQUEST_3 --output reports
    absent  Cleo Example: Identity check: the report is not ready, it is COMPLETED
    2> Error: Identity check: the report is not ready, it is COMPLETED
    2> Run the same command again later; what is on disk is skipped.
    exit 10

    $ refcheck report download --request REQUEST_1 --request REQUEST_3 --output reports
    absent  Ana Example: Identity check: no report, it ended CANCELLED
    absent  Cleo Example: Identity check: the report is not ready, it is COMPLETED
    2> Error: 2 reports are not there; the first: Identity check: no report, it ended CANCELLED
    2> Run the same command again later; what is on disk is skipped.
    exit 10
  `)
})

test('--wait goes on until every report is ready', async () => {
  const here = await filedSession(['Ana'], { minutes: 0 })
  const waiting = here.type(download(here, ' --wait'))
  const next = async (): Promise<boolean> =>
    Promise.race([here.clock.untilSleeping().then(() => true), waiting.then(() => false)])
  while (await next()) await here.clock.advance(60_000)
  expect(await waiting).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --wait
    2> REQUEST_1                             RECEIVED
    2> REQUEST_1                             IN_PROGRESS
    2> REQUEST_1                             COMPLETED
    2> 0 of 1 files, # kB
    stored  reports/Example-Ana_Identity-check_HASH.pdf  # kB
    exit 0
  `)
  expect(pdfsIn(here.reports)).toHaveLength(1)
})

test('flags that exclude each other or lead elsewhere: exit 2, and nothing is written', async () => {
  const { all, folder } = await filedSession([])
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
    2> Error: --since goes with --all-completed
    2> Add --all-completed.
    exit 2

    $ refcheck report download --all-completed --referee 7
    2> Error: --referee needs the CHECK_ID of its reference check
    2> See both: refcheck request get REQUEST_ID
    exit 2

    $ refcheck report download --all-completed --batch 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    2> Error: CHECK_ID, --request, --batch, --all-completed and --url exclude each other
    2> Name one of them.
    exit 2

    $ refcheck report download --all-completed --since 2026-02-30
    2> Error: --since: "2026-02-30" is not a date
    2> Write 2026-11-01, 2026-11-01T09:30:00Z, or how long ago: 7d, 12h.
    exit 2

    $ refcheck report download --all-completed --name-template ../{id}
    2> Error: --name-template: ".." leads to another folder
    2> Fields: {last_name} {first_name} {email} {check_name} {referee_name} {date} {request_id} {check_id} {referee_id} {package_id} {id}
    exit 2

    $ refcheck report download --all-completed --output -
    2> Error: --output - takes one report
    2> Name a CHECK_ID or --url.
    exit 2

    $ refcheck report download --all-completed --output one.pdf
    2> Error: --output: one.pdf is one file, and several reports may come
    2> Name a folder.
    exit 2

    $ refcheck report download 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --wait
    2> Error: one report has no request to wait for or to be named after
    2> Leave out --wait and --name-template, or name its request with --request.
    exit 2

    $ refcheck report download 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --name-template {id}
    2> Error: one report has no request to wait for or to be named after
    2> Leave out --wait and --name-template, or name its request with --request.
    exit 2

    $ refcheck report download --batch nonsense
    2> Error: --batch: "nonsense" is not a UUID
    2> It looks like 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55.
    exit 2
  `)
  expect(readdirSync(folder).filter((name) => name.endsWith('.pdf') || name.startsWith('.'))).toEqual([])
})
