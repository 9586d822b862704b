import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder, world } from '../harness/world.ts'

/** RFC 4231, test case 2. */
const secret = 'Jefe'
const text = 'what do ya want for nothing?'
const signature = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
const event =
  '{"event":"request.updated","request_id":"3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55","status":"PARTIAL"}'

function desk(): { folder: string; type: typeof refcheck } {
  const folder = temporaryFolder()
  const env = { ...emptyEnv(folder), REFCHECK_WEBHOOK_SECRET: secret }
  return { folder, type: (argv, options) => refcheck(argv, { cwd: folder, env, ...options }) }
}

test('what probably happened is said, and it stays refused', async () => {
  const { type } = desk()
  const signed = (await type(['webhook', 'sign'], { stdin: event })).stdout.trim()
  const argv = ['webhook', 'verify', '--signature', signed]
  expect(await type(argv, { stdin: `${event}\n` })).toMatchObject({
    code: 9,
    stdout: '',
    stderr:
      'Error: the signature does not match the body\nIt would match without the newline at its end: an editor, echo or a here-document added it.\n',
  })
  const json = await type([...argv, '--json'], { stdin: `${event}\n` })
  expect(json.code).toBe(9)
  expect(json.json()).toMatchObject({
    valid: false,
    event: null,
    diagnosis: { cause: 'trailing_newline_added' },
    error: { code: 'bad_signature' },
  })
})

test('a signature made with the secret of another profile', async () => {
  const { sandbox, url, folder } = await world()
  const env = emptyEnv(folder)
  for (const [profile, kept] of [
    ['acme', 'one secret'],
    ['other', secret],
  ] as const) {
    const stdin = sandbox.credentials.apiKey
    const login = ['auth', 'login', '--base-url', url, '--email', sandbox.credentials.userEmail]
    await refcheck([...login, '--profile', profile, '--with-key'], { env, stdin })
    await refcheck(['config', 'set', 'webhook-secret', '--profile', profile], { env, stdin: kept })
  }
  const argv = ['webhook', 'verify', '--signature', signature, '--profile']
  expect((await refcheck([...argv, 'other'], { env, stdin: text })).code).toBe(0)
  const wrong = await refcheck([...argv, 'acme'], { env, stdin: text })
  expect({ code: wrong.code, hint: wrong.stderr.split('\n')[1] }).toEqual({
    code: 9,
    hint: 'It would match with the secret of profile "other".',
  })
})

test('--secret-file, and a word where others can read it', async () => {
  const { folder } = desk()
  const env = emptyEnv(folder)
  writeFileSync(join(folder, 'secret.txt'), `${secret}\n`, { mode: 0o600 })
  const argv = ['webhook', 'verify', '--signature', signature, '--secret-file', 'secret.txt']
  const options = { cwd: folder, env, stdin: text }
  expect(await refcheck(argv, options)).toMatchObject({ code: 0, stderr: '' })
  chmodSync(join(folder, 'secret.txt'), 0o644)
  const loose = await refcheck(argv, options)
  expect(loose.code).toBe(0)
  expect(loose.stderr).toBe(
    'Warning: other accounts of this machine can read secret.txt; make it private: chmod 600 secret.txt\n',
  )
})

test('webhook verify --all judges each line of a log', async () => {
  const { type, folder } = desk()
  const signed = (await type(['webhook', 'sign'], { stdin: event })).stdout.trim()
  const good = JSON.stringify({ headers: { 'x-service-signature': signed }, body: event })
  const forged = JSON.stringify({ signature: signed, body: event.replace('PARTIAL', 'COMPLETED') })
  writeFileSync(join(folder, 'log.ndjson'), `${good}\n${forged}\n`)
  expect(await type(['webhook', 'verify', '--all', 'log.ndjson'])).toMatchObject({
    code: 9,
    stdout: [
      'PLACE   VALID    REQUEST ID                            STATUS   PROBLEM',
      'line 1  valid    3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  PARTIAL  -',
      'line 2  invalid  -                                     -        the signature does not match the body',
      '',
    ].join('\n'),
    stderr: 'Error: 1 of 2 deliveries is not valid\nTreat what is not valid as not sent by the service.\n',
  })
  expect(await type(['webhook', 'verify', '--all'], { stdin: good })).toMatchObject({ code: 0, stderr: '' })
  const json = await type(['webhook', 'verify', '--all', '--json'], { stdin: `${good}\n${forged}` })
  expect(json.code).toBe(9)
  expect(json.json()).toEqual([
    {
      place: 'line 1',
      valid: true,
      request_id: '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
      status: 'PARTIAL',
      event: JSON.parse(event) as unknown,
    },
    {
      place: 'line 2',
      valid: false,
      request_id: null,
      status: null,
      event: null,
      problem: 'the signature does not match the body',
    },
  ])
})

test('webhook verify --har judges the POSTs of an archive', async () => {
  const { type } = desk()
  const signed = (await type(['webhook', 'sign'], { stdin: event })).stdout.trim()
  const headers = [{ name: 'X-Service-Signature', value: signed }]
  const entries = [{ request: { method: 'POST', headers, postData: { text: event } } }]
  const har = JSON.stringify({ log: { version: '1.2', entries } })
  const { code, stdout } = await type(['webhook', 'verify', '--har', '-', '--csv'], { stdin: har })
  expect(code).toBe(0)
  expect(stdout).toBe(
    'place,valid,request_id,status,problem\nentry 1,true,3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55,PARTIAL,\n',
  )
})

test('the flags of a list go with a list', async () => {
  const { code, stderr } = await desk().type(['webhook', 'verify', '--csv', '--signature', signature], {
    stdin: text,
  })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^Error: one delivery is no list: /)
})
