import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { ManualClock } from '../harness/manual-clock.ts'
import { orderOf } from '../harness/people.ts'
import { type Outcome, refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder, world } from '../harness/world.ts'

interface Report {
  checks: { check: string; level: string; message: string; hint: string | null }[]
  error?: { code: string }
}

const levels = (outcome: Outcome): Record<string, string> =>
  Object.fromEntries((outcome.json() as Report).checks.map(({ check, level }) => [check, level]))
const told = (outcome: Outcome, name: string): string =>
  (outcome.json() as Report).checks.find(({ check }) => check === name)?.message ?? ''

test('all is well: a line for each thing, exit 0', async () => {
  const { run, folder, url } = await world()
  await run(orderOf('Priya'))
  const { code, stdout, stderr } = await run(['doctor'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const text = stdout
    .replaceAll(folder, '…')
    .replaceAll(url, 'http://127.0.0.1:4010')
    .replace(/^(ok {4}node {10}).*$/m, '$1…')
    .replace(/in \d+ ms/, 'in 3 ms')
    .replace(/\*{4}\w{4}/, '****bRra')
    .replace(/Node’s own authorities.*/, 'Node’s own authorities')
  expect(text).toMatchInlineSnapshot(`
    "ok    node          …
    ok    folders       settings in …/config, data in …/data
    ok    privacy       other accounts of this machine can read none of it
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none: calls go straight
    ok    store         sound: …/data/ledger.sqlite
    ok    profile       none, the environment says it all: http://127.0.0.1:4010 as olive.owner@example.com, key ****bRra from the environment
    ok    service       http://127.0.0.1:4010 answers in 3 ms
    ok    clock         this machine’s agrees with the service’s
    ok    key           works; olive.owner@example.com is owner
    ok    quota         57 of 60 calls, 997 of 1000 calls left, as far as this store knows
    "
  `)
})

test('nothing is set up: what to do first, exit 3, and nothing is made', async () => {
  const folder = temporaryFolder()
  const outcome = await refcheck(['doctor', '--json'], { env: emptyEnv(folder), cwd: folder })
  expect(outcome.code).toBe(3)
  expect(outcome.json()).toMatchObject({ error: { code: 'unauthenticated' } })
  expect(levels(outcome)).toMatchObject({
    store: 'ok',
    profile: 'fail',
    service: 'fail',
    clock: 'warn',
    key: 'warn',
  })
  expect(existsSync(join(folder, 'data'))).toBe(false)
})

test('the service is away: exit 7, and the key is not tried', async () => {
  const { run } = await world()
  const env = { REFCHECK_BASE_URL: 'http://127.0.0.1:9' }
  const outcome = await run(['doctor', '--json'], { env, clock: new ManualClock({ auto: true }) })
  expect(outcome.code).toBe(7)
  expect(levels(outcome)).toMatchObject({ profile: 'ok', service: 'fail', key: 'warn' })
})

test('a key that is not accepted: exit 3', async () => {
  const { run } = await world()
  const outcome = await run(['doctor', '--json'], { env: { REFCHECK_API_KEY: 'x'.repeat(32) } })
  expect(outcome.code).toBe(3)
  expect(levels(outcome)).toMatchObject({ service: 'ok', key: 'fail' })
})

test('an e-mail that is no active user’s: exit 4', async () => {
  const { run } = await world()
  const outcome = await run(['doctor', '--json'], { env: { REFCHECK_USER_EMAIL: 'nobody@example.com' } })
  expect(outcome.code).toBe(4)
  expect(levels(outcome)).toMatchObject({ key: 'fail' })
})

test('a store that is no store: exit 1, and the rest is looked at', async () => {
  const { run, folder } = await world()
  const file = join(folder, 'notes.txt')
  writeFileSync(file, 'not a database, but longer than a header of a hundred bytes would be. '.repeat(9))
  const outcome = await run(['doctor', '--json'], { env: { REFCHECK_STORE: file } })
  expect(outcome.code).toBe(1)
  expect(levels(outcome)).toMatchObject({ store: 'fail', service: 'ok', key: 'ok', quota: 'fail' })
})

test('a store whose pages are damaged: exit 1', async () => {
  const { run, folder } = await world()
  await run(orderOf('Priya'))
  const file = join(folder, 'data', 'ledger.sqlite')
  const { size } = statSync(file)
  const handle = await import('node:fs/promises').then(({ open }) => open(file, 'r+'))
  const page = 4096
  for (let at = 3 * page; at < size; at += page) await handle.write(Buffer.alloc(64, 0xff), 0, 64, at)
  await handle.close()
  const outcome = await run(['doctor', '--json'])
  expect(outcome.code).toBe(1)
  expect(told(outcome, 'store')).toContain(file)
})

test('a private file that others can read is told', async () => {
  const { run, folder } = await world()
  await run(orderOf('Priya'))
  const file = join(folder, 'data', 'ledger.sqlite')
  chmodSync(file, 0o644)
  const outcome = await run(['doctor', '--json'])
  expect([outcome.code, told(outcome, 'privacy')]).toEqual([
    0,
    `other accounts of this machine could read "${file}" (0644)`,
  ])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a clock that is off', async () => {
  const { run } = await world()
  const clock = new ManualClock({ now: Date.now() + 3_600_000 })
  const outcome = await run(['doctor', '--json'], { clock })
  expect(levels(outcome)).toMatchObject({ clock: 'warn' })
  expect(told(outcome, 'clock')).toMatch(/^this machine’s is 3(599|600|601) s ahead of the service’s$/)
})

test('certificates that are not checked, a file of them that is not there, a proxy’s host without its password', async () => {
  const { run } = await world()
  const unchecked = await run(['doctor', '--json'], { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })
  expect(told(unchecked, 'certificates')).toContain('NODE_TLS_REJECT_UNAUTHORIZED=0')
  const env = { NODE_EXTRA_CA_CERTS: '/nowhere.pem', HTTPS_PROXY: 'http://ana:hush@proxy.example.com:3128' }
  const outcome = await run(['doctor', '--json'], { env })
  expect(levels(outcome)).toMatchObject({ certificates: 'warn', proxy: 'ok' })
  expect(told(outcome, 'proxy')).toContain('proxy.example.com:3128, from HTTPS_PROXY')
  expect(outcome.stdout).not.toContain('hush')
})

test('a proxy that is no address: exit 2', async () => {
  const { run } = await world()
  expect((await run(['doctor', '--json'], { env: { HTTPS_PROXY: 'ftp://x' } })).code).toBe(2)
})

test('REFCHECK_QUOTA for a service that is not on this machine: told', async () => {
  const { run } = await world()
  const outcome = await run(['doctor', '--json'], { env: { REFCHECK_QUOTA: 'lots' } })
  expect([outcome.code, levels(outcome)['quota']]).toEqual([2, 'fail'])
})

test('settings that are damaged are a finding, and everything else is looked at all the same', async () => {
  const { env, folder, run } = await world()
  mkdirSync(join(folder, 'config'), { mode: 0o700 })
  writeFileSync(join(folder, 'config', 'config.json'), '{bad', { mode: 0o600 })
  const outcome = await run(['doctor', '--json'], { env })
  expect(outcome.code).toBe(1)
  expect(levels(outcome)).toMatchObject({ node: 'ok', folders: 'ok', proxy: 'ok', store: 'fail' })
  expect(told(outcome, 'store')).toContain('is damaged')
})
