import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { orderOf } from '../harness/people.ts'
import { start } from '../harness/process.ts'
import { refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder, world } from '../harness/world.ts'

/** A sandbox in a process of its own, and a person beside it. */
async function beside(flags: readonly string[]) {
  const folder = temporaryFolder()
  const sandbox = start(['sandbox', 'start', '--port', '0', '--json', ...flags], emptyEnv(folder))
  const address = JSON.parse(await sandbox.until('\n')) as Record<string, string>
  const env = {
    ...emptyEnv(folder),
    REFCHECK_BASE_URL: address['base_url'] ?? '',
    REFCHECK_API_KEY: address['api_key'] ?? '',
    REFCHECK_USER_EMAIL: address['user_email'] ?? '',
  }
  return {
    env,
    folder,
    sandbox,
    type: (argv: readonly string[], stdin?: string) => refcheck(argv, { env, stdin, cwd: folder }),
  }
}

test('--clock manual: nothing moves until sandbox advance, then everything does', async () => {
  const { type } = await beside(['--clock', 'manual'])
  const { request_id } = (await type(orderOf('Priya', ['--yes', '--json']))).json() as { request_id: string }
  const status = async (): Promise<unknown> =>
    ((await type(['request', 'get', request_id, '--json'])).json() as { status: string }).status
  expect(await status()).toBe('RECEIVED')
  const moved = await type(['sandbox', 'advance', '2h'])
  expect(moved.stdout).toMatch(/^time {8}\S+ \(manual clock\)\nrequests {4}1 COMPLETED\n/)
  expect(await status()).toBe('COMPLETED')
})

test('--data: the state survives a kill', async () => {
  const data = join(temporaryFolder(), 'state')
  const first = await beside(['--data', data])
  const { request_id } = (await first.type(orderOf('Priya', ['--yes', '--json']))).json() as {
    request_id: string
  }
  first.sandbox.child.kill('SIGKILL')
  await first.sandbox.ended
  const second = await beside(['--data', data])
  expect((await second.type(['request', 'get', request_id, '--json'])).json()).toMatchObject({ request_id })
})

test('snapshot, reset and restore', async () => {
  const { type, folder } = await beside([])
  await type(orderOf('Priya'))
  const before = await type(['sandbox', 'snapshot'])
  writeFileSync(join(folder, 'before.json'), before.stdout)
  expect((await type(['sandbox', 'reset'])).stdout).toContain('requests    none')
  expect((await type(['sandbox', 'restore', 'before.json'])).stdout).toContain('1 RECEIVED')
  expect((await type(['sandbox', 'status', '--json'])).json()).toMatchObject({ requests: { RECEIVED: 1 } })
})

test('inject: a scenario for the next request, a fault for the next call, and both taken back', async () => {
  const { type } = await beside(['--clock', 'manual'])
  expect((await type(['sandbox', 'inject', 'declined'])).code).toBe(0)
  const { request_id } = (await type(orderOf('Priya', ['--yes', '--json']))).json() as { request_id: string }
  await type(['sandbox', 'advance', '2h'])
  expect((await type(['request', 'get', request_id, '--json'])).json()).toMatchObject({ status: 'CANCELLED' })
  const fault = [
    'sandbox',
    'inject',
    '--on',
    'GET /v1/users',
    '--times',
    '9',
    '--fault',
    '{"kind":"status","status":403,"when":"before"}',
  ]
  expect((await type(fault)).code).toBe(0)
  expect((await type(['users', 'list'])).code).toBe(4)
  expect((await type(['sandbox', 'inject', '--clear'])).code).toBe(0)
  expect((await type(['users', 'list'])).code).toBe(0)
})

test('scenarios and rules need no sandbox; a rule is switched on a running one, or from the start', async () => {
  const env = emptyEnv(temporaryFolder())
  const scenarios = (await refcheck(['sandbox', 'scenarios', '--json'], { env })).json() as { tag: string }[]
  expect(scenarios.map(({ tag }) => tag)).toEqual(expect.arrayContaining(['declined', 'mixed', 'error']))
  const rules = (await refcheck(['sandbox', 'rules', '--json'], { env })).json() as {
    name: string
    current: string
  }[]
  expect(rules).toContainEqual(expect.objectContaining({ name: 'support-creates', current: 'no' }))
  const running = await beside(['--rule', 'support-creates=yes'])
  const { type } = running
  const switched = (await type(['sandbox', 'rules', 'error-checks=none', '--json'])).json()
  expect(switched).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'support-creates', current: 'yes' }),
      expect.objectContaining({ name: 'error-checks', current: 'none' }),
    ]),
  )
  const { REFCHECK_BASE_URL: url } = running.env
  expect((await type(['sandbox', 'rules', '--base-url', url, '--json'])).json()).toEqual(switched)
})

test('renew-key: the old key is revoked, and the printed one logs in again', async () => {
  const { type, env } = await beside([])
  const printed = await type(['sandbox', 'renew-key'])
  expect(printed.stdout).toMatch(/^\w{32}\n$/)
  expect((await type(['users', 'list'])).code).toBe(3)
  const login = ['auth', 'login', '--base-url', env.REFCHECK_BASE_URL, '--email', env.REFCHECK_USER_EMAIL]
  const { code } = await type([...login, '--with-key', '--insecure-storage'], printed.stdout)
  expect(code).toBe(0)
  const again = (await type(['sandbox', 'renew-key', '--json'])).json()
  expect(again).toEqual({ api_key: expect.stringMatching(/^\w{32}$/) })
})

test('--fixture: people and packages from YAML, and a bad one is refused at its line', async () => {
  const folder = temporaryFolder()
  writeFileSync(
    join(folder, 'good.yaml'),
    'organisations:\n  - name: Acme\n    users: [{ email: ana@acme.example, role: owner }]\n    packages: [{ id: 7, name: Ours }]\n',
  )
  const { type } = await beside(['--fixture', join(folder, 'good.yaml')])
  expect((await type(['packages', 'list', '--json'])).json()).toMatchObject([{ id: 7, name: 'Ours' }])
  expect((await type(['users', 'list', '--json'])).json()).toMatchObject([{ email: 'ana@acme.example' }])
  writeFileSync(join(folder, 'bad.yaml'), 'packages: [')
  const { code, stderr } = await refcheck(['sandbox', 'start', '--port', '0', '--fixture', 'bad.yaml'], {
    env: emptyEnv(folder),
    cwd: folder,
  })
  expect([code, stderr]).toEqual([
    2,
    'Error: the fixture is neither JSON nor YAML at line 1, column 12\nMend the file there; nothing was started.\n',
  ])
})

test.each([
  [['sandbox', 'advance', '5'], 2],
  [['sandbox', 'advance', '1h'], 2],
  [['sandbox', 'inject'], 2],
  [['sandbox', 'inject', 'nope'], 2],
  [['sandbox', 'inject', 'declined', '--clear'], 2],
  [['sandbox', 'inject', '--on', 'GET *', '--fault', '{'], 2],
  [['sandbox', 'rules', 'nope'], 2],
  [['sandbox', 'rules', 'nope=1'], 2],
  [['sandbox', 'restore', 'nope.json'], 2],
  [['sandbox', 'start', '--rule', 'nope'], 2],
  [['sandbox', 'start', '--clock', 'lunar'], 2],
])('refused with one line and a hint: %j', async (argv, exit) => {
  const { run } = await world()
  const { code, stdout, stderr } = await run(argv)
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
})

test('what is typed wrong at inject and restore is told with what would be right', async () => {
  const { type } = await beside([])
  const inject = ['sandbox', 'inject', '--on', 'GET *', '--fault']
  expect((await type([...inject, 'x'])).stderr).toBe(
    `Error: --fault is not JSON\nWrite it like '{"kind":"cut","when":"after"}'.\n`,
  )
  expect((await type([...inject, '{"kind":"x"}'])).stderr).toMatch(
    /^Error: fault\.kind: .+\nA fault is JSON with a kind: status, cut, hang, .+\n$/,
  )
  for (const snapshot of ['x', '{}']) {
    const { code, stderr } = await type(['sandbox', 'restore'], snapshot)
    expect([code, stderr]).toMatchObject([
      2,
      expect.stringMatching(/^Error: .+\nGive what "refcheck sandbox snapshot" printed\..*\n$/),
    ])
  }
})

test('something that is no sandbox cannot be steered', async () => {
  const { env } = await world()
  const { code } = await refcheck(['sandbox', 'reset', '--base-url', 'http://127.0.0.1:1'], { env })
  expect(code).toBe(7)
})
