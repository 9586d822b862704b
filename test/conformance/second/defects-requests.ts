import type { Switch } from './defects.ts'
import { type Asked, type Knobs, meaning, type Reply } from './knobs.ts'

type Item = Record<string, unknown>

/** A defect of every read of a request. */
const ofReads = (name: string, by: string, change: (request: Item, asked: Asked) => void): Switch => ({
  name,
  by,
  knobs: {
    answer(reply, asked) {
      const { method, path } = asked
      if (method !== 'GET' || !path.startsWith('/v1/requests/') || reply.status !== 200) return
      if (!Buffer.isBuffer(reply.body)) change(reply.body.data as Item, asked)
    },
  },
})
const ofChecks = (name: string, by: string, change: (check: Item, request: Item) => void): Switch =>
  ofReads(name, by, (request) => {
    const checks = structuredClone(request['checks'] as Item[])
    for (const check of checks) change(check, request)
    request['checks'] = checks
  })
const ofReferees = (name: string, by: string, change: (referee: Item) => void): Switch =>
  ofChecks(name, by, (check) => {
    for (const referee of (check['references'] ?? []) as Item[]) change(referee)
  })
const kind = (type: string, change: (check: Item) => void) => (check: Item) => {
  if (check['type'] === type) change(check)
}
const backgrounds = (change: (check: Item) => void) => kind('background', change)

const knob = (name: string, by: string, knobs: Partial<Knobs>): Switch => ({ name, by, knobs })

const stored = new Map<string, unknown>()

export const requestSwitches: Switch[] = [
  ofReads('another request_id', 'create.readable', (request) => {
    request['request_id'] = '11111111-1111-4111-8111-111111111111'
  }),
  ofReads('package_id as text', 'requests.shape', (request) => (request['package_id'] = '71')),
  ofReads('created_at as a number', 'requests.shape', (request) => (request['created_at'] = 1_777_777_777)),
  ofReads('created_at of every read', 'requests.unchanging', (request) => {
    request['created_at'] = new Date(1_777_777_000_000 + 1000 * stored.size).toISOString()
    stored.set(`read ${stored.size}`, 0)
  }),
  ofReads('names without accents', 'create.kept-as-sent', (request) => {
    const recipient = request['recipient'] as Item
    const first = String(recipient['first_name'])
      .normalize('NFD')
      .replaceAll(/[^ -~]/g, '')
    request['recipient'] = { ...recipient, first_name: first }
  }),
  ofReads('a recipient without a phone in reads', 'requests.shape', (request) => {
    request['recipient'] = { ...(request['recipient'] as Item), phone: undefined }
  }),
  ofReads('requester as text', 'requests.shape', (request) => (request['requester'] = 'olga')),
  ofReads('a status of its own', 'requests.shape', (request) => {
    if (request['status'] === 'IN_PROGRESS') request['status'] = 'PROCESSING'
  }),
  ofReads('the checks of half a package', 'requests.checks-of-package', (request) => {
    request['checks'] = (request['checks'] as Item[]).filter(({ type }) => type !== 'reference')
  }),
  ofReads('one background check too few', 'requests.checks-of-package', (request) => {
    const all = request['checks'] as Item[]
    const last = all
      .filter(({ type }) => type === 'background')
      .sort((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1))[0]
    request['checks'] = all.filter((check) => check !== last)
  }),
  ofChecks('checks without ids', 'requests.check-ids', (check) => (check['id'] = null)),
  ofChecks(
    'one id for all checks',
    'requests.check-ids',
    (check, request) => (check['id'] = request['request_id']),
  ),
  ofChecks(
    'check types in capitals',
    'requests.shape',
    (check) => (check['type'] = String(check['type']).toUpperCase()),
  ),
  ofChecks('check statuses of their own', 'requests.shape', (check) => {
    if (check['status'] === 'COMPLETED') check['status'] = 'DONE'
  }),
  ofChecks(
    'references for background checks',
    'requests.references-of-reference-checks',
    backgrounds((check) => (check['references'] = [])),
  ),
  ofChecks(
    'a reference check with check_name',
    'requests.background-fields',
    kind('reference', (check) => (check['check_name'] = 'Referees')),
  ),
  ofChecks(
    'no partner_name',
    'requests.background-fields',
    backgrounds((check) => delete check['partner_name']),
  ),
  ofChecks(
    'null for no references',
    'requests.shape',
    kind('reference', (check) => {
      if ((check['references'] as Item[]).length === 0) check['references'] = null
    }),
  ),
  ofReferees('referee_id as an object', 'requests.shape', (referee) => (referee['referee_id'] = { id: 5 })),
  ofReferees('referees without an e-mail', 'requests.shape', (referee) => delete referee['referee_email']),
  ofReferees('referees that are RECEIVED', 'requests.shape', (referee) => (referee['status'] = 'RECEIVED')),
  ofChecks(
    'a report before the check is over',
    'statuses.reports-of-the-finished',
    backgrounds((check) => {
      if (check['status'] === 'IN_PROGRESS')
        check['report_pdf_url'] = `http://127.0.0.1/v1/reports/${String(check['id'])}?t=1`
    }),
  ),
  knob('COMPLETED when the first check is', 'statuses.completed', {
    status: (checks) => (meaning(checks) === 'PARTIAL' ? 'COMPLETED' : meaning(checks)),
  }),
  knob('PARTIAL is never announced', 'statuses.in-progress', {
    status: (checks) => (meaning(checks) === 'PARTIAL' ? 'IN_PROGRESS' : meaning(checks)),
  }),
  knob('PARTIAL before IN_PROGRESS', 'statuses.partial', {
    status: (checks, age) =>
      meaning(checks) === 'IN_PROGRESS' && age < 300_000 ? 'PARTIAL' : meaning(checks),
  }),
  knob('RECEIVED although checks run', 'statuses.received', {
    status: (checks) => (meaning(checks) === 'IN_PROGRESS' ? 'RECEIVED' : meaning(checks)),
  }),
  knob('IN_PROGRESS before any check runs', 'statuses.in-progress', {
    status: (checks) => (meaning(checks) === 'RECEIVED' ? 'IN_PROGRESS' : meaning(checks)),
  }),
  knob('mixed check endings are CANCELLED', 'statuses.cancelled', {
    status: (checks) =>
      meaning(checks) === 'COMPLETED' && checks.includes('CANCELLED') ? 'CANCELLED' : meaning(checks),
  }),
  knob('mixed check endings stay PARTIAL', 'statuses.partial', {
    status: (checks) =>
      meaning(checks) === 'COMPLETED' && checks.includes('CANCELLED') ? 'PARTIAL' : meaning(checks),
  }),
  knob('COMPLETED although all were cancelled', 'statuses.completed', {
    status: (checks) => (meaning(checks) === 'CANCELLED' ? 'COMPLETED' : meaning(checks)),
  }),
  knob('CANCELLED after COMPLETED', 'statuses.terminal', {
    status: (checks, age) =>
      meaning(checks) === 'COMPLETED' && age > 3_000_000 ? 'CANCELLED' : meaning(checks),
  }),
  ofReads('checks of what could not be processed', 'statuses.error', (request) => {
    if (request['status'] !== 'ERROR') return
    const id = request['request_id']
    request['checks'] = [{ id, type: 'reference', status: 'ERROR', references: [] }]
  }),
  {
    name: '500 for an id that is none',
    by: 'requests.malformed-id',
    knobs: {
      answer(reply, { path }) {
        if (path.endsWith('not-a-uuid')) reply.status = 500
      },
    },
  },
  ofReads('back to RECEIVED', 'statuses.transitions', (request) => {
    if (request['status'] !== 'IN_PROGRESS') return
    const name = `running ${String(request['request_id'])}`
    if (!stored.has(name)) stored.set(name, 0)
    else request['status'] = 'RECEIVED'
  }),
  {
    name: '403 for a request nobody has',
    by: 'requests.unknown',
    knobs: {
      answer(reply, { path }) {
        if (path.startsWith('/v1/requests/c0f0')) reply.status = 403
      },
    },
  },
]

const reports = (name: string, by: string, change: (reply: Reply, asked: Asked) => void): Switch => ({
  name,
  by,
  knobs: {
    answer(reply, asked) {
      if (asked.path.startsWith('/v1/reports/')) change(reply, asked)
    },
  },
})

const uses = new Map<string, number>()

export const reportSwitches: Switch[] = [
  reports('reports as octets', 'reports.by-headers', (reply) => {
    if (Buffer.isBuffer(reply.body)) reply.headers['Content-Type'] = 'application/octet-stream'
  }),
  reports('half a report', 'reports.by-token', (reply) => {
    if (Buffer.isBuffer(reply.body)) reply.body = reply.body.subarray(0, 40)
  }),
  reports('the report of the second referee cannot be had', 'reports.every-report', (reply, { path }) => {
    if (!path.endsWith('/b-2')) return
    reply.status = 404
    reply.body = { data: null, status_message: 'client_error', message: 'not found' }
  }),
  reports('404 for reports without headers', 'reports.refused-headers', (reply, { query, headers }) => {
    if (!query.has('t') && headers['x-service-api-key'] === undefined) reply.status = 404
  }),
  reports('reports in base64', 'reports.by-headers', (reply) => {
    if (Buffer.isBuffer(reply.body)) reply.body = Buffer.from(reply.body.toString('base64'))
  }),
  reports('403 for a bad token', 'reports.token-invalid', (reply, { query }) => {
    if (query.has('t') && reply.status === 401) reply.status = 403
  }),
  reports('404 for a bad token', 'reports.token-invalid', (reply, { query }) => {
    if (query.has('t') && reply.status === 401) reply.status = 404
  }),
  reports('403 for a report nobody has', 'reports.unknown', (reply) => {
    if (reply.status === 404) reply.status = 403
  }),
  reports('409 for a report that is not there yet', 'reports.not-yet', (reply, { path }) => {
    if (reply.status === 404 && !path.includes('c0f0')) reply.status = 409
  }),
  {
    name: 'a bad token does not matter beside headers',
    by: 'reports.token-invalid',
    knobs: {
      before: ({ query, headers }) => {
        if (headers['x-service-api-key'] !== undefined) query.delete('t')
      },
    },
  },
  { name: 'tokens for any report', by: 'reports.token-of-another', knobs: { opens: () => true } },
  {
    name: 'tokens for any referee of a check',
    by: 'reports.token-of-another',
    knobs: { opens: (path, issuedFor) => path.split('/referees')[0] === issuedFor.split('/referees')[0] },
  },
  { name: 'tokens that live for 5 minutes', by: 'reports.token-life', knobs: { tokenMs: 300_000 } },
  { name: 'tokens that live for a day', by: 'reports.token-life', knobs: { tokenMs: 86_400_000 } },
  {
    name: 'one token for good',
    by: 'requests.fresh-urls',
    knobs: { tokenOf: (path) => `${Buffer.from(path).toString('hex')}.9999999999` },
  },
  reports('a token is good once', 'reports.token-lasts', (reply, { query }) => {
    const token = query.get('t')
    if (token === null || reply.status !== 200) return
    const before = uses.get(token) ?? 0
    uses.set(token, before + 1)
    if (before > 0) {
      reply.status = 401
      reply.body = { data: null, status_message: 'client_error', message: 'used' }
    }
  }),
  {
    name: 'a token opens requests',
    by: 'reports.token-elsewhere',
    knobs: {
      before: ({ query, path, headers }) => {
        if (!path.startsWith('/v1/requests/') || !query.has('t')) return
        headers['x-service-api-key'] = 'HomeKey9HomeKey9HomeKey9HomeKey9'
        headers['x-service-user-email'] = 'olga@second.example.org'
      },
    },
  },
  ofReads('report URLs without a token', 'reports.url', (request) => {
    for (const check of request['checks'] as Item[]) {
      const url = check['report_pdf_url']
      if (typeof url === 'string') check['report_pdf_url'] = url.replace(/\?.*/, '')
    }
  }),
  reports('a reference check has a report of its own', 'reports.kinds', (reply, { path }) => {
    if (reply.status === 404 && !path.includes('referees') && !path.includes('c0f0')) {
      reply.status = 200
      reply.headers['Content-Type'] = 'application/pdf'
      reply.body = Buffer.from('%PDF-1.4\n%%EOF\n')
    }
  }),
]
