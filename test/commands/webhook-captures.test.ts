import { chmodSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

/** RFC 4231, test case 2. */
const secret = 'Jefe'
const text = 'what do ya want for nothing?'
const signature = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
const event =
  '{"event":"request.updated","request_id":"3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55","status":"PARTIAL"}'
const env = { REFCHECK_WEBHOOK_SECRET: secret }

test('webhook verify names the probable cause of a wrong signature, and still refuses it', async () => {
  const { type } = await session({ isLoggedOut: true })
  const signed = (await type('webhook sign', { env, stdin: event })).stdout.trim()
  const argv = `webhook verify --signature ${signed}`
  const stdin = Buffer.from(`${event}\n`)
  expect(await type(argv, { env, stdin })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --signature d0ef44fec5ea4b0c31a1d2b010cc918534ef480dc3cfc42fa51524f5cc6cc520 < BYTES
    2> Error: the signature does not match the body
    2> It would match without the newline at its end: an editor, echo or a here-document added it.
    exit 9
  `)
  expect(await type(`${argv} --json`, { env, stdin })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --signature d0ef44fec5ea4b0c31a1d2b010cc918534ef480dc3cfc42fa51524f5cc6cc520 --json < BYTES
    {
      "valid": false,
      "event": null,
      "diagnosis": {
        "cause": "trailing_newline_added",
        "message": "It would match without the newline at its end: an editor, echo or a here-document added it."
      },
      "error": {
        "code": "bad_signature",
        "message": "the signature does not match the body",
        "hint": "It would match without the newline at its end: an editor, echo or a here-document added it."
      }
    }
    2> Error: the signature does not match the body
    exit 9
  `)
})

test('webhook verify reports that a signature was made with the secret of another profile', async () => {
  const { type, sandbox, url } = await session({ isLoggedOut: true })
  for (const [profile, ownSecret] of [
    ['acme', 'one secret'],
    ['other', secret],
  ] as const) {
    const login = `auth login --base-url ${url} --email olive.owner@example.com --profile ${profile} --with-key`
    await type(login, { stdin: sandbox.credentials.apiKey })
    await type(`config set webhook-secret --profile ${profile}`, { stdin: ownSecret })
  }
  const argv = `webhook verify --signature ${signature} --profile`
  expect((await type(`${argv} other`, { stdin: text })).code).toBe(0)
  expect(await type(`${argv} acme`, { stdin: text })).toMatchInlineSnapshot(`
    $ refcheck webhook verify --signature 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843 --profile acme <<EOF
    what do ya want for nothing?
    EOF
    2> Error: the signature does not match the body
    2> It would match with the secret of profile "other".
    exit 9
  `)
})

test('webhook verify --secret-file reads the secret, with a warning if others can read the file', async () => {
  const { type, write, folder } = await session({ isLoggedOut: true })
  write('secret.txt', `${secret}\n`)
  chmodSync(join(folder, 'secret.txt'), 0o600)
  const argv = `webhook verify --signature ${signature} --secret-file secret.txt`
  expect(await type(argv, { stdin: text })).toMatchInlineSnapshot(`
    $ refcheck webhook verify --signature 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843 --secret-file secret.txt <<EOF
    what do ya want for nothing?
    EOF
    valid  the signature matches; the body is not JSON
    exit 0
  `)
  chmodSync(join(folder, 'secret.txt'), 0o644)
  expect(await type(argv, { stdin: text })).toMatchInlineSnapshot(`
    $ refcheck webhook verify --signature 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843 --secret-file secret.txt <<EOF
    what do ya want for nothing?
    EOF
    2> Warning: other users of this machine can read secret.txt. Make it private with: chmod 600 secret.txt
    valid  the signature matches; the body is not JSON
    exit 0
  `)
})

test('webhook verify --all verifies each line of a log', async () => {
  const { type, write } = await session({ isLoggedOut: true })
  const signed = (await type('webhook sign', { env, stdin: event })).stdout.trim()
  const validLine = JSON.stringify({ headers: { 'x-service-signature': signed }, body: event })
  const forged = JSON.stringify({ signature: signed, body: event.replace('PARTIAL', 'COMPLETED') })
  write('log.ndjson', `${validLine}\n${forged}\n`)
  expect(await type('webhook verify --all log.ndjson', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --all log.ndjson
    PLACE   VALID    REQUEST ID                            STATUS   PROBLEM
    line 1  valid    ID_1                                  PARTIAL  -
    line 2  invalid  -                                     -        the signature does not match the body
    2> Error: 1 of 2 deliveries is not valid
    2> Treat deliveries that are not valid as not sent by the service.
    exit 9
  `)
  expect(await type('webhook verify --all log.ndjson --json', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --all log.ndjson --json
    [
      {
        "place": "line 1",
        "valid": true,
        "request_id": "ID_1",
        "status": "PARTIAL",
        "event": {
          "event": "request.updated",
          "request_id": "ID_1",
          "status": "PARTIAL"
        }
      },
      {
        "place": "line 2",
        "valid": false,
        "request_id": null,
        "status": null,
        "event": null,
        "problem": "the signature does not match the body"
      }
    ]
    2> Error: 1 of 2 deliveries is not valid
    2> Treat deliveries that are not valid as not sent by the service.
    exit 9
  `)
  expect(await type('webhook verify --all', { env, stdin: validLine })).toMatchObject({ code: 0, stderr: '' })
})

test('webhook verify --har verifies the POSTs of an archive, and flags for lists require a list', async () => {
  const { type, write } = await session({ isLoggedOut: true })
  const signed = (await type('webhook sign', { env, stdin: event })).stdout.trim()
  const headers = [{ name: 'X-Service-Signature', value: signed }]
  const entries = [{ request: { method: 'POST', headers, postData: { text: event } } }]
  write('captured.har', JSON.stringify({ log: { version: '1.2', entries } }))
  expect(await type('webhook verify --har captured.har --csv', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --har captured.har --csv
    place,valid,request_id,status,problem
    entry 1,true,ID_1,PARTIAL,
    exit 0
  `)
  expect(await type(`webhook verify --csv --signature ${signature}`, { env, stdin: text }))
    .toMatchInlineSnapshot(`
      $ REFCHECK_WEBHOOK_SECRET=Jefe refcheck webhook verify --csv --signature 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843 <<EOF
      what do ya want for nothing?
      EOF
      2> Error: --csv, --columns and --sort require --all or --har
      2> Leave them out; --json prints one delivery for scripts.
      exit 2
    `)
})
