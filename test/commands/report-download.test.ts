import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { PDFDocument } from '@cantoo/pdf-lib'
import { expect, test } from 'vitest'

import { ManualClock } from '../harness/manual-clock.ts'
import { fullInformation, orderOf } from '../harness/people.ts'
import { world } from '../harness/world.ts'

interface Stored {
  check_id: string
  referee_id: string | null
  path: string
  bytes: number
  sha256: string
  skipped: boolean
}

interface Read {
  checks: { id: string; type: string; report_pdf_url?: string; references?: { referee_id: string }[] }[]
}

const nowhere = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'

/** A request of the full package, finished unless told otherwise. */
async function finished(minutes = 60) {
  const clock = new ManualClock()
  const here = await world({ clock })
  const type = (argv: string[], more = {}) => here.run(argv, { clock, ...more })
  const argv = orderOf('Priya', ['--yes', '--json', ...fullInformation]).map((each) =>
    each === '102' ? '101' : each,
  )
  const { request_id } = (await type(argv)).json() as { request_id: string }
  await clock.advance(minutes * 60_000)
  const request = (await type(['request', 'get', request_id, '--json'])).json() as Read
  const check = request.checks.find((each) => each.type === 'background')
  return {
    ...here,
    clock,
    type,
    id: request_id,
    request,
    checkId: check?.id ?? '',
    url: check?.report_pdf_url ?? '',
  }
}

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

test('every report of a request: whole PDFs under names that sort, one call of the quota', async () => {
  const { type, id, folder, sandbox } = await finished()
  const before = sandbox.log.entries().length
  const { code, stdout } = await type(['report', 'download', '--request', id, '--output', 'reports'])
  expect(code).toBe(0)
  expect(stdout.replace(/_[0-9a-f]{8}\.pdf {2}[\d.]+ kB/g, '_HASH.pdf  N kB')).toMatchInlineSnapshot(`
    "stored  reports/Example-Priya_reference-Remy-Referee_HASH.pdf  N kB
    stored  reports/Example-Priya_reference-Morgan-Referee_HASH.pdf  N kB
    stored  reports/Example-Priya_National-police-check_HASH.pdf  N kB
    stored  reports/Example-Priya_Credit-history-check_HASH.pdf  N kB
    "
  `)
  const calls = sandbox.log
    .entries()
    .slice(before)
    .filter((entry) => entry.kind === 'call')
  expect(calls.filter((call) => !call.path.startsWith('/v1/reports/'))).toHaveLength(1)
  const names = readdirSync(join(folder, 'reports'))
  expect(names.slice(-2)).toEqual(['manifest.csv', 'manifest.json'])
  expect(names).toHaveLength(6)
  for (const name of names.slice(0, 4)) {
    const path = join(folder, 'reports', name)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await PDFDocument.load(readFileSync(path))).getPageCount()).toBeGreaterThan(0)
  }
})

test('--json tells each file with its hash; the second time it is skipped, --overwrite replaces it', async () => {
  const { type, id } = await finished()
  const argv = ['report', 'download', '--request', id, '--output', 'reports', '--json']
  const first = (await type(argv)).json() as Stored[]
  expect(first).toHaveLength(4)
  for (const report of first) {
    expect(report).toMatchObject({
      skipped: false,
      bytes: statSync(report.path).size,
      sha256: sha256(report.path),
    })
  }
  const again = (await type(argv)).json() as Stored[]
  expect(again).toEqual(first.map((report) => ({ ...report, skipped: true })))
  const replaced = (await type([...argv, '--overwrite'])).json() as Stored[]
  expect(replaced).toEqual(first)
})

test('one report by its ids, by a referee, and by its signed URL', async () => {
  const { type, checkId, request, url, folder } = await finished()
  expect((await type(['report', 'download', checkId, '--output', 'police.pdf'])).code).toBe(0)
  const reference = request.checks.find((each) => each.type === 'reference')
  const referee = reference?.references?.[0]?.referee_id ?? ''
  const second = await type(['report', 'download', reference?.id ?? '', '--referee', referee, '--json'])
  expect(second.json()).toMatchObject([{ check_id: reference?.id, referee_id: referee, skipped: false }])
  const third = await type(['report', 'download', '--url', url, '--output', 'signed.pdf'])
  expect(third.code).toBe(0)
  const piped = await type(['report', 'download', '--url', '-', '--output', 'piped.pdf'], {
    stdin: `${url}\n`,
  })
  expect(piped.code).toBe(0)
  const hashes = ['police.pdf', 'signed.pdf', 'piped.pdf'].map((name) => sha256(join(folder, name)))
  expect(new Set(hashes).size).toBe(1)
})

test('--output - writes the very bytes to a pipe, and never to a terminal', async () => {
  const { type, checkId, folder } = await finished()
  await type(['report', 'download', checkId, '--output', 'a.pdf'])
  const piped = await type(['report', 'download', checkId, '--output', '-'])
  expect(piped.code).toBe(0)
  expect(piped.bytes.equals(readFileSync(join(folder, 'a.pdf')))).toBe(true)
  const shown = await type(['report', 'download', checkId, '--output', '-'], { tty: { stdout: true } })
  expect({ code: shown.code, stdout: shown.stdout }).toEqual({ code: 2, stdout: '' })
})

test('what is not ready is listed with its reason: exit 10, the rest is stored', async () => {
  const { type, id, sandbox, clock } = await finished(1)
  for (let minutes = 0; minutes < 60; minutes += 1) {
    const request = sandbox.requests()[0]
    if (request?.status === 'PARTIAL') break
    await clock.advance(60_000)
  }
  const outcome = await type(['report', 'download', '--request', id, '--output', 'reports'])
  expect(outcome.code).toBe(10)
  expect(outcome.stdout).toMatch(/stored /)
  expect(outcome.stdout).toMatch(/absent .+the report is not ready, it is (RECEIVED|IN_PROGRESS)/)
})

test('a request whose checks are not created yet: exit 10', async () => {
  const { type, id } = await finished(0)
  const { code, stderr } = await type(['report', 'download', '--request', id])
  expect(code).toBe(10)
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
})

test.each([
  ['cut short under its full length', { kind: 'truncated', keep: 0.5, announced: true }],
  ['cut short', { kind: 'truncated', keep: 0.5, announced: false }],
  ['a login page', { kind: 'body', body: '<html>Log in</html>', contentType: 'text/html' }],
  ['a page that says it is a PDF', { kind: 'body', body: '<html>', contentType: 'application/pdf' }],
  ['nothing', { kind: 'body', body: '', contentType: 'application/pdf' }],
] as const)(
  'never a wrong file: %s is tried again, then exit 10, and nothing is left',
  async (_name, fault) => {
    const { type, id, folder, sandbox } = await finished()
    sandbox.inject({ on: 'GET /v1/reports/*', times: 1000, fault })
    const { code } = await type(['report', 'download', '--request', id, '--output', 'reports'])
    expect(code).toBe(10)
    const left = existsSync(join(folder, 'reports')) ? readdirSync(join(folder, 'reports')) : []
    expect(left).toEqual([])
  },
)

test('a transfer that breaks once is simply tried again', async () => {
  const { type, id, sandbox } = await finished()
  sandbox.inject({ on: 'GET /v1/reports/*', fault: { kind: 'truncated', keep: 0.5, announced: true } })
  expect((await type(['report', 'download', '--request', id, '--output', 'reports'])).code).toBe(0)
})

test('a token that has expired by itself: a fresh URL is asked for once', async () => {
  const { type, id, sandbox } = await finished()
  sandbox.inject({ on: 'GET /v1/reports/*', fault: { kind: 'status', status: 401, when: 'before' } })
  expect((await type(['report', 'download', '--request', id, '--output', 'reports'])).code).toBe(0)
})

test('an expired URL given by hand: exit 3', async () => {
  const { type, url, clock } = await finished()
  await clock.advance(61 * 60_000)
  const { code, stderr } = await type(['report', 'download', '--url', url])
  expect(code).toBe(3)
  expect(stderr).not.toContain(new URL(url).searchParams.get('t'))
})

/** Each in the place of the report URL of the service at `base`. */
const foreign: [string, (base: URL, path: string) => string][] = [
  ['another host', (_base, path) => `https://evil.example${path}`],
  ['plain http elsewhere', (_base, path) => `http://evil.example${path}`],
  ['another port', (_base, path) => `http://127.0.0.1:1${path}`],
  ['https on the port of http', ({ host }, path) => `https://${host}${path}`],
  ['another name of this machine', ({ port }, path) => `http://localhost:${port}${path}`],
  ['another form of its address', ({ port }, path) => `http://127.1:${port}${path}`],
  ['its address as a number', ({ port }, path) => `http://2130706433:${port}${path}`],
  ['its address in octal', ({ port }, path) => `http://0177.0.0.1:${port}${path}`],
  ['its address in IPv6', ({ port }, path) => `http://[::ffff:127.0.0.1]:${port}${path}`],
  ['a user name', ({ host }, path) => `http://user@${host}${path}`],
  ['our host as a user name', ({ host }, path) => `http://${host}@evil.example${path}`],
  ['a backslash before an @', ({ host }, path) => `http://${host}\\@evil.example${path}`],
  ['backslashes', ({ host }, path) => `http:\\\\${host}${path}`],
  ['no scheme', ({ host }, path) => `//${host}${path}`],
  ['a path alone', (_base, path) => path],
  ['one slash', ({ host }, path) => `http:/${host}${path}`],
  ['another scheme', ({ host }, path) => `ftp://${host}${path}`],
  ['a file', () => 'file:///etc/passwd?t=secrettoken'],
  ['a script', () => 'javascript:alert(1)?t=secrettoken'],
  ['data', () => 'data:application/pdf,%PDF-?t=secrettoken'],
  ['no URL', () => 'not a url secrettoken'],
  ['nothing', () => ' '],
  ['another path', ({ origin }) => `${origin}/v1/users?t=secrettoken`],
  ['a path with dots', ({ origin }) => `${origin}/v1/reports/../users?t=secrettoken`],
  ['a path with encoded dots', ({ origin }) => `${origin}/v1/reports/%2e%2e/users?t=secrettoken`],
  ['two slashes in the path', ({ origin }, path) => `${origin}/${path}`],
  ['no token', ({ origin }, path) => `${origin}${path.replace(/\?.*/, '')}`],
  ['an empty token', ({ origin }, path) => `${origin}${path.replace(/\?.*/, '?t=')}`],
  ['two tokens', ({ origin }, path) => `${origin}${path}&t=secrettoken`],
  ['another parameter', ({ origin }, path) => `${origin}${path}&redirect=https://evil.example`],
  ['a fragment', ({ origin }, path) => `${origin}${path}#secrettoken`],
  ['a line break', ({ origin }, path) => `${origin}${path}\r\nX-Header: secrettoken`],
  ['upper case', ({ origin }, path) => `${origin.toUpperCase()}${path}`],
  ['a space before it', ({ origin }, path) => ` ${origin}${path}`],
  ['nine thousand characters', ({ origin }, path) => `${origin}${path}${'x'.repeat(9000)}`],
]

test.each(foreign)('a report URL with %s: exit 2 before a connection, no token told', async (_name, form) => {
  const { run, sandbox, url, folder } = await world()
  const text = form(new URL(url), `/v1/reports/${nowhere}?t=secrettoken`)
  const { code, stdout, stderr } = await run(['report', 'download', '--url', text, '--output', 'reports'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
  expect(stderr).not.toContain('secrettoken')
  expect(sandbox.log.entries()).toEqual([])
  expect(readdirSync(folder)).not.toContain('reports')
})

test.each([
  ['nothing named', [], 2],
  ['two things named', [nowhere, '--request', nowhere], 2],
  ['a referee without a check', ['--referee', '7'], 2],
  ['no UUID', ['abc'], 2],
  ['a check that is not there', [nowhere], 5],
  ['a request that is not there', ['--request', nowhere], 5],
  ['several reports into one file', ['--request', nowhere, '--output', 'a.pdf'], 2],
  ['several reports into a pipe', ['--request', nowhere, '--output', '-'], 2],
  ['too many at once', ['--request', nowhere, '--concurrency', '65'], 2],
])('%s', async (_name, argv, exit) => {
  const { run } = await world()
  const { code, stdout, stderr } = await run(['report', 'download', ...argv])
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
})

test('a file that is there is not replaced unless told', async () => {
  const { type, checkId, folder } = await finished()
  writeFileSync(join(folder, 'mine.pdf'), 'mine')
  const { code } = await type(['report', 'download', checkId, '--output', 'mine.pdf'])
  expect(code).toBe(2)
  expect(readFileSync(join(folder, 'mine.pdf'), 'utf8')).toBe('mine')
  expect((await type(['report', 'download', checkId, '--output', 'mine.pdf', '--overwrite'])).code).toBe(0)
})

test('--output FILE: the very report that is there is skipped, another PDF is left and refused', async () => {
  const { type, checkId, folder, request } = await finished()
  const argv = ['report', 'download', checkId, '--output', 'police.pdf', '--json']
  const [first] = (await type(argv)).json() as Stored[]
  expect((await type(argv)).json()).toEqual([{ ...first, skipped: true }])
  const other = request.checks.findLast(({ type: kind }) => kind === 'background')?.id ?? ''
  expect((await type(['report', 'download', other, '--output', 'other.pdf'])).code).toBe(0)
  const before = sha256(join(folder, 'other.pdf'))
  const { code, stderr } = await type(['report', 'download', checkId, '--output', 'other.pdf'])
  expect([code, stderr]).toEqual([
    2,
    'Error: --output: other.pdf exists already and is not this report\nIt was left as it is. Choose another name, or replace it with --overwrite.\n',
  ])
  expect(sha256(join(folder, 'other.pdf'))).toBe(before)
  expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
})

test('a symbolic link in the way is not followed', async () => {
  const { type, checkId, folder } = await finished()
  writeFileSync(join(folder, 'victim'), 'precious')
  symlinkSync(join(folder, 'victim'), join(folder, 'link.pdf'))
  const { code } = await type(['report', 'download', checkId, '--output', 'link.pdf', '--overwrite'])
  expect(code).toBe(1)
  expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('precious')
})

test('a folder that cannot be made: exit 1, one clear line', async () => {
  const { type, checkId, folder } = await finished()
  writeFileSync(join(folder, 'file'), '')
  mkdirSync(join(folder, 'closed'))
  chmodSync(join(folder, 'closed'), 0o500)
  const { code, stderr } = await type(['report', 'download', checkId, '--output', 'file/below/'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
})
