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

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  expect(await validator.validate(openApi('http://127.0.0.1:4280'))).toMatchObject({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('the conversion to OpenAPI 3.0 is valid, has the same operations and schemas, and writes null, const and limits as 3.0 does', async () => {
  const document31 = sandboxOpenApi('http://127.0.0.1:4280')
  const converted = toOpenApi30(document31)
  const validator = new Validator()
  expect(await validator.validate(structuredClone(converted))).toMatchObject({ valid: true })
  expect(validator.version).toBe('3.0')
  const {
    paths,
    components,
    'x-webhooks': webhooks,
  } = converted as unknown as Document & { 'x-webhooks': object }
  const { paths: paths31, components: components31 } = document31 as unknown as Document
  expect(Object.keys(paths)).toEqual(Object.keys(paths31))
  expect(Object.keys(components.schemas)).toEqual(Object.keys(components31.schemas))
  expect(Object.keys(webhooks)).toEqual(['request.updated'])
  const {
    BackgroundCheck,
    Failure,
    PingEnvelope,
    Package,
    TellSandboxInjectBody: injectBody,
  } = components.schemas
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
  expect(JSON.stringify(injectBody)).toContain('"minimum":0,"exclusiveMinimum":true')
  expect(JSON.stringify(converted)).not.toMatch(
    /"type":\[|"type":"null"|"const":|"propertyNames":|"webhooks":/,
  )
})

test('each body and each answer has a named schema', () => {
  const { paths, webhooks, components } = sandboxOpenApi('http://127.0.0.1:4280') as unknown as Document
  const media = JSON.stringify([paths, webhooks, components.responses]).match(
    /"application\/json":\{"schema":\{[^,}]*/g,
  )
  expect(media?.length).toBeGreaterThan(50)
  expect(
    media?.filter((text) => !text.startsWith('"application/json":{"schema":{"$ref":"#/components/schemas/')),
  ).toEqual([])
})

test('the examples are equal to the answers of a sandbox', async () => {
  const bodies: string[] = []
  const { sandbox, get, post, order, authHeaders } = createSandboxClient({
    webhookUrl: 'https://hooks.example.com/',
    deliver: (_url, _headers, body) => {
      bodies.push(Buffer.from(body).toString())
      return Promise.resolve(204)
    },
  })
  const readData = async (path: string) => (await get(`http://127.0.0.1:4280${path}`)).envelope().data
  const request_id = await order(bodyExamples.RequestBody)
  await sandbox.advance(2 * hour)
  const sandboxBodies = {
    RequestBody: fullOrder,
    Ping: await readData('/v1/ping'),
    PackageList: await readData('/v1/packages?id=101'),
    PackageSchema: await readData('/v1/packages/105/schema'),
    CreatedRequest: { request_id, status: 'RECEIVED' },
    Request: await readData(`/v1/requests/${request_id}`),
    UserList: await readData('/v1/users'),
    WebhookEvent: JSON.parse(bodies.at(-1) ?? '') as unknown,
  }
  expect(JSON.parse(JSON.stringify(sandboxBodies).replaceAll(/\?t=[\w.-]+/g, '?t=***'))).toEqual(bodyExamples)

  const failedAnswers: Answer[] = [
    await post({ ...fullOrder, recipient: { ...jane, email: undefined } }),
    await get('/v1/users', {}),
    await get('/v1/users', authHeaders('nobody@example.com')),
    await get('/v1/packages/999/schema'),
  ]
  for (const status of [500, 404]) {
    sandbox.inject({ on: 'GET *', fault: { kind: 'status', status, when: 'before' } })
    failedAnswers.push(await get('/v1/ping', {}))
  }
  for (let calls = 0; calls < 60; calls += 1) await get('/v1/users')
  failedAnswers.push(await get('/v1/users'))
  expect(failedAnswers.map((answer) => answer.envelope().message)).toEqual(Object.values(failureExamples))
})

test('each operation has examples that match their schemas, and the conversion to 3.0 has as many', () => {
  const listExamples = (value: unknown): { schema: object; example: unknown }[] => {
    if (typeof value !== 'object' || value === null) return []
    const ownExamples =
      'schema' in value && 'example' in value ? [value as { schema: object; example: unknown }] : []
    return [...ownExamples, ...Object.values(value).flatMap(listExamples)]
  }
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    expect([operation.operationId, listExamples(operation).length > 0]).toEqual([operation.operationId, true])
  }
  const examples = listExamples([document.paths, document.webhooks, document.components.responses])
  expect(examples.length).toBeGreaterThan(18)
  for (const { schema, example } of examples) {
    const absoluteSchema = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object
    expect([schema, ajv.validate(absoluteSchema, example), ajv.errors]).toEqual([schema, true, null])
  }
  expect(listExamples(toOpenApi30(document as unknown as Record<string, unknown>))).toHaveLength(
    examples.length,
  )
})

test('the document has these endpoints, each with these statuses', () => {
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

test('ids, e-mail addresses, URLs and times have a format', () => {
  const { RequestBody, Request, BackgroundCheck, Referee, User, StatusEvent } = document.components.schemas
  const textOf = (name: string) => ({ type: 'string', format: name })
  const nullableTextOf = (name: string) => ({ type: ['string', 'null'], format: name })
  expect(RequestBody).toMatchObject({
    properties: { recipient: { properties: { email: textOf('email') } } },
  })
  expect(Request).toMatchObject({
    properties: { request_id: textOf('uuid'), created_at: textOf('date-time') },
  })
  expect(BackgroundCheck).toMatchObject({
    properties: { id: nullableTextOf('uuid'), report_pdf_url: nullableTextOf('uri') },
  })
  expect(Referee).toMatchObject({
    properties: { referee_id: { type: 'string' }, report_pdf_url: nullableTextOf('uri') },
  })
  expect(User).toMatchObject({ properties: { id: textOf('uuid'), email: textOf('email') } })
  expect(StatusEvent).toMatchObject({ properties: { request_id: textOf('uuid') } })
})

test('a check needs the fields of its type, and only an event with the status ERROR can have a reason', () => {
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

test('a report can be requested with a token, and its body is binary', () => {
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
interface DocumentedAnswer {
  $ref?: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, Media>
}

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(document, 'openapi')

/** Returns the documented answer of an operation with a status, with its reference resolved. */
function findDocumentedAnswer(method: string, path: string, status: number): DocumentedAnswer {
  const responses = document.paths[path]?.[method.toLowerCase()]?.responses ?? {}
  const response = (responses[String(status)] ?? responses[`${String(status).slice(0, 1)}XX`]) as
    | DocumentedAnswer
    | undefined
  if (response === undefined) throw new Error(`${method} ${path} has no answer ${status}`)
  const name = response.$ref?.split('/').pop()
  return name === undefined ? response : (document.components.responses[name] as DocumentedAnswer)
}

/** Expects the headers, the content type and the body of an answer to match the document. */
function expectDocumented(method: string, path: string, answer: Answer): void {
  const { content = {}, headers = {} } = findDocumentedAnswer(method, path, answer.status)
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

const packagesPath = '/v1/packages'
const schemaPath = '/v1/packages/{id}/schema'
const createPath = '/v1/requests'
const readPath = '/v1/requests/{request_id}'
const reportPath = '/v1/reports/{check_id}'
const refereeReportPath = '/v1/reports/{check_id}/referees/{referee_id}'

test('each answer of the sandbox matches the document: successes, failures and PDFs', async () => {
  const client = createSandboxClient()
  const { sandbox, get, post, order, authHeaders } = client
  const id = await order(fullOrder)
  await sandbox.advance(2 * hour)
  const { checks } = await client.read(id)
  const background = checks.find(({ type }) => type === 'background')
  const referees = checks.find(({ type }) => type === 'reference')
  const refereePath = `/v1/reports/${referees?.id}/referees/${referees?.references?.[0]?.referee_id}`
  const unknownId = '00000000-0000-4000-8000-000000000000'
  const answers: [method: string, path: string, status: number, answer: Answer][] = [
    ['GET', '/v1/ping', 200, await get('/v1/ping', {})],
    ['GET', packagesPath, 200, await get(packagesPath)],
    ['GET', packagesPath, 400, await get(`${packagesPath}?status=paused`)],
    ['GET', packagesPath, 401, await get(packagesPath, {})],
    ['GET', packagesPath, 403, await get(packagesPath, authHeaders('nobody@example.com'))],
    ['GET', schemaPath, 200, await get('/v1/packages/101/schema')],
    ['GET', schemaPath, 401, await get('/v1/packages/101/schema', {})],
    ['GET', schemaPath, 403, await get('/v1/packages/101/schema', authHeaders('nobody@example.com'))],
    ['GET', schemaPath, 404, await get('/v1/packages/999/schema')],
    ['POST', createPath, 201, await post(simpleOrder)],
    ['POST', createPath, 400, await post({ ...simpleOrder, recipient: {} })],
    ['POST', createPath, 401, await post(simpleOrder, {})],
    ['POST', createPath, 403, await post(simpleOrder, authHeaders('nobody@example.com'))],
    ['POST', createPath, 404, await post({ ...simpleOrder, package_id: 999 })],
    ['GET', readPath, 200, await get(`/v1/requests/${id}`)],
    ['GET', readPath, 401, await get(`/v1/requests/${id}`, {})],
    ['GET', readPath, 403, await get(`/v1/requests/${id}`, authHeaders('nobody@example.com'))],
    ['GET', readPath, 404, await get(`/v1/requests/${unknownId}`)],
    ['GET', reportPath, 200, await get(`/v1/reports/${background?.id}`)],
    ['GET', reportPath, 401, await get(`/v1/reports/${background?.id}?t=wrong`, {})],
    ['GET', reportPath, 403, await get(`/v1/reports/${background?.id}`, authHeaders('nobody@example.com'))],
    ['GET', reportPath, 404, await get(`/v1/reports/${unknownId}`)],
    ['GET', refereeReportPath, 200, await get(refereePath)],
    ['GET', refereeReportPath, 401, await get(refereePath, {})],
    ['GET', refereeReportPath, 404, await get(`/v1/reports/${referees?.id}/referees/999`)],
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

test('each event that the sandbox delivers matches the document', async () => {
  const bodies: unknown[] = []
  const client = createSandboxClient({
    webhookUrl: 'https://hooks.example.com/',
    deliver: async (_url, _headers, body) => {
      bodies.push(JSON.parse(Buffer.from(body).toString()))
      return 204
    },
  })
  await client.order()
  await client.order({ ...simpleOrder, recipient: { ...jane, email: 'jane+error@example.com' } })
  await client.sandbox.advance(2 * hour)
  const fits = ajv.compile({ $ref: 'openapi#/components/schemas/WebhookEvent' })
  expect(bodies.length).toBeGreaterThan(2)
  for (const body of bodies) expect([body, fits(body), fits.errors]).toEqual([body, true, null])
})

test('a body that the document forbids does not match its schema', () => {
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

test('a request or an answer that contradicts the document is reported', () => {
  const reportDeviation = (requestBody: object, status: number, message = '') => {
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
    return findDeviation({ request, sent: JSON.stringify(requestBody), answer, text }, true)
  }
  expect(reportDeviation(simpleOrder, 201)).toBeUndefined()
  expect(reportDeviation({}, 400, 'package_id: is required')).toBeUndefined()
  expect(reportDeviation({}, 201)).toContain('accepted, but ')
  expect(reportDeviation(simpleOrder, 400, 'recipient.first_name: is odd')).toContain('it fits its schema')
  expect(reportDeviation(simpleOrder, 409, 'twice')).toContain('this status is not documented')
  expect(reportDeviation(simpleOrder, 404)).toContain('message must NOT have fewer than 1 characters')
})

test('the document is served by the sandbox and printed by the command', async () => {
  const { url, sandbox } = await world()
  const response = await fetch(`${url}/openapi.json`)
  expect([response.headers.get('Cache-Control'), response.headers.get('Expires')]).toEqual(['no-store', '0'])
  expect(await response.json()).toEqual(sandboxOpenApi(url))
  expect(sandbox.log.entries()).toEqual([])
  const env = emptyEnv(temporaryFolder())
  const printed = await refcheck(['sandbox', 'openapi', '--base-url', url], { env })
  expect(printed.json()).toEqual(openApi(url))
  const printedWithControl = await refcheck(['sandbox', 'openapi', '--base-url', url, '--control'], { env })
  expect(printedWithControl.json()).toEqual(sandboxOpenApi(url))
  const printed30 = await refcheck(['sandbox', 'openapi', '--base-url', url, '--version', '3.0'], { env })
  expect(printed30.json()).toEqual(toOpenApi30(openApi(url)))
  const unknownVersion = await refcheck(['sandbox', 'openapi', '--version', '2.0'], { env })
  expect([unknownVersion.code, unknownVersion.stdout]).toEqual([2, ''])
})
