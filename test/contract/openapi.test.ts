import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'

import { bodyExamples, failureExamples } from '../../src/contract/openapi-examples.ts'
import { openApi, toOpenApi30 } from '../../src/contract/openapi.ts'
import { sandboxOpenApi } from '../../src/sandbox/control/openapi.ts'
import { findDeviation } from '../harness/documented-fetch.ts'
import { refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder, world } from '../harness/world.ts'
import {
  type Answer,
  fullOrder,
  hour,
  jane,
  simpleOrder,
  createSandboxClient,
} from '../sandbox/sandbox-client.ts'

interface Operation {
  operationId: string
  responses: Record<string, unknown>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, unknown>
  components: { schemas: Record<string, object>; responses: Record<string, object> }
}

const document = openApi('http://127.0.0.1:4280') as unknown as Document

test('a validator of OpenAPI 3.1 finds nothing wrong', async () => {
  const validator = new Validator()
  expect(await validator.validate(openApi('http://127.0.0.1:4280'))).toMatchObject({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('in OpenAPI 3.0 it is valid, has the same operations and schemas, and null, const and limits as 3.0 writes them', async () => {
  const all = sandboxOpenApi('http://127.0.0.1:4280')
  const converted = toOpenApi30(all)
  const validator = new Validator()
  expect(await validator.validate(structuredClone(converted))).toMatchObject({ valid: true })
  expect(validator.version).toBe('3.0')
  const {
    paths,
    components,
    'x-webhooks': webhooks,
  } = converted as unknown as Document & { 'x-webhooks': object }
  const of31 = all as unknown as Document
  expect(Object.keys(paths)).toEqual(Object.keys(of31.paths))
  expect(Object.keys(components.schemas)).toEqual(Object.keys(of31.components.schemas))
  expect(Object.keys(webhooks)).toEqual(['request.updated'])
  const { BackgroundCheck, Failure, PingEnvelope, Package, TellSandboxInjectBody } = components.schemas
  expect(BackgroundCheck).toMatchObject({
    properties: {
      id: { type: 'string', nullable: true, format: 'uuid' },
      type: { type: 'string', enum: ['background'] },
    },
  })
  expect(Failure).toMatchObject({ properties: { data: { type: 'object', nullable: true, enum: [null] } } })
  expect(PingEnvelope).toMatchObject({ properties: { status_message: { type: 'string', enum: ['ok'] } } })
  expect(Package).toMatchObject({
    properties: { details: { properties: { reference_survey: { type: 'object', nullable: true } } } },
  })
  expect(JSON.stringify(TellSandboxInjectBody)).toContain('"minimum":0,"exclusiveMinimum":true')
  expect(JSON.stringify(converted)).not.toMatch(
    /"type":\[|"type":"null"|"const":|"propertyNames":|"webhooks":/,
  )
})

test('every body and every answer has a named schema', () => {
  const { paths, webhooks, components } = sandboxOpenApi('http://127.0.0.1:4280') as unknown as Document
  const media = JSON.stringify([paths, webhooks, components.responses]).match(
    /"application\/json":\{"schema":\{[^,}]*/g,
  )
  expect(media?.length).toBeGreaterThan(50)
  expect(
    media?.filter((each) => !each.startsWith('"application/json":{"schema":{"$ref":"#/components/schemas/')),
  ).toEqual([])
})

test('the examples are what a sandbox gives', async () => {
  const bodies: string[] = []
  const { sandbox, get, post, order, authHeaders } = createSandboxClient({
    webhookUrl: 'https://hooks.example.com/',
    deliver: (_url, _headers, body) => {
      bodies.push(Buffer.from(body).toString())
      return Promise.resolve(204)
    },
  })
  const data = async (path: string) => (await get(`http://127.0.0.1:4280${path}`)).envelope().data
  const request_id = await order(bodyExamples.RequestBody)
  await sandbox.advance(2 * hour)
  const given = {
    RequestBody: fullOrder,
    Ping: await data('/v1/ping'),
    PackageList: await data('/v1/packages?id=101'),
    PackageSchema: await data('/v1/packages/105/schema'),
    CreatedRequest: { request_id, status: 'RECEIVED' },
    Request: await data(`/v1/requests/${request_id}`),
    UserList: await data('/v1/users'),
    WebhookEvent: JSON.parse(bodies.at(-1) ?? '') as unknown,
  }
  expect(JSON.parse(JSON.stringify(given).replaceAll(/\?t=[\w.-]+/g, '?t=***'))).toEqual(bodyExamples)

  const refused: Answer[] = [
    await post({ ...fullOrder, recipient: { ...jane, email: undefined } }),
    await get('/v1/users', {}),
    await get('/v1/users', authHeaders('nobody@example.com')),
    await get('/v1/packages/999/schema'),
  ]
  for (const status of [500, 404]) {
    sandbox.inject({ on: 'GET *', fault: { kind: 'status', status, when: 'before' } })
    refused.push(await get('/v1/ping', {}))
  }
  for (let calls = 0; calls < 60; calls += 1) await get('/v1/users')
  refused.push(await get('/v1/users'))
  expect(refused.map((answer) => answer.envelope().message)).toEqual(Object.values(failureExamples))
})

test('every operation has examples, and each fits its schema in both versions', () => {
  const examples = (value: unknown): { schema: object; example: unknown }[] => {
    if (typeof value !== 'object' || value === null) return []
    const own = 'schema' in value && 'example' in value ? [value as { schema: object; example: unknown }] : []
    return [...own, ...Object.values(value).flatMap(examples)]
  }
  for (const operation of Object.values(document.paths).flatMap((each) => Object.values(each))) {
    expect([operation.operationId, examples(operation).length > 0]).toEqual([operation.operationId, true])
  }
  const all = examples([document.paths, document.webhooks, document.components.responses])
  expect(all.length).toBeGreaterThan(18)
  for (const { schema, example } of all) {
    const own = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object
    expect([schema, ajv.validate(own, example), ajv.errors]).toEqual([schema, true, null])
  }
  expect(examples(toOpenApi30(document as unknown as Record<string, unknown>))).toHaveLength(all.length)
})

test('every endpoint of the document, with the failures it names', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { responses }]) => `${method.toUpperCase()} ${path} ${Object.keys(responses).join(' ')}`,
    ),
  )
  expect(operations).toEqual([
    'GET /v1/ping 200 4XX 5XX',
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

test('ids, addresses and times are known by their formats', () => {
  const { RequestBody, Request, BackgroundCheck, Referee, User, StatusEvent } = document.components.schemas
  const text = (name: string) => ({ type: 'string', format: name })
  const orNull = (name: string) => ({ type: ['string', 'null'], format: name })
  expect(RequestBody).toMatchObject({
    properties: { recipient: { properties: { email: text('email') } } },
  })
  expect(Request).toMatchObject({ properties: { request_id: text('uuid'), created_at: text('date-time') } })
  expect(BackgroundCheck).toMatchObject({ properties: { id: orNull('uuid'), report_pdf_url: orNull('uri') } })
  expect(Referee).toMatchObject({
    properties: { referee_id: { type: 'string' }, report_pdf_url: orNull('uri') },
  })
  expect(User).toMatchObject({ properties: { id: text('uuid'), email: text('email') } })
  expect(StatusEvent).toMatchObject({ properties: { request_id: text('uuid') } })
})

test('a check is what its type says, and an event has a reason only where it is of an ERROR', () => {
  const fits = (name: string, value: object): boolean =>
    ajv.validate({ $ref: `openapi#/components/schemas/${name}` }, value)
  const id = '00000000-0000-4000-8000-000000000000'
  const background = { id, type: 'background', status: 'COMPLETED', partner_name: null, check_name: null }
  expect(fits('Check', { ...background, report_pdf_url: null })).toBe(true)
  expect(fits('Check', background)).toBe(false)
  expect(fits('Check', { id, type: 'reference', status: 'COMPLETED', references: [] })).toBe(true)
  expect(fits('Check', { id, type: 'reference', status: 'COMPLETED' })).toBe(false)
  expect(fits('Check', { ...background, report_pdf_url: null, type: 'other' })).toBe(false)
  const event = { event: 'request.updated', request_id: id }
  expect(fits('WebhookEvent', { ...event, status: 'ERROR', error_reason: 'x' })).toBe(true)
  expect(fits('WebhookEvent', { ...event, status: 'ERROR' })).toBe(true)
  expect(fits('WebhookEvent', { ...event, status: 'COMPLETED' })).toBe(true)
  expect(fits('WebhookEvent', { ...event, status: 'COMPLETED', error_reason: 'x' })).toBe(false)
})

test('a report can be asked for with its token, and is bytes', () => {
  const reports = Object.entries(document.paths).filter(([path]) => path.startsWith('/v1/reports/'))
  expect(reports).toHaveLength(2)
  for (const [, { get }] of reports) {
    expect(get).toMatchObject({
      parameters: expect.arrayContaining([
        expect.objectContaining({ name: 't', in: 'query', schema: { type: 'string' } }),
      ]) as unknown,
      responses: {
        200: { content: { 'application/pdf': { schema: { type: 'string', format: 'binary' } } } },
      },
    })
  }
})

interface Media {
  schema?: object
}
interface Documented {
  $ref?: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, Media>
}

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(document, 'openapi')

/** What the document says of an answer to an operation, references followed. */
function documented(method: string, path: string, status: number): Documented {
  const responses = document.paths[path]?.[method.toLowerCase()]?.responses ?? {}
  const found = (responses[String(status)] ?? responses[`${String(status).slice(0, 1)}XX`]) as
    | Documented
    | undefined
  if (found === undefined) throw new Error(`${method} ${path} has no answer ${status}`)
  const name = found.$ref?.split('/').pop()
  return name === undefined ? found : (document.components.responses[name] as Documented)
}

/** Fails where an answer is not as the document says it is: status, headers, content type and body. */
function expectDocumented(method: string, path: string, answer: Answer): void {
  const { content = {}, headers = {} } = documented(method, path, answer.status)
  const [type = '', media] = Object.entries(content)[0] ?? []
  expect(answer.headers.get('Content-Type')).toBe(type)
  expect(Object.keys(headers).filter((name) => answer.headers.get(name) === null)).toEqual([])
  expect(answer.bytes.toString('latin1', 0, 5) === '%PDF-').toBe(type === 'application/pdf')
  const schema = JSON.parse(JSON.stringify(media?.schema ?? {}).replaceAll('"#/', '"openapi#/')) as object
  const fits = ajv.compile(schema)
  const body = type === 'application/pdf' ? answer.bytes.toString('latin1') : answer.envelope()
  expect([`${method} ${path} ${answer.status}`, fits(body), fits.errors]).toEqual([
    `${method} ${path} ${answer.status}`,
    true,
    null,
  ])
}

const packages = '/v1/packages'
const schema = '/v1/packages/{id}/schema'
const create = '/v1/requests'
const read = '/v1/requests/{request_id}'
const report = '/v1/reports/{check_id}'
const reference = '/v1/reports/{check_id}/referees/{referee_id}'

test('every answer of the sandbox is as the document says: successes, failures and PDFs', async () => {
  const caller = createSandboxClient()
  const { sandbox, get, post, order, authHeaders } = caller
  const id = await order(fullOrder)
  await sandbox.advance(2 * hour)
  const { checks } = await caller.read(id)
  const background = checks.find(({ type }) => type === 'background')
  const referees = checks.find(({ type }) => type === 'reference')
  const refereePath = `/v1/reports/${referees?.id}/referees/${referees?.references?.[0]?.referee_id}`
  const unknown = '00000000-0000-4000-8000-000000000000'
  const answers: [method: string, path: string, status: number, answer: Answer][] = [
    ['GET', '/v1/ping', 200, await get('/v1/ping', {})],
    ['GET', packages, 200, await get(packages)],
    ['GET', packages, 400, await get(`${packages}?status=paused`)],
    ['GET', packages, 401, await get(packages, {})],
    ['GET', packages, 403, await get(packages, authHeaders('nobody@example.com'))],
    ['GET', schema, 200, await get('/v1/packages/101/schema')],
    ['GET', schema, 401, await get('/v1/packages/101/schema', {})],
    ['GET', schema, 403, await get('/v1/packages/101/schema', authHeaders('nobody@example.com'))],
    ['GET', schema, 404, await get('/v1/packages/999/schema')],
    ['POST', create, 201, await post(simpleOrder)],
    ['POST', create, 400, await post({ ...simpleOrder, recipient: {} })],
    ['POST', create, 401, await post(simpleOrder, {})],
    ['POST', create, 403, await post(simpleOrder, authHeaders('nobody@example.com'))],
    ['POST', create, 404, await post({ ...simpleOrder, package_id: 999 })],
    ['GET', read, 200, await get(`/v1/requests/${id}`)],
    ['GET', read, 401, await get(`/v1/requests/${id}`, {})],
    ['GET', read, 403, await get(`/v1/requests/${id}`, authHeaders('nobody@example.com'))],
    ['GET', read, 404, await get(`/v1/requests/${unknown}`)],
    ['GET', report, 200, await get(`/v1/reports/${background?.id}`)],
    ['GET', report, 401, await get(`/v1/reports/${background?.id}?t=wrong`, {})],
    ['GET', report, 403, await get(`/v1/reports/${background?.id}`, authHeaders('nobody@example.com'))],
    ['GET', report, 404, await get(`/v1/reports/${unknown}`)],
    ['GET', reference, 200, await get(refereePath)],
    ['GET', reference, 401, await get(refereePath, {})],
    ['GET', reference, 404, await get(`/v1/reports/${referees?.id}/referees/999`)],
    ['GET', '/v1/users', 200, await get('/v1/users')],
    ['GET', '/v1/users', 401, await get('/v1/users', {})],
  ]
  sandbox.inject({ on: 'GET *', fault: { kind: 'status', status: 503, when: 'before' } })
  answers.push(['GET', '/v1/users', 503, await get('/v1/users')])
  for (let calls = 0; calls < 100; calls += 1) await get('/v1/users')
  answers.push(['GET', '/v1/users', 429, await get('/v1/users')])
  for (const [method, path, status, answer] of answers) {
    expect([method, path, answer.status]).toEqual([method, path, status])
    expectDocumented(method, path, answer)
  }
})

test('what the sandbox delivers is the event of the document', async () => {
  const bodies: unknown[] = []
  const caller = createSandboxClient({
    webhookUrl: 'https://hooks.example.com/',
    deliver: async (_url, _headers, body) => {
      bodies.push(JSON.parse(Buffer.from(body).toString()))
      return 204
    },
  })
  await caller.order()
  await caller.order({ ...simpleOrder, recipient: { ...jane, email: 'jane+error@example.com' } })
  await caller.sandbox.advance(2 * hour)
  const fits = ajv.compile({ $ref: 'openapi#/components/schemas/WebhookEvent' })
  expect(bodies.length).toBeGreaterThan(2)
  for (const body of bodies) expect([body, fits(body), fits.errors]).toEqual([body, true, null])
})

test('a body that the document forbids does not fit its schema', () => {
  const fits = ajv.compile({ $ref: 'openapi#/components/schemas/RequestBody' })
  expect(fits(fullOrder)).toBe(true)
  const recipients = [
    { ...jane, phone: '0400 000 000' },
    { ...jane, first_name: ' ' },
    { ...jane, last_name: 'Do\0e' },
    { ...jane, email: 'jane@example' },
    { ...jane, middle_name: 'X' },
  ]
  for (const recipient of recipients)
    expect([recipient, fits({ ...fullOrder, recipient })]).toEqual([recipient, false])
  expect(fits({ ...fullOrder, callback: 'x' })).toBe(false)
  expect(fits({ ...fullOrder, additional_information: null })).toBe(false)
  expect(fits({ package_id: 102 })).toBe(false)
})

test('an exchange that contradicts the document is reported, whichever side is wrong', () => {
  const exchange = (sent: object, status: number, message = '') => {
    const request = new Request('http://127.0.0.1/v1/requests', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    })
    const data =
      status === 201 ? { request_id: '00000000-0000-4000-8000-000000000000', status: 'RECEIVED' } : null
    const status_message = status === 201 ? 'ok' : 'client_error'
    const answer = Response.json({}, { status })
    const text = JSON.stringify({ data, status_message, message })
    return findDeviation({ request, sent: JSON.stringify(sent), answer, text }, true)
  }
  expect(exchange(simpleOrder, 201)).toBeUndefined()
  expect(exchange({}, 400, 'package_id: is required')).toBeUndefined()
  expect(exchange({}, 201)).toContain('accepted, but ')
  expect(exchange(simpleOrder, 400, 'recipient.first_name: is odd')).toContain('it fits its schema')
  expect(exchange(simpleOrder, 409, 'twice')).toContain('this status is not documented')
  expect(exchange(simpleOrder, 404)).toContain('message must NOT have fewer than 1 characters')
})

test('it is served next to the service and printed by the command', async () => {
  const { url, sandbox } = await world()
  const served = await fetch(`${url}/openapi.json`)
  expect([served.headers.get('Cache-Control'), served.headers.get('Expires')]).toEqual(['no-store', '0'])
  expect(await served.json()).toEqual(sandboxOpenApi(url))
  expect(sandbox.log.entries()).toEqual([])
  const env = emptyEnv(temporaryFolder())
  const printed = await refcheck(['sandbox', 'openapi', '--base-url', url], { env })
  expect(printed.json()).toEqual(openApi(url))
  const controlled = await refcheck(['sandbox', 'openapi', '--base-url', url, '--control'], { env })
  expect(controlled.json()).toEqual(sandboxOpenApi(url))
  const older = await refcheck(['sandbox', 'openapi', '--base-url', url, '--version', '3.0'], { env })
  expect(older.json()).toEqual(toOpenApi30(openApi(url)))
  const unknown = await refcheck(['sandbox', 'openapi', '--version', '2.0'], { env })
  expect([unknown.code, unknown.stdout]).toEqual([2, ''])
})
