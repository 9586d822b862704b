import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { exitCodes } from '../../src/errors/kinds.ts'
import { orderArguments } from '../harness/people.ts'
import { session } from '../harness/session.ts'

test('--jq prints each result of the jq expression on a line, and strings without quotes', async () => {
  const { all } = await session()
  expect(
    await all([
      ['packages', 'list', '--jq', '.[] | select(.status == "ACTIVE") | .name'],
      ['packages', 'list', '--jq', 'map({id, status}) | first'],
      ['users', 'list', '--jq', 'length, .[0].teams'],
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck packages list --jq '.[] | select(.status == "ACTIVE") | .name'
    Standard employment screen
    Identity check only
    Two references
    Executive screen
    exit 0

    $ refcheck packages list --jq 'map({id, status}) | first'
    {"id":101,"status":"ACTIVE"}
    exit 0

    $ refcheck users list --jq 'length, .[0].teams'
    5
    [{"id":"ID_1","name":"Hiring"},{"id":"ID_2","name":"Compliance"}]
    exit 0
  `)
})

test('with an invalid --jq expression nothing is ordered', async () => {
  const here = await session()
  expect(await here.type([...orderArguments('Priya', ['--yes']), '--jq', '.request_id |']))
    .toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Example --email priya@example.com --phone +61412345678 --yes --jq '.request_id |'
    2> Error: --jq: syntax error, unexpected end of file
    2> Nothing was done. Quote the expression, as in: --jq '.[].request_id'
    exit 2
  `)
  expect(here.listOrderedEmails()).toEqual([])
})

test('if --jq fails for the result of an order, the exit code is 2 and the result is still printed', async () => {
  const here = await session()
  expect(await here.type([...orderArguments('Priya', ['--yes', '--quiet']), '--jq', '.[0]']))
    .toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Example --email priya@example.com --phone +61412345678 --yes --quiet --jq '.[0]'
    2> Error: --jq: Cannot index object with number (0)
    2> The command itself was carried out. Its result:
    2> {
    2>   "request_id": "REQUEST_1",
    2>   "status": "RECEIVED"
    2> }
    exit 2
  `)
  expect(here.listOrderedEmails()).toEqual(['priya@example.com'])
})

test('if a command fails, --jq filters its result, the error is on stderr, and without a result stdout is empty', async () => {
  const { type } = await session()
  expect(await type(['request', 'get', '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55', '--jq', '.status']))
    .toMatchInlineSnapshot(`
    $ refcheck request get 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --jq .status
    2> Error: request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 was not found
    2> Check the id. It may belong to another organisation, or be hidden from this user.
    exit 5
  `)
  expect(
    await type(['auth', 'status', '--jq', '.works, .error.code'], {
      env: { REFCHECK_API_KEY: 'x'.repeat(32) },
    }),
  ).toMatchInlineSnapshot(`
    $ REFCHECK_API_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx refcheck auth status --jq '.works, .error.code'
    false
    unauthenticated
    2> Error: invalid API key
    2> A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login
    exit 3
  `)
})

test('--jq and --csv cannot be combined; --jq prints one result per line for a stream too', async () => {
  const { type, write } = await session()
  expect(await type(['packages', 'list', '--csv', '--jq', '.'])).toMatchInlineSnapshot(`
    $ refcheck packages list --csv --jq .
    2> Error: --jq and --csv cannot be combined
    2> Choose the fields with --jq.
    exit 2
  `)
  write('people.csv', 'first_name,last_name,email,phone\nMei,Tanaka,mei@example.com,+819012345678\n')
  await type('batch run people.csv --package 102 --yes')
  const [batch] = (await type('batch list --json')).json() as { batch_id: string }[]
  const exported = await type(['batch', 'export', batch?.batch_id ?? '', '--jq', '.[].email'])
  expect(exported.stdout).toBe('mei@example.com\n')
})

test('api GET prints the whole answer, and exits with the code for its status', async () => {
  const { all } = await session()
  expect(
    await all([
      'api GET /v1/ping',
      "api GET '/v1/packages?status=disabled' --json",
      "api get /v1/packages --jq '.data.packages | length'",
      'api GET /v1/requests/3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
      'api GET /v1/nowhere --json',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck api GET /v1/ping
    {
      "data": {
        "status": "ok"
      },
      "status_message": "ok",
      "message": ""
    }
    exit 0

    $ refcheck api GET '/v1/packages?status=disabled' --json
    {
      "data": {
        "packages": [
          {
            "id": 106,
            "name": "Volunteer screen (withdrawn)",
            "status": "DISABLED",
            "details": {
              "reference_survey": null,
              "background_checks": [
                {
                  "check_name": "National police check",
                  "partner_name": "Verity Checks"
                }
              ]
            }
          }
        ]
      },
      "status_message": "ok",
      "message": ""
    }
    exit 0

    $ refcheck api get /v1/packages --jq '.data.packages | length'
    6
    exit 0

    $ refcheck api GET /v1/requests/3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    {
      "data": null,
      "status_message": "client_error",
      "message": "resource not found"
    }
    2> Error: resource not found
    2> Check the path and the ids in it. List the paths of the API with: refcheck sandbox openapi --jq '.paths | keys[]'
    exit 5

    $ refcheck api GET /v1/nowhere --json
    {
      "data": null,
      "status_message": "client_error",
      "message": "resource not found",
      "error": {
        "code": "not_found",
        "message": "resource not found",
        "hint": "Check the path and the ids in it. List the paths of the API with: refcheck sandbox openapi --jq '.paths | keys[]'",
        "status": 404
      }
    }
    2> Error: resource not found
    exit 5
  `)
})

test('api GET --include prints status and headers too', async () => {
  const { type } = await session()
  const text = await type('api GET /v1/ping --include')
  expect(text.stdout).toMatch(/^HTTP 200\n(?:[a-z-]+: .*\n)*content-type: application\/json/)
  expect((await type('api GET /v1/ping --include --json')).json()).toMatchObject({
    status: 200,
    headers: { 'cache-control': 'no-store' },
    body: { data: { status: 'ok' }, status_message: 'ok', message: '' },
  })
})

test('api GET refuses the API key in a URL', async () => {
  const here = await session()
  const { apiKey } = here.sandbox.credentials
  for (const path of [
    `/v1/users?api_key=${apiKey}`,
    `/v1/requests/${apiKey}`,
    `/v1/users?k=%${apiKey.charCodeAt(0).toString(16)}${apiKey.slice(1)}`,
  ]) {
    const { code, stderr } = await here.type(`api GET '${path}'`)
    expect([code, stderr]).toEqual([
      2,
      'Error: PATH: the API key is refused in a URL\nLeave it out: it is sent as a header.\n',
    ])
  }
})

test('api refuses other methods than GET, paths outside /v1, and signed tokens', async () => {
  const here = await session()
  const lines = [
    'api POST /v1/requests',
    'api GET v1/users',
    'api GET https://example.com/v1/users',
    'api GET //example.com/v1/users',
    'api GET /v1/../admin',
    'api GET /v1/%2e%2e/admin',
    "api GET '/v1/reports/3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55?t=secret'",
  ]
  expect(await here.all(lines)).toMatchInlineSnapshot(`
    $ refcheck api POST /v1/requests
    2> Error: only GET is possible, not "POST"
    2> Order with: refcheck request create
    exit 2

    $ refcheck api GET v1/users
    2> Error: PATH is not a path below /v1/
    2> For example: refcheck api GET /v1/users
    exit 2

    $ refcheck api GET https://example.com/v1/users
    2> Error: PATH is not a path below /v1/
    2> For example: refcheck api GET /v1/users
    exit 2

    $ refcheck api GET //example.com/v1/users
    2> Error: PATH is not a path below /v1/
    2> For example: refcheck api GET /v1/users
    exit 2

    $ refcheck api GET /v1/../admin
    2> Error: PATH is not a path below /v1/
    2> For example: refcheck api GET /v1/users
    exit 2

    $ refcheck api GET /v1/%2e%2e/admin
    2> Error: PATH is not a path below /v1/
    2> For example: refcheck api GET /v1/users
    exit 2

    $ refcheck api GET '/v1/reports/3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55?t=secret'
    2> Error: PATH: a signed token is refused on the command line
    2> Give the whole URL on stdin: refcheck report download --url -
    exit 2
  `)
  expect(here.listCalls()).toEqual([])
})

test('api GET masks signed tokens, and an API key that the service repeats', async () => {
  const here = await session()
  const outcome = await here.type(orderArguments('Priya', ['--yes', '--json']))
  const { request_id: id } = outcome.json() as { request_id: string }
  await here.clock.advance(3_600_000)
  const whole = await here.type(`api GET /v1/requests/${id} --jq '.data.checks[].report_pdf_url'`)
  expect(whole.stdout).toMatch(/\?t=\*\*\*\n$/)
  here.intercept(() =>
    Response.json({
      data: { echo: here.env['REFCHECK_API_KEY'], [`x${here.env['REFCHECK_API_KEY']}`]: 1 },
      status_message: 'ok',
      message: '',
    }),
  )
  expect((await here.type('api GET /v1/users --include --json')).json()).toMatchObject({
    body: { data: { echo: '[API key]', 'x[API key]': 1 } },
  })
})

test('api GET does not print the PDF of a report', async () => {
  const { type } = await session()
  const answer = await type('api GET /v1/reports/3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55')
  expect(answer.code).toBe(5)
})

test('reference names every command of the manifest, each with its JSON Schema', async () => {
  const { type } = await session()
  const reference = (await type('reference --json')).json() as {
    commands: { name: string; output_schema: { $schema: string } | null }[]
    exit_codes: Record<string, number>
  }
  const manifest = JSON.parse(
    readFileSync(new URL('../../oclif.manifest.json', import.meta.url), 'utf8'),
  ) as { commands: Record<string, unknown> }
  const ids = Object.keys(manifest.commands).filter((id) => !/^(help|complete)$/.test(id))
  expect(reference.commands.map(({ name }) => name)).toEqual(ids.map((id) => id.replaceAll(':', ' ')))
  const withoutSchema = reference.commands.filter(({ output_schema: schema }) => schema === null)
  // mcp has no JSON output: it speaks the Model Context Protocol.
  expect(withoutSchema.map(({ name }) => name)).toEqual(['mcp'])
  expect(reference.exit_codes).toEqual(exitCodes)
})

test('reference --output-schema prints the schema of a command, and refuses an unknown command', async () => {
  const { all } = await session()
  expect(
    await all([
      "reference --output-schema 'webhook sign' --jq '.anyOf[0]'",
      "reference --output-schema 'batch run' --jq '.anyOf[0].required, .anyOf[0].properties.counts.required[0]'",
      "reference --output-schema 'batch rnu'",
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck reference --output-schema 'webhook sign' --jq '.anyOf[0]'
    {"type":"object","properties":{"signature":{"type":"string"},"error":{"type":"object","properties":{"code":{"type":"string","enum":["internal","io","usage","invalid_input","duplicate","unauthenticated","forbidden","not_found","throttled","unavailable","outcome_unknown","bad_signature","incomplete","timed_out","interrupted"]},"message":{"type":"string"},"hint":{"type":"string"},"status":{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},"field":{"type":"string"},"retry_after":{"type":"number"},"request_id":{"type":"string"},"batch_id":{"type":"string"},"row":{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},"match":{"type":"string","enum":["exact","similar"]},"problems":{"type":"array","items":{"type":"object","properties":{"field":{"type":"string"},"value":{"type":"string"},"problem":{"type":"string"}},"required":["field","problem"]}}},"required":["code","message"]}},"required":["signature"]}
    exit 0

    $ refcheck reference --output-schema 'batch run' --jq '.anyOf[0].required, .anyOf[0].properties.counts.required[0]'
    ["batch_id","package_id","counts","results_file"]
    total
    exit 0

    $ refcheck reference --output-schema 'batch rnu'
    2> Error: --output-schema: no command named "batch rnu"
    2> List the commands with: refcheck help
    exit 2
  `)
})
