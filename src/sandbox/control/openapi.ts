import { z } from 'zod'

import { cacheHeaders } from '../../contract/headers.ts'
import { openApi, schemaOf } from '../../contract/openapi.ts'
import { type Control, postControls, getControls } from './controls.ts'
import { controlPath } from './client.ts'

type Json = Record<string, unknown>

/**
 * Returns the OpenAPI 3.1 description of the service at `baseUrl`, with the control API of a sandbox under
 * its own tag.
 */
export function sandboxOpenApi(baseUrl: string): Json {
  const service = openApi(baseUrl)
  const { paths, components, tags } = service as { paths: Json; components: Json; tags: Json[] }
  const { schemas, securitySchemes } = components as { schemas: Json; securitySchemes: Json }
  return {
    ...service,
    tags: [...tags, { name: 'sandbox', description: 'Steers a running sandbox; no part of the service.' }],
    paths: { ...paths, ...controlPaths() },
    components: {
      ...components,
      schemas: { ...schemas, ...controlSchemas(), ControlFailure: schemaOf(controlFailure) },
      securitySchemes: { ...securitySchemes, controlToken },
    },
  }
}

/**
 * Returns the response of a running sandbox for /openapi.json. It is not a call of the service, so it is not in its
 * quotas or log.
 */
export function describeSandbox(baseUrl: string): Response {
  return Response.json(sandboxOpenApi(baseUrl), { headers: cacheHeaders })
}

const controlToken = {
  type: 'http',
  scheme: 'bearer',
  description:
    'The control_token that "sandbox start" prints where other machines reach it; else nothing is asked for.',
}

const controlFailure = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }),
})

/** Returns the schemas of all controls: their bodies and responses. */
function controlSchemas(): Json {
  const answers = [
    ...getControls.map((control) => [responseName('read', control), schemaOf(control.responseSchema)]),
    ...postControls.map((control) => [responseName('tell', control), schemaOf(control.responseSchema)]),
  ]
  const bodies = postControls.map((control) => [bodyName(control), schemaOf(control.bodySchema)])
  return Object.fromEntries([...answers, ...bodies]) as Json
}

const toPascalCase = (text: string): string =>
  text.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())
const responseName = (verb: 'read' | 'tell', { name }: Control): string =>
  toPascalCase(`${verb}-sandbox-${name}-answer`)
const bodyName = ({ name }: Control): string => toPascalCase(`tell-sandbox-${name}-body`)
const createReference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

function controlPaths(): Json {
  const paths: Record<string, Json> = {}
  for (const control of getControls) {
    const parameters = Object.entries(control.query ?? {}).map(([name, description]) => ({
      name,
      in: 'query',
      description,
      schema: { type: 'integer', minimum: 0 },
    }))
    paths[pathOf(control)] = { get: { ...describeOperation('read', control), parameters } }
  }
  for (const control of postControls) {
    const post = {
      ...describeOperation('tell', control),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: createReference(bodyName(control)) } },
      },
    }
    paths[pathOf(control)] = { ...paths[pathOf(control)], post }
  }
  return paths
}

const pathOf = ({ name }: Control): string => `${controlPath}${name}`

function describeOperation(verb: 'read' | 'tell', control: Control): Json {
  const { name, summary } = control
  return {
    operationId: verb + toPascalCase(`sandbox-${name}`),
    summary,
    description: `${summary}. JSON in and out, beside the service: no API key, no quota.`,
    tags: ['sandbox'],
    security: [{}, { controlToken: [] }],
    responses: {
      '200': {
        description: 'Done.',
        content: { 'application/json': { schema: createReference(responseName(verb, control)) } },
      },
      '4XX': {
        description: 'Refused; `error` says why.',
        content: { 'application/json': { schema: createReference('ControlFailure') } },
      },
    },
  }
}
