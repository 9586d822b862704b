import { expect, test } from 'vitest'

import type { Package } from '../../../src/contract/package.ts'
import { refusal, visit } from '../visit.ts'

async function ids(get: ReturnType<typeof visit>['get'], query = '', headers?: Record<string, string>) {
  const answer = await get(`/v1/packages${query}`, headers)
  expect(answer.status).toBe(200)
  return (answer.envelope().data as { packages: Package[] }).packages.map(({ id, status }) => [id, status])
}

test('the full list is returned, INACTIVE and DISABLED packages with it', async () => {
  const { get } = visit()
  expect(await ids(get)).toEqual([
    [101, 'ACTIVE'],
    [102, 'ACTIVE'],
    [103, 'ACTIVE'],
    [104, 'ACTIVE'],
    [105, 'INACTIVE'],
    [106, 'DISABLED'],
  ])
})

test('a package has the fields of the document', async () => {
  const { get } = visit()
  const all = (await get('/v1/packages')).envelope().data
  expect(all).toMatchObject({
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
])('GET /v1/packages%s', async (query, expected) => {
  const { get } = visit()
  expect((await ids(get, query)).map(([id]) => id)).toEqual(expected)
})

test.each([
  ['?status=ACTIVE', 'status: must be one of active, inactive, disabled'],
  ['?status=', 'status: must be one of active, inactive, disabled'],
  ['?id=first', 'id: must be an integer'],
  ['?id=1.5', 'id: must be an integer'],
  ['?id=', 'id: must be an integer'],
])('an unsupported value gives 400: %s', async (query, message) => {
  const { get } = visit()
  const answer = await get(`/v1/packages${query}`)
  expect(answer.status).toBe(400)
  expect(answer.envelope()).toEqual(refusal(message))
})

test('availability depends on the user’s role', async () => {
  const { get, signedIn } = visit()
  const member = signedIn('max.member@example.com')
  expect(await ids(get, '?status=active', member)).toEqual([
    [101, 'ACTIVE'],
    [102, 'ACTIVE'],
    [103, 'ACTIVE'],
  ])
  expect((await get('/v1/packages/104/schema', member)).status).toBe(404)
  expect((await get('/v1/packages/104/schema')).status).toBe(200)
})

test('packages of another organisation are not there', async () => {
  const { get, sandbox } = visit()
  expect((await get('/v1/packages/201/schema')).status).toBe(404)
  const foreign = {
    'X-Service-API-Key': sandbox.otherOrganisation.apiKey,
    'X-Service-User-Email': sandbox.otherOrganisation.userEmail,
  }
  expect(await ids(get, '', foreign)).toEqual([[201, 'ACTIVE']])
})

test('the schema has one entry per check that needs information, with fields of all six types', async () => {
  const { get } = visit()
  const { data } = (await get('/v1/packages/101/schema')).envelope()
  const text = { type: 'string', required: true }
  expect(data).toMatchObject({
    id: 101,
    fields: { recipient: { first_name: text, last_name: text, email: text, phone: text } },
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
  const { get } = visit()
  expect((await get('/v1/packages/102/schema')).envelope().data).toMatchObject({
    id: 102,
    fields: { additional_information: [] },
  })
})

test.each(['999', 'first', '101.5', '-1', '%20'])('the schema of package %s is a 404', async (id) => {
  const { get } = visit()
  const answer = await get(`/v1/packages/${id}/schema`)
  expect(answer.status).toBe(404)
  expect(answer.envelope()).toEqual(refusal('resource not found'))
})
