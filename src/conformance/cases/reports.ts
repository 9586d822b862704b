import { type Answer, field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { unknownId } from '../discoveries.ts'
import { expectPdf, expectStatus } from '../expect.ts'
import { checksOf, completed, journey } from '../journey.ts'
import type { Visit } from '../visit.ts'
import { type ReportUrl, reportUrls } from './report-urls.ts'

const background = 'GET /v1/reports/{check_id}'
const ofReferee = 'GET /v1/reports/{check_id}/referees/{referee_id}'
const noHeaders = { as: {} }

/** A fresh read of the completed request, and the reports it leads to. */
async function freshReports(visit: Visit): Promise<{ answer: Answer; reports: ReportUrl[] }> {
  const { ordered } = await completed(visit)
  const answer = await visit.probe.get(`/v1/requests/${ordered.requestId}`)
  const reports = reportUrls(answer.data)
  unless(reports.length > 0, 'no report URL was seen')
  return { answer, reports }
}

async function oneOfEach(visit: Visit): Promise<ReportUrl[]> {
  const { reports } = await freshReports(visit)
  const kinds = ['background', 'referee'] as const
  return kinds.flatMap((kind) => reports.find((each) => each.kind === kind) ?? [])
}

/** The path of a signed URL below the base URL; a place elsewhere is never called. */
function pathOf(visit: Visit, { url }: ReportUrl): string {
  const path = visit.probe.path(url)
  unless(path !== undefined, 'the report URLs lead to another host, which is not called')
  return path
}

const tokenOf = (url: string): string => new URL(url).searchParams.get('t') ?? ''

export const reportCases: readonly Case[] = [
  {
    id: 'reports.url',
    section: 'Authentication',
    rule: 'Signed report token: report URLs in request reads carry `?t=<signed_token>`.',
    kind: 'create',
    async run(visit) {
      return (await freshReports(visit)).reports.flatMap(({ url, path }) => {
        if (!URL.canParse(url)) return [`report_pdf_url ${url} is not an absolute URL`]
        const { pathname } = new URL(url)
        const led = pathname.endsWith(path) ? '' : `leads to ${pathname}`
        const signed = tokenOf(url) === '' ? 'has no t' : ''
        return [led, signed]
          .filter((wrong) => wrong !== '')
          .map((wrong) => `report_pdf_url of ${path} ${wrong}`)
      })
    },
  },
  {
    id: 'reports.by-headers',
    section: background,
    rule: 'Response 200: Content-Type application/pdf, binary PDF body.',
    kind: 'create',
    async run(visit) {
      const findings: string[] = []
      for (const { path } of await oneOfEach(visit)) {
        findings.push(...expectPdf(await visit.probe.get(path)))
        const headers = { Accept: 'application/pdf' }
        findings.push(...expectPdf(await visit.probe.get(path, { headers, note: 'accepting PDF' })))
      }
      return findings
    },
  },
  {
    id: 'reports.by-token',
    section: background,
    rule: 't | query | string | No | Signed token from `report_pdf_url`; valid 1 hour; replaces the authentication headers.',
    kind: 'create',
    async run(visit) {
      const findings: string[] = []
      for (const report of await oneOfEach(visit)) {
        const note = 'without headers'
        findings.push(...expectPdf(await visit.probe.get(pathOf(visit, report), { ...noHeaders, note })))
      }
      return findings
    },
  },
  {
    id: 'reports.token-invalid',
    section: 'Authentication',
    rule: 'An invalid or expired token gives 401; a fresh URL is obtained by reading the request again.',
    kind: 'create',
    async run(visit) {
      const findings: string[] = []
      for (const { path, url } of await oneOfEach(visit)) {
        for (const [token, note] of spoilt(tokenOf(url))) {
          const spoiltPath = `${path}?t=${encodeURIComponent(token)}`
          findings.push(...expectStatus(await visit.probe.get(spoiltPath, { ...noHeaders, note }), 401))
        }
        const beside = await visit.probe.get(`${path}?t=invalid`, { note: 'invalid, with valid headers' })
        findings.push(...expectStatus(beside, 401))
      }
      return findings
    },
  },
  {
    id: 'reports.token-of-another',
    section: ofReferee,
    rule: 'The token `t` is specific to the referee report it was issued for.',
    kind: 'create',
    async run(visit) {
      const { reports } = await freshReports(visit)
      unless(reports.length > 1, 'the request has one report only')
      const findings: string[] = []
      for (const [at, { path }] of reports.entries()) {
        const other = reports[(at + 1) % reports.length]
        const token = encodeURIComponent(tokenOf(other?.url ?? ''))
        const note = 'with the token of another report'
        findings.push(
          ...expectStatus(await visit.probe.get(`${path}?t=${token}`, { ...noHeaders, note }), 401),
        )
      }
      return findings
    },
  },
  {
    id: 'reports.token-elsewhere',
    section: 'Endpoints',
    rule: 'Every endpoint below requires the two authentication headers unless stated.',
    kind: 'create',
    async run(visit) {
      const { answer, reports } = await freshReports(visit)
      const token = encodeURIComponent(tokenOf(reports[0]?.url ?? ''))
      const paths = [`/v1/requests/${String(field(answer.data, 'request_id'))}`, '/v1/users', '/v1/packages']
      const findings: string[] = []
      for (const path of paths) {
        const note = 'without headers'
        findings.push(
          ...expectStatus(await visit.probe.get(`${path}?t=${token}`, { ...noHeaders, note }), 401),
        )
      }
      return findings
    },
  },
  {
    id: 'reports.unknown',
    section: background,
    rule: 'Errors: 401 (headers missing or invalid, or `t` invalid or expired); 403 (user not an active member of the organisation of the API key); 404 (report not found, not yet available, or not associated with the organisation); 429 (applies to requests using headers); 5xx.',
    kind: 'read',
    async run({ probe }) {
      return [
        ...expectStatus(await probe.get(`/v1/reports/${unknownId}`), 404),
        ...expectStatus(await probe.get(`/v1/reports/${unknownId}/referees/1`), 404),
      ]
    },
  },
  {
    id: 'reports.not-yet',
    section: background,
    rule: 'Errors: 401 (headers missing or invalid, or `t` invalid or expired); 403 (user not an active member of the organisation of the API key); 404 (report not found, not yet available, or not associated with the organisation); 429 (applies to requests using headers); 5xx.',
    kind: 'create',
    async run(visit) {
      const { early } = await journey(visit)
      unless(early.length > 0, 'no check was seen that has an id and no report')
      return early.flatMap((answer) => expectStatus(answer, 404))
    },
  },
  {
    id: 'reports.kinds',
    section: background,
    rule: 'check_id | path | string (UUID) | Yes | `checks[].id` of the request.',
    kind: 'create',
    async run(visit) {
      const { answer, reports } = await freshReports(visit)
      const findings: string[] = []
      const reference = checksOf(answer.data).find((check) => field(check, 'type') === 'reference')
      if (reference !== undefined) {
        const note = 'of a reference check, which has no report of its own'
        const path = `/v1/reports/${String(field(reference, 'id'))}`
        findings.push(...expectStatus(await visit.probe.get(path, { note }), 404))
        const stranger = await visit.probe.get(`${path}/referees/no-such-referee`)
        findings.push(...expectStatus(stranger, 404))
      }
      const own = reports.find(({ kind }) => kind === 'background')
      if (own === undefined) return findings
      const note = 'of a background check, which has no referees'
      return [...findings, ...expectStatus(await visit.probe.get(`${own.path}/referees/1`, { note }), 404)]
    },
  },
  {
    id: 'reports.of-another-organisation',
    section: background,
    rule: 'Errors: 401 (headers missing or invalid, or `t` invalid or expired); 403 (user not an active member of the organisation of the API key); 404 (report not found, not yet available, or not associated with the organisation); 429 (applies to requests using headers); 5xx.',
    kind: 'create',
    async run(visit) {
      const { stranger } = visit.target
      unless(stranger !== undefined, 'a key of another organisation is needed')
      const findings: string[] = []
      for (const { path } of await oneOfEach(visit)) {
        const answer = await visit.probe.get(path, {
          as: stranger,
          note: 'with a key of another organisation',
        })
        findings.push(...expectStatus(answer, 404))
      }
      return findings
    },
  },
  {
    id: 'reports.token-life',
    section: 'Limits',
    rule: 'Signed report token lifetime | 1 hour | Report URLs',
    kind: 'control',
    async run(visit) {
      unless(visit.pace.exact, 'it would take an hour, and the clock here cannot be moved')
      const issued = await oneOfEach(visit)
      const ask = async (note: string): Promise<Answer[]> => {
        const answers: Answer[] = []
        for (const report of issued) {
          answers.push(await visit.probe.get(pathOf(visit, report), { ...noHeaders, note }))
        }
        return answers
      }
      await visit.pace.pause(3_590_000)
      const late = await ask('10 seconds before the token expires')
      await visit.pace.pause(11_000)
      const tooLate = await ask('a second after the token expired')
      const fresh = await oneOfEach(visit)
      const renewed: Answer[] = []
      for (const report of fresh) renewed.push(await visit.probe.get(pathOf(visit, report), noHeaders))
      return [
        ...late.flatMap(expectPdf),
        ...tooLate.flatMap((answer) => expectStatus(answer, 401)),
        ...renewed.flatMap(expectPdf),
      ]
    },
  },
]

/** Tokens that nobody issued, made from one that somebody did. */
function spoilt(token: string): [token: string, note: string][] {
  const last = token.at(-1) === 'A' ? 'B' : 'A'
  const first = token.startsWith('z') ? 'y' : 'z'
  return [
    ['invalid', 'that is not a token'],
    ['', 'that is empty'],
    [token.slice(0, -1), 'that lacks its last character'],
    [`${token.slice(0, -2)}${last}${last}`, 'whose end was changed'],
    [`${first}${token.slice(1)}`, 'whose start was changed'],
  ]
}
