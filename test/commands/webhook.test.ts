import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

/** RFC 4231, test case 2. */
const secret = 'Jefe'
const text = 'what do ya want for nothing?'
const signature = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
const event =
  '{"event":"request.updated","request_id":"3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55","status":"PARTIAL"}'

/** Starts a session without a login; `withSecret` are the options that set the webhook secret. */
async function newcomerSession() {
  const here = await session({ isLoggedOut: true })
  here.write('secret.txt', secret)
  return { ...here, withSecret: { env: { REFCHECK_WEBHOOK_SECRET: secret } } }
}

test('webhook sign prints the signature that a sender would make', async () => {
  const { type, withSecret } = await newcomerSession()
  expect(await type('webhook sign', { ...withSecret, stdin: text })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook sign <<EOF
    what do ya want for nothing?
    EOF
    5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843
    exit 0
  `)
  expect(await type('webhook sign - --json', { ...withSecret, stdin: text })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook sign - --json <<EOF
    what do ya want for nothing?
    EOF
    {
      "signature": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    }
    exit 0
  `)
  expect((await type('webhook sign', { ...withSecret, stdin: text })).stdout).toBe(`${signature}\n`)
})

test('webhook verify verifies a body with its signature, or a captured request with its headers', async () => {
  const { type, write, withSecret } = await newcomerSession()
  const signed = (await type('webhook sign', { ...withSecret, stdin: event })).stdout.trim()
  write('body.json', event)
  expect(await type(`webhook verify body.json --signature ${signed}`, withSecret)).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify body.json --signature d0ef44fec5ea4b0c31a1d2b010cc918534ef480dc3cfc42fa51524f5cc6cc520
    valid  request.updated  ID_1                                  PARTIAL
    exit 0
  `)
  const json = await type(`webhook verify --signature ${signed} --json`, { ...withSecret, stdin: event })
  expect(json).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --signature d0ef44fec5ea4b0c31a1d2b010cc918534ef480dc3cfc42fa51524f5cc6cc520 --json <<EOF
    {"event":"request.updated","request_id":"ID_1","status":"PARTIAL"}
    EOF
    {
      "valid": true,
      "event": {
        "event": "request.updated",
        "request_id": "ID_1",
        "status": "PARTIAL"
      }
    }
    exit 0
  `)
  const capture = `POST /hook HTTP/1.1\r\nContent-Type: application/json\r\nX-Service-Signature: ${signed}\r\nContent-Length: ${event.length}\r\n\r\n${event}\n`
  write('request.txt', capture)
  expect(await type('webhook verify --http request.txt', withSecret)).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --http request.txt
    valid  request.updated  ID_1                                  PARTIAL
    exit 0
  `)
  expect((await type('webhook verify --http -', { ...withSecret, stdin: capture })).code).toBe(0)
})

test('webhook verify prints the failure for a wrong signature, and exits with 9', async () => {
  const { type, withSecret } = await newcomerSession()
  const argv = `webhook verify --signature ${'0'.repeat(64)}`
  expect(await type(argv, { ...withSecret, stdin: text })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --signature 0000000000000000000000000000000000000000000000000000000000000000 <<EOF
    what do ya want for nothing?
    EOF
    2> Error: the signature does not match the body
    2> Either the body is not the exact bytes that were sent (a re-formatted or re-encoded body never matches), or the secret is a different one.
    exit 9
  `)
  expect(await type(`${argv} --json`, { ...withSecret, stdin: text })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --signature 0000000000000000000000000000000000000000000000000000000000000000 --json <<EOF
    what do ya want for nothing?
    EOF
    {
      "valid": false,
      "event": null,
      "error": {
        "code": "bad_signature",
        "message": "the signature does not match the body",
        "hint": "Either the body is not the exact bytes that were sent (a re-formatted or re-encoded body never matches), or the secret is a different one."
      }
    }
    2> Error: the signature does not match the body
    exit 9
  `)
})

test('invalid arguments and missing input of webhook verify and sign exit with 2', async () => {
  const { type, all, withSecret } = await newcomerSession()
  expect(
    await all(
      [
        'webhook verify',
        'webhook verify a --http b',
        `webhook verify --signature ${signature} --http b`,
        `webhook verify nope --signature ${signature}`,
        `webhook verify . --signature ${signature}`,
      ],
      { ...withSecret, stdin: text },
    ),
  ).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify <<EOF
    what do ya want for nothing?
    EOF
    2> Error: the signature is missing
    2> Add --signature HEX, the value of X-Service-Signature; or use --http FILE for a capture with headers.
    exit 2

    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify a --http b <<EOF
    what do ya want for nothing?
    EOF
    2> Error: FILE and --http cannot be combined
    2> Give one of them.
    exit 2

    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --signature 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843 --http b <<EOF
    what do ya want for nothing?
    EOF
    2> Error: --http and --signature cannot be combined
    2> Show its help with: refcheck webhook verify --help
    exit 2

    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify nope --signature 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843 <<EOF
    what do ya want for nothing?
    EOF
    2> Error: file not found: nope
    2> Check the path.
    exit 2

    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify . --signature 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843 <<EOF
    what do ya want for nothing?
    EOF
    2> Error: . is a folder; the body has to be a file
    2> Give the name of a file.
    exit 2
  `)
  expect(await type('webhook sign', withSecret)).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook sign
    2> Error: there is nothing to sign: the body is empty
    2> Give the exact bytes in a file or on stdin.
    exit 2
  `)
  // If stdin is the terminal, the command does not wait for input.
  expect(await type('webhook sign', { ...withSecret, tty: { stdin: true } })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook sign
    2> Error: the body is missing: stdin is the terminal
    2> Give the name of a file, or pipe one in with: < FILE
    exit 2
  `)
})

test('webhook sign without a secret, or with an empty one, explains how to give one', async () => {
  const { type } = await newcomerSession()
  expect(await type('webhook sign', { stdin: text })).toMatchInlineSnapshot(`
    $ refcheck webhook sign <<EOF
    what do ya want for nothing?
    EOF
    2> Error: the webhook secret is missing
    2> Set REFCHECK_WEBHOOK_SECRET, or save it with: refcheck config set webhook-secret
    exit 2
  `)
  const env = { REFCHECK_WEBHOOK_SECRET: '' }
  expect(await type('webhook sign', { env, stdin: text })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET='' refcheck webhook sign <<EOF
    what do ya want for nothing?
    EOF
    2> Error: REFCHECK_WEBHOOK_SECRET is empty
    2> Give the secret of the organisation’s webhook. Without one, anybody could sign.
    exit 2
  `)
})
