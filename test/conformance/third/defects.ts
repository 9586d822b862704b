import { createHmac } from 'node:crypto'

import { emails, keys, secret } from './data.ts'
import type { Call, Defect, Reply } from './service.ts'

/** An object in the data of an answer. */
type Item = Record<string, unknown>

/** Changes the data of successful reads of one request. */
const createReadDefect = (
  name: string,
  caughtBy: string,
  change: (request: Item & { checks: Item[] }) => void,
): Defect => ({
  name,
  caughtBy,
  changeReply({ status, data }, { method, path }) {
    if (status === 200 && method === 'GET' && path.startsWith('/v1/requests/')) {
      change(data as Item & { checks: Item[] })
    }
  },
})

const usersOf = (reply: Reply): Item[] => (reply.data as { users: Item[] }).users

/** Changes the users of successful reads of the list of users. */
const createUserListDefect = (name: string, caughtBy: string, change: (users: Item[]) => void): Defect => ({
  name,
  caughtBy,
  changeReply(reply, { path }) {
    if (reply.status === 200 && path === '/v1/users') change(usersOf(reply))
  },
})

/** Changes any answer. */
const createAnswerDefect = (
  name: string,
  caughtBy: string,
  changeReply: (reply: Reply, call: Call) => void,
): Defect => ({
  name,
  caughtBy,
  changeReply,
})

/** The number of reads that were changed so far, so that each read has another value. */
let readCount = 0

export const defects: readonly Defect[] = [
  { name: 'tokens that are valid for two hours', caughtBy: 'reports.token-life', tokenLifetimeMs: 7_200_000 },
  {
    name: 'INACTIVE packages can be ordered',
    caughtBy: 'create.package-inactive',
    ignoredFaults: /not active/,
  },
  {
    name: 'the information for a required check may be missing',
    caughtBy: 'create.information-entry-left-out',
    ignoredFaults: /it lacks/,
  },
  { name: 'any text is accepted as an e-mail', caughtBy: 'create.email', ignoredFaults: /no address/ },
  { name: 'any text is accepted as a phone', caughtBy: 'create.phone', ignoredFaults: /at most 15 digits/ },
  {
    name: 'additional information may have fields that the schema does not have',
    caughtBy: 'create.information-unknown',
    ignoredFaults: /no such field/,
  },
  createReadDefect('the phone is returned without its plus', 'create.readable', ({ recipient }) => {
    const person = recipient as Item
    person['phone'] = String(person['phone']).slice(1)
  }),
  createReadDefect('check ids change with each read', 'requests.check-ids', ({ checks }) => {
    readCount += 1
    const tail = String(readCount).padStart(12, '0')
    for (const check of checks)
      if (typeof check['id'] === 'string') check['id'] = check['id'].slice(0, -12) + tail
  }),
  createReadDefect('created_at changes with each read', 'requests.unchanging', (request) => {
    readCount += 1
    request['created_at'] = new Date(readCount * 1000).toISOString()
  }),
  createReadDefect('COMPLETED as soon as one check is COMPLETED', 'statuses.completed', (request) => {
    if (request['status'] === 'PARTIAL') request['status'] = 'COMPLETED'
  }),
  createReadDefect('IN_PROGRESS before a check has begun', 'statuses.in-progress', (request) => {
    if (request['status'] === 'RECEIVED') request['status'] = 'IN_PROGRESS'
  }),
  createAnswerDefect('200 for an unknown request', 'requests.unknown', (reply, { path }) => {
    if (path.startsWith('/v1/requests/c0f0')) reply.status = 200
  }),
  createAnswerDefect('empty data on errors', 'answers.data', (reply) => {
    if (reply.status >= 400) reply.data = {}
  }),
  createAnswerDefect('403 for an unknown key', 'authentication.invalid-key', (reply, { headers }) => {
    if (reply.status === 401 && headers['x-service-api-key'] !== undefined) reply.status = 403
  }),
  {
    name: 'the API key is not required if the e-mail of the owner is given',
    caughtBy: 'authentication.required',
    beforeCall({ headers }) {
      if (headers['x-service-user-email'] === emails.owner) headers['x-service-api-key'] ??= keys.home
    },
  },
  {
    name: 'the status filter is ignored if there is an id filter',
    caughtBy: 'packages.filter-id',
    beforeCall({ query }) {
      if (query.has('id')) query.delete('status')
    },
  },
  createUserListDefect('permissions in reverse alphabetical order', 'users.permissions-sorted', (users) => {
    for (const { permissions } of users) (permissions as string[] | undefined)?.reverse()
  }),
  createUserListDefect(
    'a permission of level 1, bgc.integration, is returned',
    'users.permission-levels',
    (users) => {
      for (const { permissions } of users)
        (permissions as string[] | undefined)?.splice(0, 1, 'bgc.integration')
    },
  ),
  createUserListDefect(
    'users who are not members have permissions too',
    'users.permissions-of-members',
    (users) => {
      for (const user of users) user['permissions'] ??= []
    },
  ),
  {
    name: 'no event when a request becomes IN_PROGRESS',
    caughtBy: 'webhook.every-change',
    changeEvent: (event) => (event['status'] === 'IN_PROGRESS' ? undefined : event),
  },
  {
    name: 'a signature in base64',
    caughtBy: 'webhook.signature-form',
    signEvent: (body) => createHmac('sha256', secret).update(body).digest('base64'),
  },
  {
    name: 'a signature of the body without the white space around it',
    caughtBy: 'webhook.signature',
    signEvent: (body) => createHmac('sha256', secret).update(body.trim()).digest('hex'),
  },
  {
    name: 'one call fewer than the quota is allowed',
    caughtBy: 'throttle.minute',
    isOverQuota: (used, limit) => used >= limit,
  },
  createAnswerDefect('Retry-After as a date', 'answers.retry-after', (reply) => {
    if (reply.status === 429) reply.headers = { 'Retry-After': 'Mon, 04 May 2026 08:01:00 GMT' }
  }),
]
