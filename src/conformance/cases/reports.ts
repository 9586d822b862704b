import { type Answer, toEntries, readValue } from '../answer.ts'
import { type Case, requireTestable } from '../case.ts'
import { requireForeignUser, unknownEmail, unknownId } from '../order.ts'
import {
  type ExpectedCall,
  type Expectations,
  expectPdf,
  expectStatus,
  collectFindings,
  type Run,
  casesThatControl,
  casesThatOrder,
  casesThatRead,
  itemsIf,
} from '../table.ts'
import { readChecks, requireCompletedRequest, requireFollowedRequest } from '../journey.ts'
import type { CaseContext } from '../case-context.ts'

/** A report whose URL is in a request. */
interface ReportUrl {
  kind: 'background' | 'referee'
  url: string
  /** Path of the report according to the document. */
  path: string
}

/** Returns the signed report URLs in a request's data. */
export function findReportUrls(data: unknown): ReportUrl[] {
  return readChecks(data).flatMap((check) => {
    const id = String(readValue(check, 'id'))
    const checkUrl = readValue(check, 'report_pdf_url')
    const reports: ReportUrl[] =
      typeof checkUrl === 'string' ? [{ kind: 'background', url: checkUrl, path: `/v1/reports/${id}` }] : []
    for (const referee of toEntries(readValue(check, 'references'))) {
      const url = readValue(referee, 'report_pdf_url')
      const path = `/v1/reports/${id}/referees/${String(readValue(referee, 'referee_id'))}`
      if (typeof url === 'string') reports.push({ kind: 'referee', url, path })
    }
    return reports
  })
}

/** Reads the completed request again and returns its reports. */
async function readRequestWithReports(
  context: CaseContext,
): Promise<{ answer: Answer; reports: ReportUrl[] }> {
  const { order } = await requireCompletedRequest(context)
  const answer = await context.probe.get(`/v1/requests/${order.requestId}`)
  const reports = findReportUrls(answer.data)
  requireTestable(reports.length > 0, 'no report URL was seen')
  return { answer, reports }
}

/** Returns the signed URLs of two reads of the completed request. */
export async function readUrlsTwice(context: CaseContext): Promise<[ReportUrl[], ReportUrl[]]> {
  const path = `/v1/requests/${(await requireCompletedRequest(context)).order.requestId}`
  const firstReports = findReportUrls((await context.probe.get(path)).data)
  // Tokens may differ only by their time in seconds, so the second read is a second later.
  await context.deploymentClock.pause(1100)
  return [firstReports, findReportUrls((await context.probe.get(path)).data)]
}

async function requireUrlsTwice(context: CaseContext): Promise<[ReportUrl[], ReportUrl[]]> {
  const reads = await readUrlsTwice(context)
  requireTestable(
    reads.every((reports) => reports.length > 0),
    'no report URL was seen',
  )
  return reads
}

async function readReportOfEachKind(context: CaseContext): Promise<ReportUrl[]> {
  const { reports } = await readRequestWithReports(context)
  const kinds = ['background', 'referee'] as const
  return kinds.flatMap((kind) => reports.find((each) => each.kind === kind) ?? [])
}

/** Returns a test that reads the completed request again, and makes the calls for one report of each kind. */
const testReportOfEachKind =
  (makeCalls: (report: ReportUrl, context: CaseContext) => ExpectedCall[]): Run =>
  async (context) =>
    (await readReportOfEachKind(context)).flatMap((report) => makeCalls(report, context))

/**
 * Returns the call of a signed URL without headers; a PDF is expected by default. Throws a NotTestableError if the URL
 * has another host, which is never called.
 */
function createTokenCall(
  context: CaseContext,
  { url }: ReportUrl,
  note?: string,
  expect: ExpectedCall['expect'] = expectPdf,
): ExpectedCall {
  const get = context.probe.relativePath(url)
  requireTestable(get !== undefined, 'the report URLs lead to another host, which is not called')
  return { get, identity: {}, note, expect }
}

const readToken = (url = ''): string => (url === '' ? '' : (new URL(url).searchParams.get('t') ?? ''))

/** Returns a call with a token and no other credentials. The call must be refused. */
const expectTokenRefused = (path: string, token: string, note: string): ExpectedCall => ({
  get: `${path}?t=${encodeURIComponent(token)}`,
  identity: {},
  note,
  expect: 401,
})

/** Returns invalid tokens that are made from a valid one, each with a description. */
function createInvalidTokens(token: string): [token: string, note: string][] {
  const last = token.at(-1) === 'A' ? 'B' : 'A'
  const first = token.startsWith('z') ? 'y' : 'z'
  return [
    ['invalid', 'that is not a token'],
    ['', 'that is empty'],
    // Base64 padding at the end is removed first, since a token without its padding may be valid.
    [token.replace(/(?<!=)=+$/, '').slice(0, -1), 'that lacks its last character'],
    [`${token.slice(0, -2)}${last}${last}`, 'whose end was changed'],
    [`${first}${token.slice(1)}`, 'whose start was changed'],
  ]
}

/** Returns calls of reports that only a check of the other type would have; each must be answered with 404. */
async function createWrongKindCalls(context: CaseContext): Promise<Expectations> {
  const { answer, reports } = await readRequestWithReports(context)
  const reference = readChecks(answer.data).find((check) => readValue(check, 'type') === 'reference')
  const path = `/v1/reports/${String(readValue(reference, 'id'))}`
  const backgroundReport = reports.find(({ kind }) => kind === 'background')
  const ofReference = 'of a reference check, which has no report of its own'
  const ofBackground = 'of a background check, which has no referees'
  return [
    ...itemsIf<ExpectedCall>(
      reference !== undefined,
      { get: path, note: ofReference, expect: 404 },
      { get: `${path}/referees/no-such-referee`, expect: 404 },
    ),
    ...itemsIf<ExpectedCall>(backgroundReport !== undefined, {
      get: `${backgroundReport?.path}/referees/1`,
      note: ofBackground,
      expect: 404,
    }),
  ]
}

async function testTokenLife(context: CaseContext): Promise<Expectations> {
  requireTestable(
    context.deploymentClock.isManual,
    'it takes an hour, unless it runs on a sandbox with --control, whose clock can be moved',
  )
  const issuedReports = await readReportOfEachKind(context)
  const callReports = (note: string, expect: ExpectedCall['expect']) =>
    collectFindings(
      context,
      issuedReports.map((report) => createTokenCall(context, report, note, expect)),
    )
  await context.deploymentClock.pause(3_590_000)
  const beforeExpiry = await callReports('10 seconds before the token expires', expectPdf)
  await context.deploymentClock.pause(11_000)
  const afterExpiry = await callReports('a second after the token expired', 401)
  return [
    ...beforeExpiry,
    ...afterExpiry,
    ...(await readReportOfEachKind(context)).map((report) => createTokenCall(context, report)),
  ]
}

const pdfRule = 'Response 200: Content-Type application/pdf, binary PDF body.'
const errorsRule =
  'Errors: 401 (headers missing or invalid, or `t` invalid or expired); 403 (user not an active member of the organisation of the API key); 404 (report not found, not yet available, or not associated with the organisation); 429 (applies to requests using headers); 5xx.'

export const reportCases: readonly Case[] = [
  ...casesThatOrder('Authentication', {
    'reports.url': [
      'Signed report token: report URLs in request reads carry `?t=<signed_token>`.',
      async (context) =>
        (await readRequestWithReports(context)).reports.flatMap(({ url, path }) => {
          if (!URL.canParse(url)) return [`report_pdf_url ${url} is not an absolute URL`]
          const { pathname } = new URL(url)
          const pathFindings = itemsIf(
            !pathname.endsWith(path),
            `report_pdf_url of ${path} leads to ${pathname}`,
          )
          return pathFindings.concat(itemsIf(readToken(url) === '', `report_pdf_url of ${path} has no t`))
        }),
    ],
  }),
  ...casesThatOrder('GET /v1/reports/{check_id}', {
    'reports.by-headers': [
      pdfRule,
      testReportOfEachKind(({ path }) => [
        { get: path, expect: expectPdf },
        { get: path, headers: { Accept: 'application/pdf' }, note: 'accepting PDF', expect: expectPdf },
      ]),
    ],
    'reports.by-token': [
      't | query | string | No | Signed token from `report_pdf_url`; valid 1 hour; replaces the authentication headers.',
      testReportOfEachKind((report, context) => [createTokenCall(context, report, 'without headers')]),
    ],
  }),
  ...casesThatOrder('Authentication', {
    'reports.token-invalid': [
      'An invalid or expired token gives 401; a fresh URL is obtained by reading the request again.',
      testReportOfEachKind(({ path, url }) => [
        ...createInvalidTokens(readToken(url)).map(([token, note]) => expectTokenRefused(path, token, note)),
        { get: `${path}?t=invalid`, note: 'invalid, with valid headers', expect: 401 },
      ]),
    ],
  }),
  ...casesThatOrder('GET /v1/reports/{check_id}/referees/{referee_id}', {
    'reports.token-of-another': [
      'The token `t` is specific to the referee report it was issued for.',
      async (context) => {
        const { reports } = await readRequestWithReports(context)
        requireTestable(reports.length > 1, 'the request has one report only')
        return reports.map(({ path }, index) => {
          const otherToken = readToken(reports[(index + 1) % reports.length]?.url)
          return expectTokenRefused(path, otherToken, 'with the token of another report')
        })
      },
    ],
  }),
  ...casesThatOrder('Endpoints', {
    'reports.token-elsewhere': [
      'Every endpoint below requires the two authentication headers unless stated.',
      async (context) => {
        const { answer, reports } = await readRequestWithReports(context)
        const requestPath = `/v1/requests/${String(readValue(answer.data, 'request_id'))}`
        const token = readToken(reports[0]?.url)
        return [requestPath, '/v1/users', '/v1/packages'].map((path) =>
          expectTokenRefused(path, token, 'without headers'),
        )
      },
    ],
  }),
  ...casesThatRead('GET /v1/reports/{check_id}', {
    'reports.unknown': [
      errorsRule,
      [
        { get: `/v1/reports/${unknownId}`, expect: 404 },
        { get: `/v1/reports/${unknownId}/referees/1`, expect: 404 },
      ],
    ],
  }),
  ...casesThatOrder('GET /v1/reports/{check_id}', {
    'reports.not-yet': [
      errorsRule,
      async (context) => {
        const { earlyReports } = await requireFollowedRequest(context)
        requireTestable(earlyReports.length > 0, 'no check was seen that has an id and no report')
        return earlyReports.flatMap((answer) => expectStatus(answer, 404))
      },
    ],
    'reports.kinds': [
      'check_id | path | string (UUID) | Yes | `checks[].id` of the request.',
      createWrongKindCalls,
    ],
    'reports.of-another-organisation': [
      errorsRule,
      (context) => {
        const identity = requireForeignUser(context)
        const note = 'with a key of another organisation'
        return testReportOfEachKind(({ path }) => [{ get: path, identity, note, expect: 404 }])(context)
      },
    ],
  }),
  ...casesThatControl('Limits', {
    'reports.token-life': ['Signed report token lifetime | 1 hour | Report URLs', testTokenLife],
  }),
]

export const reportTokenCases: readonly Case[] = [
  ...casesThatOrder('Authentication', {
    'reports.token-lasts': [
      'The token is valid for 1 hour.',
      async (context) => {
        const [report] = (await requireUrlsTwice(context))[0]
        requireTestable(report !== undefined, 'no report URL was seen')
        const notes = ['after another read', 'a second time', 'a third time']
        return notes.map((note) => createTokenCall(context, report, note))
      },
    ],
  }),
  ...casesThatOrder('GET /v1/reports/{check_id}', {
    'reports.every-report': [
      pdfRule,
      async (context) =>
        (await requireUrlsTwice(context))[1].map((each) => createTokenCall(context, each, 'without headers')),
    ],
    'reports.refused-headers': [
      errorsRule,
      async (context) => {
        const get = (await requireUrlsTwice(context))[1][0]?.path ?? ''
        const unknownUser = { apiKey: context.target.apiKey, userEmail: unknownEmail }
        const unknownCaller = { ...unknownUser, apiKey: 'x'.repeat(32) }
        return [
          { get, identity: unknownUser, note: 'as an unknown user', expect: 403 },
          { get, identity: unknownCaller, note: 'with an unknown key', expect: 401 },
          { get, identity: {}, note: 'without headers or token', expect: 401 },
        ]
      },
    ],
  }),
]
