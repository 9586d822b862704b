import { chmodSync, existsSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { expect, test } from 'vitest'

import { sessionWithOrders, listPdfs } from '../harness/orders.ts'

test('--all-completed downloads the reports of all completed requests in the store, and --since leaves out older ones', async () => {
  const { type, countNewQuotaCalls, folder, clock } = await sessionWithOrders([
    'Ana',
    'Ben+stuck',
    'Cleo+declined',
  ])
  expect(await type('report download --all-completed --output reports')).toMatchInlineSnapshot(`
    $ refcheck report download --all-completed --output reports
    stored  reports/Example-Ana_Identity-check_HASH.pdf  # kB
    exit 0
  `)
  expect(countNewQuotaCalls()).toBe(3)
  // The final statuses are stored now, so only the unfinished request is read.
  await type('report download --all-completed --output reports')
  expect(countNewQuotaCalls()).toBe(1)
  await clock.advance(60_000)
  expect(await type('report download --all-completed --since 30m --output other')).toMatchInlineSnapshot(`
    $ refcheck report download --all-completed --since 30m --output other
    There are no reports to download.
    exit 0
  `)
  expect(existsSync(join(folder, 'other'))).toBe(false)
})

test('--batch downloads the reports of a batch, and fails with exit 5 for an unknown batch', async () => {
  const { type, reports } = await sessionWithOrders(['Ana'])
  const unknownBatchLine = 'report download --batch 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'
  expect(await type(unknownBatchLine)).toMatchInlineSnapshot(`
    $ refcheck report download --batch 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    2> Error: no batch 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 in this store
    2> List the batches with: refcheck batch list
    exit 5
  `)
  const [order] = (await type('request list --json')).json() as { batch_id: string }[]
  expect(await type(`report download --batch ${order?.batch_id} --output reports`)).toMatchInlineSnapshot(`
    $ refcheck report download --batch BATCH_1 --output reports
    stored  reports/Example-Ana_Identity-check_HASH.pdf  # kB
    exit 0
  `)
  expect(listPdfs(reports)).toHaveLength(1)
})

test('report sync makes one call for each unfinished request, and none for the others', async () => {
  const here = await sessionWithOrders(['Ana', 'Ben', 'Cleo+declined', 'Dan+error'], { minutes: 1 })
  const { type, countNewQuotaCalls, reports, clock } = here
  expect(await type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    2> In reports: 0 stored, 0 already there, 4 requests not finished
    exit 0
  `)
  expect(countNewQuotaCalls()).toBe(4)
  await clock.advance(3_600_000)
  expect(await type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    stored  reports/Example-Ana_Identity-check_HASH.pdf  # kB
    stored  reports/Example-Ben_Identity-check_HASH.pdf  # kB
    2> In reports: 2 stored, 0 already there, 0 requests not finished
    exit 0
  `)
  expect(countNewQuotaCalls()).toBe(4)
  expect(await type('report sync --output reports --quiet')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports --quiet
    exit 0
  `)
  expect(countNewQuotaCalls()).toBe(0)
  unlinkSync(join(reports, listPdfs(reports)[0] ?? ''))
  expect(await type('report sync --output reports --json')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports --json
    {
      "folder": "HOME/reports",
      "stored": [
        {
          "check_id": "CHECK_1",
          "referee_id": null,
          "path": "HOME/reports/Example-Ana_Identity-check_HASH.pdf",
          "bytes": #,
          "sha256": "SHA256",
          "skipped": false
        }
      ],
      "missing": [],
      "skipped": 1,
      "unfinished": 0,
      "not_ready": 0
    }
    2> In reports: 1 stored, 1 already there, 0 requests not finished
    exit 0
  `)
  expect(countNewQuotaCalls()).toBe(1)
})

test('a request whose report comes later stays open in report sync, and is no failure', async () => {
  const { type, countNewQuotaCalls, clock } = await sessionWithOrders(['Ana+report-later'], { minutes: 20 })
  expect(await type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    2> In reports: 0 stored, 0 already there, 1 request not finished
    exit 0
  `)
  await clock.advance(900_000)
  expect(await type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    2> No report yet for Ana Example. "refcheck report sync" looks for it each time.
    2> See the checks with: refcheck request get REQUEST_1…
    2> In reports: 0 stored, 0 already there, 0 requests not finished, 1 completed without its report yet (Ana Example)
    exit 0
  `)
  await clock.advance(3_600_000)
  expect(await type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    stored  reports/Example-Ana_Identity-check_HASH.pdf  # kB
    2> In reports: 1 stored, 0 already there, 0 requests not finished
    exit 0
  `)
  countNewQuotaCalls()
  await type('report sync --output reports')
  expect(countNewQuotaCalls()).toBe(0)
})

test('a completed request for which report sync found no report is no longer counted as new, but as awaited for a day', async () => {
  const { type, clock } = await sessionWithOrders(['Ana+report-never', 'Ben'])
  await type('config set output-dir reports')
  await type('report sync --quiet')
  expect((await type('status')).stdout).toContain('Reports    1 not downloaded → refcheck report sync\n')
  expect(await type('report sync')).toMatchInlineSnapshot(`
    $ refcheck report sync
    2> No report yet for Ana Example. "refcheck report sync" looks for it each time.
    2> See the checks with: refcheck request get REQUEST_1…
    2> In reports: 0 stored, 1 already there, 0 requests not finished, 1 completed without its report yet (Ana Example)
    exit 0
  `)
  await type('request get ana', { tty: true, env: { NO_COLOR: '1' } })
  expect((await type('status')).stdout).toContain('Reports    1 looked at, no report here yet\n')
  expect((await type('status --json')).json()).toMatchObject({ new_reports: 0, reports_awaited: 1 })
  await clock.advance(25 * 3_600_000)
  expect((await type('status')).stdout).not.toContain('Reports')
  expect(await type('report sync')).toMatchInlineSnapshot(`
    $ refcheck report sync
    2> In reports: 0 stored, 1 already there, 0 requests not finished, 1 completed without its report yet (Ana Example)
    exit 0
  `)
})

test('report sync lists reports that could not be downloaded, and requires a folder', async () => {
  const { type, all } = await sessionWithOrders(['Ana+report-html', 'Ben'])
  expect(await type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    stored  reports/Example-Ben_Identity-check_HASH.pdf  # kB
    unavailable  Ana Example: the answer is not a PDF but text/html
    2> In reports: 1 stored, 0 already there, 0 requests not finished
    2> Error: 1 report is unavailable
    2> Check the base URL: something other than the service may have answered.
    exit 10
  `)
  expect(await all(['report sync', 'report sync --output -'])).toMatchInlineSnapshot(`
    $ refcheck report sync
    2> Error: --output is required
    2> Set a default once with: refcheck config set output-dir DIR
    exit 2

    $ refcheck report sync --output -
    2> Error: --output - is not a folder
    2> Give the folder to fill with: --output DIR
    exit 2
  `)
})

test('report sync asks for its folder once on a terminal, and saves the folder after success', async () => {
  const here = await sessionWithOrders(['Ana'])
  const { type } = here
  here.write('notes.txt', 'no folder')
  const answer = (text: string | undefined) => [
    { ask: 'Folder for the reports', initial: 'reports', type: text },
  ]
  const notFolder = await type('report sync', { tty: true, answers: answer('notes.txt') })
  expect(notFolder.code).toBe(2)
  expect(await here.all(['config get output-dir', 'report sync --json'])).toMatchInlineSnapshot(`
    $ refcheck config get output-dir
    2> Error: output-dir is not set
    2> Set it with: refcheck config set output-dir VALUE
    exit 5

    $ refcheck report sync --json
    {
      "error": {
        "code": "usage",
        "message": "--output is required",
        "hint": "Set a default once with: refcheck config set output-dir DIR"
      }
    }
    2> Error: --output is required
    exit 2
  `)
  expect(
    await type('report sync', {
      tty: true,
      answers: [
        { ask: 'Folder for the reports', type: '-', refused: 'is not a folder' },
        ...answer(undefined),
      ],
    }),
  ).toMatchInlineSnapshot(`
    $ refcheck report sync
    ? Folder for the reports: -  (is not a folder)
    ? Folder for the reports: reports
    ␍2> ␛[2K␛[2m[--------------------]  0 of 1 file, # kB␛[22m␍2> ␛[2KSaved as output-dir: HOME/reports. Change it with:
    2>   refcheck config set output-dir DIR
    ␛[32mstored␛[39m  reports/Example-Ana_Identity-check_HASH.pdf  # kB
    2> In reports: 1 stored, 0 already there, 0 requests not finished
    exit 0
  `)
  expect(await type('report sync', { tty: true, answers: [] })).toMatchInlineSnapshot(`
    $ refcheck report sync
    ␍2> ␛[2K␛[2m[--------------------]  0 of 1 file, # kB␛[22m␍2> ␛[2KIn reports: 0 stored, 1 already there, 0 requests not finished
    exit 0
  `)
  expect(await type('report sync --output other')).toMatchInlineSnapshot(`
    $ refcheck report sync --output other
    stored  other/Example-Ana_Identity-check_HASH.pdf  # kB
    2> In other: 1 stored, 0 already there, 0 requests not finished
    exit 0
  `)
})

test('in a folder that others may write to, no file is deleted through a subfolder that was replaced by a link', async () => {
  const { type, folder, reports } = await sessionWithOrders(['Ana'])
  await type('report download --all-completed --output reports --name-template people/{email}.pdf')
  const linkTarget = join(folder, 'elsewhere')
  renameSync(join(reports, 'people'), linkTarget)
  symlinkSync(linkTarget, join(reports, 'people'))
  chmodSync(reports, 0o777)
  const step = await type(
    'report download --all-completed --output reports --overwrite --name-template {email}.pdf',
  )
  expect(listPdfs(linkTarget)).toEqual(['ana-example-com.pdf'])
  expect(step).toMatchInlineSnapshot(`
    $ refcheck report download --all-completed --output reports --overwrite --name-template {email}.pdf
    2> Warning: Every user of this machine may put files into HOME/reports; make it private with: chmod go-w HOME/reports
    stored  reports/ana-example-com.pdf  # kB
    exit 0
  `)
})

test('report sync, request list and status of a restored store show the same counts of unfinished requests', async () => {
  const here = await sessionWithOrders(['Ana', 'Ben', 'Cleo+stuck'])
  const { type, countNewQuotaCalls } = here
  await type('report sync --output reports --quiet')
  const database = new DatabaseSync(join(here.folder, 'data', 'ledger.sqlite'))
  database.exec('UPDATE submissions SET request_status = NULL, request_status_at = NULL')
  database.close()
  const screen = { tty: true, env: { NO_COLOR: '1' } }
  expect((await type('request list', screen)).stderr).toMatchInlineSnapshot(`
    "3 not finished or not read yet
    Read again with: refcheck request list --refresh
    "
  `)
  expect((await type('status', screen)).stdout).toContain('Running    3 orders')
  countNewQuotaCalls()
  expect((await type('report sync --output reports')).stderr).toMatchInlineSnapshot(`
    "In reports: 0 stored, 2 already there, 1 request not finished
    "
  `)
  expect(countNewQuotaCalls()).toBe(3)
  expect((await type('request list', screen)).stderr).toMatchInlineSnapshot(`
    "1 not finished, last read 2026-11-20 13:00 +00:00
    Read again with: refcheck request list --refresh
    "
  `)
  expect((await type('status', screen)).stdout).toContain('Running    1 order ')
  await type('report sync --output reports')
  expect(countNewQuotaCalls()).toBe(1)
})

test('status counts no report as new that is in the folder of --output, or whose person was purged', async () => {
  const { type } = await sessionWithOrders(['Ana', 'Ben', 'Cal'])
  await type('request list --refresh')
  expect((await type('status')).stdout).toContain('Reports    3 completed → refcheck report sync\n')
  await type('store purge --email cal@example.com --yes')
  expect((await type('status')).stdout).toContain('Reports    2 completed → refcheck report sync\n')
  await type('report sync --output rep --quiet')
  expect((await type('status')).stdout).not.toContain('Reports')
  await type('config set output-dir reports')
  expect((await type('status')).stdout).not.toContain('Reports')
})
