import type { Switch } from './defects.ts'
import { type Asked, type Knobs, lawful, type Reply } from './knobs.ts'

type Item = Record<string, unknown>

const lenient = (name: string, by: string, forgive: RegExp): Switch => ({ name, by, knobs: { forgive } })
const knob = (name: string, by: string, knobs: Partial<Knobs>): Switch => ({ name, by, knobs })
const posts = (name: string, by: string, change: (reply: Reply, asked: Asked) => void): Switch => ({
  name,
  by,
  knobs: {
    answer(reply, asked) {
      if (asked.method === 'POST') change(reply, asked)
    },
  },
})
const setStatus = (from: number, to: number) => (reply: Reply) => {
  if (reply.status === from) reply.status = to
}
const dataOf = (reply: Reply): Item => (Buffer.isBuffer(reply.body) ? {} : (reply.body.data as Item))
const messages = (change: (message: string) => string) => (reply: Reply) => {
  if (reply.status === 400 && !Buffer.isBuffer(reply.body)) reply.body.message = change(reply.body.message)
}

const accepted = new Map<string, unknown>()

export const createSwitches: Switch[] = [
  posts('200 for an order', 'create.accepted', setStatus(201, 200)),
  posts('202 for an order', 'create.accepted', setStatus(201, 202)),
  posts('an order that is IN_PROGRESS at once', 'create.accepted', (reply) => {
    if (reply.status === 201) dataOf(reply)['status'] = 'IN_PROGRESS'
  }),
  posts('an order without an id', 'create.accepted', (reply) => {
    if (reply.status === 201) dataOf(reply)['request_id'] = 'REQ-17'
  }),
  posts('orders that are merged by an Idempotency-Key', 'create.no-idempotency', (reply, { headers }) => {
    const key = headers['idempotency-key']
    if (key === undefined || reply.status !== 201) return
    if (accepted.has(key)) Object.assign(dataOf(reply), accepted.get(key))
    else accepted.set(key, { ...dataOf(reply) })
  }),
  posts('409 for the same order again', 'create.no-idempotency', (reply, { headers }) => {
    if (headers['idempotency-key'] !== undefined) reply.status = 409
  }),
  posts(
    'messages without a path',
    'create.missing-fields',
    messages(() => 'the order is not valid'),
  ),
  posts(
    'messages that name another field',
    'create.missing-fields',
    messages((text) => text.replace(/^[^:]*/, '/recipient/fax')),
  ),
  posts(
    'messages without a reason',
    'create.email',
    messages((text) => text.replace(/:.*/, ':')),
  ),
  posts(
    'messages that name the last part only',
    'create.phone',
    messages((text) => text.replace('/recipient/', '')),
  ),
  posts('404 for an INACTIVE package', 'create.package-inactive', (reply, { body }) => {
    if (body.includes('"package_id":74')) reply.status = 404
  }),
  lenient('INACTIVE packages can be ordered', 'create.package-inactive', /package_id is not active/),
  posts('400 for a DISABLED package', 'create.package-disabled', (reply, { body }) => {
    if (body.includes('"package_id":75')) reply.status = 400
  }),
  posts('400 for an unknown package', 'create.package-unknown', setStatus(404, 400)),
  lenient('unknown fields of the information', 'create.information-unknown', /fields\.no_such_field/),
  lenient('unknown codes', 'create.information-of-no-check', /is not asked for/),
  lenient('codes may come twice', 'create.duplicate-codes', /was there before/),
  lenient('a required entry left out whole', 'create.information-entry-left-out', /lacks the entry/),
  lenient('a required field left out', 'create.information-required', /must be supplied/),
  knob('nothing of the information is required', 'create.information-required', { required: () => false }),
  lenient('a recipient without a phone', 'create.missing-fields', /recipient\.phone is missing/),
  lenient('a recipient without a last name', 'create.missing-fields', /recipient\.last_name is missing/),
  lenient('numbers for names', 'create.wrong-types', /_name is not a text/),
  lenient('a package_id of any type', 'create.wrong-types', /package_id is not an integer/),
  knob('"5" for an integer', 'create.information-types', {
    fits: (type, value) =>
      lawful.fits(type, type === 'integer' && typeof value === 'string' ? Number(value) : value),
  }),
  knob('fractions for integers', 'create.information-types', {
    fits: (type, value) => lawful.fits(type === 'integer' ? 'number' : type, value),
  }),
  knob('"1.5" for a number', 'create.information-types', {
    fits: (type, value) => lawful.fits(type, type === 'number' ? Number(value) : value),
  }),
  knob('"true" for a boolean', 'create.information-types', {
    fits: (type, value) => lawful.fits(type, value === 'true' ? true : value),
  }),
  knob('1 for a boolean', 'create.information-types', {
    fits: (type, value) => lawful.fits(type, type === 'boolean' && value === 1 ? true : value),
  }),
  knob('numbers for texts', 'create.information-types', {
    fits: (type, value) => lawful.fits(type, type === 'string' && typeof value === 'number' ? '' : value),
  }),
  knob('arrays for objects', 'create.information-types', {
    fits: (type, value) => (type === 'object' ? typeof value === 'object' : lawful.fits(type, value)),
  }),
  knob('a text for an array', 'create.information-types', {
    fits: (type, value) => lawful.fits(type, type === 'array' && typeof value === 'string' ? [] : value),
  }),
  knob('null for anything', 'create.information-null', {
    fits: (type, value) => value === null || lawful.fits(type, value),
  }),
  knob('arrays are never right', 'create.information-whole', {
    fits: (type, value) => type !== 'array' && lawful.fits(type, value),
  }),
  knob('any text is an e-mail', 'create.email', { emailOk: () => true }),
  knob('an @ makes an e-mail', 'create.email', { emailOk: (email) => email.includes('@') }),
  knob('no dots in e-mails', 'create.valid-emails', {
    emailOk: (email) => lawful.emailOk(email) && !email.split('@')[0]!.includes('.'),
  }),
  knob('any text is a phone', 'create.phone', { phoneOk: () => true }),
  knob('16 digits', 'create.phone', { phoneOk: (phone) => /^\+[1-9]\d{1,15}$/.test(phone) }),
  knob('14 digits at most', 'create.longest-phone', { phoneOk: (phone) => /^\+[1-9]\d{1,13}$/.test(phone) }),
  knob('phones without a plus', 'create.phone', { phoneOk: (phone) => /^\+?[1-9]\d{1,14}$/.test(phone) }),
  knob('phones with spaces', 'create.phone', {
    phoneOk: (phone) => lawful.phoneOk(phone.replaceAll(/[ -]/g, '')),
  }),
  posts('500 for broken JSON', 'create.invalid-json', (reply) => {
    if (reply.status === 400 && !Buffer.isBuffer(reply.body) && /cannot be read/.test(reply.body.message)) {
      reply.status = 500
    }
  }),
  posts('415 for another Content-Type', 'create.content-type', (reply, { headers }) => {
    if (headers['content-type'] === 'text/plain') reply.status = 415
  }),
  knob('any Content-Type', 'create.content-type', {
    before: ({ method, headers }) => {
      if (method === 'POST') headers['content-type'] = 'application/json'
    },
  }),
  posts('404 for a package_id that is an array', 'create.package-forms', (reply, { body }) => {
    if (body.includes('"package_id":[')) reply.status = 404
  }),
  posts('an empty additional_information is refused', 'create.information-optional', (reply, { body }) => {
    if (body.includes('"additional_information":[]')) reply.status = 400
  }),
  posts('402 without credits', 'standing.credits', setStatus(403, 402)),
]
