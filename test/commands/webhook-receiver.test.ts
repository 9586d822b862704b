import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { SaxesParser } from 'saxes'
import { expect, onTestFinished, test } from 'vitest'

import { handler } from '../usecases/webhook/receivers/handler.ts'
import { secret } from '../usecases/webhook/receivers/served.ts'
import { type Outcome, refcheck, type RunOptions } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'
import { identity } from '../http/raw-server.ts'

const id = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'

function desk() {
  const folder = temporaryFolder()
  const env = { ...emptyEnv(folder), REFCHECK_WEBHOOK_SECRET: secret }
  const type = async (argv: string, options: RunOptions = {}): Promise<Outcome> => {
    const outcome = await refcheck(['webhook', ...argv.split(' ')], { cwd: folder, env, ...options })
    expect(outcome.stdout + outcome.stderr).not.toContain(secret)
    return outcome
  }
  return { folder, type }
}

/** A receiver that is right, and what it was sent. */
async function receiver() {
  const bodies: string[] = []
  const url = await handler({
    take(body) {
      bodies.push(body.toString())
      return 204
    },
  })()
  return { url, bodies }
}

const steady = (text: string): string =>
  text.replace(/\d+ ms/g, '# ms').replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:#')

test('webhook send: one signed event, what the receiver answered and how fast', async () => {
  const { url, bodies } = await receiver()
  const { type } = desk()
  const { code, stdout, stderr } = await type(`send --to ${url} --request-id ${id}`)
  expect({ code, stdout: steady(stdout), stderr }).toEqual({
    code: 0,
    stdout: `accepted  204 in # ms  ${id}  COMPLETED\n`,
    stderr: '',
  })
  expect(bodies).toEqual([`{"event":"request.updated","request_id":"${id}","status":"COMPLETED"}`])
})

test('webhook send: ERROR has a reason, and any other word is a status as well', async () => {
  const { url, bodies } = await receiver()
  const { type } = desk()
  await type(`send --to ${url} --request-id ${id} --status ERROR --error-reason None`)
  await type(`send --to ${url} --request-id ${id} --status ERROR`)
  await type(`send --to ${url} --request-id ${id} --status ON_HOLD`)
  const head = `{"event":"request.updated","request_id":"${id}","status":`
  expect(bodies).toEqual([
    `${head}"ERROR","error_reason":"None"}`,
    `${head}"ERROR","error_reason":"The request could not be processed."}`,
    `${head}"ON_HOLD"}`,
  ])
})

test('webhook send: duplicates, and the wrong order', async () => {
  const { url, bodies } = await receiver()
  const { type } = desk()
  await type(`send --to ${url} --times 3`)
  expect(new Set(bodies).size).toBe(1)
  expect(bodies.splice(0)).toHaveLength(3)
  await type(`send --to ${url} --out-of-order`)
  const events = bodies.map((body) => JSON.parse(body) as Record<string, string>)
  expect(events.map(({ status }) => status)).toEqual(['COMPLETED', 'PARTIAL', 'IN_PROGRESS'])
  expect(new Set(events.map(({ request_id }) => request_id)).size).toBe(1)
})

test('webhook send: a refusal is exit 10, and --json says what was answered', async () => {
  const { url } = await receiver()
  const { type } = desk()
  const other = { env: { ...emptyEnv(temporaryFolder()), REFCHECK_WEBHOOK_SECRET: 'another' } }
  const text = await type(`send --to ${url} --request-id ${id}`, other)
  expect({ code: text.code, stdout: steady(text.stdout) }).toEqual({
    code: 10,
    stdout: `refused  401 in # ms  ${id}  COMPLETED\n`,
  })
  expect(text.stderr).toMatch(/^Error: the receiver refused the event\n.*same secret.*\n$/)
  const json = await type(`send --to ${url} --request-id ${id} --json`, other)
  expect(json.code).toBe(10)
  expect(json.json()).toEqual({
    to: url,
    deliveries: [
      {
        request_id: id,
        status: 'COMPLETED',
        signature: 'good',
        answered: 401,
        milliseconds: expect.any(Number) as number,
        accepted: false,
        said: '',
      },
    ],
    error: {
      code: 'incomplete',
      message: 'the receiver refused the event',
      hint: expect.any(String) as string,
    },
  })
})

test('webhook send --bad-signature: a refusal is what is wanted', async () => {
  const { url } = await receiver()
  const { type } = desk()
  const refused = await type(`send --to ${url} --bad-signature --request-id ${id}`)
  expect({ code: refused.code, stdout: steady(refused.stdout) }).toEqual({
    code: 0,
    stdout: `refused  401 in # ms  ${id}  COMPLETED  bad signature\n`,
  })
  const careless = await handler({ isGood: () => true })()
  const accepted = await type(`send --to ${careless} --bad-signature`)
  expect(accepted.code).toBe(10)
  expect(accepted.stderr).toMatch(/^Error: the receiver accepted the event with a bad signature\n/)
})

test.each(['send --to', 'check-receiver'])('webhook %s: nobody listens, exit 7', async (command) => {
  const { code, stderr } = await desk().type(`${command} http://127.0.0.1:1/hook`)
  expect(code).toBe(7)
  expect(stderr).toMatch(
    /Error: 127\.0\.0\.1:1: nothing listens there\nCheck the URL, and that the receiver is running\.\n$/,
  )
})

test.each([
  ['plain http over a network', 'http://receiver.example/hook', 'https is required'],
  ['a password in it', 'https://me:pass@receiver.example/hook', 'a URL with a user name in it is not called'],
  ['no URL', 'receiver', 'is not a URL'],
])(
  'webhook send and check-receiver refuse %s, and show no part that is secret',
  async (_name, url, message) => {
    const { type } = desk()
    for (const command of ['send --to', 'check-receiver']) {
      const { code, stdout, stderr } = await type(`${command} ${url}`)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(message)
      expect(stderr).not.toContain('pass@')
    }
  },
)

test.each([
  ['a reason without ERROR', 'send --to http://127.0.0.1:1/ --error-reason x'],
  ['a status and the wrong order', 'send --to http://127.0.0.1:1/ --status PARTIAL --out-of-order'],
  ['no times at all', 'send --to http://127.0.0.1:1/ --times 0'],
  ['no receiver', 'send'],
  ['a case that is not there', 'check-receiver http://127.0.0.1:1/ --only nothing'],
  ['no time to answer in', 'check-receiver http://127.0.0.1:1/ --within 0s'],
])('exit 2: %s', async (_name, argv) => {
  const { code, stdout, stderr } = await desk().type(argv)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/Error: .+\n.+\n$/)
})

test.each(['send --to', 'check-receiver'])(
  'webhook %s without a secret: exit 2, nothing sent',
  async (command) => {
    const { url, bodies } = await receiver()
    const { code, stderr } = await desk().type(`${command} ${url}`, { env: emptyEnv(temporaryFolder()) })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^Error: there is no webhook secret\n/)
    expect(bodies).toEqual([])
  },
)

test('a token in the query goes to the receiver and is not repeated', async () => {
  const { url, bodies } = await receiver()
  const { type } = desk()
  for (const argv of [
    `send --to ${url}?token=abc123 --json`,
    `check-receiver ${url}?token=abc123 --only good --json --junit r.xml`,
  ]) {
    const { stdout, stderr, code } = await type(argv)
    expect({ code, told: `${stdout}${stderr}`.includes('abc123') }).toEqual({ code: 0, told: false })
  }
  expect(bodies).toHaveLength(2)
})

test('a certificate that is not trusted: exit 7, and how to trust it', async () => {
  const server = createServer(identity('self-signed'), (_request, response) => response.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { code, stderr } = await desk().type(`check-receiver https://127.0.0.1:${port}/hook`)
  expect(code).toBe(7)
  expect(stderr).toMatch(
    /its certificate .*\nWhere the certificate is your own, name its authority: NODE_EXTRA_CA_CERTS=FILE\n$/,
  )
})

test('webhook check-receiver: a right receiver passes, and it is said before what is sent', async () => {
  const { type } = desk()
  const url = await handler({})()
  const { code, stdout, stderr } = await type(`check-receiver ${url}`)
  expect(code).toBe(0)
  expect(steady(stderr)).toBe(
    'Sending made-up events to http://127.0.0.1:#/hook, signed with the webhook secret; the requests they name do not exist.\n',
  )
  const lines = steady(stdout).split('\n')
  expect(lines[0]).toBe('passed  good-event  a good event')
  expect(lines.at(-2)).toMatch(
    /^passed  http:\/\/127\.0\.0\.1:#\/hook: 35 passed, 0 with advice, 0 failed, 0 not judged\. \d+ deliveries; the slowest acceptance took # ms\.$/,
  )
})

test('webhook check-receiver: a fault with its rule and what the receiver did, exit 10', async () => {
  const { type } = desk()
  const url = await handler({ take: (body) => (body.includes('CANCELLED') ? 400 : 204) })()
  const { code, stdout, stderr } = await type(`check-receiver ${url} --only every`)
  expect({ code, stdout: steady(stdout) }).toEqual({
    code: 10,
    stdout: `FAILED  every-status  every status of the document
        "status: RECEIVED, IN_PROGRESS, PARTIAL, COMPLETED, ERROR or CANCELLED."
        - CANCELLED: answered 400 in # ms; a 2xx was due

failed  http://127.0.0.1:#/hook: 0 passed, 0 with advice, 1 failed, 0 not judged. 6 deliveries; the slowest acceptance took # ms.
`,
  })
  expect(stderr).toMatch(
    /\nError: the receiver failed 1 of 1 case\nEach is told above with the sentence of the document it breaks\.\n$/,
  )
})

test('webhook check-receiver --json and --junit tell the same', async () => {
  const { type, folder } = desk()
  const url = await handler({
    isGood: () => true,
    take: (body) => (body.includes('ON_HOLD') ? 400 : 204),
  })()
  const only = '--only signature --only unknown-status'
  const { code, json } = await type(`check-receiver ${url} --json --junit report.xml ${only}`)
  expect(code).toBe(10)
  expect(json()).toMatchObject({
    url,
    passed: false,
    counts: { cases: 10, passed: 0, advised: 1, failed: 9, not_judged: 0 },
    error: { code: 'incomplete', message: 'the receiver failed 9 of 10 cases' },
  })
  const names: string[] = []
  const kinds: string[] = []
  let sums: unknown
  const parser = new SaxesParser()
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'testcase') names.push(attributes['name'] ?? '')
    else kinds.push(name)
    if (name === 'testsuites') sums = attributes
  })
  parser.write(readFileSync(join(folder, 'report.xml'), 'utf8')).close()
  expect(sums).toMatchObject({ tests: '10', failures: '9', skipped: '0' })
  expect(names[0]).toBe('unknown-status: a status that is not in the document')
  expect(names).toHaveLength(10)
  expect(kinds.filter((name) => name === 'failure')).toHaveLength(9)
  expect(kinds.filter((name) => name === 'system-out')).toHaveLength(1)
})

test('what a receiver says cannot break the report', async () => {
  const { type, folder } = desk()
  const url = await handler({
    answer: (response) => void response.writeHead(500).end('<b>"&\u0000\u001B[31m]]>\uFFFF</b>'),
  })()
  const { stdout } = await type(`check-receiver ${url} --only good --junit report.xml`)
  expect(stdout).toContain('answered 500 "<b>"&')
  expect(stdout).not.toContain('\u001B')
  const parser = new SaxesParser()
  expect(() => parser.write(readFileSync(join(folder, 'report.xml'), 'utf8')).close()).not.toThrow()
})

test('webhook check-receiver: what it found is told even where --junit cannot be written', async () => {
  const { url } = await receiver()
  const { type } = desk()
  const { code, stdout, stderr } = await type(`check-receiver ${url} --only good-event --junit nowhere/x.xml`)
  expect([code, stdout]).toMatchObject([1, expect.stringMatching(/^passed {2}good-event/)])
  expect(stderr).toMatch(/Error: cannot write ".+": there is no such file or folder\n/)
})
