import { expect, test } from 'vitest'

import { fullOrder, jane, refusal, simpleOrder, createSandboxClient } from '../sandbox-client.ts'

const orderWithRecipient = (part: object) => ({ ...simpleOrder, recipient: { ...jane, ...part } })
const orderWithout = (name: keyof typeof jane) => {
  const { [name]: _removed, ...recipientWithoutField } = jane
  return { ...simpleOrder, recipient: recipientWithoutField }
}
const [reference, police, credit] = fullOrder.additional_information
const orderWithPoliceFields = (fields: object) => ({
  ...fullOrder,
  additional_information: [reference, { code: 'ncc_acic', fields: { ...police?.fields, ...fields } }, credit],
})
const orderWithCreditFields = (fields: object) => ({
  ...fullOrder,
  additional_information: [reference, police, { code: 'icrc', fields: { ...credit?.fields, ...fields } }],
})

test('a 201 confirms acceptance with a request_id and the status RECEIVED', async () => {
  const { post } = createSandboxClient()
  const answer = await post(fullOrder)
  expect(answer.status).toBe(201)
  expect(answer.envelope()).toEqual({
    data: {
      request_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      status: 'RECEIVED',
    },
    status_message: 'ok',
    message: '',
  })
})

test('the same body sent again creates a second request', async () => {
  const { order, sandbox } = createSandboxClient()
  expect(await order()).not.toBe(await order())
  expect(sandbox.requests()).toHaveLength(2)
})

test.each([
  ['no JSON', '{"package_id": 102,', 'body: must be valid JSON'],
  ['no body', '', 'body: must be valid JSON'],
  ['an array', [], 'body: must be an object'],
  ['an empty object', {}, 'package_id: is required'],
  ['a package id as text', { ...simpleOrder, package_id: '102' }, 'package_id: must be an integer'],
  ['a package id with a fraction', { ...simpleOrder, package_id: 1.5 }, 'package_id: must be an integer'],
  ['a package id that is null', { ...simpleOrder, package_id: null }, 'package_id: must be an integer'],
  ['an unknown field', { ...simpleOrder, callback: 'x' }, 'callback: is not a known field'],
  ['no recipient', { package_id: 102 }, 'recipient: is required'],
  ['a recipient that is a list', { package_id: 102, recipient: [] }, 'recipient: must be an object'],
  ['no first name', orderWithout('first_name'), 'recipient.first_name: is required'],
  ['no last name', orderWithout('last_name'), 'recipient.last_name: is required'],
  ['no e-mail', orderWithout('email'), 'recipient.email: is required'],
  ['no phone', orderWithout('phone'), 'recipient.phone: is required'],
  ['a blank name', orderWithRecipient({ first_name: ' ' }), 'recipient.first_name: must not be empty'],
  ['a name that is a number', orderWithRecipient({ last_name: 7 }), 'recipient.last_name: must be a string'],
  ['a name that is null', orderWithRecipient({ last_name: null }), 'recipient.last_name: must be a string'],
  [
    'an unknown recipient field',
    orderWithRecipient({ middle_name: 'X' }),
    'recipient.middle_name: is not a known field',
  ],
  [
    'an e-mail without @',
    orderWithRecipient({ email: 'jane' }),
    'recipient.email: must be a valid email address',
  ],
  [
    'an e-mail with a space',
    orderWithRecipient({ email: 'j e@x.co' }),
    'recipient.email: must be a valid email address',
  ],
  [
    'an e-mail without domain',
    orderWithRecipient({ email: 'j@x' }),
    'recipient.email: must be a valid email address',
  ],
  [
    'a phone without +',
    orderWithRecipient({ phone: '61400000001' }),
    'recipient.phone: must be in E.164 format',
  ],
  [
    'a phone with spaces',
    orderWithRecipient({ phone: '+61 400 000 001' }),
    'recipient.phone: must be in E.164 format',
  ],
  [
    'a phone that begins with 0',
    orderWithRecipient({ phone: '+0400000001' }),
    'recipient.phone: must be in E.164 format',
  ],
  [
    'a phone of 16 digits',
    orderWithRecipient({ phone: '+1234567890123456' }),
    'recipient.phone: must be in E.164 format',
  ],
  [
    'additional information that is an object',
    { ...simpleOrder, additional_information: {} },
    'additional_information: must be an array',
  ],
  [
    'additional information that is null',
    { ...simpleOrder, additional_information: null },
    'additional_information: must be an array',
  ],
  [
    'an entry without code',
    { ...simpleOrder, additional_information: [{ fields: {} }] },
    'additional_information[0].code: is required',
  ],
  [
    'an entry without fields',
    { ...simpleOrder, additional_information: [{ code: 'icrc' }] },
    'additional_information[0].fields: is required',
  ],
  [
    'a code the package does not have',
    { ...simpleOrder, additional_information: [{ code: 'icrc', fields: {} }] },
    'additional_information[0].code: is not a check code of this package',
  ],
  [
    'a code twice',
    { ...fullOrder, additional_information: [reference, police, credit, reference] },
    'additional_information[3].code: appears more than once',
  ],
  [
    'a missing code that has required fields',
    { ...fullOrder, additional_information: [reference, police] },
    'additional_information[2].fields.years_of_history: is required by check code icrc',
  ],
  [
    'no additional information where some is required',
    { package_id: 101, recipient: jane },
    'additional_information[0].fields.position_title: is required by check code reference',
  ],
  [
    'a required field missing',
    orderWithPoliceFields({ date_of_birth: undefined }),
    'additional_information[1].fields.date_of_birth: is required',
  ],
  [
    'a field the schema does not have',
    orderWithPoliceFields({ nickname: 'J' }),
    'additional_information[1].fields.nickname: is not a known field',
  ],
  [
    'a number for a string',
    orderWithPoliceFields({ date_of_birth: 1990 }),
    'additional_information[1].fields.date_of_birth: must be a string',
  ],
  [
    'an empty required string',
    orderWithPoliceFields({ date_of_birth: '' }),
    'additional_information[1].fields.date_of_birth: must not be empty',
  ],
  [
    'a string for a boolean',
    orderWithPoliceFields({ is_volunteer: 'no' }),
    'additional_information[1].fields.is_volunteer: must be a boolean',
  ],
  [
    'an object for an array',
    orderWithPoliceFields({ previous_names: {} }),
    'additional_information[1].fields.previous_names: must be an array',
  ],
  [
    'an array for an object',
    orderWithPoliceFields({ residential_address: [] }),
    'additional_information[1].fields.residential_address: must be an object',
  ],
  [
    'null for an object',
    orderWithPoliceFields({ residential_address: null }),
    'additional_information[1].fields.residential_address: must be an object',
  ],
  [
    'a fraction for an integer',
    orderWithCreditFields({ years_of_history: 2.5 }),
    'additional_information[2].fields.years_of_history: must be an integer',
  ],
  [
    'a string for a number',
    orderWithCreditFields({ annual_income: '61000' }),
    'additional_information[2].fields.annual_income: must be a number',
  ],
])('400 for %s', async (_label, body, message) => {
  const { post, sandbox } = createSandboxClient()
  const answer = await post(body)
  expect(answer.status).toBe(400)
  expect(answer.envelope()).toEqual(refusal(message))
  expect(sandbox.requests()).toEqual([])
})

test('a field named __proto__ is an unknown field like any other', async () => {
  const { post } = createSandboxClient()
  const answer = await post(JSON.stringify(simpleOrder).replace('{', '{"__proto__":{"package_id":1},'))
  expect(answer.envelope()).toEqual(refusal('__proto__: is not a known field'))
})

test('optional fields may be left out, or given with their type', async () => {
  const { post } = createSandboxClient()
  expect((await post(orderWithPoliceFields({ licence_number: 'X1' }))).status).toBe(201)
  expect((await post(orderWithPoliceFields({ licence_number: 1 }))).envelope()).toEqual(
    refusal('additional_information[1].fields.licence_number: must be a string'),
  )
})

test('a phone number may have 15 digits', async () => {
  const { post } = createSandboxClient()
  expect((await post(orderWithRecipient({ phone: '+123456789012345' }))).status).toBe(201)
})

test.each([undefined, 'text/plain', 'application/jsonp'])('Content-Type %s is a 400', async (type) => {
  const { post, authHeaders } = createSandboxClient()
  const headers = { ...authHeaders(), ...(type !== undefined && { 'Content-Type': type }) }
  const answer = await post(simpleOrder, headers)
  expect(answer.status).toBe(400)
  expect(answer.envelope()).toEqual(refusal('Content-Type: must be application/json'))
})

test('Content-Type may name the character set', async () => {
  const { post, authHeaders } = createSandboxClient()
  const headers = { ...authHeaders(), 'Content-Type': 'application/json; charset=utf-8' }
  expect((await post(simpleOrder, headers)).status).toBe(201)
})

test.each([
  ['unknown', 999, 404, 'resource not found'],
  ['of another organisation', 201, 404, 'resource not found'],
  ['DISABLED', 106, 404, 'resource not found'],
  ['INACTIVE', 105, 400, 'package_id: package is not ACTIVE'],
])('a create for a package that is %s (%i) is a %i', async (_label, id, status, message) => {
  const { post } = createSandboxClient()
  const answer = await post({ ...simpleOrder, package_id: id })
  expect(answer.status).toBe(status)
  expect(answer.envelope()).toEqual(refusal(message))
})

test('a create for a package that is not available to the role of the user is a 404', async () => {
  const { post, authHeaders } = createSandboxClient()
  const headers = { ...authHeaders('max.member@example.com'), 'Content-Type': 'application/json' }
  expect((await post({ ...simpleOrder, package_id: 104 }, headers)).status).toBe(404)
})

test('each request uses one credit, and a create without credits is a 403', async () => {
  const { post, sandbox } = createSandboxClient()
  sandbox.setCredits(2)
  expect((await post(simpleOrder)).status).toBe(201)
  expect((await post('{}')).status).toBe(400)
  expect((await post(simpleOrder)).status).toBe(201)
  const answer = await post(simpleOrder)
  expect(answer.status).toBe(403)
  expect(answer.envelope()).toEqual(refusal('organisation has no credits remaining'))
  expect(sandbox.requests()).toHaveLength(2)
})

test('a create after the end of the trial is a 403', async () => {
  const { post, sandbox, get } = createSandboxClient()
  sandbox.makePermanentChange('expire-trial')
  const answer = await post(simpleOrder)
  expect(answer.status).toBe(403)
  expect(answer.envelope()).toEqual(refusal('organisation trial has expired'))
  expect((await get('/v1/packages')).status).toBe(200)
})

test('a create without an active subscription is a 403', async () => {
  const { post, sandbox } = createSandboxClient()
  sandbox.makePermanentChange('deactivate-subscription')
  const answer = await post(simpleOrder)
  expect(answer.status).toBe(403)
  expect(answer.envelope()).toEqual(refusal('organisation subscription is not active'))
})

test('a create with a body larger than 1 MiB is a 400', async () => {
  const { post } = createSandboxClient()
  const answer = await post(orderWithRecipient({ first_name: 'x'.repeat(1_048_577) }))
  expect(answer.status).toBe(400)
  expect(answer.envelope()).toEqual(refusal('body: must not be larger than 1 MiB'))
})

test('the requester of a request is the user of the create call', async () => {
  const { post, authHeaders, read } = createSandboxClient()
  const headers = { ...authHeaders('max.member@example.com'), 'Content-Type': 'application/json' }
  const { request_id } = (await post(simpleOrder, headers)).envelope().data as { request_id: string }
  expect((await read(request_id)).requester).toEqual({ email: 'max.member@example.com' })
})
