import { createHmac } from 'node:crypto'

import { emails, keys, secret } from './data.ts'
import type { Call, Defect, Reply } from './service.ts'

type Item = Record<string, unknown>

/** Changes the data of successful reads of one request. */
const readDefect = (
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
const userListDefect = (name: string, caughtBy: string, change: (users: Item[]) => void): Defect => ({
  name,
  caughtBy,
  changeReply(reply, { path }) {
    if (reply.status === 200 && path === '/v1/users') change(usersOf(reply))
  },
})

const answerDefect = (
  name: string,
  caughtBy: string,
  changeReply: (reply: Reply, call: Call) => void,
): Defect => ({
  name,
  caughtBy,
  changeReply,
})

let readCount = 0

export const defects: readonly Defect[] = [
  { name: 'tokens of two hours', caughtBy: 'reports.token-life', tokenLifetimeMs: 7_200_000 },
  {
    name: 'ordering from INACTIVE packages',
    caughtBy: 'create.package-inactive',
    ignoredFaults: /not active/,
  },
  {
    name: 'a required check left out',
    caughtBy: 'create.information-entry-left-out',
    ignoredFaults: /it lacks/,
  },
  { name: 'e-mails of any form', caughtBy: 'create.email', ignoredFaults: /no address/ },
  { name: 'phones of any form', caughtBy: 'create.phone', ignoredFaults: /at most 15 digits/ },
  {
    name: 'fields of the information that the schema lacks',
    caughtBy: 'create.information-unknown',
    ignoredFaults: /no such field/,
  },
  readDefect('a phone without its plus', 'create.readable', ({ recipient }) => {
    const person = recipient as Item
    person['phone'] = String(person['phone']).slice(1)
  }),
  readDefect('check ids that change with each read', 'requests.check-ids', ({ checks }) => {
    readCount += 1
    const tail = String(readCount).padStart(12, '0')
    for (const check of checks)
      if (typeof check['id'] === 'string') check['id'] = check['id'].slice(0, -12) + tail
  }),
  readDefect('created_at that moves', 'requests.unchanging', (request) => {
    readCount += 1
    request['created_at'] = new Date(readCount * 1000).toISOString()
  }),
  readDefect('COMPLETED with the first check', 'statuses.completed', (request) => {
    if (request['status'] === 'PARTIAL') request['status'] = 'COMPLETED'
  }),
  readDefect('IN_PROGRESS before a check has begun', 'statuses.in-progress', (request) => {
    if (request['status'] === 'RECEIVED') request['status'] = 'IN_PROGRESS'
  }),
  answerDefect('200 for an unknown request', 'requests.unknown', (reply, { path }) => {
    if (path.startsWith('/v1/requests/c0f0')) reply.status = 200
  }),
  answerDefect('empty data on errors', 'answers.data', (reply) => {
    if (reply.status >= 400) reply.data = {}
  }),
  answerDefect('403 for an unknown key', 'authentication.invalid-key', (reply, { headers }) => {
    if (reply.status === 401 && headers['x-service-api-key'] !== undefined) reply.status = 403
  }),
  {
    name: 'a user may be named without a key',
    caughtBy: 'authentication.required',
    beforeCall({ headers }) {
      if (headers['x-service-user-email'] === emails.owner) headers['x-service-api-key'] ??= keys.home
    },
  },
  {
    name: 'the id of a filter wins over its status',
    caughtBy: 'packages.filter-id',
    beforeCall({ query }) {
      if (query.has('id')) query.delete('status')
    },
  },
  userListDefect('permissions by level', 'users.permissions-sorted', (users) => {
    for (const { permissions } of users) (permissions as string[] | undefined)?.reverse()
  }),
  userListDefect('the integration user is shown', 'users.permission-levels', (users) => {
    for (const { permissions } of users)
      (permissions as string[] | undefined)?.splice(0, 1, 'bgc.integration')
  }),
  userListDefect('permissions of owners', 'users.permissions-of-members', (users) => {
    for (const user of users) user['permissions'] ??= []
  }),
  {
    name: 'no event when a request begins',
    caughtBy: 'webhook.every-change',
    changeEvent: (event) => (event['status'] === 'IN_PROGRESS' ? undefined : event),
  },
  {
    name: 'a signature in base64',
    caughtBy: 'webhook.signature-form',
    signEvent: (body) => createHmac('sha256', secret).update(body).digest('base64'),
  },
  {
    name: 'a signature over the body without its white space',
    caughtBy: 'webhook.signature',
    signEvent: (body) => createHmac('sha256', secret).update(body.trim()).digest('hex'),
  },
  {
    name: 'one call fewer than the quota',
    caughtBy: 'throttle.minute',
    isOverQuota: (used, limit) => used >= limit,
  },
  answerDefect('Retry-After as a date', 'answers.retry-after', (reply) => {
    if (reply.status === 429) reply.headers = { 'Retry-After': 'Mon, 04 May 2026 08:01:00 GMT' }
  }),
]
