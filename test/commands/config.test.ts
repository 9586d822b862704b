import { join } from 'node:path'

import { expect, test } from 'vitest'

import { refcheck } from '../harness/run-command.ts'
import { ScriptedPrompter } from '../harness/scripted-prompter.ts'
import { emptyEnv, temporaryFolder, world } from '../harness/world.ts'

function desk() {
  const folder = temporaryFolder()
  const env = emptyEnv(folder)
  return {
    folder,
    type: (argv: string[], stdin?: string) => refcheck(argv, { cwd: folder, env, stdin }),
  }
}

test('config set, get, list and unset', async () => {
  const { type } = desk()
  expect(await type(['config', 'set', 'package', '12'])).toMatchObject({ code: 0, stdout: 'package is 12\n' })
  expect(await type(['config', 'get', 'package'])).toMatchObject({ code: 0, stdout: '12\n' })
  expect((await type(['config', 'list', '--columns', 'key,value'])).stdout).toMatchInlineSnapshot(`
    "KEY              VALUE
    package          12
    output-dir       -
    store            -
    concurrency      -
    timeout          -
    default-country  -
    "
  `)
  expect((await type(['config', 'unset', 'package'])).stdout).toBe('package is no longer set.\n')
  expect((await type(['config', 'unset', 'package'])).stdout).toBe('package was not set.\n')
  expect((await type(['config', 'get', 'package'])).code).toBe(5)
})

test('a path is kept absolute', async () => {
  const { type, folder } = desk()
  const { stdout } = await type(['config', 'set', 'output-dir', 'reports', '--json'])
  expect(JSON.parse(stdout)).toEqual({ key: 'output-dir', value: join(folder, 'reports'), profile: null })
})

test.each([
  [['config', 'set', 'package', 'abc']],
  [['config', 'set', 'package', '1e3']],
  [['config', 'set', 'concurrency', '65']],
  [['config', 'set', 'timeout', '5']],
  [['config', 'set', 'default-country', 'ZZZ']],
  [['config', 'set', 'nope', '1']],
  [['config', 'set', '__proto__', '1']],
  [['config', 'set', 'package']],
  [['config', 'get', 'nope']],
  [['config', 'unset', 'nope']],
])('refused with exit 2 and a hint: %j', async (argv) => {
  const { code, stdout, stderr } = await desk().type(argv)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
})

test('the webhook secret comes from stdin or the prompt, and stays with the profile’s key', async () => {
  const { sandbox, url, folder } = await world()
  const env = emptyEnv(folder)
  const { apiKey, webhookSecret } = sandbox.credentials
  const login = ['auth', 'login', '--base-url', url, '--email', 'olive.owner@example.com', '--with-key']
  await refcheck(login, { env, stdin: apiKey })
  const piped = await refcheck(['config', 'set', 'webhook-secret'], { env, stdin: `${webhookSecret}\n` })
  expect(piped).toMatchObject({
    code: 0,
    stdout: 'The webhook secret of profile "default" is kept in a private file.\n',
  })
  const signed = await refcheck(['webhook', 'sign'], { env, stdin: 'x' })
  expect(signed.code).toBe(0)
  const prompter = new ScriptedPrompter([{ ask: /Webhook secret/, secret: 'another' }])
  expect((await refcheck(['config', 'set', 'webhook-secret'], { env, prompter })).code).toBe(0)
  prompter.finish()
  expect((await refcheck(['webhook', 'sign'], { env, stdin: 'x' })).stdout).not.toBe(signed.stdout)
  expect((await refcheck(['config', 'unset', 'webhook-secret'], { env })).code).toBe(0)
  expect((await refcheck(['webhook', 'sign'], { env, stdin: 'x' })).code).toBe(2)
})

test('a webhook secret is never taken from the command line', async () => {
  const { code, stderr } = await desk().type(['config', 'set', 'webhook-secret', 'topsecret'])
  expect(code).toBe(2)
  expect(stderr).not.toContain('topsecret')
})

test('an empty webhook secret is refused', async () => {
  expect((await desk().type(['config', 'set', 'webhook-secret'], '\n')).code).toBe(2)
})

test('the package of config is ordered when --package is left out', async () => {
  const { run } = await world()
  await run(['config', 'set', 'package', '105'])
  const { code, stderr } = await run(['request', 'create', '--yes'])
  expect(code).toBe(2)
  expect(stderr).toContain('package 105')
})
