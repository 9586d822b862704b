import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { eventBody, postDelivery } from '../harness/deliveries.ts'
import { findCanaries, findCanariesInFiles, spyScript } from '../harness/faults/canary.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { worldWithOrders, signedUrl } from '../harness/orders.ts'
import { startProgram } from '../harness/process.ts'
import { sampleOf } from '../harness/share.ts'
import { session } from '../harness/session.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'
import { badLines, commandIds } from './bad-input.ts'

const faultRow = recordForFaultTable('canary', {
  mustNotHappen: 'places with a key, secret or token',
  titles: /canary/,
})
const childrenRow = recordForFaultTable('children', { mustNotHappen: 'children with a key', titles: /child/ })

/** The file in which secrets are stored on purpose; other tests check that only its owner can read it. */
const secretsFile = /^credentials\.json$/

test('no command, valid or invalid, prints or stores a canary', async () => {
  const here = await session()
  const { apiKey, webhookSecret } = here.sandbox.credentials
  const token = 'eyJjYW5hcnkiOiJ0b2tlbiJ9'
  const canaries = { key: apiKey, secret: webhookSecret, token }
  writePeopleFile(here.folder, createEmails(2))
  const found: string[] = []
  const id = '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f'
  const lines = [
    'batch run people.csv --package 102 --yes --verbose',
    'request list --refresh --verbose',
    'users list --verbose',
    'doctor --verbose',
    `report download --url ${here.url}/v1/reports/${id}?t=${token} --output report.pdf --verbose`,
    `auth login --profile work --base-url ${here.url} --email ${here.env['REFCHECK_USER_EMAIL'] ?? ''} --with-key --insecure-storage --verbose`,
    'auth status --verbose',
    'api GET /v1/users --include --verbose',
  ].map((line) => line.split(' '))
  // One invalid line of each command, with the key in the environment.
  const invalidLines = sampleOf(commandIds, 6).map((each) =>
    (badLines(each)[0]?.argv ?? []).concat('--verbose'),
  )
  for (const argv of [...lines, ...invalidLines]) {
    const { stdout, stderr } = await here.run(argv, {
      clock: here.clock,
      ...(argv.includes('--with-key') && { stdin: apiKey }),
    })
    found.push(...findCanaries(argv.slice(0, 2).join(' '), stdout + stderr, canaries))
  }
  found.push(...findCanariesInFiles(here.folder, canaries, secretsFile))
  const count = lines.length + invalidLines.length
  faultRow.countCases(count, count - found.length)
  expect(found).toEqual([])
})

test('no child process, and no command line of any process, contains a key or a secret', async () => {
  if (!existsSync('/proc/self/cmdline')) return childrenRow.markNotTried('there is no /proc')
  const here = await session()
  const { apiKey, webhookSecret } = here.sandbox.credentials
  const canaries = { key: apiKey, secret: webhookSecret, password: 'canary-password' }
  const seenFile = join(here.folder, 'seen.json')
  const spyFile = join(here.folder, 'spy.cjs')
  writeFileSync(spyFile, `${spyScript(seenFile)}\nprocess.stdin.resume()`)
  const env = { ...here.env, PGPASSWORD: canaries.password }
  const exec = `"${process.execPath}" ${spyFile}`
  const receiver = startProgram(
    ['webhook', 'listen', '--port', '0', '--exec', exec, '--max-events', '1'],
    env,
  )
  const address = /Listening at (\S+)/
  while (!address.test(receiver.stderr()))
    await new Promise((resolve) => receiver.child.stderr?.once('data', resolve))
  expect(
    await postDelivery(address.exec(receiver.stderr())?.[1] ?? '', webhookSecret, { body: eventBody() }),
  ).toBe(204)
  expect(await receiver.ended).toBe(0)
  const text = readFileSync(seenFile, 'utf8')
  // The spy has written the command lines.
  expect(text).toContain('webhook')
  expect(findCanaries('--exec', text, canaries)).toEqual([])
})

test.each(['a report', 'a report by its signed URL'])(
  'the viewer of %s, a child process of --open, receives neither a key nor a token',
  async (reportKind) => {
    if (process.platform !== 'linux') return childrenRow.markNotTried('another platform has another viewer')
    const here = await worldWithOrders(['Ana'])
    const url = signedUrl(here)
    const check = url.replace(/^.*\/reports\/|\?.*$/g, '')
    const canaries = {
      key: here.sandbox.credentials.apiKey,
      secret: here.sandbox.credentials.webhookSecret,
      password: 'canary-password',
      ...(reportKind !== 'a report' && { token: new URL(url).searchParams.get('t') ?? '' }),
    }
    const viewer = join(here.folder, 'xdg-open')
    const seenFile = join(here.folder, 'seen.json')
    const script = `${spyScript(`${seenFile}.part`)}\nfs.writeFileSync(${JSON.stringify(`${seenFile}.argv`)}, process.argv.join(' '))\nfs.renameSync(${JSON.stringify(`${seenFile}.part`)}, ${JSON.stringify(seenFile)})`
    writeFileSync(join(here.folder, 'spy.cjs'), script)
    writeFileSync(viewer, `#!/bin/sh\nexec "${process.execPath}" ${join(here.folder, 'spy.cjs')} "$@"\n`, {
      mode: 0o755,
    })
    const viewerEnv = {
      PATH: `${here.folder}:${process.env['PATH'] ?? ''}`,
      DISPLAY: ':0',
      PGPASSWORD: canaries.password,
    }
    const reportArguments = reportKind === 'a report' ? [check] : ['--url', url]
    const output = join(here.folder, 'report.pdf')
    const run = startProgram(['report', 'download', ...reportArguments, '--output', output, '--open'], {
      ...here.env,
      ...viewerEnv,
    })
    expect([await run.ended, run.stderr()]).toEqual([0, expect.not.stringContaining('Error')])
    await vi.waitUntil(() => existsSync(seenFile), { timeout: 30_000 })
    const { env, lines } = JSON.parse(readFileSync(seenFile, 'utf8')) as { env: object; lines: string[] }
    const argv = readFileSync(`${seenFile}.argv`, 'utf8')
    expect(argv).toContain('report.pdf')
    // The user typed the token on the command line of the program itself, so the command lines may contain it.
    const { key, secret, password } = canaries
    expect(findCanaries('--open', `${JSON.stringify(env)} ${argv}`, canaries)).toEqual([])
    expect(findCanaries('command lines', lines.join(' '), { key, secret, password })).toEqual([])
  },
)

test('a diagnostic report of Node contains no canary', async () => {
  const folder = temporaryFolder()
  const apiKey = 'canaryKEY0123456789canaryKEY0123'
  const running = startProgram(['sandbox', 'start', '--port', '0', '--json'], {
    ...emptyEnv(folder),
    REFCHECK_API_KEY: apiKey,
    NODE_OPTIONS: `--report-on-signal --report-directory=${folder}`,
  })
  await running.until('"base_url"')
  running.child.kill('SIGUSR2')
  const report = await vi.waitFor(() => {
    const name = readdirSync(folder).find((each) => each.startsWith('report.')) ?? ''
    return JSON.parse(readFileSync(join(folder, name), 'utf8')) as object
  }, 10_000)
  expect(Object.keys(report)).toContain('javascriptStack')
  expect(JSON.stringify(report)).not.toContain(apiKey)
})
