import type { Check, RequestResource } from '../../../src/contract/request.ts'
import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { Handler } from '../../../src/server/listen.ts'
import { createReadDefect, type Defect, onReads } from './defect.ts'

const uuid = '22222222-2222-4222-8222-222222222222'

/** Creates a defect that changes every check in the answer to every read of a request. */
const createCheckDefect = (
  name: string,
  caughtBy: string,
  change: (check: Check, request: RequestResource) => void,
): Defect =>
  createReadDefect(name, caughtBy, (request) => request.checks.forEach((check) => change(check, request)))

/** Creates a handler factory that passes to `change` the number of reads of the same request, from 1. */
function changeCountedReads(change: (request: RequestResource, read: number) => void) {
  return (sandbox: Sandbox): Handler => {
    const readCounts = new Map<string, number>()
    return onReads(sandbox, (request) => {
      const read = (readCounts.get(request.request_id) ?? 0) + 1
      readCounts.set(request.request_id, read)
      change(request, read)
    })
  }
}

const terminalStatuses = new Set(['COMPLETED', 'CANCELLED', 'ERROR'])

export const requestDefects: Defect[] = [
  createCheckDefect('a check id in a RECEIVED request', 'requests.check-ids', (check, { status }) => {
    if (status === 'RECEIVED') check.id = uuid
  }),
  createCheckDefect(
    'no check id until the request is COMPLETED',
    'requests.check-ids',
    (check, { status }) => {
      if (status !== 'COMPLETED') check.id = null
    },
  ),
  createCheckDefect('references on background checks', 'requests.references-of-reference-checks', (check) => {
    check.references ??= []
  }),
  createCheckDefect(
    'references null instead of an empty list',
    'requests.references-of-reference-checks',
    (check) => {
      if (check.references?.length === 0) Object.assign(check, { references: null })
    },
  ),
  createCheckDefect('report_pdf_url on reference checks', 'requests.background-fields', (check) => {
    if (check.type === 'reference') check.report_pdf_url = `https://reports.example.com/${uuid}`
  }),
  createCheckDefect('no report_pdf_url instead of null', 'requests.background-fields', (check) => {
    if (check.report_pdf_url === null) delete check.report_pdf_url
  }),
  createReadDefect('created_at in seconds since 1970', 'requests.shape', (request) => {
    Object.assign(request, { created_at: 1_772_442_000 })
  }),
  createReadDefect('no requester', 'requests.shape', (request) => {
    Object.assign(request, { requester: undefined })
  }),
  {
    name: 'created_at changes with every read',
    caughtBy: 'requests.unchanging',
    createHandler: changeCountedReads((request, read) => {
      request.created_at = new Date(Date.parse(request.created_at) + read * 1000).toISOString()
    }),
  },
  createReadDefect('the phone of another person', 'create.readable', (request) => {
    request.recipient.phone = '+61491570156'
  }),
  createReadDefect('the request lacks a check of the package', 'requests.checks-of-package', (request) => {
    request.checks.pop()
  }),
  {
    name: 'every read returns the same report URLs',
    caughtBy: 'requests.fresh-urls',
    createHandler: (sandbox) => {
      const firstUrls = new Map<string | null, string>()
      return onReads(sandbox, ({ checks }) => {
        for (const check of checks) {
          if (typeof check.report_pdf_url !== 'string') continue
          check.report_pdf_url = firstUrls.get(check.id) ?? check.report_pdf_url
          firstUrls.set(check.id, check.report_pdf_url)
        }
      })
    },
  },
  createReadDefect('RECEIVED while checks are in progress', 'statuses.received', (request) => {
    if (request.status === 'IN_PROGRESS') request.status = 'RECEIVED'
  }),
  createReadDefect('IN_PROGRESS after a check has completed', 'statuses.in-progress', (request) => {
    if (request.status === 'PARTIAL') request.status = 'IN_PROGRESS'
  }),
  createReadDefect('PARTIAL before any check has completed', 'statuses.partial', (request) => {
    if (request.status === 'IN_PROGRESS') request.status = 'PARTIAL'
  }),
  createReadDefect('COMPLETED while a check is in progress', 'statuses.completed', (request) => {
    if (request.status === 'PARTIAL') request.status = 'COMPLETED'
  }),
  {
    ...createReadDefect('COMPLETED when all checks were cancelled', 'statuses.completed', (request) => {
      if (request.status === 'CANCELLED') request.status = 'COMPLETED'
    }),
    needsEndings: true,
  },
  {
    ...createReadDefect('CANCELLED although a check has completed', 'statuses.cancelled', (request) => {
      if (request.status === 'COMPLETED') request.status = 'CANCELLED'
    }),
    needsEndings: true,
  },
  {
    ...createReadDefect('ERROR with checks that were created', 'statuses.error', (request) => {
      if (request.status === 'ERROR') for (const check of request.checks) check.id = uuid
    }),
    needsEndings: true,
  },
  {
    name: 'a request returns from IN_PROGRESS to RECEIVED',
    caughtBy: 'statuses.transitions',
    createHandler: changeCountedReads((request, read) => {
      if (read === 20 && request.status === 'IN_PROGRESS') request.status = 'RECEIVED'
    }),
  },
  {
    name: 'a request returns from a terminal status to IN_PROGRESS',
    caughtBy: 'statuses.terminal',
    createHandler: (sandbox) => {
      const endedIds = new Set<string>()
      return onReads(sandbox, (request) => {
        if (endedIds.has(request.request_id)) request.status = 'IN_PROGRESS'
        if (terminalStatuses.has(request.status)) endedIds.add(request.request_id)
      })
    },
  },
  createCheckDefect(
    'a report URL before the check has ended',
    'statuses.reports-of-the-finished',
    (check) => {
      if (check.type === 'background') {
        check.report_pdf_url ??= `http://127.0.0.1:1/v1/reports/${check.id}?t=early`
      }
    },
  ),
]
