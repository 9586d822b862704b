import { expect, test } from 'vitest'

import { fullOrder, jane, refusal, simpleOrder, visit } from '../visit.ts'

const recipient = (part: object) => ({ ...simpleOrder, recipient: { ...jane, ...part } })
const without = (name: keyof typeof jane) => {
  const { [name]: _left, ...rest } = jane
  return { ...simpleOrder, recipient: rest }
}
const [reference, police, credit] = fullOrder.additional_information
const policeWith = (fields: object) => ({
  ...fullOrder,
  additional_information: [reference, { code: 'ncc_acic', fields: { ...police?.fields, ...fields } }, credit],
})
const creditWith = (fields: object) => ({
  ...fullOrder,
  additional_information: [reference, police, { code: 'icrc', fields: { ...credit?.fields, ...fields } }],
})

test('a 201 confirms acceptance with a request_id and the status RECEIVED', async () => {
  const { post } = visit()
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
  const { order, sandbox } = visit()
  expect(await order()).not.toBe(await order())
  expect(sandbox.requests()).toHaveLength(2)
})

test.each([
  ['no JSON', '{"package_id": 102,', 'body: must be valid JSON'],
  ['no body', '', 'body: must be valid JSON'],
  ['an array', [], 'body: must be an object'],
  ['nothing in it', {}, 'package_id: is required'],
  ['a package id as text', { ...simpleOrder, package_id: '102' }, 'package_id: must be an integer'],
  ['a package id with a fraction', { ...simpleOrder, package_id: 1.5 }, 'package_id: must be an integer'],
  ['a package id that is null', { ...simpleOrder, package_id: null }, 'package_id: must be an integer'],
  ['an unknown field', { ...simpleOrder, callback: 'x' }, 'callback: is not a known field'],
  ['no recipient', { package_id: 102 }, 'recipient: is required'],
  ['a recipient that is a list', { package_id: 102, recipient: [] }, 'recipient: must be an object'],
  ['no first name', without('first_name'), 'recipient.first_name: is required'],
  ['no last name', without('last_name'), 'recipient.last_name: is required'],
  ['no e-mail', without('email'), 'recipient.email: is required'],
  ['no phone', without('phone'), 'recipient.phone: is required'],
  ['a blank name', recipient({ first_name: ' ' }), 'recipient.first_name: must not be empty'],
  ['a name that is a number', recipient({ last_name: 7 }), 'recipient.last_name: must be a string'],
  ['a name that is null', recipient({ last_name: null }), 'recipient.last_name: must be a string'],
  [
    'an unknown recipient field',
    recipient({ middle_name: 'X' }),
    'recipient.middle_name: is not a known field',
  ],
  ['an e-mail without @', recipient({ email: 'jane' }), 'recipient.email: must be a valid email address'],
  [
    'an e-mail with a space',
    recipient({ email: 'j e@x.co' }),
    'recipient.email: must be a valid email address',
  ],
  ['an e-mail without domain', recipient({ email: 'j@x' }), 'recipient.email: must be a valid email address'],
  ['a phone without +', recipient({ phone: '61400000001' }), 'recipient.phone: must be in E.164 format'],
  [
    'a phone with spaces',
    recipient({ phone: '+61 400 000 001' }),
    'recipient.phone: must be in E.164 format',
  ],
  ['a phone from 0', recipient({ phone: '+0400000001' }), 'recipient.phone: must be in E.164 format'],
  ['16 digits', recipient({ phone: '+1234567890123456' }), 'recipient.phone: must be in E.164 format'],
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
    'a code that is needed missing',
    { ...fullOrder, additional_information: [reference, police] },
    'additional_information[2].fields.years_of_history: is required by check code icrc',
  ],
  [
    'none of what is needed',
    { package_id: 101, recipient: jane },
    'additional_information[0].fields.position_title: is required by check code reference',
  ],
  [
    'a required field missing',
    policeWith({ date_of_birth: undefined }),
    'additional_information[1].fields.date_of_birth: is required',
  ],
  [
    'a field the schema does not have',
    policeWith({ nickname: 'J' }),
    'additional_information[1].fields.nickname: is not a known field',
  ],
  [
    'a number for a string',
    policeWith({ date_of_birth: 1990 }),
    'additional_information[1].fields.date_of_birth: must be a string',
  ],
  [
    'an empty required string',
    policeWith({ date_of_birth: '' }),
    'additional_information[1].fields.date_of_birth: must not be empty',
  ],
  [
    'a string for a boolean',
    policeWith({ is_volunteer: 'no' }),
    'additional_information[1].fields.is_volunteer: must be a boolean',
  ],
  [
    'an object for an array',
    policeWith({ previous_names: {} }),
    'additional_information[1].fields.previous_names: must be an array',
  ],
  [
    'an array for an object',
    policeWith({ residential_address: [] }),
    'additional_information[1].fields.residential_address: must be an object',
  ],
  [
    'null for an object',
    policeWith({ residential_address: null }),
    'additional_information[1].fields.residential_address: must be an object',
  ],
  [
    'a fraction for an integer',
    creditWith({ years_of_history: 2.5 }),
    'additional_information[2].fields.years_of_history: must be an integer',
  ],
  [
    'a string for a number',
    creditWith({ annual_income: '61000' }),
    'additional_information[2].fields.annual_income: must be a number',
  ],
])('400 for %s', async (_what, body, message) => {
  const { post, sandbox } = visit()
  const answer = await post(body)
  expect(answer.status).toBe(400)
  expect(answer.envelope()).toEqual(refusal(message))
  expect(sandbox.requests()).toEqual([])
})

test('a field named __proto__ is an unknown field like any other', async () => {
  const { post } = visit()
  const answer = await post(JSON.stringify(simpleOrder).replace('{', '{"__proto__":{"package_id":1},'))
  expect(answer.envelope()).toEqual(refusal('__proto__: is not a known field'))
})

test('optional fields may be left out, or given with their type', async () => {
  const { post } = visit()
  expect((await post(policeWith({ licence_number: 'X1' }))).status).toBe(201)
  expect((await post(policeWith({ licence_number: 1 }))).envelope()).toEqual(
    refusal('additional_information[1].fields.licence_number: must be a string'),
  )
})

test('15 digits are a phone number', async () => {
  const { post } = visit()
  expect((await post(recipient({ phone: '+123456789012345' }))).status).toBe(201)
})

test.each([undefined, 'text/plain', 'application/jsonp'])('Content-Type %s is a 400', async (type) => {
  const { post, signedIn } = visit()
  const headers = { ...signedIn(), ...(type !== undefined && { 'Content-Type': type }) }
  const answer = await post(simpleOrder, headers)
  expect(answer.status).toBe(400)
  expect(answer.envelope()).toEqual(refusal('Content-Type: must be application/json'))
})

test('Content-Type may name the character set', async () => {
  const { post, signedIn } = visit()
  const headers = { ...signedIn(), 'Content-Type': 'application/json; charset=utf-8' }
  expect((await post(simpleOrder, headers)).status).toBe(201)
})

test.each([
  ['unknown', 999, 404, 'resource not found'],
  ['of another organisation', 201, 404, 'resource not found'],
  ['DISABLED', 106, 404, 'resource not found'],
  ['INACTIVE', 105, 400, 'package_id: package is not ACTIVE'],
])('a package that is %s: %i is a %i', async (_what, id, status, message) => {
  const { post } = visit()
  const answer = await post({ ...simpleOrder, package_id: id })
  expect(answer.status).toBe(status)
  expect(answer.envelope()).toEqual(refusal(message))
})

test('a package not available to the user’s role is a 404', async () => {
  const { post, signedIn } = visit()
  const headers = { ...signedIn('max.member@example.com'), 'Content-Type': 'application/json' }
  expect((await post({ ...simpleOrder, package_id: 104 }, headers)).status).toBe(404)
})

test('insufficient credits are a 403, and each request uses one', async () => {
  const { post, sandbox } = visit()
  sandbox.setCredits(2)
  expect((await post(simpleOrder)).status).toBe(201)
  expect((await post('{}')).status).toBe(400)
  expect((await post(simpleOrder)).status).toBe(201)
  const answer = await post(simpleOrder)
  expect(answer.status).toBe(403)
  expect(answer.envelope()).toEqual(refusal('organisation has no credits remaining'))
  expect(sandbox.requests()).toHaveLength(2)
})

test('an expired trial is a 403', async () => {
  const { post, sandbox, get } = visit()
  sandbox.applySwitch('expire-trial')
  const answer = await post(simpleOrder)
  expect(answer.status).toBe(403)
  expect(answer.envelope()).toEqual(refusal('organisation trial has expired'))
  expect((await get('/v1/packages')).status).toBe(200)
})

test('an inactive subscription is a 403', async () => {
  const { post, sandbox } = visit()
  sandbox.applySwitch('deactivate-subscription')
  const answer = await post(simpleOrder)
  expect(answer.status).toBe(403)
  expect(answer.envelope()).toEqual(refusal('organisation subscription is not active'))
})

test('a body larger than 1 MiB is a 400', async () => {
  const { post } = visit()
  const answer = await post(recipient({ first_name: 'x'.repeat(1_048_577) }))
  expect(answer.status).toBe(400)
  expect(answer.envelope()).toEqual(refusal('body: must not be larger than 1 MiB'))
})

test('the request is attributed to the user of the call', async () => {
  const { post, signedIn, read } = visit()
  const headers = { ...signedIn('max.member@example.com'), 'Content-Type': 'application/json' }
  const { request_id } = (await post(simpleOrder, headers)).envelope().data as { request_id: string }
  expect((await read(request_id)).requester).toEqual({ email: 'max.member@example.com' })
})
