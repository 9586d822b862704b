import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, test } from 'vitest'

import { sandboxOpenApi } from '../../../src/sandbox/control/openapi.ts'
import { callControl, createSandboxClient, hour } from '../sandbox-client.ts'

test('each control is in the OpenAPI document, and its answer matches the documented schema', async () => {
  const client = createSandboxClient({
    webhookUrl: 'https://hooks.example.com/in',
    deliver: () => Promise.resolve(200),
  })
  const id = await client.order()
  await callControl(client, 'advance', { ms: hour })
  const snapshot = (await callControl(client, 'snapshot')).data as object
  const bodies: Record<string, object> = {
    advance: { ms: 1 },
    inject: { scenario: 'declined' },
    rules: { 'body-limit': 'none' },
    switch: { switch: 'no-credits' },
    user: { email: 'max.member@example.com', active: true },
    credits: { credits: null },
    plan: { trial: 'none', subscription: 'active' },
    webhook: { url: 'https://hooks.example.com/in' },
    'replace-package': { id: 102 },
    hasten: { request_id: await client.order() },
    redeliver: { delivery_id: id },
    trigger: { story: 'completed' },
    restore: snapshot,
  }
  const document = sandboxOpenApi('http://127.0.0.1:4010')
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true })
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const makeReferencesAbsolute = (schema: object): object =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object
  const paths = Object.entries(document['paths'] as Record<string, Record<string, Operation>>)
  const controls = paths.filter(([path]) => path.startsWith('/_sandbox/'))
  expect(controls.length).toBeGreaterThan(18)
  for (const [path, operations] of controls) {
    const name = path.replace('/_sandbox/', '')
    for (const [method, operation] of Object.entries(operations)) {
      const body = method === 'post' ? (bodies[name] ?? {}) : undefined
      const requestSchema = makeReferencesAbsolute(
        operation.requestBody?.content['application/json'].schema ?? {},
      )
      expect([name, ajv.validate(requestSchema, body)]).toEqual([name, true])
      const { status, data } = await callControl(client, name, body)
      expect([method, name, status]).toEqual([method, name, 200])
      const answerSchema = makeReferencesAbsolute(
        operation.responses['200'].content['application/json'].schema,
      )
      expect([name, ajv.validate(answerSchema, data), ajv.errors]).toEqual([name, true, null])
    }
  }
})

interface Content {
  content: { 'application/json': { schema: object } }
}
interface Operation {
  requestBody?: Content
  responses: { 200: Content }
}
