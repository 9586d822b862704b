import type { Check, RequestResource } from '../../../src/contract/request.ts'
import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { Handler } from '../../../src/server/listen.ts'
import { type Defect, onReads } from './defect.ts'

const uuid = '22222222-2222-4222-8222-222222222222'

/** A defect of every read of a request. */
const ofReads = (
  name: string,
  caughtBy: string,
  change: (request: RequestResource) => void,
  endings = false,
): Defect => ({
  name,
  caughtBy,
  endings,
  around: (sandbox) => onReads(sandbox, change),
})

/** A defect of every check in them. */
const ofChecks = (
  name: string,
  caughtBy: string,
  change: (check: Check, request: RequestResource) => void,
): Defect => ofReads(name, caughtBy, (request) => request.checks.forEach((check) => change(check, request)))

/** Reads of a request, counted from 1. */
function countedReads(change: (request: RequestResource, read: number) => void) {
  return (sandbox: Sandbox): Handler => {
    const reads = new Map<string, number>()
    return onReads(sandbox, (request) => {
      const read = (reads.get(request.request_id) ?? 0) + 1
      reads.set(request.request_id, read)
      change(request, read)
    })
  }
}

const terminal = new Set(['COMPLETED', 'CANCELLED', 'ERROR'])

export const requestDefects: Defect[] = [
  ofChecks('a check id in a RECEIVED request', 'requests.check-ids', (check, { status }) => {
    if (status === 'RECEIVED') check.id = uuid
  }),
  ofChecks('no check id until the end', 'requests.check-ids', (check, { status }) => {
    if (status !== 'COMPLETED') check.id = null
  }),
  ofChecks('references on background checks', 'requests.references-of-reference-checks', (check) => {
    check.references ??= []
  }),
  ofChecks('references null while there are none', 'requests.references-of-reference-checks', (check) => {
    if (check.references?.length === 0) Object.assign(check, { references: null })
  }),
  ofChecks('report_pdf_url on reference checks', 'requests.background-fields', (check) => {
    if (check.type === 'reference') check.report_pdf_url = `https://reports.example.com/${uuid}`
  }),
  ofChecks('no report_pdf_url until there is one', 'requests.background-fields', (check) => {
    if (check.report_pdf_url === null) delete check.report_pdf_url
  }),
  ofReads('created_at in seconds since 1970', 'requests.shape', (request) => {
    Object.assign(request, { created_at: 1_772_442_000 })
  }),
  ofReads('no requester', 'requests.shape', (request) => {
    Object.assign(request, { requester: undefined })
  }),
  {
    name: 'created_at moves with every read',
    caughtBy: 'requests.unchanging',
    around: countedReads((request, read) => {
      request.created_at = new Date(Date.parse(request.created_at) + read * 1000).toISOString()
    }),
  },
  ofReads('the phone of another', 'create.readable', (request) => {
    request.recipient.phone = '+61491570156'
  }),
  ofReads('a check of the package is missing', 'requests.checks-of-package', (request) => {
    request.checks.pop()
  }),
  {
    name: 'the same URLs in every read',
    caughtBy: 'requests.fresh-urls',
    around: (sandbox) => {
      const first = new Map<string | null, string>()
      return onReads(sandbox, ({ checks }) => {
        for (const check of checks) {
          if (typeof check.report_pdf_url !== 'string') continue
          check.report_pdf_url = first.get(check.id) ?? check.report_pdf_url
          first.set(check.id, check.report_pdf_url)
        }
      })
    },
  },
  ofReads('RECEIVED while checks are running', 'statuses.received', (request) => {
    if (request.status === 'IN_PROGRESS') request.status = 'RECEIVED'
  }),
  ofReads('IN_PROGRESS after a check has completed', 'statuses.in-progress', (request) => {
    if (request.status === 'PARTIAL') request.status = 'IN_PROGRESS'
  }),
  ofReads('PARTIAL before any check has completed', 'statuses.partial', (request) => {
    if (request.status === 'IN_PROGRESS') request.status = 'PARTIAL'
  }),
  ofReads('COMPLETED while a check is running', 'statuses.completed', (request) => {
    if (request.status === 'PARTIAL') request.status = 'COMPLETED'
  }),
  ofReads(
    'COMPLETED when all checks were cancelled',
    'statuses.completed',
    (request) => {
      if (request.status === 'CANCELLED') request.status = 'COMPLETED'
    },
    true,
  ),
  ofReads(
    'CANCELLED although a check has completed',
    'statuses.cancelled',
    (request) => {
      if (request.status === 'COMPLETED') request.status = 'CANCELLED'
    },
    true,
  ),
  ofReads(
    'ERROR with checks that were created',
    'statuses.error',
    (request) => {
      if (request.status === 'ERROR') for (const check of request.checks) check.id = uuid
    },
    true,
  ),
  {
    name: 'back to RECEIVED',
    caughtBy: 'statuses.transitions',
    around: countedReads((request, read) => {
      if (read === 20 && request.status === 'IN_PROGRESS') request.status = 'RECEIVED'
    }),
  },
  {
    name: 'an end that is taken back',
    caughtBy: 'statuses.terminal',
    around: (sandbox) => {
      const ended = new Set<string>()
      return onReads(sandbox, (request) => {
        if (ended.has(request.request_id)) request.status = 'IN_PROGRESS'
        if (terminal.has(request.status)) ended.add(request.request_id)
      })
    },
  },
  ofChecks('a report URL before the check is over', 'statuses.reports-of-the-finished', (check) => {
    if (check.type === 'background') {
      check.report_pdf_url ??= `http://127.0.0.1:1/v1/reports/${check.id}?t=early`
    }
  }),
]
