import { expect, test } from 'vitest'

import { startSandboxProcess } from '../harness/parallel-program.ts'
import { startHandlerApp } from '../harness/listening-session.ts'
import { orderArguments } from '../harness/people.ts'

test('sandbox logs --bodies shows requests and answers with keys and secrets masked, also a key of another service', async () => {
  const here = await startSandboxProcess(['--clock', 'manual'])
  const app = await startHandlerApp()
  await here.type(['sandbox', 'set', 'webhook-url', app.url])
  await here.type(orderArguments('Priya', ['--yes']))
  await here.type('sandbox advance 2h')
  const foreignKey = 'sk_live_of_another_service_12345'
  await fetch(`${here.env['REFCHECK_BASE_URL']}/v1/requests`, {
    method: 'POST',
    headers: { 'X-Service-API-Key': foreignKey, 'X-Service-User-Email': 'olive.owner@example.com' },
    body: '{"api_key_in_body":"' + here.address['api_key'] + '"}',
  })
  const shown = await here.type("sandbox logs --bodies --path '/v1/requests*'")
  expect(shown).toMatchInlineSnapshot(`
    $ refcheck sandbox logs --bodies --path '/v1/requests*'
    HH:MM:SS  POST /v1/requests  201
        > {"package_id":102,"recipient":{"first_name":"Priya","last_name":"Example","email":"priya@example.com","phone":"+61412345678"}}
        < {"data":{"request_id":"ID_1","status":"RECEIVED"},"status_message":"ok","message":""}
    HH:MM:SS  POST /v1/requests  401
        > {"api_key_in_body":"[API key]"}
        < {"data":null,"status_message":"client_error","message":"invalid API key"}
    exit 0
  `)
  const entries = (await here.type('sandbox logs --bodies --json')).json() as {
    kind: string
    path?: string
    request?: { headers: Record<string, string>; body: string | null }
    response?: { headers: Record<string, string>; body: string | null } | null
  }[]
  const created = entries.find(({ path }) => path === '/v1/requests')
  expect(created?.request?.headers['x-service-api-key']).toBe('[API key]')
  expect(JSON.parse(created?.request?.body ?? '')).toMatchObject({ package_id: 102 })
  expect(created?.response?.headers['cache-control']).toBe('no-store')
  const event = entries.find(({ kind }) => kind === 'delivery')
  expect(event?.request?.headers['X-Service-Signature']).toMatch(/^[0-9a-f]{64}$/)
  expect(JSON.parse(event?.request?.body ?? '')).toMatchObject({ event: 'request.updated' })
  // Reads the answer of the sandbox itself, because the command also masks the secrets of its own environment.
  const whole = await (await fetch(`${here.env['REFCHECK_BASE_URL']}/_sandbox/log?bodies=1`)).text()
  expect(whole).toContain('[API key]')
  for (const secret of [here.address['api_key'], here.address['webhook_secret'], foreignKey])
    expect(whole).not.toContain(secret)
  const requests = (await here.type(['request', 'list', '--json'])).json() as { request_id: string }[]
  await here.type(['request', 'get', requests[0]?.request_id ?? '', '--json'])
  const log = await here.type([
    'sandbox',
    'logs',
    '--bodies',
    '--json',
    '--path',
    `/v1/requests/${requests[0]?.request_id}`,
  ])
  expect(log.stdout).toContain('report_pdf_url')
  expect(log.stdout).not.toMatch(/[?&]t=[\w.-]{20}/)
})

test('sandbox logs --path, --status and --request select entries', async () => {
  const here = await startSandboxProcess(['--clock', 'manual'])
  await here.type(orderArguments('Priya', ['--yes']))
  await here.type(orderArguments('Mei', ['--yes']))
  await here.type('request get 00000000-0000-4000-8000-000000000000')
  const ids = ((await here.type('sandbox logs --json')).json() as { kind: string; request_id: string }[])
    .filter(({ kind }) => kind === 'status')
    .map(({ request_id }) => request_id)
  expect(
    await here.all([
      'sandbox logs --status 4xx',
      'sandbox logs --status RECEIVED',
      ['sandbox', 'logs', '--request', ids[1] ?? ''],
      'sandbox logs --path /v1/users',
      "sandbox logs --path '/v1/packages/*/schema' --status 200",
      'sandbox logs --status nothing-such',
      'sandbox logs --request 12',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck sandbox logs --status 4xx
    HH:MM:SS  GET /v1/requests/00000000-0000-4000-8000-000000000000  404
    exit 0

    $ refcheck sandbox logs --status RECEIVED
    HH:MM:SS  request ID_1                                  RECEIVED
    HH:MM:SS  request ID_2                                  RECEIVED
    exit 0

    $ refcheck sandbox logs --request ID_2
    HH:MM:SS  request ID_2                                  RECEIVED
    HH:MM:SS  POST /v1/requests  201
    exit 0

    $ refcheck sandbox logs --path /v1/users
    Nothing of this has happened. Show everything with: refcheck sandbox logs
    exit 0

    $ refcheck sandbox logs --path '/v1/packages/*/schema' --status 200
    HH:MM:SS  GET /v1/packages/102/schema  200
    exit 0

    $ refcheck sandbox logs --status nothing-such
    2> Error: --status: "nothing-such" is not a status
    2> Give an HTTP status such as 404 or 4xx, or the status of a request such as PARTIAL.
    exit 2

    $ refcheck sandbox logs --request 12
    2> Error: --request: "12" is not a whole id
    2> An id looks like ID_3.
    exit 2
  `)
})
