import { type Answer, entries, field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { foreignUser, unknownEmail, unknownId } from '../order.ts'
import {
  type Ask,
  type Expectations,
  expectPdf,
  expectStatus,
  judge,
  type Run,
  under,
  when,
} from '../table.ts'
import { checksOf, completed, journey } from '../journey.ts'
import type { Visit } from '../visit.ts'

/** A report whose URL is in a request. */
interface ReportUrl {
  kind: 'background' | 'referee'
  url: string
  /** Path of the report by the document. */
  path: string
}

/** Returns the signed report URLs in a request's data. */
export function reportUrls(data: unknown): ReportUrl[] {
  return checksOf(data).flatMap((check) => {
    const id = String(field(check, 'id'))
    const own = field(check, 'report_pdf_url')
    const found: ReportUrl[] =
      typeof own === 'string' ? [{ kind: 'background', url: own, path: `/v1/reports/${id}` }] : []
    for (const referee of entries(field(check, 'references'))) {
      const url = field(referee, 'report_pdf_url')
      const path = `/v1/reports/${id}/referees/${String(field(referee, 'referee_id'))}`
      if (typeof url === 'string') found.push({ kind: 'referee', url, path })
    }
    return found
  })
}

/** Reads the completed request again and returns its reports. */
async function freshReports(visit: Visit): Promise<{ answer: Answer; reports: ReportUrl[] }> {
  const { ordered } = await completed(visit)
  const answer = await visit.probe.get(`/v1/requests/${ordered.requestId}`)
  const reports = reportUrls(answer.data)
  unless(reports.length > 0, 'no report URL was seen')
  return { answer, reports }
}

/** Returns the signed URLs of two reads of the completed request. */
export async function urlsOfTwoReads(visit: Visit): Promise<[ReportUrl[], ReportUrl[]]> {
  const path = `/v1/requests/${(await completed(visit)).ordered.requestId}`
  const first = reportUrls((await visit.probe.get(path)).data)
  // Tokens may differ only by their time in seconds, so the second read is a second later.
  await visit.pace.pause(1100)
  return [first, reportUrls((await visit.probe.get(path)).data)]
}

async function signedTwice(visit: Visit): Promise<[ReportUrl[], ReportUrl[]]> {
  const both = await urlsOfTwoReads(visit)
  unless(
    both.every((reports) => reports.length > 0),
    'no report URL was seen',
  )
  return both
}

async function oneOfEach(visit: Visit): Promise<ReportUrl[]> {
  const { reports } = await freshReports(visit)
  const kinds = ['background', 'referee'] as const
  return kinds.flatMap((kind) => reports.find((each) => each.kind === kind) ?? [])
}

/** Makes a test that calls a report of each kind from a new read. */
const ofEachKind =
  (asks: (report: ReportUrl, visit: Visit) => Ask[]): Run =>
  async (visit) =>
    (await oneOfEach(visit)).flatMap((report) => asks(report, visit))

/**
 * Returns the call of a signed URL without headers; not testable if the URL has another host, which is never called.
 */
function byToken(visit: Visit, { url }: ReportUrl, note?: string, expect: Ask['expect'] = expectPdf): Ask {
  const get = visit.probe.path(url)
  unless(get !== undefined, 'the report URLs lead to another host, which is not called')
  return { get, as: {}, note, expect }
}

const tokenOf = (url = ''): string => (url === '' ? '' : (new URL(url).searchParams.get('t') ?? ''))

/** Returns a call with a token and no other credentials that must be refused. */
const refusedToken = (path: string, token: string, note: string): Ask => ({
  get: `${path}?t=${encodeURIComponent(token)}`,
  as: {},
  note,
  expect: 401,
})

/** Returns invalid tokens, made from a valid one. */
function spoilt(token: string): [token: string, note: string][] {
  const last = token.at(-1) === 'A' ? 'B' : 'A'
  const first = token.startsWith('z') ? 'y' : 'z'
  return [
    ['invalid', 'that is not a token'],
    ['', 'that is empty'],
    // Base64 padding at the end is removed first, since a token without it may be valid.
    [token.replace(/(?<!=)=+$/, '').slice(0, -1), 'that lacks its last character'],
    [`${token.slice(0, -2)}${last}${last}`, 'whose end was changed'],
    [`${first}${token.slice(1)}`, 'whose start was changed'],
  ]
}

/** Returns calls of reports that a check of the other type would have. */
async function wrongKinds(visit: Visit): Promise<Expectations> {
  const { answer, reports } = await freshReports(visit)
  const reference = checksOf(answer.data).find((check) => field(check, 'type') === 'reference')
  const path = `/v1/reports/${String(field(reference, 'id'))}`
  const own = reports.find(({ kind }) => kind === 'background')
  const ofReference = 'of a reference check, which has no report of its own'
  const ofBackground = 'of a background check, which has no referees'
  return [
    ...when<Ask>(
      reference !== undefined,
      { get: path, note: ofReference, expect: 404 },
      { get: `${path}/referees/no-such-referee`, expect: 404 },
    ),
    ...when<Ask>(own !== undefined, { get: `${own?.path}/referees/1`, note: ofBackground, expect: 404 }),
  ]
}

async function tokenLife(visit: Visit): Promise<Expectations> {
  unless(visit.pace.exact, 'it takes an hour: the clock is only moved on a sandbox, with --control')
  const issued = await oneOfEach(visit)
  const ask = (note: string, expect: Ask['expect']) =>
    judge(
      visit,
      issued.map((report) => byToken(visit, report, note, expect)),
    )
  await visit.pace.pause(3_590_000)
  const late = await ask('10 seconds before the token expires', expectPdf)
  await visit.pace.pause(11_000)
  const tooLate = await ask('a second after the token expired', 401)
  return [...late, ...tooLate, ...(await oneOfEach(visit)).map((report) => byToken(visit, report))]
}

const pdf = 'Response 200: Content-Type application/pdf, binary PDF body.'
const errors =
  'Errors: 401 (headers missing or invalid, or `t` invalid or expired); 403 (user not an active member of the organisation of the API key); 404 (report not found, not yet available, or not associated with the organisation); 429 (applies to requests using headers); 5xx.'

export const reportCases: readonly Case[] = [
  ...under('Authentication', 'create', {
    'reports.url': [
      'Signed report token: report URLs in request reads carry `?t=<signed_token>`.',
      async (visit) =>
        (await freshReports(visit)).reports.flatMap(({ url, path }) => {
          if (!URL.canParse(url)) return [`report_pdf_url ${url} is not an absolute URL`]
          const { pathname } = new URL(url)
          const elsewhere = when(!pathname.endsWith(path), `report_pdf_url of ${path} leads to ${pathname}`)
          return elsewhere.concat(when(tokenOf(url) === '', `report_pdf_url of ${path} has no t`))
        }),
    ],
  }),
  ...under('GET /v1/reports/{check_id}', 'create', {
    'reports.by-headers': [
      pdf,
      ofEachKind(({ path }) => [
        { get: path, expect: expectPdf },
        { get: path, headers: { Accept: 'application/pdf' }, note: 'accepting PDF', expect: expectPdf },
      ]),
    ],
    'reports.by-token': [
      't | query | string | No | Signed token from `report_pdf_url`; valid 1 hour; replaces the authentication headers.',
      ofEachKind((report, visit) => [byToken(visit, report, 'without headers')]),
    ],
  }),
  ...under('Authentication', 'create', {
    'reports.token-invalid': [
      'An invalid or expired token gives 401; a fresh URL is obtained by reading the request again.',
      ofEachKind(({ path, url }) => [
        ...spoilt(tokenOf(url)).map(([token, note]) => refusedToken(path, token, note)),
        { get: `${path}?t=invalid`, note: 'invalid, with valid headers', expect: 401 },
      ]),
    ],
  }),
  ...under('GET /v1/reports/{check_id}/referees/{referee_id}', 'create', {
    'reports.token-of-another': [
      'The token `t` is specific to the referee report it was issued for.',
      async (visit) => {
        const { reports } = await freshReports(visit)
        unless(reports.length > 1, 'the request has one report only')
        return reports.map(({ path }, at) => {
          const other = tokenOf(reports[(at + 1) % reports.length]?.url)
          return refusedToken(path, other, 'with the token of another report')
        })
      },
    ],
  }),
  ...under('Endpoints', 'create', {
    'reports.token-elsewhere': [
      'Every endpoint below requires the two authentication headers unless stated.',
      async (visit) => {
        const { answer, reports } = await freshReports(visit)
        const request = `/v1/requests/${String(field(answer.data, 'request_id'))}`
        const token = tokenOf(reports[0]?.url)
        return [request, '/v1/users', '/v1/packages'].map((path) =>
          refusedToken(path, token, 'without headers'),
        )
      },
    ],
  }),
  ...under('GET /v1/reports/{check_id}', 'read', {
    'reports.unknown': [
      errors,
      [
        { get: `/v1/reports/${unknownId}`, expect: 404 },
        { get: `/v1/reports/${unknownId}/referees/1`, expect: 404 },
      ],
    ],
  }),
  ...under('GET /v1/reports/{check_id}', 'create', {
    'reports.not-yet': [
      errors,
      async (visit) => {
        const { early } = await journey(visit)
        unless(early.length > 0, 'no check was seen that has an id and no report')
        return early.flatMap((answer) => expectStatus(answer, 404))
      },
    ],
    'reports.kinds': ['check_id | path | string (UUID) | Yes | `checks[].id` of the request.', wrongKinds],
    'reports.of-another-organisation': [
      errors,
      (visit) => {
        const as = foreignUser(visit)
        const note = 'with a key of another organisation'
        return ofEachKind(({ path }) => [{ get: path, as, note, expect: 404 }])(visit)
      },
    ],
  }),
  ...under('Limits', 'control', {
    'reports.token-life': ['Signed report token lifetime | 1 hour | Report URLs', tokenLife],
  }),
]

export const reportTokenCases: readonly Case[] = [
  ...under('Authentication', 'create', {
    'reports.token-lasts': [
      'The token is valid for 1 hour.',
      async (visit) => {
        const [first] = (await signedTwice(visit))[0]
        unless(first !== undefined, 'no report URL was seen')
        const notes = ['after another read', 'a second time', 'a third time']
        return notes.map((note) => byToken(visit, first, note))
      },
    ],
  }),
  ...under('GET /v1/reports/{check_id}', 'create', {
    'reports.every-report': [
      pdf,
      async (visit) => (await signedTwice(visit))[1].map((each) => byToken(visit, each, 'without headers')),
    ],
    'reports.refused-headers': [
      errors,
      async (visit) => {
        const get = (await signedTwice(visit))[1][0]?.path ?? ''
        const unknownUser = { apiKey: visit.target.apiKey, userEmail: unknownEmail }
        const unknown = { ...unknownUser, apiKey: 'x'.repeat(32) }
        return [
          { get, as: unknownUser, note: 'as an unknown user', expect: 403 },
          { get, as: unknown, note: 'with an unknown key', expect: 401 },
          { get, as: {}, note: 'without headers or token', expect: 401 },
        ]
      },
    ],
  }),
]
