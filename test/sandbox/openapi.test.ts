import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'

import { openApi } from '../../src/sandbox/openapi.ts'
import { refcheck } from '../harness/run-command.ts'
import { fullInformation, orderOf } from '../harness/people.ts'
import { emptyEnv, temporaryFolder, world } from '../harness/world.ts'

interface Operation {
  operationId: string
  responses: Record<string, unknown>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, unknown>
  components: { schemas: Record<string, object> }
}

const document = openApi('http://127.0.0.1:4280') as unknown as Document

test('a validator of OpenAPI 3.1 finds nothing wrong', async () => {
  const validator = new Validator()
  expect(await validator.validate(openApi('http://127.0.0.1:4280'))).toMatchObject({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('every endpoint of the document, with the failures it names', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { responses }]) => `${method.toUpperCase()} ${path} ${Object.keys(responses).join(' ')}`,
    ),
  )
  expect(operations).toEqual([
    'GET /v1/ping 200 5XX',
    'GET /v1/packages 200 400 401 403 429 5XX',
    'GET /v1/packages/{id}/schema 200 401 403 404 429 5XX',
    'POST /v1/requests 201 400 401 403 404 429 5XX',
    'GET /v1/requests/{request_id} 200 401 403 404 429 5XX',
    'GET /v1/reports/{check_id} 200 401 403 404 429 5XX',
    'GET /v1/reports/{check_id}/referees/{referee_id} 200 401 403 404 429 5XX',
    'GET /v1/users 200 401 403 429 5XX',
  ])
  expect(Object.keys(document.webhooks)).toEqual(['request.updated'])
})

test('what the sandbox answers fits the schemas', async () => {
  const { run, env, url } = await world()
  const argv = orderOf('Priya', ['--yes', '--json', ...fullInformation]).map((each) =>
    each === '102' ? '101' : each,
  )
  const { request_id } = (await run(argv)).json() as { request_id: string }
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const headers = {
    'X-Service-API-Key': env['REFCHECK_API_KEY'] ?? '',
    'X-Service-User-Email': env['REFCHECK_USER_EMAIL'] ?? '',
  }
  for (const [path, name] of [
    ['/v1/ping', 'Ping'],
    ['/v1/packages', 'PackageList'],
    ['/v1/packages/101/schema', 'PackageSchema'],
    [`/v1/requests/${request_id}`, 'Request'],
    ['/v1/users', 'UserList'],
  ] as const) {
    const { data } = (await (await fetch(url + path, { headers })).json()) as { data: unknown }
    const fits = ajv.compile(document.components.schemas[name] ?? {})
    expect([name, fits(data), fits.errors]).toEqual([name, true, null])
  }
})

test('it is served beside the service and printed by the command', async () => {
  const { url, sandbox } = await world()
  const served = await fetch(`${url}/openapi.json`)
  expect(await served.json()).toEqual(openApi(url))
  expect(sandbox.log.entries()).toEqual([])
  const printed = await refcheck(['sandbox', 'openapi', '--base-url', url], {
    env: emptyEnv(temporaryFolder()),
  })
  expect(printed.json()).toEqual(openApi(url))
})
