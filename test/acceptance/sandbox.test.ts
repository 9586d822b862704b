import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

import { startProgram } from '../harness/process.ts'
import { refcheck } from '../harness/run-command.ts'
import { expectDescribed } from '../harness/described-output.ts'
import { envOfReadyLine } from '../harness/service-env.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const root = join(import.meta.dirname, '..', '..')

interface Address {
  base_url: string
  api_key: string
  user_email: string
  webhook_secret: string
}

test.each(['SIGINT', 'SIGTERM'] as const)(
  'sandbox start --json prints one line when it is ready, and ends with exit 0 after %s',
  async (signal) => {
    const folder = temporaryFolder()
    const sandbox = startProgram(['sandbox', 'start', '--port', '0', '--json'], emptyEnv(folder))
    const readyLine = await sandbox.until('\n')
    const address = JSON.parse(readyLine) as Address
    expect(Object.keys(address)).toEqual(['base_url', 'api_key', 'user_email', 'webhook_secret'])
    expect(address.base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(address.api_key).toHaveLength(32)
    const { code } = await refcheck(['packages', 'list'], {
      env: { ...emptyEnv(folder), ...envOfReadyLine(readyLine) },
    })
    expect(code).toBe(0)
    sandbox.child.kill(signal)
    expect(await sandbox.ended).toBe(0)
    expect(sandbox.stderr()).toBe('')
  },
)

test('sandbox start --login saves a profile that works without an environment', async () => {
  const folder = temporaryFolder()
  const env = emptyEnv(folder)
  const sandbox = startProgram(['sandbox', 'start', '--port', '0', '--login'], env)
  expect(await sandbox.until('packages list')).toContain('Profile "sandbox" is logged in to it, and in use.')
  expect((await refcheck(['auth', 'status', '--json'], { env })).json()).toMatchObject({
    profile: 'sandbox',
    works: true,
  })
  expect((await refcheck(['webhook', 'sign'], { env, stdin: 'x' })).code).toBe(0)
  sandbox.child.kill('SIGTERM')
  expect(await sandbox.ended).toBe(0)
})

test('sandbox start --login --profile saves a profile of that name, but does not replace a profile of another service', async () => {
  const folder = temporaryFolder()
  const env = emptyEnv(folder)
  const command = ['sandbox', 'start', '--port', '0', '--login', '--profile', 'acme']
  const sandbox = startProgram(command, env)
  expect(await sandbox.until('packages list')).toContain('Profile "acme" is logged in to it, and in use.')
  sandbox.child.kill('SIGTERM')
  expect(await sandbox.ended).toBe(0)
  const settings = join(folder, 'config', 'config.json')
  writeFileSync(
    settings,
    readFileSync(settings, 'utf8').replace(/http:\/\/127[^"]*/, 'https://api.acme.example'),
  )
  const secondRun = await refcheck(command, { env })
  expect(secondRun.code).toBe(2)
  expect(secondRun.stderr).toContain('profile "acme" is of https://api.acme.example, and is kept')
})

test('--quota sets the windows: the third call is refused with the remaining seconds', async () => {
  const folder = temporaryFolder()
  const sandbox = startProgram(
    ['sandbox', 'start', '--port', '0', '--json', '--quota', '2/60,1000/3600'],
    emptyEnv(folder),
  )
  const env = { ...emptyEnv(folder), ...envOfReadyLine(await sandbox.until('\n')) }
  const list = ['users', 'list', '--json', '--timeout', '0s']
  expect((await refcheck(list, { env })).code).toBe(0)
  expect((await refcheck(list, { env })).code).toBe(0)
  const third = await refcheck(list, { env })
  expect(third.code).toBe(6)
  const { error } = third.json() as { error: { retry_after: number } }
  expect(error.retry_after).toBeGreaterThan(0)
  expect(error.retry_after).toBeLessThanOrEqual(60)
})

test('a port that is in use: exit 1 with a hint', async () => {
  const folder = temporaryFolder()
  const first = startProgram(['sandbox', 'start', '--port', '0', '--json'], emptyEnv(folder))
  const { base_url } = JSON.parse(await first.until('\n')) as Address
  const second = startProgram(['sandbox', 'start', '--port', new URL(base_url).port], emptyEnv(folder))
  expect(await second.ended).toBe(1)
  expect(second.stderr()).toMatch(/^Error: .+\n.+\n$/)
})

test.each(['60', '0/60', '60/x', ''])('--quota %j is refused', async (quota) => {
  const env = emptyEnv(temporaryFolder())
  const { code, stderr } = await refcheck(['sandbox', 'start', '--port', '0', `--quota=${quota}`], { env })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^Error: --quota: .+\n.+\n$/)
})

test('an http --webhook-url of another machine is refused before anything starts, and the data folder is unlocked again', async () => {
  const folder = temporaryFolder()
  const data = join(folder, 'state')
  const argv = ['sandbox', 'start', '--port', '0', '--data', data]
  const { code, stdout, stderr } = await refcheck([...argv, '--webhook-url', 'http://hooks.example.com/'], {
    env: emptyEnv(folder),
  })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(
    /^Error: the webhook http:\/\/hooks\.example\.com is not https\nhttp is allowed .+\n$/,
  )
  // The lock file remains, but no process holds the lock.
  expect(readdirSync(folder).filter((name) => name.startsWith('state'))).toEqual(['state', 'state.claim'])
})

test('the sandbox of the pipeline recipe is ready when ping answers, and accepts control calls only with its token', async () => {
  const recipe = parse(
    readFileSync(join(root, 'src', 'reference', 'pipelines', 'sandbox-compose.yaml'), 'utf8'),
  ) as { services: { sandbox: { command: string; environment: { REFCHECK_SANDBOX_TOKEN: string } } } }
  const { command, environment: composeEnv } = recipe.services.sandbox
  const [, line = ''] = /^npx --yes --package \S+ refcheck (.*)$/.exec(command) ?? []
  const sandbox = startProgram([...line.split(' '), '--port', '0'], {
    ...emptyEnv(temporaryFolder()),
    ...composeEnv,
  })
  const address = JSON.parse(await sandbox.until('\n')) as Address & { control_token: string }
  expect(address.control_token).toBe(composeEnv.REFCHECK_SANDBOX_TOKEN)
  expect((await fetch(`${address.base_url}/v1/ping`)).status).toBe(200)
  const setWebhook = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ url: 'http://app:3000/hooks' })
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body }
    return (await fetch(`${address.base_url}/_sandbox/webhook`, init)).status
  }
  expect(await setWebhook({})).toBe(401)
  expect(await setWebhook({ Authorization: `Bearer ${address.control_token}` })).toBe(200)
})

describe('--host: "HTTPS only; plain HTTP requests are rejected"', () => {
  const vectors = join(import.meta.dirname, '..', 'vectors', 'tls')
  const tls = ['--tls-cert', join(vectors, 'service.pem'), '--tls-key', join(vectors, 'service.key')]

  test.each(['0.0.0.0', '::', '192.0.2.1'])(
    'an address that other machines can reach (%s) requires TLS',
    async (host) => {
      const { code, stdout, stderr } = await refcheck(['sandbox', 'start', '--port', '0', '--host', host], {
        env: emptyEnv(temporaryFolder()),
      })
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toBe(
        `Error: --host: ${host} is reachable from other machines, and http is allowed on this machine only\nAdd --tls-cert and --tls-key, or --allow-http-from NETWORK, or leave out --host.\n`,
      )
    },
  )

  test('with TLS, commands work with https, and plain http gets no answer', async () => {
    const folder = temporaryFolder()
    const argv = ['sandbox', 'start', '--json', '--port', '0', '--host', '0.0.0.0', ...tls]
    const sandbox = startProgram(argv, emptyEnv(folder))
    const readyLine = await sandbox.until('\n')
    const address = JSON.parse(readyLine) as Address
    expect(address.base_url).toMatch(/^https:\/\/localhost:\d+$/)
    await expect(fetch(`${address.base_url.replace('https', 'http')}/v1/ping`)).rejects.toThrow(
      'fetch failed',
    )
    const trustEnv = { NODE_EXTRA_CA_CERTS: join(vectors, 'authority.pem') }
    const list = startProgram(['packages', 'list', '--json'], {
      ...emptyEnv(folder),
      ...envOfReadyLine(readyLine),
      ...trustEnv,
    })
    expect(await list.ended).toBe(0)
    expect(JSON.parse(list.stdout())).not.toEqual([])
    sandbox.child.kill('SIGTERM')
    expect(await sandbox.ended).toBe(0)
  })

  test('a certificate and a key that do not belong together: exit 2', async () => {
    const env = emptyEnv(temporaryFolder())
    const mismatchedTls = [...tls.slice(0, 3), join(vectors, 'other.key')]
    const { code, stderr } = await refcheck(['sandbox', 'start', '--port', '0', ...mismatchedTls], { env })
    expect([code, stderr]).toMatchObject([
      2,
      expect.stringMatching(/^Error: the TLS certificate and its key/),
    ])
  })
})

test(
  'sandbox demo runs all its commands, writes the PDFs to a folder, and changes no profile and no store',
  { timeout: 60_000 },
  async () => {
    const folder = temporaryFolder()
    const reports = join(folder, 'reports')
    const argv = ['sandbox', 'demo', '--json']
    const demo = startProgram([...argv, '--output', reports], emptyEnv(folder))
    expect(await demo.ended).toBe(0)
    expectDescribed(argv, demo.stdout())
    const commands = demo
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('$ refcheck '))
    expect(commands.map((line) => line.split(' ').slice(2, 4).join(' '))).toEqual([
      'ping',
      'packages list',
      'schema show',
      'request create',
      'request create',
      'request create',
      'request create',
      'request wait',
      'webhook verify',
      'report download',
    ])
    expect(readdirSync(reports).filter((name) => name.endsWith('.pdf'))).toHaveLength(2)
    expect(existsSync(join(folder, 'config'))).toBe(false)
    expect(readdirSync(join(folder, 'data'))).toEqual(['compile-cache'])
  },
)
