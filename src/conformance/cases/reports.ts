import { type Fields, toItems } from '../answer.ts'
import { type Case, requireItems, requireTestable, requireValue } from '../case.ts'
import { requireForeignUser, unknownEmail, unknownId, unknownKey } from '../order.ts'
import {
  type ExpectedCall,
  type Expectations,
  expectPdf,
  expectStatus,
  collectFindings,
  createDeploymentControlCases,
  createOrderCases,
  createReadCases,
  testEach,
  testWith,
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
    const path = `/v1/reports/${String(check.id)}`
    const reports: ReportUrl[] = []
    if (typeof check.report_pdf_url === 'string')
      reports.push({ kind: 'background', url: check.report_pdf_url, path })
    for (const { referee_id, report_pdf_url: url } of toItems(check.references)) {
      if (typeof url === 'string')
        reports.push({ kind: 'referee', url, path: `${path}/referees/${String(referee_id)}` })
    }
    return reports
  })
}

interface RequestWithReports {
  path: string
  checks: Fields[]
  /** The reports of the request; there is at least one. */
  reports: [ReportUrl, ...ReportUrl[]]
}

/** Reads the completed request again and returns its reports. */
async function readRequestWithReports(context: CaseContext): Promise<RequestWithReports> {
  const path = `/v1/requests/${(await requireCompletedRequest(context)).order.requestId}`
  const { data } = await context.probe.get(path)
  const reports = requireItems(findReportUrls(data), 'no report URL was seen')
  return { path, checks: readChecks(data), reports }
}

/**
 * Returns the reports of the completed request by two reads. Tokens may differ only by their time in seconds, so the
 * second read is a second later.
 */
export async function readReportsTwice(
  context: CaseContext,
): Promise<[RequestWithReports['reports'], RequestWithReports['reports']]> {
  const { reports } = await readRequestWithReports(context)
  await context.deploymentClock.pause(1100)
  return [reports, (await readRequestWithReports(context)).reports]
}

async function readReportOfEachKind(context: CaseContext): Promise<ReportUrl[]> {
  const { reports } = await readRequestWithReports(context)
  const kinds = ['background', 'referee'] as const
  return kinds.flatMap((kind) => reports.find((each) => each.kind === kind) ?? [])
}

/** Returns a test that reads the completed request again, and makes the calls for one report of each kind. */
const testReportOfEachKind = testEach(readReportOfEachKind)

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
  const reason = 'the report URLs lead to another host, which is not called'
  const get = requireValue(context.probe.relativePath(url), reason)
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
  const { checks, reports } = await readRequestWithReports(context)
  const reference = checks.find(({ type }) => type === 'reference')
  const path = `/v1/reports/${String(reference?.id)}`
  const background = reports.find(({ kind }) => kind === 'background')
  const ofReference = 'of a reference check, which has no report of its own'
  const ofBackground = 'of a background check, which has no referees'
  return [
    reference && { get: path, note: ofReference, expect: 404 },
    reference && { get: `${path}/referees/no-such-referee`, expect: 404 },
    background && { get: `${background.path}/referees/1`, note: ofBackground, expect: 404 },
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
  ...createOrderCases('Authentication', {
    'reports.url': [
      'Signed report token: report URLs in request reads carry `?t=<signed_token>`.',
      testWith(readRequestWithReports)(({ reports }) =>
        reports.flatMap(({ url, path }) => {
          if (!URL.canParse(url)) return [`report_pdf_url ${url} is not an absolute URL`]
          const { pathname } = new URL(url)
          return [
            !pathname.endsWith(path) && `report_pdf_url of ${path} leads to ${pathname}`,
            readToken(url) === '' && `report_pdf_url of ${path} has no t`,
          ]
        }),
      ),
    ],
  }),
  ...createOrderCases('GET /v1/reports/{check_id}', {
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
  ...createOrderCases('Authentication', {
    'reports.token-invalid': [
      'An invalid or expired token gives 401; a fresh URL is obtained by reading the request again.',
      testReportOfEachKind(({ path, url }) => [
        ...createInvalidTokens(readToken(url)).map(([token, note]) => expectTokenRefused(path, token, note)),
        { get: `${path}?t=invalid`, note: 'invalid, with valid headers', expect: 401 },
      ]),
    ],
  }),
  ...createOrderCases('GET /v1/reports/{check_id}/referees/{referee_id}', {
    'reports.token-of-another': [
      'The token `t` is specific to the referee report it was issued for.',
      testWith(readRequestWithReports)(({ reports }) => {
        requireTestable(reports.length > 1, 'the request has one report only')
        return reports.map(({ path }, index) => {
          const otherToken = readToken(reports[(index + 1) % reports.length]?.url)
          return expectTokenRefused(path, otherToken, 'with the token of another report')
        })
      }),
    ],
  }),
  ...createOrderCases('Endpoints', {
    'reports.token-elsewhere': [
      'Every endpoint below requires the two authentication headers unless stated.',
      testWith(readRequestWithReports)(({ path: requestPath, reports }) => {
        const token = readToken(reports[0].url)
        return [requestPath, '/v1/users', '/v1/packages'].map((path) =>
          expectTokenRefused(path, token, 'without headers'),
        )
      }),
    ],
  }),
  ...createReadCases('GET /v1/reports/{check_id}', {
    'reports.unknown': [
      errorsRule,
      [
        { get: `/v1/reports/${unknownId}`, expect: 404 },
        { get: `/v1/reports/${unknownId}/referees/1`, expect: 404 },
      ],
    ],
  }),
  ...createOrderCases('GET /v1/reports/{check_id}', {
    'reports.not-yet': [
      errorsRule,
      testWith(requireFollowedRequest)(({ earlyReports }) => {
        const reports = requireItems(earlyReports, 'no check was seen that has an id and no report')
        return reports.flatMap((answer) => expectStatus(answer, 404))
      }),
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
  ...createDeploymentControlCases('Limits', {
    'reports.token-life': ['Signed report token lifetime | 1 hour | Report URLs', testTokenLife],
  }),
]

export const reportTokenCases: readonly Case[] = [
  ...createOrderCases('Authentication', {
    'reports.token-lasts': [
      'The token is valid for 1 hour.',
      testWith(readReportsTwice)(([[report]], context) =>
        ['after another read', 'a second time', 'a third time'].map((note) =>
          createTokenCall(context, report, note),
        ),
      ),
    ],
  }),
  ...createOrderCases('GET /v1/reports/{check_id}', {
    'reports.every-report': [
      pdfRule,
      testWith(readReportsTwice)(([, reports], context) =>
        reports.map((each) => createTokenCall(context, each, 'without headers')),
      ),
    ],
    'reports.refused-headers': [
      errorsRule,
      testWith(readReportsTwice)(([, [{ path: get }]], context) => {
        const unknownUser = { apiKey: context.target.apiKey, userEmail: unknownEmail }
        const unknownCaller = { ...unknownUser, apiKey: unknownKey }
        return [
          { get, identity: unknownUser, note: 'as an unknown user', expect: 403 },
          { get, identity: unknownCaller, note: 'with an unknown key', expect: 401 },
          { get, identity: {}, note: 'without headers or token', expect: 401 },
        ]
      }),
    ],
  }),
]
