import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, onTestFinished } from 'vitest'

import { openApi } from '../../src/contract/openapi.ts'
import type { Sandbox } from '../../src/sandbox/control/embedded.ts'
import { ruleTable } from '../../src/sandbox/service/rules.ts'

interface Media {
  schema: object
}
interface DocumentedAnswer {
  $ref?: string
  content?: Record<string, Media>
}
interface Parameter {
  name: string
  in: string
  schema: { type: string; enum?: string[] }
}
interface Operation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, DocumentedAnswer>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { responses: Record<string, DocumentedAnswer> }
}

const document = openApi('http://127.0.0.1:4280') as unknown as Document
const ajv = new Ajv2020({ strict: false })
formats.default(ajv)
ajv.addSchema(document, 'openapi')

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    operation,
    method: method.toUpperCase(),
    path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  })),
)

/** Rules that make a sandbox accept more than the OpenAPI document, which describes the default rules. */
const wideningRules = [
  'blank-text',
  'control-characters',
  'null-values',
  'email-form',
  'content-type',
  'repeated-parameters',
] as const

/**
 * Messages about rules that a JSON Schema cannot express, because they depend on other fields, on the package or on
 * sizes, and about invalid JSON.
 */
const notInSchema =
  /^(?:body: |package_id: package is not ACTIVE|additional_information.*(?:is not a check code|appears more than once|\.fields\.)|.*must be at most 255|recipient\.email: .*$)/

const compiled = new Map<object, ValidateFunction>()

function getValidator(schema: object): ValidateFunction {
  const existing = compiled.get(schema)
  if (existing !== undefined) return existing
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object)
  compiled.set(schema, validate)
  return validate
}

/** A request to a sandbox and its answer, with the text of both bodies. */
interface Exchange {
  request: Request
  sent: string
  answer: Response
  text: string
}

/**
 * Returns the deviation of an exchange from the OpenAPI document; undefined if there is none, or if the document
 * does not describe the call. The request is compared only if the sandbox has the default rules.
 */
export function findDeviation(exchange: Exchange, hasDefaultRules: boolean): string | undefined {
  const { request, answer, text } = exchange
  const { pathname } = new URL(request.url)
  const found = operations.find(({ method, path }) => method === request.method && path.test(pathname))
  if (found === undefined || text.includes('plain HTTP requests are rejected')) return undefined
  const description = `${request.method} ${pathname} ${answer.status}`
  const deviation =
    findAnswerDeviation(found.operation, exchange) ??
    (hasDefaultRules ? findRequestDeviation(found.operation, exchange) : undefined)
  return deviation === undefined ? undefined : `${description}: ${deviation}`
}

function findAnswerDeviation({ responses }: Operation, { answer, text }: Exchange): string | undefined {
  const status = String(answer.status)
  const response = responses[status] ?? responses[`${status.slice(0, 1)}XX`]
  const described =
    response?.$ref === undefined
      ? response
      : document.components.responses[response.$ref.split('/').pop() ?? '']
  if (described?.content === undefined) return 'this status is not documented'
  const type = answer.headers.get('Content-Type') ?? ''
  const media = described.content[type]
  if (media === undefined) return `the type ${type} is not documented`
  if (type !== 'application/json') return undefined
  const fits = getValidator(media.schema)
  return fits(JSON.parse(text)) ? undefined : `${ajv.errorsText(fits.errors)}: ${text}`
}

/** Checks that an accepted request fits its schema, and that one refused with 400 does not. */
function findRequestDeviation(operation: Operation, exchange: Exchange): string | undefined {
  const { answer, text } = exchange
  if (answer.status < 300) {
    const violation = findSchemaViolation(operation, exchange)
    return violation === undefined ? undefined : `accepted, but ${violation}: ${exchange.sent}`
  }
  if (answer.status !== 400 || findSchemaViolation(operation, exchange) !== undefined) return undefined
  const { message } = JSON.parse(text) as { message: string }
  return notInSchema.test(message)
    ? undefined
    : `refused (${message}), but it fits its schema: ${exchange.sent}`
}

function findSchemaViolation(operation: Operation, { request, sent }: Exchange): string | undefined {
  const query = new URL(request.url).searchParams
  for (const { name, in: location, schema } of operation.parameters ?? []) {
    const values = location === 'query' ? query.getAll(name) : []
    const isValid = (value: string): boolean =>
      schema.type === 'integer'
        ? Number.isSafeInteger(Number(value)) && /^-?\d+$/.test(value)
        : (schema.enum?.includes(value) ?? true)
    if (values.length > 1 || !values.every(isValid)) return `${name} does not fit`
  }
  if (operation.requestBody === undefined) return undefined
  const [type = ''] = (request.headers.get('Content-Type') ?? '').split(';')
  const media = operation.requestBody.content[type.trim().toLowerCase()]
  if (media === undefined) return `no body of the type "${type}" is documented`
  const fits = getValidator(media.schema)
  try {
    return fits(JSON.parse(sent)) ? undefined : ajv.errorsText(fits.errors)
  } catch {
    return 'the body is no JSON'
  }
}

/**
 * Returns the fetch function of a sandbox, which compares each request and each answer with the OpenAPI document.
 * The test fails if one of them deviates.
 */
export function documentedFetch(sandbox: Pick<Sandbox, 'fetch' | 'log' | 'rules'>): Sandbox['fetch'] {
  const deviations: string[] = []
  onTestFinished(() => expect(deviations).toEqual([]))
  return async (request, connection) => {
    if (!new URL(request.url).pathname.startsWith('/v1/')) return sandbox.fetch(request, connection)
    // Reads this copy of the body while the service reads the original, because cancelling one of them waits
    // until the other one is read or cancelled.
    const sending = request.method === 'POST' ? request.clone().text() : Promise.resolve('')
    sending.catch(() => '')
    let isFaulty = false
    const stop = sandbox.log.subscribe((entry) => {
      if (entry.kind === 'call' && entry.fault !== null) isFaulty = true
    })
    try {
      const answer = await sandbox.fetch(request, connection)
      if (isFaulty) return answer
      const hasDefaultRules = sandbox
        .rules()
        .every(
          ({ name, current }) =>
            !wideningRules.some((each) => each === name) || current === ruleTable[name].choices[0],
        )
      const isPdf = answer.headers.get('Content-Type') === 'application/pdf'
      const text = isPdf ? '' : await answer.clone().text()
      const sent = await sending.catch(() => '')
      const found = findDeviation({ request, sent, answer, text }, hasDefaultRules)
      if (found !== undefined) deviations.push(found)
      return answer
    } finally {
      stop()
    }
  }
}
