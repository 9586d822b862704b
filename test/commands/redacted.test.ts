import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { eventBody, postDelivery, requestIds } from '../harness/deliveries.ts'
import { findCanaries, findCanariesInFiles, spyScript } from '../harness/faults/canary.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { worldWithOrders } from '../harness/orders.ts'
import { startListening } from '../harness/listening-session.ts'
import { startProgram } from '../harness/process.ts'
import { session } from '../harness/session.ts'

recordForFaultTable('canary', {
  mustNotHappen: 'outputs with a key, secret or token',
  titles: /shown|repeated|printed|logs/,
})
recordForFaultTable('children', { mustNotHappen: 'children with a secret', titles: /handler/ })

/** Returns a key of 32 characters that is not the key of the sandbox. */
const newKey = (): string => `k1${randomBytes(15).toString('hex').toUpperCase()}`

test('a key that is pasted as an id or a name is not repeated', async () => {
  const here = await session()
  const found: string[] = []
  const unusualKey = String.raw`a/b"c\d+e&f%g<KEY0123456789012345`
  for (const key of [newKey(), newKey().toLowerCase(), randomBytes(16).toString('hex'), unusualKey]) {
    const lines = [
      ['request', 'get', key],
      ['request', 'wait', key],
      ['request', 'list', '--batch', key],
      ['batch', 'status', key],
      ['batch', 'rows', key, '--json'],
      ['batch', 'export', key],
      ['batch', 'retry', key],
      ['auth', 'switch', key],
      ['auth', 'status', '--profile', key],
      ['auth', 'status', `--profile=${key}`, '--json'],
      ['auth', 'logout', key],
      ['webhook', 'events', 'show', key],
      ['webhook', 'events', 'replay', key],
      ['webhook', 'events', 'list', '--request-id', key],
      ['report', 'download', key],
      ['report', 'download', '--batch', key],
      ['report', 'download', key, '--referee', key],
      ['schema', 'show', key],
      ['packages', 'list', '--id', key],
      ['approve', key],
      ['config', 'get', key],
      ['config', 'set', 'timeout', key],
      ['api', 'GET', key],
      ['api', 'GET', `/v1/requests/${key}`],
      ['sandbox', 'redeliver', key],
      ['reference', key],
      [key],
      ['request', key],
    ]
    for (const argv of lines) {
      const { stdout, stderr, code } = await here.type(argv)
      const printed = (stdout + stderr).toLowerCase()
      if (printed.includes(key.toLowerCase())) found.push(`${argv.slice(0, 3).join(' ')}: ${stderr}`)
      expect({ argv, code }).not.toEqual({ argv, code: 0 })
    }
  }
  expect(found).toEqual([])
})

test('a key that is pasted next to other text is not repeated, whether or not it is a stored key', async () => {
  const here = await session()
  const found: string[] = []
  for (const key of [here.sandbox.credentials.apiKey, newKey(), randomBytes(16).toString('hex')]) {
    const lines = [
      ['request', 'get', `${key} `],
      ['request', 'get', `\u00A0${key}`],
      ['auth', 'switch', `Bearer ${key}`],
      ['config', 'get', `X-Service-API-Key: ${key}`],
      ['config', 'set', `${key} `, 'x'],
      ['config', 'set', 'timeout', `"${key}"`],
      ['batch', 'status', `‘${key}’`],
      ['auth', 'login', `--${key}`],
      ['auth', 'login', `--key:${key}`],
      ['report', 'download', '--url', `https://hr.example.com/a?token=${key}`, '--output', 'a.pdf'],
      ['report', 'download', `https://hr.example.com/a?token=${key}`],
      [`${key} `],
      ['request', `“${key}”`],
      ['packages', 'list', `${key}; `],
      ['batch', 'validate', `Bearer ${key}.csv`, '--package', '102'],
      ['request', 'list', '--since', `${key}, `],
      ['request', 'list', '--status', `(${key})`],
      ['request', 'list', '--batch', `<${key}>`],
      ['packages', 'list', '--id', `key ${key}`],
      ['request', 'create', '--package', `<${key}>`],
      ['auth', 'status', '--profile', `${key} `],
      ['api', 'GET', `/v1/requests/ ${key}`],
      ['approve', `code ${key}`],
    ]
    for (const argv of lines) {
      const { stdout, stderr, code } = await here.type(argv)
      if ((stdout + stderr).toLowerCase().includes(key.toLowerCase()))
        found.push(`${argv.join(' ')}: ${stderr}`)
      expect({ argv, code }).not.toEqual({ argv, code: 0 })
    }
    const { stderr } = await here.type('request list', { exported: { REFCHECK_PROFILE: `${key} ` } })
    if (stderr.includes(key)) found.push(stderr)
  }
  expect(found).toEqual([])
})

test('a secret of any profile that is pasted as an id is not repeated, although it does not look like a key', async () => {
  const here = await session()
  const { apiKey } = here.sandbox.credentials
  const email = here.env['REFCHECK_USER_EMAIL'] ?? ''
  await here.type(
    `auth login --profile other --base-url ${here.url} --email ${email} --with-key --insecure-storage`,
    {
      stdin: apiKey,
    },
  )
  const secret = 'correct-horse-battery-staple-7'
  await here.type('config set webhook-secret --profile other', { stdin: secret })
  for (const line of [
    `request get "my ${secret}"`,
    `auth switch ${secret}`,
    secret,
    `config get ${secret}`,
  ]) {
    const { stdout, stderr, code } = await here.type(line)
    expect(code).not.toBe(0)
    expect(stdout + stderr).not.toContain(secret)
  }
})

test('a key is stored neither as a setting nor as the name of a profile or an account', async () => {
  const here = await session({ isLoggedOut: true })
  const key = 'EqQm4LRGWP4mk2aEguhezNLhRkBuyRra'
  expect(
    await here.all([
      `config set output-dir ${key}`,
      `config set output-dir /srv/${key}/reports`,
      `auth login --profile ${key}`,
      `store accounts add ${key}`,
      'config list --json --jq .[].value|select(.)',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck config set output-dir EqQm4LRGWP4mk2aEguhezNLhRkBuyRra
    2> Error: output-dir: what looks like an API key is not kept in the settings
    2> Give the key to: refcheck auth login
    exit 2

    $ refcheck config set output-dir /srv/EqQm4LRGWP4mk2aEguhezNLhRkBuyRra/reports
    2> Error: output-dir: what looks like an API key is not kept in the settings
    2> Give the key to: refcheck auth login
    exit 2

    $ refcheck auth login --profile EqQm4LRGWP4mk2aEguhezNLhRkBuyRra
    2> Error: what looks like an API key is not a name for a profile
    2> Give the key to: refcheck auth login --profile …
    exit 2

    $ refcheck store accounts add EqQm4LRGWP4mk2aEguhezNLhRkBuyRra
    2> Error: what looks like an API key is not a name for an account
    2> Give the key to: refcheck auth login
    exit 2

    $ refcheck config list --json --jq .[].value|select(.)
    exit 0
  `)
})

test('the name of a missing file is repeated', async () => {
  const here = await session()
  const { stderr } = await here.type('batch validate PeopleForNovemberInMelbourne2026.xlsx --package 102')
  expect(stderr).toContain('PeopleForNovemberInMelbourne2026.xlsx')
})

test('a report URL is printed without its token', async () => {
  const here = await worldWithOrders(['Ana'])
  const [id = ''] = here.ids
  for (const line of [
    `request get ${id} --json`,
    `request wait ${id} --json`,
    `api GET /v1/requests/${id}`,
  ]) {
    const { stdout } = await here.type(line)
    expect(stdout).toMatch(/"report_pdf_url": "http:\/\/127\.0\.0\.1:\d+\/v1\/reports\/[\w-]+\?t=\*\*\*"/)
    expect(stdout.replaceAll('?t=***', '')).not.toContain('?t=')
  }
  const { stdout } = await here.type(`request get ${id} --jq .checks[0].report_pdf_url|split("t=")|.[1]`)
  expect(stdout).toBe('***\n')
})

test('an event is stored as it was signed, and shown without the key and secret in it', async () => {
  const here = await session()
  const { apiKey, webhookSecret } = here.sandbox.credentials
  await here.type(
    `auth login --base-url ${here.url} --email ${here.env['REFCHECK_USER_EMAIL'] ?? ''} --with-key --insecure-storage`,
    { stdin: apiKey },
  )
  await here.type('config set webhook-secret', { stdin: webhookSecret })
  const receiver = await startListening(here)
  const reason = `key ${apiKey.slice(0, 3)}\\u00${apiKey.charCodeAt(3).toString(16)}${apiKey.slice(4)}, secret ${webhookSecret}`
  const body = eventBody(requestIds[0], 'ERROR').replace('}', `,"error_reason":"${reason}"}`)
  expect(await postDelivery(receiver.url, webhookSecret, { body })).toBe(204)
  const canaries = { key: apiKey, secret: webhookSecret }
  const found = findCanaries('listen', (await receiver.stop()).stdout, canaries)
  // The environment has no key and no secret, so only the profile names the values to redact.
  const exported = { REFCHECK_API_KEY: '', REFCHECK_WEBHOOK_SECRET: '', REFCHECK_BASE_URL: '' }
  for (const line of [
    'webhook events show 1',
    'webhook events show 1 --json',
    'webhook events list --json',
    'webhook events list --csv',
    `request get ${requestIds[0] ?? ''}`,
    'request list --csv',
    'status',
    'status --html status.html',
  ]) {
    const { stdout, stderr } = await here.type(line, { exported })
    found.push(...findCanaries(line, stdout + stderr, canaries))
  }
  expect(found).toEqual([])
  expect((await here.type('webhook events show 1', { exported })).stdout).toContain('[webhook secret]')
  expect(findCanariesInFiles(here.folder, canaries, /^credentials\.json$|^ledger\.sqlite/)).toEqual([])
  const exportLine = 'webhook events list --export events.ndjson'
  expect((await here.type(exportLine, { exported })).code).toBe(0)
  expect((JSON.parse(here.read('events.ndjson')) as { body: string }).body).toBe(body)
})

test('a sandbox logs no key, secret or token that a client put into a path', async () => {
  const here = await session()
  const { apiKey, webhookSecret } = here.sandbox.credentials
  for (const path of [`requests/${apiKey}`, encodeURIComponent(webhookSecret), 'reports/1%3Ft=CANARYTOKEN']) {
    await (await fetch(`${here.url}/v1/${path}`)).arrayBuffer()
  }
  const { stdout } = await here.type('sandbox logs --json')
  expect(stdout).toContain('/v1/requests/[API key]')
  expect(findCanaries('log', stdout, { apiKey, webhookSecret, token: 'CANARYTOKEN' })).toEqual([])
})

test('an uncaught error is printed without the key in its message, and without a stack trace', async () => {
  const here = await session()
  const crash = join(here.folder, 'crash.cjs')
  writeFileSync(crash, `setTimeout(() => { throw new Error('sent ' + process.env.REFCHECK_API_KEY) }, 500)`)
  const env = { ...here.env, NODE_OPTIONS: `--require ${crash}` }
  const run = startProgram(['webhook', 'listen', '--port', '0', '--quiet'], env)
  expect(await run.ended).toBe(1)
  expect(run.stderr()).toBe(
    'Error: internal error: sent [API key]\n' +
      'This is a bug in refcheck. Run the same command with --verbose and report what it prints.\n',
  )
})

test('a handler gets no secret of any profile, and refcheck in it uses the same store and profile', async () => {
  const here = await session()
  const { apiKey, webhookSecret } = here.sandbox.credentials
  const [environmentFile, spyFile, eventsFile] = ['seen.json', 'spy.cjs', 'read.json'].map((name) =>
    join(here.folder, name),
  ) as [string, string, string]
  const listCommand = `require('child_process').execFileSync(process.execPath, [${JSON.stringify(join(process.cwd(), 'bin/run.js'))}, 'webhook', 'events', 'list', '--json'])`
  writeFileSync(
    spyFile,
    `${spyScript(environmentFile)}\nfs.writeFileSync(${JSON.stringify(eventsFile)}, ${listCommand})\nprocess.stdin.resume()`,
  )
  const email = here.env['REFCHECK_USER_EMAIL'] ?? ''
  const otherSecret = 'other+secret/0123'
  for (const profile of ['work', 'home']) {
    const login = `auth login --profile ${profile} --base-url ${here.url} --email ${email}`
    await here.type(`${login} --with-key --insecure-storage`, { stdin: apiKey })
    const secret = profile === 'work' ? webhookSecret : otherSecret
    await here.type(`config set webhook-secret --profile ${profile}`, { stdin: secret })
  }
  for (const name of ['REFCHECK_API_KEY', 'REFCHECK_WEBHOOK_SECRET']) delete here.env[name]
  const env = {
    REFCHECK_PROFILE: 'work',
    REFCHECK_HOME_API_KEY: 'canary-home-key',
    REFCHECK_SANDBOX_TOKEN: 'canary-control-token',
    HOME_WEBHOOK_SECRET: 'canary-home-secret',
    PGPASSWORD: 'canary-store-password',
    HTTPS_PROXY: 'http://gate:canary-proxy@proxy.example.com:3128',
    http_proxy: 'gate:canary-proxy@proxy.example.com:3128',
    NO_PROXY: '127.0.0.1',
    COPY_OF_KEY: `Bearer ${apiKey}`,
    COPY_OF_OTHER: encodeURIComponent(otherSecret),
    HANDLER_SETTING: 'stays',
  }
  const exec = `"${process.execPath}" ${spyFile}`
  const receiver = await startListening(here, ['--exec', exec, '--max-events', '1'], env)
  expect(await postDelivery(receiver.url, webhookSecret, { body: eventBody() })).toBe(204)
  await receiver.ended
  const { env: handlerEnv } = JSON.parse(readFileSync(environmentFile, 'utf8')) as {
    env: Record<string, string>
  }
  expect(
    findCanaries('environment', JSON.stringify(handlerEnv), { apiKey, webhookSecret, canary: 'canary-' }),
  ).toEqual([])
  expect(handlerEnv).toMatchObject({
    REFCHECK_PROFILE: 'work',
    HTTPS_PROXY: 'http://proxy.example.com:3128',
    http_proxy: 'proxy.example.com:3128',
    HANDLER_SETTING: 'stays',
  })
  expect(Object.keys(handlerEnv)).not.toContain('COPY_OF_OTHER')
  expect(existsSync(eventsFile) && JSON.parse(readFileSync(eventsFile, 'utf8'))).toMatchObject([{ id: 1 }])
})
