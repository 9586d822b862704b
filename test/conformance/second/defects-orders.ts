import { behaviourDefect, type Defect } from './defects.ts'
import { type Call, documentedBehaviour, type Reply } from './behaviour.ts'

type Item = Record<string, unknown>

const leniencyDefect = (name: string, caughtBy: string, ignoredFaults: RegExp): Defect =>
  behaviourDefect(name, caughtBy, { ignoredFaults })
const postDefect = (name: string, caughtBy: string, change: (reply: Reply, call: Call) => void): Defect => ({
  name,
  caughtBy,
  behaviour: {
    changeReply(reply, call) {
      if (call.method === 'POST') change(reply, call)
    },
  },
})
const setStatus = (from: number, to: number) => (reply: Reply) => {
  if (reply.status === from) reply.status = to
}
const dataOf = (reply: Reply): Item => (Buffer.isBuffer(reply.body) ? {} : (reply.body.data as Item))
const changeMessage = (change: (message: string) => string) => (reply: Reply) => {
  if (reply.status === 400 && !Buffer.isBuffer(reply.body)) reply.body.message = change(reply.body.message)
}

const dataByKey = new Map<string, unknown>()

export const orderDefects: Defect[] = [
  postDefect('200 for an order', 'create.accepted', setStatus(201, 200)),
  postDefect('202 for an order', 'create.accepted', setStatus(201, 202)),
  postDefect('an order that is IN_PROGRESS at once', 'create.accepted', (reply) => {
    if (reply.status === 201) dataOf(reply)['status'] = 'IN_PROGRESS'
  }),
  postDefect('an order without an id', 'create.accepted', (reply) => {
    if (reply.status === 201) dataOf(reply)['request_id'] = 'REQ-17'
  }),
  postDefect(
    'orders that are merged by an Idempotency-Key',
    'create.no-idempotency',
    (reply, { headers }) => {
      const key = headers['idempotency-key']
      if (key === undefined || reply.status !== 201) return
      if (dataByKey.has(key)) Object.assign(dataOf(reply), dataByKey.get(key))
      else dataByKey.set(key, { ...dataOf(reply) })
    },
  ),
  postDefect('409 for the same order again', 'create.no-idempotency', (reply, { headers }) => {
    if (headers['idempotency-key'] !== undefined) reply.status = 409
  }),
  postDefect(
    'messages without a path',
    'create.missing-fields',
    changeMessage(() => 'the order is not valid'),
  ),
  postDefect(
    'messages that name another field',
    'create.missing-fields',
    changeMessage((text) => text.replace(/^[^:]*/, '/recipient/fax')),
  ),
  postDefect(
    'messages without a reason',
    'create.email',
    changeMessage((text) => text.replace(/:.*/, ':')),
  ),
  postDefect(
    'messages that name the last part only',
    'create.phone',
    changeMessage((text) => text.replace('/recipient/', '')),
  ),
  postDefect('404 for an INACTIVE package', 'create.package-inactive', (reply, { body }) => {
    if (body.includes('"package_id":74')) reply.status = 404
  }),
  leniencyDefect('INACTIVE packages can be ordered', 'create.package-inactive', /package_id is not active/),
  postDefect('400 for a DISABLED package', 'create.package-disabled', (reply, { body }) => {
    if (body.includes('"package_id":75')) reply.status = 400
  }),
  postDefect('400 for an unknown package', 'create.package-unknown', setStatus(404, 400)),
  leniencyDefect(
    'unknown fields of the information are accepted',
    'create.information-unknown',
    /fields\.no_such_field/,
  ),
  leniencyDefect('unknown codes are accepted', 'create.information-of-no-check', /is not asked for/),
  leniencyDefect('codes may come twice', 'create.duplicate-codes', /was there before/),
  leniencyDefect('a required entry may be left out', 'create.information-entry-left-out', /lacks the entry/),
  leniencyDefect('a required field may be left out', 'create.information-required', /must be supplied/),
  behaviourDefect('nothing of the information is required', 'create.information-required', {
    isRequired: () => false,
  }),
  leniencyDefect(
    'a recipient without a phone is accepted',
    'create.missing-fields',
    /recipient\.phone is missing/,
  ),
  leniencyDefect(
    'a recipient without a last name is accepted',
    'create.missing-fields',
    /recipient\.last_name is missing/,
  ),
  leniencyDefect('numbers are accepted as names', 'create.wrong-types', /_name is not a text/),
  leniencyDefect(
    'a package_id of any type is accepted',
    'create.wrong-types',
    /package_id is not an integer/,
  ),
  behaviourDefect('"5" for an integer', 'create.information-types', {
    isOfType: (type, value) =>
      documentedBehaviour.isOfType(
        type,
        type === 'integer' && typeof value === 'string' ? Number(value) : value,
      ),
  }),
  behaviourDefect('fractions for integers', 'create.information-types', {
    isOfType: (type, value) => documentedBehaviour.isOfType(type === 'integer' ? 'number' : type, value),
  }),
  behaviourDefect('"1.5" for a number', 'create.information-types', {
    isOfType: (type, value) => documentedBehaviour.isOfType(type, type === 'number' ? Number(value) : value),
  }),
  behaviourDefect('"true" for a boolean', 'create.information-types', {
    isOfType: (type, value) => documentedBehaviour.isOfType(type, value === 'true' ? true : value),
  }),
  behaviourDefect('1 for a boolean', 'create.information-types', {
    isOfType: (type, value) =>
      documentedBehaviour.isOfType(type, type === 'boolean' && value === 1 ? true : value),
  }),
  behaviourDefect('numbers for texts', 'create.information-types', {
    isOfType: (type, value) =>
      documentedBehaviour.isOfType(type, type === 'string' && typeof value === 'number' ? '' : value),
  }),
  behaviourDefect('arrays for objects', 'create.information-types', {
    isOfType: (type, value) =>
      type === 'object' ? typeof value === 'object' : documentedBehaviour.isOfType(type, value),
  }),
  behaviourDefect('a text for an array', 'create.information-types', {
    isOfType: (type, value) =>
      documentedBehaviour.isOfType(type, type === 'array' && typeof value === 'string' ? [] : value),
  }),
  behaviourDefect('null for anything', 'create.information-null', {
    isOfType: (type, value) => value === null || documentedBehaviour.isOfType(type, value),
  }),
  behaviourDefect('arrays are never accepted', 'create.information-whole', {
    isOfType: (type, value) => type !== 'array' && documentedBehaviour.isOfType(type, value),
  }),
  behaviourDefect('any text is an e-mail', 'create.email', { isValidEmail: () => true }),
  behaviourDefect('any text with an @ is an e-mail', 'create.email', {
    isValidEmail: (email) => email.includes('@'),
  }),
  behaviourDefect('e-mails with dots before the @ are refused', 'create.valid-emails', {
    isValidEmail: (email) => documentedBehaviour.isValidEmail(email) && !email.split('@')[0]!.includes('.'),
  }),
  behaviourDefect('any text is a phone', 'create.phone', { isValidPhone: () => true }),
  behaviourDefect('phones of 16 digits are accepted', 'create.phone', {
    isValidPhone: (phone) => /^\+[1-9]\d{1,15}$/.test(phone),
  }),
  behaviourDefect('phones of 15 digits are refused', 'create.longest-phone', {
    isValidPhone: (phone) => /^\+[1-9]\d{1,13}$/.test(phone),
  }),
  behaviourDefect('phones without a plus are accepted', 'create.phone', {
    isValidPhone: (phone) => /^\+?[1-9]\d{1,14}$/.test(phone),
  }),
  behaviourDefect('phones with spaces are accepted', 'create.phone', {
    isValidPhone: (phone) => documentedBehaviour.isValidPhone(phone.replaceAll(/[ -]/g, '')),
  }),
  postDefect('500 for broken JSON', 'create.invalid-json', (reply) => {
    if (reply.status === 400 && !Buffer.isBuffer(reply.body) && /cannot be read/.test(reply.body.message)) {
      reply.status = 500
    }
  }),
  postDefect('415 for another Content-Type', 'create.content-type', (reply, { headers }) => {
    if (headers['content-type'] === 'text/plain') reply.status = 415
  }),
  behaviourDefect('any Content-Type is accepted', 'create.content-type', {
    beforeCall: ({ method, headers }) => {
      if (method === 'POST') headers['content-type'] = 'application/json'
    },
  }),
  postDefect('404 for a package_id that is an array', 'create.package-forms', (reply, { body }) => {
    if (body.includes('"package_id":[')) reply.status = 404
  }),
  postDefect(
    'an empty additional_information is refused',
    'create.information-optional',
    (reply, { body }) => {
      if (body.includes('"additional_information":[]')) reply.status = 400
    },
  ),
  postDefect('402 without credits', 'standing.credits', setStatus(403, 402)),
]
