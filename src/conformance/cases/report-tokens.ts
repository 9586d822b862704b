import { type Case, unless } from '../case.ts'
import { expectPdf, expectStatus } from '../expect.ts'
import { completed } from '../journey.ts'
import type { Visit } from '../visit.ts'
import { type ReportUrl, reportUrls } from './report-urls.ts'

const noHeaders = { as: {} }

/** Reads of the completed request, one after the other, and the signed URLs of each. */
async function signedTwice(visit: Visit): Promise<[ReportUrl[], ReportUrl[]]> {
  const path = `/v1/requests/${(await completed(visit)).ordered.requestId}`
  const first = reportUrls((await visit.probe.get(path)).data)
  await visit.pace.pause(1100)
  const second = reportUrls((await visit.probe.get(path)).data)
  unless(first.length > 0 && second.length > 0, 'no report URL was seen')
  return [first, second]
}

function below(visit: Visit, { url }: ReportUrl): string {
  const path = visit.probe.path(url)
  unless(path !== undefined, 'the report URLs lead to another host, which is not called')
  return path
}

export const reportTokenCases: readonly Case[] = [
  {
    id: 'reports.token-lasts',
    section: 'Authentication',
    rule: 'The token is valid for 1 hour.',
    kind: 'create',
    async run(visit) {
      const [[first]] = await signedTwice(visit)
      unless(first !== undefined, 'no report URL was seen')
      const findings: string[] = []
      for (const note of ['after another read', 'a second time', 'a third time']) {
        findings.push(...expectPdf(await visit.probe.get(below(visit, first), { ...noHeaders, note })))
      }
      return findings
    },
  },
  {
    id: 'reports.every-report',
    section: 'GET /v1/reports/{check_id}',
    rule: 'Response 200: Content-Type application/pdf, binary PDF body.',
    kind: 'create',
    async run(visit) {
      const [, reports] = await signedTwice(visit)
      const findings: string[] = []
      for (const report of reports) {
        const note = 'without headers'
        findings.push(...expectPdf(await visit.probe.get(below(visit, report), { ...noHeaders, note })))
      }
      return findings
    },
  },
  {
    id: 'reports.refused-headers',
    section: 'GET /v1/reports/{check_id}',
    rule: 'Errors: 401 (headers missing or invalid, or `t` invalid or expired); 403 (user not an active member of the organisation of the API key); 404 (report not found, not yet available, or not associated with the organisation); 429 (applies to requests using headers); 5xx.',
    kind: 'create',
    async run(visit) {
      const [, reports] = await signedTwice(visit)
      const path = reports[0]?.path ?? ''
      const { apiKey } = visit.target
      const stranger = { apiKey, userEmail: 'nobody@conformance.invalid' }
      const unknown = { ...stranger, apiKey: 'x'.repeat(32) }
      return [
        ...expectStatus(await visit.probe.get(path, { as: stranger, note: 'as an unknown user' }), 403),
        ...expectStatus(await visit.probe.get(path, { as: unknown, note: 'with an unknown key' }), 401),
        ...expectStatus(await visit.probe.get(path, { as: {}, note: 'without headers or token' }), 401),
      ]
    },
  },
]
