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
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { ordered, pdfsIn } from '../harness/ordered.ts'

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')
test('a manifest tells whose each file is, as JSON and as a table', async () => {
  const { type, ids, reports } = await ordered(['Priya'])
  await type(`report download --request ${ids[0]} --output reports`)
  const [name = ''] = pdfsIn(reports)
  const manifest = JSON.parse(readFileSync(join(reports, 'manifest.json'), 'utf8')) as object[]
  expect(manifest).toEqual([
    {
      request_id: ids[0],
      check_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      referee_id: null,
      first_name: 'Priya',
      last_name: 'Example',
      check_name: 'Identity check',
      file: name,
      bytes: readFileSync(join(reports, name)).length,
      sha256: sha256(join(reports, name)),
      stored_at: '2026-11-20T13:00:00.000Z',
      request_reports: 1,
      request_without: 0,
    },
  ])
  const [header, row] = readFileSync(join(reports, 'manifest.csv'), 'utf8').split('\n')
  expect(header).toBe(Object.keys(manifest[0] ?? {}).join(','))
  expect(row).toBe(Object.values(manifest[0] ?? {}).join(','))
})

test('what is listed and whole is not read again; a call is made only for what is not', async () => {
  const { type, ids, calls } = await ordered(['Priya'])
  const line = `report download --request ${ids[0]} --output reports --json`
  calls()
  const first = (await type(line)).json() as { skipped: boolean }[]
  expect(calls()).toBe(1)
  const again = (await type(line)).json() as { skipped: boolean }[]
  expect(again).toEqual([{ ...first[0], skipped: true }])
  expect(calls()).toBe(0)
})

test('names by a template, in folders; two that would be the same are numbered, and stay so', async () => {
  const { run, clock, ids, reports } = await ordered(['Priya'], { full: true })
  const argv = ['report', 'download', '--request', ids[0] ?? '', '--output', 'reports']
  const template = ['--name-template', '{last_name}-{first_name}/Report {date}.pdf']
  expect((await run([...argv, ...template], { clock })).code).toBe(0)
  const names = pdfsIn(reports)
  expect(names).toEqual([
    'Example-Priya/Report 2026-11-20-2.pdf',
    'Example-Priya/Report 2026-11-20-3.pdf',
    'Example-Priya/Report 2026-11-20-4.pdf',
    'Example-Priya/Report 2026-11-20.pdf',
  ])
  const hashes = names.map((name) => sha256(join(reports, name)))
  unlinkSync(join(reports, names[1] ?? ''))
  expect((await run([...argv, ...template], { clock })).code).toBe(0)
  expect(pdfsIn(reports).map((name) => sha256(join(reports, name)))).toEqual(hashes)
  // Under another template they are the same reports; --overwrite gives them the new names.
  expect((await run(argv, { clock })).code).toBe(0)
  expect(pdfsIn(reports)).toEqual(names)
  expect((await run([...argv, '--overwrite'], { clock })).code).toBe(0)
  expect(pdfsIn(reports).every((name) => name.startsWith('Example-Priya_'))).toBe(true)
  expect(pdfsIn(reports)).toHaveLength(4)
})

test('a damaged file is mended; one that somebody changed is left, told of, and replaced when asked', async () => {
  const { type, ids, reports } = await ordered(['Priya'])
  const line = `report download --request ${ids[0]} --output reports`
  await type(line)
  const path = join(reports, pdfsIn(reports)[0] ?? '')
  const original = sha256(path)
  writeFileSync(path, readFileSync(path).subarray(0, 1000))
  expect((await type(line)).code).toBe(0)
  expect(sha256(path)).toBe(original)

  writeFileSync(path, '%PDF-1.7 signed by hand %%EOF')
  const { code, stderr } = await type(line)
  expect({ code, stderr }).toEqual({
    code: 10,
    stderr: `Error: "${pdfsIn(reports)[0]}" was changed since it was stored\nIt was left as it is; --overwrite replaces it.\n`,
  })
  expect((await type(`${line} --overwrite`)).code).toBe(0)
  expect(sha256(path)).toBe(original)
})

test('a lost manifest is made anew from what is there; a file of somebody else is never taken for ours', async () => {
  const { type, ids, reports } = await ordered(['Priya'])
  const line = `report download --request ${ids[0]} --output reports --json`
  const [first] = (await type(line)).json() as object[]
  const before = readFileSync(join(reports, 'manifest.json'), 'utf8')
  rmSync(join(reports, 'manifest.json'))
  expect((await type(line)).json()).toEqual([{ ...first, skipped: true }])
  expect(readFileSync(join(reports, 'manifest.json'), 'utf8')).toBe(before)

  rmSync(join(reports, 'manifest.json'))
  const path = join(reports, pdfsIn(reports)[0] ?? '')
  writeFileSync(path, 'mine')
  const { code, stderr } = await type(line.replace(' --json', ''))
  expect(code).toBe(10)
  expect(stderr).toContain('was not written: another file stands there')
  expect(readFileSync(path, 'utf8')).toBe('mine')
})

test('a manifest.json of something else is left alone, and so is the folder', async () => {
  const { type, ids, reports } = await ordered(['Priya'])
  mkdirSync(reports)
  writeFileSync(join(reports, 'manifest.json'), '{"name":"a web page"}')
  const { code, stderr } = await type(`report download --request ${ids[0]} --output reports`)
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Error: .+manifest.json" is not a list of reports as refcheck writes it\n.+\n$/)
  expect(readdirSync(reports)).toEqual(['manifest.json'])
})

test.each(['../../escape.pdf', '/tmp/escape.pdf', 'a/../../escape.pdf', 'a\\b.pdf', ''])(
  'a manifest that leads to %j is refused',
  async (file) => {
    const { type, ids, reports } = await ordered(['Priya'])
    await type(`report download --request ${ids[0]} --output reports`)
    const path = join(reports, 'manifest.json')
    const [record] = JSON.parse(readFileSync(path, 'utf8')) as object[]
    writeFileSync(path, JSON.stringify([{ ...record, file }]))
    expect((await type(`report download --request ${ids[0]} --output reports --overwrite`)).code).toBe(1)
    expect(existsSync(join(dirname(reports), 'escape.pdf'))).toBe(false)
  },
)

test('links and folders inside the folder are not followed or replaced', async () => {
  const { run, clock, ids, reports, folder } = await ordered(['Priya'])
  const argv = ['report', 'download', '--request', ids[0] ?? '', '--output', 'reports', '--overwrite']
  mkdirSync(join(folder, 'outside'))
  mkdirSync(reports)
  symlinkSync(join(folder, 'outside'), join(reports, 'Example'))
  mkdirSync(join(reports, 'Priya.pdf'))
  writeFileSync(join(reports, 'file'), '')
  const download = async (template: string) => run([...argv, '--name-template', template], { clock })
  expect(await download('{last_name}/{id}')).toMatchObject({
    code: 10,
    stderr: expect.stringContaining('its folder "Example" is a symbolic link'),
  })
  expect(await download('{first_name}')).toMatchObject({
    code: 10,
    stderr: expect.stringContaining('it is a folder'),
  })
  expect(await download('file/{id}')).toMatchObject({
    code: 10,
    stderr: expect.stringContaining('its folder "file" is a file'),
  })
  expect(readdirSync(join(folder, 'outside'))).toEqual([])
  expect(readdirSync(reports).sort()).toEqual(['Example', 'Priya.pdf', 'file'])
})

test('a folder that another run works in: one clear line, nothing touched', async () => {
  const { type, ids, reports, sandbox } = await ordered(['Priya'])
  sandbox.inject({ on: 'GET /v1/requests/:id', fault: { kind: 'hang', when: 'before' } })
  const stop = new AbortController()
  const first = type(`report download --request ${ids[0]} --output reports`, { signal: stop.signal })
  const holder = join(reports, '.refcheck', 'lock.holder')
  while (!existsSync(holder)) await new Promise((resolve) => void setImmediate(resolve))
  const second = type('report sync --output reports')
  const { code, stderr } = await second
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^Error: another run \(process \d+, since .+Z\) is filing reports into ".+reports"\n.+\n$/,
  )
  stop.abort()
  expect((await first).code).toBe(130)
  expect(existsSync(reports) ? readdirSync(reports) : []).toEqual([])
})

test('a token that has expired for all reports of a request costs one more read', async () => {
  const { type, ids, calls, sandbox } = await ordered(['Priya'], { full: true })
  calls()
  sandbox.inject({
    on: 'GET /v1/reports/*',
    times: 4,
    fault: { kind: 'status', status: 401, when: 'before' },
  })
  expect((await type(`report download --request ${ids[0]} --output reports`)).code).toBe(0)
  expect(calls()).toBe(2)
})

test('a token that is never good: listed, exit 10, after one more read', async () => {
  const { type, ids, calls, sandbox } = await ordered(['Priya'], { full: true })
  calls()
  sandbox.inject({
    on: 'GET /v1/reports/*',
    times: 99,
    fault: { kind: 'status', status: 401, when: 'before' },
  })
  expect((await type(`report download --request ${ids[0]} --output reports`)).code).toBe(10)
  expect(calls()).toBe(2)
})

test.each([
  ['404', { kind: 'status', status: 404, when: 'before' }],
  ['403', { kind: 'status', status: 403, when: 'before' }],
] as const)('a %s of one report leaves the others: listed, exit 10', async (_name, fault) => {
  const { type, ids, sandbox, reports } = await ordered(['Priya'], { full: true })
  sandbox.inject({ on: 'GET /v1/reports/*', fault })
  const { code, stdout } = await type(`report download --request ${ids[0]} --output reports --concurrency 1`)
  expect(code).toBe(10)
  expect(stdout.match(/^stored/gm)).toHaveLength(3)
  expect(stdout.match(/^absent {2}Priya Example: /gm)).toHaveLength(1)
  expect(pdfsIn(reports)).toHaveLength(3)
})

test('with --json what is missing is told on stderr', async () => {
  const { type, ids } = await ordered(['Priya+declined'])
  const { code, stdout, stderr } = await type(`report download --request ${ids[0]} --output reports --json`)
  expect({ code, stdout }).toEqual({ code: 10, stdout: '[]\n' })
  expect(stderr).toBe('absent  Priya Example: Identity check: no report, it ended CANCELLED\n')
})

test.each([
  ['Priya+declined', 'Identity check: no report, it ended CANCELLED'],
  ['Priya+error', 'request # has no reports, it ended ERROR'],
])('nobody is told to come again for what never comes: %s', async (who, words) => {
  const { type, ids } = await ordered([who], { minutes: 60 })
  const { code, stderr } = await type(`report download --request ${ids[0]} --output reports`)
  expect(code).toBe(10)
  expect(stderr.replace(ids[0] ?? '-', '#')).toBe(`Error: ${words}\nNo report will come of it.\n`)
})

test('of several that are missing the hint is about the one that may still come', async () => {
  const { type, ids } = await ordered(['Ana+declined', 'Ben+report-never'], { minutes: 60 })
  const { stderr } = await type(`report download --request ${ids[0]} --request ${ids[1]} --output reports`)
  expect(stderr).toContain('Run the same command again later')
})

test('--wait goes on until every report is ready', async () => {
  const { run, ids, clock, reports } = await ordered(['Ana'], { minutes: 0 })
  const argv = ['report', 'download', '--request', ids[0] ?? '', '--output', 'reports', '--wait']
  const waiting = run(argv, { clock })
  const next = async (): Promise<boolean> =>
    Promise.race([clock.untilSleeping().then(() => true), waiting.then(() => false)])
  while (await next()) await clock.advance(60_000)
  expect((await waiting).code).toBe(0)
  expect(pdfsIn(reports)).toHaveLength(1)
})

test('progress: a bar on a terminal, nothing where there is none and it is soon over', async () => {
  const { type, ids } = await ordered(['Priya'], { full: true })
  const shown = await type(`report download --request ${ids[0]} --output a`, { tty: { stderr: true } })
  expect(shown.stderr).toMatch(/\[-{20}\] {2}0 of 1 files, 0 B/)
  expect(shown.stderr.endsWith('\r\u001B[2K')).toBe(true)
  expect((await type(`report download --request ${ids[0]} --output b`)).stderr).toBe('')
})

test('--open shows the one report with the desktop’s opener, and only when all is there', async () => {
  const { type, ids, folder, reports } = await ordered(['Priya'])
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'xdg-open'), '#!/bin/sh\ncd "${0%/*}" && printf %s "$1" > part && mv part opened\n')
  chmodSync(join(bin, 'xdg-open'), 0o755)
  const env = { PATH: `${bin}:/usr/bin:/bin`, DISPLAY: ':0' }
  const none = await type(`report download --request ${ids[0]} --output reports --open`, {
    env: { CI: 'true' },
  })
  expect(none.code).toBe(0)
  expect(none.stderr).toMatch(/^Warning: .+\.pdf was not opened: nobody looks at the screen of a CI job\n$/)
  const nowhere = await type(`report download --request ${ids[0]} --output reports --open`)
  expect(nowhere.stderr).toContain('was not opened: there is no desktop here')
  const { code, stderr } = await type(`report download --request ${ids[0]} --output reports --open`, { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  while (!existsSync(join(bin, 'opened'))) await new Promise((resolve) => void setImmediate(resolve))
  expect(readFileSync(join(bin, 'opened'), 'utf8')).toBe(join(reports, pdfsIn(reports)[0] ?? ''))
})

test.each([
  ['--since 7d', '--since goes with --all-completed'],
  ['--all-completed --referee 7', '--referee needs the CHECK_ID'],
  ['--all-completed --batch 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55', 'exclude each other'],
  ['--all-completed --since 2026-02-30', 'is not a date'],
  ['--all-completed --name-template ../{id}', 'leads to another folder'],
  ['--all-completed --output -', '--output - takes one report'],
  ['--all-completed --output one.pdf', 'is one file, and several reports may come'],
  ['3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --wait', 'one report has no request to wait for'],
  ['3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --name-template {id}', 'one report has no request'],
  ['--batch nonsense', 'is not a UUID'],
])('report download %s: exit 2', async (line, message) => {
  const { type, folder } = await ordered([])
  const { code, stdout, stderr } = await type(`report download ${line}`)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
  expect(readdirSync(folder).filter((name) => name.endsWith('.pdf') || name.startsWith('.'))).toEqual([])
})
