import { expect, test } from 'vitest'

import type { Package } from '../../../src/contract/package.ts'
import { refusal, createSandboxClient } from '../sandbox-client.ts'

async function listPackages(
  get: ReturnType<typeof createSandboxClient>['get'],
  query = '',
  headers?: Record<string, string>,
) {
  const answer = await get(`/v1/packages${query}`, headers)
  expect(answer.status).toBe(200)
  return (answer.envelope().data as { packages: Package[] }).packages.map(({ id, status }) => [id, status])
}

test('the list of packages includes INACTIVE and DISABLED packages', async () => {
  const { get } = createSandboxClient()
  expect(await listPackages(get)).toEqual([
    [101, 'ACTIVE'],
    [102, 'ACTIVE'],
    [103, 'ACTIVE'],
    [104, 'ACTIVE'],
    [105, 'INACTIVE'],
    [106, 'DISABLED'],
  ])
})

test('a package has the fields of the API document', async () => {
  const { get } = createSandboxClient()
  const packages = (await get('/v1/packages')).envelope().data
  expect(packages).toMatchObject({
    packages: expect.arrayContaining([
      {
        id: 101,
        name: 'Standard employment screen',
        status: 'ACTIVE',
        details: {
          reference_survey: { id: 11, name: 'Professional reference survey', min_referees: 2 },
          background_checks: [
            { check_name: 'National police check', partner_name: 'Verity Checks' },
            { check_name: 'Credit history check', partner_name: 'Ledgerline Bureau' },
          ],
        },
      },
      expect.objectContaining({
        id: 102,
        details: {
          reference_survey: null,
          background_checks: [{ check_name: 'Identity check', partner_name: 'Facet Identity' }],
        },
      }),
      expect.objectContaining({
        id: 103,
        details: { reference_survey: { id: 12, name: null, min_referees: 2 }, background_checks: [] },
      }),
      expect.objectContaining({
        id: 105,
        details: expect.objectContaining({ background_checks: [{ check_name: null, partner_name: null }] }),
      }),
    ]),
  })
})

test.each([
  ['?status=active', [101, 102, 103, 104]],
  ['?status=inactive', [105]],
  ['?status=disabled', [106]],
  ['?id=102', [102]],
  ['?id=102&status=inactive', []],
  ['?id=999', []],
])('GET /v1/packages%s returns the packages %j', async (query, expected) => {
  const { get } = createSandboxClient()
  expect((await listPackages(get, query)).map(([id]) => id)).toEqual(expected)
})

test.each([
  ['?status=ACTIVE', 'status: must be one of active, inactive, disabled'],
  ['?status=', 'status: must be one of active, inactive, disabled'],
  ['?id=first', 'id: must be an integer'],
  ['?id=1.5', 'id: must be an integer'],
  ['?id=', 'id: must be an integer'],
])('GET /v1/packages%s has an unsupported value and is a 400', async (query, message) => {
  const { get } = createSandboxClient()
  const answer = await get(`/v1/packages${query}`)
  expect(answer.status).toBe(400)
  expect(answer.envelope()).toEqual(refusal(message))
})

test('only packages that are available to the role of the user are returned', async () => {
  const { get, authHeaders } = createSandboxClient()
  const memberHeaders = authHeaders('max.member@example.com')
  expect(await listPackages(get, '?status=active', memberHeaders)).toEqual([
    [101, 'ACTIVE'],
    [102, 'ACTIVE'],
    [103, 'ACTIVE'],
  ])
  expect((await get('/v1/packages/104/schema', memberHeaders)).status).toBe(404)
  expect((await get('/v1/packages/104/schema')).status).toBe(200)
})

test('packages of another organisation are not accessible', async () => {
  const { get, sandbox } = createSandboxClient()
  expect((await get('/v1/packages/201/schema')).status).toBe(404)
  const foreignHeaders = {
    'X-Service-API-Key': sandbox.otherOrganisationOwner.apiKey,
    'X-Service-User-Email': sandbox.otherOrganisationOwner.userEmail,
  }
  expect(await listPackages(get, '', foreignHeaders)).toEqual([[201, 'ACTIVE']])
})

test('the schema has one entry per check that needs information, with fields of all six types', async () => {
  const { get } = createSandboxClient()
  const { data } = (await get('/v1/packages/101/schema')).envelope()
  const requiredString = { type: 'string', required: true }
  expect(data).toMatchObject({
    id: 101,
    fields: {
      recipient: {
        first_name: requiredString,
        last_name: requiredString,
        email: requiredString,
        phone: requiredString,
      },
    },
  })
  const information = (data as { fields: { additional_information: { code: string; fields: object }[] } })
    .fields.additional_information
  expect(information.map(({ code }) => code)).toEqual(['reference', 'ncc_acic', 'icrc'])
  const fields = information.flatMap(
    (entry) => Object.values(entry.fields) as { type: string; required: boolean }[],
  )
  const required = fields.filter((field) => field.required).map(({ type }) => type)
  expect(new Set(required)).toEqual(new Set(['string', 'integer', 'number', 'boolean', 'array', 'object']))
})

test('additional_information is an empty array when nothing is needed', async () => {
  const { get } = createSandboxClient()
  expect((await get('/v1/packages/102/schema')).envelope().data).toMatchObject({
    id: 102,
    fields: { additional_information: [] },
  })
})

test.each(['999', 'first', '101.5', '-1', '%20'])('the schema of package %s is a 404', async (id) => {
  const { get } = createSandboxClient()
  const answer = await get(`/v1/packages/${id}/schema`)
  expect(answer.status).toBe(404)
  expect(answer.envelope()).toEqual(refusal('resource not found'))
})
