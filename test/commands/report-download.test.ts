import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { PDFDocument } from '@cantoo/pdf-lib'
import { expect, test } from 'vitest'

import { type SessionWithOrders, sessionWithOrders, signedUrl } from '../harness/orders.ts'
import { session } from '../harness/session.ts'

interface RequestDocument {
  checks: { id: string; type: string; references?: { referee_id: string }[] }[]
}

const missingId = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'

/** Starts a session with a request for the package with every check, which is completed by default. */
async function sessionWithRequest(
  minutes = 60,
): Promise<SessionWithOrders & { id: string; request: RequestDocument; checkId: string; url: string }> {
  const here = await sessionWithOrders(['Priya'], { minutes, full: true })
  const id = here.ids[0] ?? ''
  const request = (await here.type(`request get ${id} --json`)).json() as RequestDocument
  const check = request.checks.find((each) => each.type === 'background')
  return { ...here, id, request, checkId: check?.id ?? '', url: signedUrl(here) }
}

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

test('report download stores all PDFs of a request under names that start with the last name, with one call of the quota', async () => {
  const { type, id, folder, countNewQuotaCalls } = await sessionWithRequest()
  countNewQuotaCalls()
  expect(await type(`report download --request ${id} --output reports --concurrency 1`))
    .toMatchInlineSnapshot(`
      $ refcheck report download --request REQUEST_1 --output reports --concurrency 1
      stored  reports/Example-Priya_reference-Quinn-Referee_HASH.pdf  # kB
      stored  reports/Example-Priya_reference-Jordan-Referee_HASH.pdf  # kB
      stored  reports/Example-Priya_National-police-check_HASH.pdf  # kB
      stored  reports/Example-Priya_Credit-history-check_HASH.pdf  # kB

      4 reports stored (# kB)
      exit 0
    `)
  expect(countNewQuotaCalls()).toBe(1)
  const names = readdirSync(join(folder, 'reports'))
  expect(names.slice(-2)).toEqual(['manifest.csv', 'manifest.json'])
  expect(names).toHaveLength(6)
  for (const name of names.slice(0, 4)) {
    const path = join(folder, 'reports', name)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await PDFDocument.load(readFileSync(path))).getPageCount()).toBeGreaterThan(0)
  }
})

test('--json has each file with its hash; a second download skips the files, and --overwrite replaces them', async () => {
  const { type, id } = await sessionWithRequest()
  const line = `report download --request ${id} --output reports --json`
  const first = (await type(line)).json() as {
    path: string
    bytes: number
    sha256: string
    skipped: boolean
  }[]
  expect(first).toHaveLength(4)
  for (const { path, bytes, sha256: hash, skipped } of first) {
    expect({ bytes, hash, skipped }).toEqual({
      bytes: statSync(path).size,
      hash: sha256(path),
      skipped: false,
    })
  }
  expect((await type(line)).json()).toEqual(first.map((report) => ({ ...report, skipped: true })))
  expect((await type(`${line} --overwrite`)).json()).toEqual(first)
})

test('one report is downloaded by its check id, by a referee, or by its signed URL', async () => {
  const { type, checkId, request, url, folder } = await sessionWithRequest()
  expect(await type(`report download ${checkId} --output police.pdf`)).toMatchInlineSnapshot(`
    $ refcheck report download CHECK_2 --output police.pdf
    stored  police.pdf  # kB
    exit 0
  `)
  const reference = request.checks.find((each) => each.type === 'reference')
  const referee = reference?.references?.[0]?.referee_id ?? ''
  expect(await type(`report download ${reference?.id} --referee ${referee} --json`)).toMatchInlineSnapshot(`
    $ refcheck report download CHECK_1 --referee 911340 --json
    [
      {
        "check_id": "CHECK_1",
        "referee_id": "911340",
        "path": "HOME/report-CHECK_1-referee-911340.pdf",
        "bytes": #,
        "sha256": "SHA256",
        "skipped": false
      }
    ]
    exit 0
  `)
  expect((await type(`report download --url ${url} --output signed.pdf`)).code).toBe(0)
  const piped = await type('report download --url - --output piped.pdf', { stdin: `${url}\n` })
  expect(piped.code).toBe(0)
  const hashes = ['police.pdf', 'signed.pdf', 'piped.pdf'].map((name) => sha256(join(folder, name)))
  expect(new Set(hashes).size).toBe(1)
})

test('--output - writes the exact bytes to a pipe, and is refused for a terminal', async () => {
  const { type, checkId, folder } = await sessionWithRequest()
  await type(`report download ${checkId} --output a.pdf`)
  const piped = await type(`report download ${checkId} --output -`)
  expect(piped.code).toBe(0)
  expect(piped.bytes.equals(readFileSync(join(folder, 'a.pdf')))).toBe(true)
  expect(await type(`report download ${checkId} --output -`, { tty: { stdout: true } }))
    .toMatchInlineSnapshot(`
      $ refcheck report download CHECK_2 --output -
      2> Error: refused to write a PDF to the terminal
      2> Add --output FILE, or pipe it to a program.
      exit 2
    `)
})

test('reports that are not ready are listed with the reason, and the others are stored', async () => {
  const { type, id, sandbox, clock } = await sessionWithRequest(0)
  expect(await type(`report download --request ${id}`)).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1
    unavailable  Priya Example: request REQUEST_1 has no checks yet; it is RECEIVED
    2> What is on disk is skipped. Run again later: refcheck report download --request REQUEST_1
    exit 10
  `)
  for (let minutes = 0; minutes < 60 && sandbox.requests()[0]?.status !== 'PARTIAL'; minutes += 1) {
    await clock.advance(60_000)
  }
  expect(await type(`report download --request ${id} --output reports --concurrency 1`))
    .toMatchInlineSnapshot(`
      $ refcheck report download --request REQUEST_1 --output reports --concurrency 1
      stored  reports/Example-Priya_reference-Quinn-Referee_HASH.pdf  # kB
      stored  reports/Example-Priya_reference-Jordan-Referee_HASH.pdf  # kB
      unavailable  Priya Example: National police check: the report is not ready; the check is IN_PROGRESS
      unavailable  Priya Example: Credit history check: the report is not ready; the check is IN_PROGRESS

      2 reports stored (# kB), 2 unavailable
      2> What is on disk is skipped. Run again later: refcheck report download --request REQUEST_1 --output reports --concurrency 1
      exit 10
    `)
})

test.each([
  ['a file shorter than its Content-Length', { kind: 'truncated', keep: 0.5, announced: true }],
  ['a truncated file', { kind: 'truncated', keep: 0.5, announced: false }],
  ['a login page', { kind: 'body', body: '<html>Log in</html>', contentType: 'text/html' }],
  ['a page with the content type of a PDF', { kind: 'body', body: '<html>', contentType: 'application/pdf' }],
  ['an empty file', { kind: 'body', body: '', contentType: 'application/pdf' }],
] as const)(
  '%s in place of a report is tried again and then fails with exit 10, and no file is left',
  async (_name, fault) => {
    const { type, id, reports, sandbox } = await sessionWithRequest()
    sandbox.inject({ on: 'GET /v1/reports/*', times: 1000, fault })
    expect((await type(`report download --request ${id} --output reports`)).code).toBe(10)
    expect(existsSync(reports) ? readdirSync(reports) : []).toEqual([])
  },
)

test('a transfer that breaks once, and a token that has expired, are tried again with success', async () => {
  const { type, id, sandbox } = await sessionWithRequest()
  sandbox.inject({ on: 'GET /v1/reports/*', fault: { kind: 'truncated', keep: 0.5, announced: true } })
  expect((await type(`report download --request ${id} --output reports`)).code).toBe(0)
  sandbox.inject({ on: 'GET /v1/reports/*', fault: { kind: 'status', status: 401, when: 'before' } })
  expect((await type(`report download --request ${id} --output again`)).code).toBe(0)
})

test('an expired URL of --url fails with exit 3, and its token is not repeated', async () => {
  const { type, url, clock, checkId } = await sessionWithRequest()
  await clock.advance(61 * 60_000)
  const { code, stdout, stderr } = await type(`report download --url ${url}`)
  expect([code, stdout]).toEqual([3, ''])
  expect(stderr).not.toContain(new URL(url).searchParams.get('t'))
  expect(stderr).toBe(
    'Error: the report URL was refused: its token is invalid or has expired\n' +
      `A signed URL is valid for one hour. Download the report by its ids: refcheck report download ${checkId}\n`,
  )
})

test('a report that cannot be downloaded is reported with an exit code and the way to fix it', async () => {
  const { all } = await session()
  const argv = [
    '',
    `${missingId} --request ${missingId}`,
    '--referee 7',
    'abc',
    missingId,
    `--request ${missingId}`,
    `--request ${missingId} --output a.pdf`,
    `--request ${missingId} --output -`,
    `--request ${missingId} --concurrency 65`,
  ]
  expect(await all(argv.map((each) => `report download ${each}`.trim()))).toMatchInlineSnapshot(`
    $ refcheck report download
    2> Error: no report was named
    2> Give one of: CHECK_ID, --request ID, --batch ID, --all-completed, --url SIGNED_URL.
    exit 2

    $ refcheck report download 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    2> Error: CHECK_ID, --request, --batch, --all-completed and --url cannot be combined
    2> Give one of them.
    exit 2

    $ refcheck report download --referee 7
    2> Error: --referee requires the CHECK_ID of a reference check
    2> "refcheck request get" with the id of its request shows both ids.
    exit 2

    $ refcheck report download abc
    2> Error: CHECK_ID: "abc" is not a whole id
    2> An id looks like 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55.
    exit 2

    $ refcheck report download 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    2> Error: the report of check 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 was not found
    2> Check the ids and whether the report is ready with "refcheck request get" and the id of its request.
    exit 5

    $ refcheck report download --request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    2> Error: request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 was not found
    2> Check the id. It may belong to another organisation, or be hidden from this user.
    exit 5

    $ refcheck report download --request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --output a.pdf
    2> Error: --output: a.pdf is a file, but there may be several reports
    2> Give a folder.
    exit 2

    $ refcheck report download --request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --output -
    2> Error: --output - writes a single report
    2> Give a CHECK_ID or --url.
    exit 2

    $ refcheck report download --request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --concurrency 65
    2> Error: --concurrency: "65" is more than 64
    2> Show its help with: refcheck report download --help
    exit 2
  `)
})

test('--output FILE skips the same report, and refuses to replace another report or file', async () => {
  const here = await sessionWithRequest()
  const { type, checkId, folder, request, write } = here
  expect(await type(`report download ${checkId} --output police.pdf`)).toMatchInlineSnapshot(`
    $ refcheck report download CHECK_2 --output police.pdf
    stored  police.pdf  # kB
    exit 0
  `)
  expect(await type(`report download ${checkId} --output police.pdf`)).toMatchInlineSnapshot(`
    $ refcheck report download CHECK_2 --output police.pdf
    exists  police.pdf  # kB
    exit 0
  `)
  const other = request.checks.findLast(({ type: kind }) => kind === 'background')?.id ?? ''
  await type(`report download ${other} --output other.pdf`)
  const before = sha256(join(folder, 'other.pdf'))
  expect(await type(`report download ${checkId} --output other.pdf`)).toMatchInlineSnapshot(`
    $ refcheck report download CHECK_2 --output other.pdf
    2> Error: --output: other.pdf already exists and is not this report
    2> It was left as it is. Choose another name, or replace it with: --overwrite
    exit 2
  `)
  expect(sha256(join(folder, 'other.pdf'))).toBe(before)
  write('mine.pdf', 'mine')
  expect(await type(`report download ${checkId} --output mine.pdf`)).toMatchInlineSnapshot(`
    $ refcheck report download CHECK_2 --output mine.pdf
    2> Error: --output: mine.pdf already exists
    2> Choose another name, or replace it with --overwrite.
    exit 2
  `)
  expect(here.read('mine.pdf')).toBe('mine')
  expect((await type(`report download ${checkId} --output mine.pdf --overwrite`)).code).toBe(0)
  expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
})

test('a symbolic link at the output path is not followed, and a folder that cannot be created is reported', async () => {
  const here = await sessionWithRequest()
  const { type, checkId, folder, write } = here
  write('victim', 'precious')
  symlinkSync(join(folder, 'victim'), join(folder, 'link.pdf'))
  expect(await type(`report download ${checkId} --output link.pdf --overwrite`)).toMatchInlineSnapshot(`
    $ refcheck report download CHECK_2 --output link.pdf --overwrite
    2> Error: "link.pdf" was not written: it is a symbolic link
    2> Move it away, choose other names with --name-template, or replace it with --overwrite.
    exit 1
  `)
  expect(here.read('victim')).toBe('precious')
  write('file', '')
  mkdirSync(join(folder, 'closed'))
  chmodSync(join(folder, 'closed'), 0o500)
  expect(await type(`report download ${checkId} --output file/below/`)).toMatchInlineSnapshot(`
    $ refcheck report download CHECK_2 --output file/below/
    2> Error: cannot look at "HOME/file/below": a part of the path is a file, not a folder
    2> Check the path.
    exit 1
  `)
})
