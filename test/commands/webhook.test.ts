import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'

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

test('webhook sign prints the signature a sender would make', async () => {
  const { type } = desk()
  expect(await type(['webhook', 'sign'], { stdin: text })).toMatchObject({
    code: 0,
    stdout: `${signature}\n`,
    stderr: '',
  })
  expect((await type(['webhook', 'sign', '-', '--json'], { stdin: text })).json()).toEqual({ signature })
})

test('webhook verify of a body and its signature', async () => {
  const { type, folder } = desk()
  const signed = (await type(['webhook', 'sign'], { stdin: event })).stdout.trim()
  writeFileSync(join(folder, 'body.json'), event)
  expect(await type(['webhook', 'verify', 'body.json', '--signature', signed])).toMatchObject({
    code: 0,
    stdout: 'valid  request.updated  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  PARTIAL\n',
  })
  const json = await type(['webhook', 'verify', '--signature', signed, '--json'], { stdin: event })
  expect(json.json()).toEqual({ valid: true, event: JSON.parse(event) as unknown })
})

test('webhook verify --http of a captured request', async () => {
  const { type, folder } = desk()
  const signed = (await type(['webhook', 'sign'], { stdin: event })).stdout.trim()
  const capture = `POST /hook HTTP/1.1\r\nContent-Type: application/json\r\nX-Service-Signature: ${signed}\r\nContent-Length: ${event.length}\r\n\r\n${event}\n`
  writeFileSync(join(folder, 'request.txt'), capture)
  expect((await type(['webhook', 'verify', '--http', 'request.txt'])).code).toBe(0)
  expect((await type(['webhook', 'verify', '--http', '-'], { stdin: capture })).code).toBe(0)
})

test('a wrong signature: the answer and the failure, exit 9', async () => {
  const { type } = desk()
  const argv = ['webhook', 'verify', '--signature', signature]
  const plain = await type(argv, { stdin: `${text}\n` })
  expect({ code: plain.code, stdout: plain.stdout }).toEqual({ code: 9, stdout: '' })
  expect(plain.stderr).toMatch(/^Error: .*signature does not match the body\n.+\n$/i)
  const json = await type([...argv, '--json'], { stdin: `${text}\n` })
  expect(json.code).toBe(9)
  expect(json.json()).toMatchObject({ valid: false, event: null, error: { code: 'bad_signature' } })
})

test.each([
  ['no signature', ['webhook', 'verify'], text],
  ['both a file and --http', ['webhook', 'verify', 'a', '--http', 'b'], text],
  ['both a signature and --http', ['webhook', 'verify', '--signature', signature, '--http', 'b'], text],
  ['a file that is not there', ['webhook', 'verify', 'nope', '--signature', signature], text],
  ['a folder', ['webhook', 'verify', '.', '--signature', signature], text],
  ['nothing to sign', ['webhook', 'sign'], ''],
])('exit 2: %s', async (_name, argv, stdin) => {
  const { code, stdout, stderr } = await desk().type(argv, { stdin })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
})

test('stdin that is the terminal is not waited for', async () => {
  const { code, stderr } = await desk().type(['webhook', 'sign'], { tty: { stdin: true } })
  expect(code).toBe(2)
  expect(stderr).toMatch(/stdin/)
})

test.each([
  ['no secret', {}],
  ['an empty secret', { REFCHECK_WEBHOOK_SECRET: '' }],
])('%s: exit 2, and how to give one', async (_name, secrets) => {
  const env = { ...emptyEnv(temporaryFolder()), ...secrets }
  const { code, stderr } = await refcheck(['webhook', 'sign'], { env, stdin: text })
  expect(code).toBe(2)
  expect(stderr).toMatch(/secret/i)
})
