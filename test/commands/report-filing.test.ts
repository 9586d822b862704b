import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { type SessionWithOrders, sessionWithOrders, listPdfs } from '../harness/orders.ts'

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

const createDownloadLine = ({ ids }: SessionWithOrders, flags = ''): string =>
  `report download --request ${ids[0]} --output reports${flags}`

test('the manifest has the person of each file, as JSON and as CSV', async () => {
  const here = await sessionWithOrders(['Priya'])
  expect(await here.type(createDownloadLine(here))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports
    stored  reports/Example-Priya_Identity-check_HASH.pdf  # kB
    exit 0
  `)
  const [name = ''] = listPdfs(here.reports)
  expect(here.cat('reports/manifest.json')).toMatchInlineSnapshot(`
    $ cat reports/manifest.json
    [
      {
        "service": "http://127.0.0.1:PORT",
        "request_id": "REQUEST_1",
        "check_id": "CHECK_1",
        "referee_id": null,
        "first_name": "Priya",
        "last_name": "Example",
        "check_name": "Identity check",
        "file": "Example-Priya_Identity-check_HASH.pdf",
        "bytes": #,
        "sha256": "SHA256",
        "stored_at": "2026-11-20T13:00:00.000Z",
        "request_reports": 1,
        "request_without": 0,
        "email": "priya@example.com",
        "package_id": 102
      }
    ]
  `)
  const [record] = JSON.parse(here.read('reports/manifest.json')) as Record<string, unknown>[]
  expect(record).toMatchObject({
    bytes: readFileSync(join(here.reports, name)).length,
    sha256: sha256(join(here.reports, name)),
  })
  const [header, row] = here.read('reports/manifest.csv').split('\n')
  expect(header).toBe(`\uFEFF${Object.keys(record ?? {}).join(',')}`)
  expect(row).toBe(Object.values(record ?? {}).join(','))
})

test('a file that is in the manifest and unchanged is not downloaded again, and costs no call', async () => {
  const here = await sessionWithOrders(['Priya'])
  expect(await here.type(createDownloadLine(here, ' --json'))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --json
    [
      {
        "check_id": "CHECK_1",
        "referee_id": null,
        "path": "HOME/reports/Example-Priya_Identity-check_HASH.pdf",
        "bytes": #,
        "sha256": "SHA256",
        "skipped": false
      }
    ]
    exit 0
  `)
  expect(here.countNewQuotaCalls()).toBe(1)
  expect(await here.type(createDownloadLine(here, ' --json'))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --json
    [
      {
        "check_id": "CHECK_1",
        "referee_id": null,
        "path": "HOME/reports/Example-Priya_Identity-check_HASH.pdf",
        "bytes": #,
        "sha256": "SHA256",
        "skipped": true
      }
    ]
    exit 0
  `)
  expect(await here.type(createDownloadLine(here))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports
    exists  reports/Example-Priya_Identity-check_HASH.pdf  # kB
    exit 0
  `)
  expect(here.countNewQuotaCalls()).toBe(0)
})

test('a template can put names into folders; equal names get numbers, which do not change later', async () => {
  const here = await sessionWithOrders(['Priya'], { full: true })
  const template = " --name-template '{last_name}-{first_name}/Report {date}.pdf'"
  expect((await here.type(createDownloadLine(here, template))).code).toBe(0)
  const names = listPdfs(here.reports)
  expect(names).toEqual([
    'Example-Priya/Report 2026-11-20-2.pdf',
    'Example-Priya/Report 2026-11-20-3.pdf',
    'Example-Priya/Report 2026-11-20-4.pdf',
    'Example-Priya/Report 2026-11-20.pdf',
  ])
  const hashes = names.map((name) => sha256(join(here.reports, name)))
  unlinkSync(join(here.reports, names[1] ?? ''))
  expect((await here.type(createDownloadLine(here, template))).code).toBe(0)
  expect(listPdfs(here.reports).map((name) => sha256(join(here.reports, name)))).toEqual(hashes)
  // With another template, the reports have their old names until --overwrite gives them the new ones.
  expect((await here.type(createDownloadLine(here))).code).toBe(0)
  expect(listPdfs(here.reports)).toEqual(names)
  expect((await here.type(createDownloadLine(here, ' --overwrite'))).code).toBe(0)
  expect(listPdfs(here.reports).every((name) => name.startsWith('Example-Priya_'))).toBe(true)
  expect(listPdfs(here.reports)).toHaveLength(4)
})

test('a truncated file is downloaded again; a changed file is reported, and replaced only with --overwrite', async () => {
  const here = await sessionWithOrders(['Priya'])
  await here.type(createDownloadLine(here))
  const path = join(here.reports, listPdfs(here.reports)[0] ?? '')
  const original = sha256(path)
  writeFileSync(path, readFileSync(path).subarray(0, 1000))
  expect(await here.type(createDownloadLine(here))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports
    stored  reports/Example-Priya_Identity-check_HASH.pdf  # kB
    exit 0
  `)
  expect(sha256(path)).toBe(original)
  writeFileSync(path, '%PDF-1.7 signed by hand %%EOF')
  expect(await here.type(createDownloadLine(here))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports
    unavailable  Priya Example: "Example-Priya_Identity-check_HASH.pdf" has changed since it was stored
    2> Error: 1 report is unavailable
    2> It was left as it is. To replace it, move it away and run the same command again.
    exit 10
  `)
  expect(await here.type(createDownloadLine(here, ' --overwrite'))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --overwrite
    stored  reports/Example-Priya_Identity-check_HASH.pdf  # kB
    exit 0
  `)
  expect(sha256(path)).toBe(original)
})

test('a lost manifest is created again from the files, and a foreign file is not recognised as a report', async () => {
  const here = await sessionWithOrders(['Priya'])
  const [first] = (await here.type(createDownloadLine(here, ' --json'))).json() as object[]
  const before = here.read('reports/manifest.json')
  rmSync(join(here.reports, 'manifest.json'))
  expect((await here.type(createDownloadLine(here, ' --json'))).json()).toEqual([{ ...first, skipped: true }])
  expect(here.read('reports/manifest.json')).toBe(before)
  rmSync(join(here.reports, 'manifest.json'))
  const path = join(here.reports, listPdfs(here.reports)[0] ?? '')
  writeFileSync(path, 'mine')
  expect(await here.type(createDownloadLine(here))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports
    unavailable  Priya Example: "Example-Priya_Identity-check_HASH.pdf" was not written: another file is there
    2> Error: 1 report is unavailable
    2> Move it away, choose other names with --name-template, or replace it with --overwrite.
    exit 10
  `)
  expect(readFileSync(path, 'utf8')).toBe('mine')
})

test('nothing is written to a folder that has a manifest.json of another program', async () => {
  const here = await sessionWithOrders(['Priya'])
  mkdirSync(here.reports)
  here.write('reports/manifest.json', '{"name":"a web page"}')
  expect(await here.type(createDownloadLine(here))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports
    2> Error: "HOME/reports/manifest.json" is not a list of reports written by refcheck
    2> Use another folder, or move that file away: the reports are then compared and listed again.
    exit 1
  `)
  expect(readdirSync(here.reports)).toEqual(['manifest.json'])
})

test.each(['../../escape.pdf', '/tmp/escape.pdf', 'a/../../escape.pdf', 'a\\b.pdf', ''])(
  'a manifest with the path %j is refused',
  async (file) => {
    const here = await sessionWithOrders(['Priya'])
    await here.type(createDownloadLine(here))
    const [record] = JSON.parse(here.read('reports/manifest.json')) as object[]
    here.write('reports/manifest.json', JSON.stringify([{ ...record, file }]))
    expect((await here.type(createDownloadLine(here, ' --overwrite'))).code).toBe(1)
    expect(existsSync(join(dirname(here.reports), 'escape.pdf'))).toBe(false)
  },
)

test('symbolic links in the folder are not followed, and folders in it are not replaced', async () => {
  const here = await sessionWithOrders(['Priya'])
  mkdirSync(join(here.folder, 'outside'))
  mkdirSync(here.reports)
  symlinkSync(join(here.folder, 'outside'), join(here.reports, 'Example'))
  mkdirSync(join(here.reports, 'Priya.pdf'))
  writeFileSync(join(here.reports, 'file'), '')
  const templates = ['{last_name}/{id}', '{first_name}', 'file/{id}']
  expect(
    await here.all(
      templates.map((each) => createDownloadLine(here, ` --overwrite --name-template '${each}'`)),
    ),
  ).toMatchInlineSnapshot(`
      $ refcheck report download --request REQUEST_1 --output reports --overwrite --name-template '{last_name}/{id}'
      unavailable  Priya Example: "Example/HASH.pdf" was not written: its folder "Example" is a symbolic link
      2> Error: 1 report is unavailable
      2> Move it away, choose other names with --name-template, or replace it with --overwrite.
      exit 10

      $ refcheck report download --request REQUEST_1 --output reports --overwrite --name-template '{first_name}'
      unavailable  Priya Example: "Priya.pdf" was not written: it is a folder
      2> Error: 1 report is unavailable
      2> Move it away, choose other names with --name-template, or replace it with --overwrite.
      exit 10

      $ refcheck report download --request REQUEST_1 --output reports --overwrite --name-template 'file/{id}'
      unavailable  Priya Example: "file/HASH.pdf" was not written: its folder "file" is a file
      2> Error: 1 report is unavailable
      2> Move it away, choose other names with --name-template, or replace it with --overwrite.
      exit 10
    `)
  expect(readdirSync(join(here.folder, 'outside'))).toEqual([])
  expect(readdirSync(here.reports).sort()).toEqual(['Example', 'Priya.pdf', 'file'])
})

test('a run waits until another run in the same folder has ended, or until --timeout', async () => {
  const here = await sessionWithOrders(['Priya'])
  here.sandbox.inject({ on: 'GET /v1/requests/:id', fault: { kind: 'hang', when: 'before' } })
  const stop = new AbortController()
  const first = here.type(createDownloadLine(here), { signal: stop.signal })
  const holder = join(here.reports, '.refcheck', 'lock.holder')
  while (!existsSync(holder)) await new Promise((resolve) => void setImmediate(resolve))
  const timedOut = here.type('report sync --output reports --timeout 1s')
  await here.clock.waitUntilSleeping()
  await here.clock.advance(1000)
  expect(await timedOut).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports --timeout 1s
    2> Waiting until another run (process PID, since 2026-11-20 13:00 +00:00) has downloaded its reports into the same folder.
    2> Error: another run (process PID, since 2026-11-20 13:00 +00:00) is downloading reports into "HOME/reports"
    2> Wait longer with --timeout, or use another folder with --output.
    exit 11
  `)
  const ctrlC = new AbortController()
  const cancelled = here.type('report sync --output reports --quiet', { signal: ctrlC.signal })
  await here.clock.waitUntilSleeping()
  ctrlC.abort()
  expect(await cancelled).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports --quiet
    2> Interrupted
    2> Continue with: refcheck report sync --output reports --quiet
    ^C
    exit 130
  `)
  const next = here.type('report sync --output reports')
  await here.clock.waitUntilSleeping()
  stop.abort()
  expect(await first).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports
    2> Interrupted
    2> What is on disk stays. Continue with: refcheck report download --request REQUEST_1 --output reports
    ^C
    exit 130
  `)
  await here.clock.advance(250)
  expect(await next).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    2> Waiting until another run (process PID, since 2026-11-20 13:00 +00:00) has downloaded its reports into the same folder.
    stored  reports/Example-Priya_Identity-check_HASH.pdf  # kB
    2> In reports: 1 stored, 0 already there, 0 requests not finished
    exit 0
  `)
  expect(listPdfs(here.reports)).toHaveLength(1)
})

test('a progress bar is shown on a terminal, and nothing elsewhere for a short download', async () => {
  const here = await sessionWithOrders(['Priya'], { full: true })
  const { ids, type } = here
  const shown = await type(`report download --request ${ids[0]} --output a`, { tty: { stderr: true } })
  // No snapshot, because the bar is drawn repeatedly on one line and erased at the end.
  expect(shown.stderr).toMatch(/\[-{20}\] {2}0 of 1 file, 0 B/)
  expect(shown.stderr.endsWith('\r\u001B[2K')).toBe(true)
  expect((await type(`report download --request ${ids[0]} --output b`)).stderr).toBe('')
})

test('--open opens the report with the desktop’s program, or warns if there is no desktop', async () => {
  const here = await sessionWithOrders(['Priya'])
  const bin = join(here.folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'xdg-open'), '#!/bin/sh\ncd "${0%/*}" && printf %s "$1" > part && mv part opened\n')
  chmodSync(join(bin, 'xdg-open'), 0o755)
  expect(await here.type(createDownloadLine(here, ' --open'), { env: { CI: 'true' } }))
    .toMatchInlineSnapshot(`
    $ CI=true refcheck report download --request REQUEST_1 --output reports --open
    2> Warning: HOME/reports/Example-Priya_Identity-check_HASH.pdf was not opened: this is a CI job without a screen
    stored  reports/Example-Priya_Identity-check_HASH.pdf  # kB
    exit 0
  `)
  expect(await here.type(createDownloadLine(here, ' --open'))).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --open
    2> Warning: HOME/reports/Example-Priya_Identity-check_HASH.pdf was not opened: this machine has no desktop
    exists  reports/Example-Priya_Identity-check_HASH.pdf  # kB
    exit 0
  `)
  const env = { PATH: `${bin}:/usr/bin:/bin`, DISPLAY: ':0' }
  const { code, stderr } = await here.type(createDownloadLine(here, ' --open'), { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  while (!existsSync(join(bin, 'opened'))) await new Promise((resolve) => void setImmediate(resolve))
  expect(readFileSync(join(bin, 'opened'), 'utf8')).toBe(join(here.reports, listPdfs(here.reports)[0] ?? ''))
})

test('a check that two requests contain is filed only under the first request, also by a later run', async () => {
  const { type, intercept, ids, reports } = await sessionWithOrders(['Ana', 'Ben'])
  const [ana = '', ben = ''] = ids
  intercept(async (request, ask) => {
    const answer = await ask(request)
    if (!request.url.includes(`/v1/requests/${ben}`)) return answer
    const other = await ask(new Request(request.url.replace(ben, ana), request))
    const [ownBody, otherBody] = (await Promise.all([answer.json(), other.json()])) as {
      data: { checks: unknown }
    }[]
    return Response.json({ ...ownBody, data: { ...ownBody?.data, checks: otherBody?.data.checks } })
  })
  for (const requestFlags of [`--request ${ana} --request ${ben}`, `--request ${ben}`]) {
    const shown = await type(`report download ${requestFlags} --output reports --quiet`)
    expect([shown.code, shown.stdout, shown.stderr]).toEqual([
      10,
      expect.stringMatching(`check \\S+ belongs to request ${ana}, and request ${ben} shows it too\n`),
      expect.stringContaining('Error: 1 report is unavailable\nNothing was filed for the second one.'),
    ])
  }
  expect(listPdfs(reports)).toEqual([expect.stringMatching(/^Example-Ana_/)])
})

test('in a folder that others may write to, names with subfolders are refused before a download', async () => {
  const here = await sessionWithOrders(['Priya'])
  mkdirSync(here.reports)
  chmodSync(here.reports, 0o777)
  const calls = here.listCalls().length
  expect(await here.type(createDownloadLine(here, ' --name-template {last_name}/{check_id}.pdf')))
    .toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports --name-template {last_name}/{check_id}.pdf
    2> Warning: Every user of this machine may put files into HOME/reports; make it private with: chmod go-w HOME/reports
    2> Error: cannot write "HOME/reports/Example/CHECK_1.pdf": every user of this machine may put a link in place of its folder "Example"
    2> Make the folder private with: chmod go-w HOME/reports
    exit 1
  `)
  expect(
    here
      .listCalls()
      .slice(calls)
      .filter((call) => call.includes('/v1/reports/')),
  ).toEqual([])
  expect(readdirSync(here.reports)).toEqual([])
})

test('a parent folder that others may write to is reported, and the reports are stored', async () => {
  const here = await sessionWithOrders(['Priya'])
  const shared = join(here.folder, 'shared')
  mkdirSync(shared)
  chmodSync(shared, 0o777)
  const line =
    'report download --request REQUEST --output shared/reports --name-template {last_name}/{check_id}.pdf'
  const [request] = here.sandbox.requests()
  const shown = await here.type(line.replace('REQUEST', request!.request_id))
  expect([shown.code, shown.stderr]).toEqual([
    0,
    `Warning: Every user of this machine may exchange ${shared}/reports for another folder; prevent it with: chmod go-w ${shared}\n`,
  ])
  expect(readdirSync(join(shared, 'reports'))).toContain('Example')
})

test('a report that the manifest lists for another check is not replaced', async () => {
  const here = await sessionWithOrders(['Ana', 'Ben'])
  const synced = (await here.type('report sync --output reports --json')).json() as {
    stored: { check_id: string; path: string }[]
  }
  const [ana, ben] = synced.stored
  const before = readFileSync(ana!.path)
  const line = `report download ${ben!.check_id} --output reports/${basename(ana!.path)} --overwrite`
  expect(await here.type(line)).toMatchInlineSnapshot(`
    $ refcheck report download CHECK_2 --output reports/Example-Ana_Identity-check_HASH.pdf --overwrite
    2> Error: --output: reports/Example-Ana_Identity-check_HASH.pdf is another report, as the manifest of its folder says
    2> It was left as it is. Choose another name.
    exit 2
  `)
  expect(readFileSync(ana!.path)).toEqual(before)
  expect((await here.type(line.replace(ben!.check_id, ana!.check_id))).code).toBe(0)
})
