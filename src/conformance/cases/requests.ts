import { advise, type Case, requireItems, requireTestable } from '../case.ts'
import { type Fields, fieldsOf, toItems, readValue, formatValue } from '../answer.ts'
import { unknownId } from '../order.ts'
import { isAbout, statusOf } from '../events.ts'
import {
  type Findings,
  expectSame,
  expectStatus,
  type Run,
  createOrderCases,
  createReadCases,
  testEach,
  testWith,
} from '../table.ts'
import {
  type Journey,
  requireCompletedRequest,
  requireFollowedRequest,
  followAll,
  type RequestRead,
  findReads,
  terminalStatuses,
} from '../journey.ts'
import { arrayOf, integer, nullable, object, oneOf, type Shape, text, timestamp, uuid } from '../shape.ts'
import type { CaseContext } from '../case-context.ts'
import { readReportsTwice } from './reports.ts'

/**
 * The API document declares a referee's id as a string in the table of referees, but as "integer or string" in
 * the path of the report. So an integer gives only advice.
 */
const refereeId: Shape = (id, where) =>
  Number.isInteger(id) ? [advise(`${where} is an integer`)] : text(id, where)

const refereeShape = object({
  referee_id: refereeId,
  referee_name: nullable(text),
  referee_email: nullable(text),
  status: oneOf('IN_PROGRESS', 'COMPLETED', 'CANCELLED'),
  report_pdf_url: nullable(text),
})

const commonCheckFields = {
  id: nullable(uuid),
  type: oneOf('reference', 'background'),
  status: oneOf('RECEIVED', 'IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'ERROR'),
}
const referenceShape = object({ ...commonCheckFields, references: arrayOf(refereeShape) })
const backgroundShape = object({
  ...commonCheckFields,
  partner_name: nullable(text),
  check_name: nullable(text),
  report_pdf_url: nullable(text),
})
const checkShape: Shape = (value, where) =>
  (readValue(value, 'type') === 'reference' ? referenceShape : backgroundShape)(value, where)

const requestShape = object({
  request_id: uuid,
  package_id: integer,
  status: oneOf('RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'ERROR', 'CANCELLED'),
  created_at: timestamp,
  requester: object({ email: text }),
  recipient: object({ first_name: text, last_name: text, email: text, phone: text }),
  checks: arrayOf(checkShape),
})

/** Returns the data of all reads of the followed requests. */
async function readAll(context: CaseContext): Promise<unknown[]> {
  return (await followAll(context)).flatMap(({ reads }) => reads.map(({ data }) => data))
}

const readAllChecks = async (context: CaseContext): Promise<Fields[]> =>
  (await followAll(context)).flatMap(({ reads }) => reads.flatMap(({ checks }) => checks))

const testEachCheck = testEach(readAllChecks)

/** Compares the checks of a completed request with the checks of its package. */
function compareWithPackage({ order: { pack }, reads }: Journey): Findings {
  const { checks = [] } = reads.at(-1) ?? {}
  const backgrounds = checks.filter(({ type }) => type === 'background')
  const sortedText = (values: unknown[]): string =>
    values
      .map((each) => JSON.stringify(each))
      .sort()
      .join(', ')
  const actual = sortedText(backgrounds.map((each) => [each.check_name, each.partner_name]))
  const expected = sortedText(pack.checks)
  const label = `number of background checks of package ${pack.id}`
  const hasReference = checks.length > backgrounds.length
  return [
    ...expectSame(label, backgrounds.length, pack.checks.length),
    actual !== expected &&
      advise(`checks of the request are named ${actual}, those of its package ${expected}`),
    hasReference !== pack.hasSurvey &&
      `package ${pack.id} and its request do not agree about a reference check`,
  ]
}

/** Returns findings if a check that has started has no id, or if an id changes. */
function testCheckIds({ reads }: Journey): Findings {
  const seenIds = new Set<unknown>()
  // A request that ends in ERROR creates no checks ("no checks were created"), even if it was IN_PROGRESS.
  const createsChecks = reads.at(-1)?.status !== 'ERROR'
  return reads.flatMap(({ checks, status }) => {
    const ids = checks.map(({ id }) => id).filter((id) => typeof id === 'string')
    for (const id of ids) seenIds.add(id)
    return [
      ...checks
        .filter((each) => ['IN_PROGRESS', 'COMPLETED'].includes(String(each.status)))
        .filter(({ id }) => createsChecks && id === null)
        .map((each) => `a check ${String(each.status)} of a request ${status}: expected an id, got null`),
      new Set(ids).size < ids.length && `two checks of a request ${status} have one id`,
      createsChecks && seenIds.size > new Set(ids).size && `a check of a request ${status}: its id changed`,
    ]
  })
}

export const requestCases: readonly Case[] = [
  ...createOrderCases('GET /v1/requests/{request_id}', {
    'requests.shape': [
      'Response 200: data = Request (with checks and referees).',
      async (context) => {
        const failedReads = (await followAll(context)).flatMap((each) => each.failedReads)
        const shapeFindings = (await readAll(context)).flatMap((data) => requestShape(data, 'data'))
        return [...failedReads.flatMap((answer) => expectStatus(answer, 200)), ...shapeFindings]
      },
    ],
  }),
  ...createReadCases('GET /v1/requests/{request_id}', {
    'requests.unknown': [
      'Errors: 401; 403 (user not an active member); 404 (request not found or not available to the organisation); 429; 5xx.',
      [{ get: `/v1/requests/${unknownId}`, expect: 404 }],
    ],
  }),
  ...createOrderCases('Request', {
    'requests.created-at': [
      'created_at | string (ISO 8601 timestamp) | When the request was accepted.',
      async (context) => {
        requireTestable(
          !context.deploymentClock.isManual,
          'its time can only be compared where the clock is not moved: leave out --control',
        )
        const { order, reads } = await requireFollowedRequest(context)
        const acceptedAt = Date.parse(order.answer.header('date') ?? '')
        const createdAt = String(readValue(reads[0]?.data, 'created_at'))
        const hasZone = /(Z|[+-]\d\d:?\d\d)$/.test(createdAt)
        requireTestable(
          Number.isFinite(acceptedAt) && hasZone,
          'no header Date, or created_at has no time zone',
        )
        const differenceSeconds = Math.round(Math.abs(Date.parse(createdAt) - acceptedAt) / 1000)
        const advice = `created_at is ${differenceSeconds} s away from the Date of the answer that accepted it`
        return [differenceSeconds > 120 && advise(advice)]
      },
    ],
  }),
  ...createReadCases('GET /v1/requests/{request_id}', {
    'requests.malformed-id': [
      'request_id | string (UUID) | From request creation.',
      [{ get: '/v1/requests/not-a-uuid', expect: [400, 404] }],
    ],
  }),
  ...createOrderCases('GET /v1/requests/{request_id}', {
    'requests.unchanging': [
      'Read-only and idempotent.',
      testWith(requireFollowedRequest)(({ reads }) => {
        const [initialValues, ...laterValues] = reads
          .map(({ data }) => fieldsOf(data))
          .map((each) => [each.request_id, each.package_id, each.created_at, each.requester, each.recipient])
        return laterValues.flatMap((data) => expectSame('what a request keeps for good', data, initialValues))
      }),
    ],
  }),
  ...createOrderCases('What the service does', {
    'requests.checks-of-package': [
      'A package defines which reference and/or background checks a request includes.',
      testWith(requireCompletedRequest)(compareWithPackage),
    ],
  }),
  ...createOrderCases('Check (element of checks)', {
    'requests.check-ids': [
      'id | string (UUID) or null | null until the check has been created.',
      testEach(followAll)(testCheckIds),
    ],
    'requests.references-of-reference-checks': [
      'references | array | Reference checks only. Empty array when no referees are nominated.',
      testEachCheck(({ type, references }) => {
        // For other checks, null is accepted like an absent field; whether the field may be present is advice of the
        // shape test.
        const isValid = type === 'reference' ? Array.isArray(references) : (references ?? null) === null
        return [!isValid && `a ${String(type)} check has ${formatValue(references)} as references`]
      }),
    ],
    'requests.background-fields': [
      'check_name | string or null | Background checks only. Display name.',
      testEachCheck((check) => {
        const isBackground = check.type === 'background'
        return ['partner_name', 'check_name', 'report_pdf_url']
          .filter((name) => (isBackground ? check[name] === undefined : (check[name] ?? null) !== null))
          .map((name) => `a ${String(check.type)} check ${isBackground ? 'lacks' : 'has'} ${name}`)
      }),
    ],
  }),
  ...createOrderCases('GET /v1/requests/{request_id}', {
    'requests.fresh-urls': [
      'Each read produces fresh signed report URLs.',
      testWith(readReportsTwice)(([first, second]) => {
        const unchangedUrls = first.filter(({ url }) => second.some((each) => each.url === url))
        return [
          unchangedUrls.length > 0 &&
            `${unchangedUrls.length} of ${first.length} report URLs are the same in two reads`,
        ]
      }),
    ],
  }),
]

/** Returns a test that returns findings for reads with this status whose checks contradict the status. */
const testStatus = (status: string, matches: (checks: string[], read: RequestRead) => boolean): Run =>
  testEach((context) => findReads(context, status))((read) => {
    const checks = read.checks.map((check) => String(check.status))
    return [!matches(checks, read) && `a request is ${status} while its checks are [${checks.join(', ')}]`]
  })

const areAllFinished = (checks: string[]): boolean => checks.every((status) => terminalStatuses.has(status))
const hasCompleted = (checks: string[]): boolean => checks.includes('COMPLETED')

export const statusCases: readonly Case[] = [
  ...createOrderCases('Request status', {
    'statuses.received': [
      'RECEIVED | Initial status on creation. Accepted; checks not yet started.',
      testStatus('RECEIVED', (checks) => checks.every((status) => status === 'RECEIVED')),
    ],
    'statuses.in-progress': [
      'IN_PROGRESS | At least one check is in progress and none has completed.',
      testStatus('IN_PROGRESS', (checks) => checks.includes('IN_PROGRESS') && !hasCompleted(checks)),
    ],
    'statuses.partial': [
      'PARTIAL | At least one check has completed while others are still in progress.',
      testStatus('PARTIAL', (checks) => hasCompleted(checks) && !areAllFinished(checks)),
    ],
    'statuses.completed': [
      'COMPLETED | Terminal. All checks finished and at least one completed successfully.',
      testStatus('COMPLETED', (checks) => hasCompleted(checks) && areAllFinished(checks)),
    ],
    'statuses.cancelled': [
      'CANCELLED | Terminal. All checks finished and none reached COMPLETED (for example expired, declined, deleted or stopped).',
      testStatus('CANCELLED', (checks) => !hasCompleted(checks) && areAllFinished(checks)),
    ],
    'statuses.error': [
      'ERROR | Terminal. The request could not be processed and no checks were created.',
      testStatus('ERROR', (_, { checks }) => checks.every(({ id }) => id === null)),
    ],
    'statuses.transitions': [
      'RECEIVED | Initial status on creation. Accepted; checks not yet started.',
      testEach(followAll)(({ reads }) =>
        reads.flatMap(({ status }, index) => {
          const previousStatus = reads[index - 1]?.status ?? status
          const finding = `a request went from ${previousStatus} back to ${status}`
          return [
            status === 'RECEIVED' && previousStatus !== 'RECEIVED' && finding,
            status === 'IN_PROGRESS' && previousStatus === 'PARTIAL' && advise(finding),
          ]
        }),
      ),
    ],
  }),
  ...createOrderCases('Check (element of checks)', {
    'statuses.reports-of-the-finished': [
      'report_pdf_url | string or null | Background checks only. Signed URL; null until the report is available. Token valid 1 hour.',
      async (context) => {
        const checks = await readAllChecks(context)
        return [...checks, ...checks.flatMap(({ references }) => toItems(references))]
          .filter((each) => typeof each.report_pdf_url === 'string')
          .map(({ status }) => String(status))
          .filter((status) => ['RECEIVED', 'IN_PROGRESS'].includes(status))
          .map((status) => `there is a report_pdf_url while its status is ${status}`)
      },
    ],
  }),
]

/**
 * Milliseconds in which an ended request might change: with a clock that can be advanced, and with the real
 * clock.
 */
const [manualWaitMs, realWaitMs] = [24 * 3_600_000, 3000]

/** These cases run after most others, so that an ended request has had time to change. */
export const terminalStatusCases: readonly Case[] = createOrderCases('Request status', {
  'statuses.terminal': [
    'Terminal statuses (COMPLETED, ERROR, CANCELLED) never transition further.',
    async (context) => {
      const endedJourneys = requireItems(
        (await followAll(context)).filter((each) => each.hasEnded),
        'no request finished: follow it for longer with --watch',
      )
      const findings: string[] = []
      for (let round = 0; round < 2; round += 1) {
        await context.deploymentClock.pause(context.deploymentClock.isManual ? manualWaitMs : realWaitMs)
        for (const { order, reads } of endedJourneys) {
          const lastStatus = reads.at(-1)?.status
          const answer = await context.probe.get(`/v1/requests/${order.requestId}`)
          const { status } = answer.fields
          if (status !== lastStatus) findings.push(`a request went from ${lastStatus} to ${String(status)}`)
        }
      }
      for (const { order } of await followAll(context)) {
        const events = (context.receiver?.deliveries ?? []).filter((each) => isAbout(each, order.requestId))
        const ends = new Set(events.map(statusOf).filter((status) => terminalStatuses.has(status)))
        if (ends.size > 1) findings.push(`events of one request say ${[...ends].join(' and ')}`)
      }
      return findings
    },
  ],
})
