import { behaviourDefect, type Defect } from './defects.ts'
import { type Call, statusFromChecks, type Reply } from './behaviour.ts'

type Item = Record<string, unknown>

/** Creates a defect that changes the data of every read of a request. */
const readDefect = (name: string, caughtBy: string, change: (request: Item, call: Call) => void): Defect => ({
  name,
  caughtBy,
  behaviour: {
    changeReply(reply, call) {
      const { method, path } = call
      if (method !== 'GET' || !path.startsWith('/v1/requests/') || reply.status !== 200) return
      if (!Buffer.isBuffer(reply.body)) change(reply.body.data as Item, call)
    },
  },
})
const checkDefect = (name: string, caughtBy: string, change: (check: Item, request: Item) => void): Defect =>
  readDefect(name, caughtBy, (request) => {
    const checks = structuredClone(request['checks'] as Item[])
    for (const check of checks) change(check, request)
    request['checks'] = checks
  })
const refereeDefect = (name: string, caughtBy: string, change: (referee: Item) => void): Defect =>
  checkDefect(name, caughtBy, (check) => {
    for (const referee of (check['references'] ?? []) as Item[]) change(referee)
  })
const ifType = (type: string, change: (check: Item) => void) => (check: Item) => {
  if (check['type'] === type) change(check)
}
const ifBackground = (change: (check: Item) => void) => ifType('background', change)

/** Has one key for each read, and one for each request that was read while it was in progress. */
const readMarks = new Map<string, unknown>()

export const requestDefects: Defect[] = [
  readDefect('another request_id', 'create.readable', (request) => {
    request['request_id'] = '11111111-1111-4111-8111-111111111111'
  }),
  readDefect('package_id as text', 'requests.shape', (request) => (request['package_id'] = '71')),
  readDefect(
    'created_at as a number',
    'requests.shape',
    (request) => (request['created_at'] = 1_777_777_777),
  ),
  readDefect('created_at changes with every read', 'requests.unchanging', (request) => {
    request['created_at'] = new Date(1_777_777_000_000 + 1000 * readMarks.size).toISOString()
    readMarks.set(`read ${readMarks.size}`, 0)
  }),
  readDefect('names without accents', 'create.kept-as-sent', (request) => {
    const recipient = request['recipient'] as Item
    const first = String(recipient['first_name'])
      .normalize('NFD')
      .replaceAll(/[^ -~]/g, '')
    request['recipient'] = { ...recipient, first_name: first }
  }),
  readDefect('a recipient without a phone in reads', 'requests.shape', (request) => {
    request['recipient'] = { ...(request['recipient'] as Item), phone: undefined }
  }),
  readDefect('requester as text', 'requests.shape', (request) => (request['requester'] = 'olga')),
  readDefect('a status that the document does not have', 'requests.shape', (request) => {
    if (request['status'] === 'IN_PROGRESS') request['status'] = 'PROCESSING'
  }),
  readDefect('only the background checks of a package', 'requests.checks-of-package', (request) => {
    request['checks'] = (request['checks'] as Item[]).filter(({ type }) => type !== 'reference')
  }),
  readDefect('one background check too few', 'requests.checks-of-package', (request) => {
    const all = request['checks'] as Item[]
    const removed = all
      .filter(({ type }) => type === 'background')
      .sort((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1))[0]
    request['checks'] = all.filter((check) => check !== removed)
  }),
  checkDefect('checks without ids', 'requests.check-ids', (check) => (check['id'] = null)),
  checkDefect(
    'one id for all checks',
    'requests.check-ids',
    (check, request) => (check['id'] = request['request_id']),
  ),
  checkDefect(
    'check types in capitals',
    'requests.shape',
    (check) => (check['type'] = String(check['type']).toUpperCase()),
  ),
  checkDefect('a check status that the document does not have', 'requests.shape', (check) => {
    if (check['status'] === 'COMPLETED') check['status'] = 'DONE'
  }),
  checkDefect(
    'references for background checks',
    'requests.references-of-reference-checks',
    ifBackground((check) => (check['references'] = [])),
  ),
  checkDefect(
    'a reference check with check_name',
    'requests.background-fields',
    ifType('reference', (check) => (check['check_name'] = 'Referees')),
  ),
  checkDefect(
    'no partner_name',
    'requests.background-fields',
    ifBackground((check) => delete check['partner_name']),
  ),
  checkDefect(
    'null for no references',
    'requests.shape',
    ifType('reference', (check) => {
      if ((check['references'] as Item[]).length === 0) check['references'] = null
    }),
  ),
  refereeDefect(
    'referee_id as an object',
    'requests.shape',
    (referee) => (referee['referee_id'] = { id: 5 }),
  ),
  refereeDefect('referees without an e-mail', 'requests.shape', (referee) => delete referee['referee_email']),
  refereeDefect(
    'referees that are RECEIVED',
    'requests.shape',
    (referee) => (referee['status'] = 'RECEIVED'),
  ),
  checkDefect(
    'a report before the check is over',
    'statuses.reports-of-the-finished',
    ifBackground((check) => {
      if (check['status'] === 'IN_PROGRESS')
        check['report_pdf_url'] = `http://127.0.0.1/v1/reports/${String(check['id'])}?t=1`
    }),
  ),
  behaviourDefect('COMPLETED when the first check is completed', 'statuses.completed', {
    requestStatus: (checks) =>
      statusFromChecks(checks) === 'PARTIAL' ? 'COMPLETED' : statusFromChecks(checks),
  }),
  behaviourDefect('PARTIAL is never announced', 'statuses.in-progress', {
    requestStatus: (checks) =>
      statusFromChecks(checks) === 'PARTIAL' ? 'IN_PROGRESS' : statusFromChecks(checks),
  }),
  behaviourDefect('PARTIAL before IN_PROGRESS', 'statuses.partial', {
    requestStatus: (checks, age) =>
      statusFromChecks(checks) === 'IN_PROGRESS' && age < 300_000 ? 'PARTIAL' : statusFromChecks(checks),
  }),
  behaviourDefect('RECEIVED although checks run', 'statuses.received', {
    requestStatus: (checks) =>
      statusFromChecks(checks) === 'IN_PROGRESS' ? 'RECEIVED' : statusFromChecks(checks),
  }),
  behaviourDefect('IN_PROGRESS before any check runs', 'statuses.in-progress', {
    requestStatus: (checks) =>
      statusFromChecks(checks) === 'RECEIVED' ? 'IN_PROGRESS' : statusFromChecks(checks),
  }),
  behaviourDefect('mixed check endings are CANCELLED', 'statuses.cancelled', {
    requestStatus: (checks) =>
      statusFromChecks(checks) === 'COMPLETED' && checks.includes('CANCELLED')
        ? 'CANCELLED'
        : statusFromChecks(checks),
  }),
  behaviourDefect('mixed check endings stay PARTIAL', 'statuses.partial', {
    requestStatus: (checks) =>
      statusFromChecks(checks) === 'COMPLETED' && checks.includes('CANCELLED')
        ? 'PARTIAL'
        : statusFromChecks(checks),
  }),
  behaviourDefect('COMPLETED although all were cancelled', 'statuses.completed', {
    requestStatus: (checks) =>
      statusFromChecks(checks) === 'CANCELLED' ? 'COMPLETED' : statusFromChecks(checks),
  }),
  behaviourDefect('CANCELLED after COMPLETED', 'statuses.terminal', {
    requestStatus: (checks, age) =>
      statusFromChecks(checks) === 'COMPLETED' && age > 3_000_000 ? 'CANCELLED' : statusFromChecks(checks),
  }),
  readDefect('checks of a request that could not be processed', 'statuses.error', (request) => {
    if (request['status'] !== 'ERROR') return
    const id = request['request_id']
    request['checks'] = [{ id, type: 'reference', status: 'ERROR', references: [] }]
  }),
  {
    name: '500 for an id that is no UUID',
    caughtBy: 'requests.malformed-id',
    behaviour: {
      changeReply(reply, { path }) {
        if (path.endsWith('not-a-uuid')) reply.status = 500
      },
    },
  },
  readDefect('a request that returns to RECEIVED', 'statuses.transitions', (request) => {
    if (request['status'] !== 'IN_PROGRESS') return
    const name = `running ${String(request['request_id'])}`
    if (!readMarks.has(name)) readMarks.set(name, 0)
    else request['status'] = 'RECEIVED'
  }),
  {
    name: '403 for a request that does not exist',
    caughtBy: 'requests.unknown',
    behaviour: {
      changeReply(reply, { path }) {
        if (path.startsWith('/v1/requests/c0f0')) reply.status = 403
      },
    },
  },
]

const reportDefect = (
  name: string,
  caughtBy: string,
  change: (reply: Reply, call: Call) => void,
): Defect => ({
  name,
  caughtBy,
  behaviour: {
    changeReply(reply, call) {
      if (call.path.startsWith('/v1/reports/')) change(reply, call)
    },
  },
})

const tokenUses = new Map<string, number>()

export const reportDefects: Defect[] = [
  reportDefect('reports as octets', 'reports.by-headers', (reply) => {
    if (Buffer.isBuffer(reply.body)) reply.headers['Content-Type'] = 'application/octet-stream'
  }),
  reportDefect('half a report', 'reports.by-token', (reply) => {
    if (Buffer.isBuffer(reply.body)) reply.body = reply.body.subarray(0, 40)
  }),
  reportDefect('404 for the report of the second referee', 'reports.every-report', (reply, { path }) => {
    if (!path.endsWith('/b-2')) return
    reply.status = 404
    reply.body = { data: null, status_message: 'client_error', message: 'not found' }
  }),
  reportDefect('404 for reports without headers', 'reports.refused-headers', (reply, { query, headers }) => {
    if (!query.has('t') && headers['x-service-api-key'] === undefined) reply.status = 404
  }),
  reportDefect('reports in base64', 'reports.by-headers', (reply) => {
    if (Buffer.isBuffer(reply.body)) reply.body = Buffer.from(reply.body.toString('base64'))
  }),
  reportDefect('403 for a bad token', 'reports.token-invalid', (reply, { query }) => {
    if (query.has('t') && reply.status === 401) reply.status = 403
  }),
  reportDefect('404 for a bad token', 'reports.token-invalid', (reply, { query }) => {
    if (query.has('t') && reply.status === 401) reply.status = 404
  }),
  reportDefect('403 for a report that does not exist', 'reports.unknown', (reply) => {
    if (reply.status === 404) reply.status = 403
  }),
  reportDefect('409 for a report that is not available yet', 'reports.not-yet', (reply, { path }) => {
    if (reply.status === 404 && !path.includes('c0f0')) reply.status = 409
  }),
  {
    name: 'a bad token is ignored if there are headers',
    caughtBy: 'reports.token-invalid',
    behaviour: {
      beforeCall: ({ query, headers }) => {
        if (headers['x-service-api-key'] !== undefined) query.delete('t')
      },
    },
  },
  {
    name: 'tokens are valid for any report',
    caughtBy: 'reports.token-of-another',
    behaviour: { isTokenValidFor: () => true },
  },
  {
    name: 'tokens are valid for any referee of a check',
    caughtBy: 'reports.token-of-another',
    behaviour: {
      isTokenValidFor: (path, issuedFor) => path.split('/referees')[0] === issuedFor.split('/referees')[0],
    },
  },
  {
    name: 'tokens that live for 5 minutes',
    caughtBy: 'reports.token-life',
    behaviour: { tokenLifetimeMs: 300_000 },
  },
  {
    name: 'tokens that live for a day',
    caughtBy: 'reports.token-life',
    behaviour: { tokenLifetimeMs: 86_400_000 },
  },
  {
    name: 'the same token in every read',
    caughtBy: 'requests.fresh-urls',
    behaviour: { formatToken: (path) => `${Buffer.from(path).toString('hex')}.9999999999` },
  },
  reportDefect('a token can be used only once', 'reports.token-lasts', (reply, { query }) => {
    const token = query.get('t')
    if (token === null || reply.status !== 200) return
    const useCount = tokenUses.get(token) ?? 0
    tokenUses.set(token, useCount + 1)
    if (useCount > 0) {
      reply.status = 401
      reply.body = { data: null, status_message: 'client_error', message: 'used' }
    }
  }),
  {
    name: 'a token is accepted for requests',
    caughtBy: 'reports.token-elsewhere',
    behaviour: {
      beforeCall: ({ query, path, headers }) => {
        if (!path.startsWith('/v1/requests/') || !query.has('t')) return
        headers['x-service-api-key'] = 'HomeKey9HomeKey9HomeKey9HomeKey9'
        headers['x-service-user-email'] = 'olga@second.example.org'
      },
    },
  },
  readDefect('report URLs without a token', 'reports.url', (request) => {
    for (const check of request['checks'] as Item[]) {
      const url = check['report_pdf_url']
      if (typeof url === 'string') check['report_pdf_url'] = url.replace(/\?.*/, '')
    }
  }),
  reportDefect('a reference check has a report of its own', 'reports.kinds', (reply, { path }) => {
    if (reply.status === 404 && !path.includes('referees') && !path.includes('c0f0')) {
      reply.status = 200
      reply.headers['Content-Type'] = 'application/pdf'
      reply.body = Buffer.from('%PDF-1.4\n%%EOF\n')
    }
  }),
]
