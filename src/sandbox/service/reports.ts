import type { PDFFont, PDFPage } from '@cantoo/pdf-lib'
import type { Context, Hono } from 'hono'

import { cacheHeaders } from '../../contract/headers.ts'
import { authenticate, type Call, type CallEnv } from './call.ts'
import { refusals } from './answer.ts'
import type { CheckRecord, RefereeRecord, RequestRecord } from './schemas.ts'
import { findFault, reportFaults } from './scenarios.ts'
import { reportPathOf } from './service.ts'

export function addReportRoutes(app: Hono<CallEnv>): void {
  app.get('/v1/reports/:check', (context) => download(context))
  app.get('/v1/reports/:check/referees/:referee', (context) =>
    download(context, context.req.param('referee')),
  )
}

/** `referee` is undefined for the report of a background check. */
interface Report {
  request: RequestRecord
  check: CheckRecord
  referee: RefereeRecord | undefined
}

/**
 * Returns a report as PDF. The token `t` replaces the headers and is valid for this report only; an invalid token is
 * a 401 even with valid headers ("An invalid or expired token gives 401").
 */
function download(context: Context<CallEnv>, refereeId?: string): Promise<Response> {
  const { service, now } = context.env
  const checkId = service.normaliseId(context.req.param('check') ?? '')
  const tokens = context.req.queries('t') ?? []
  let organisationId: string | undefined
  if (tokens.length === 0) {
    organisationId = authenticate(context.req.raw.headers, context.env).organisation.id
  } else if (
    (tokens.length > 1 && service.rule('repeated-parameters') === 'refused') ||
    !tokens.every((token) => service.tokens.isValid(token, reportPathOf(checkId, refereeId), now))
  ) {
    throw refusals.invalidToken()
  }
  const report = findReport(checkId, refereeId, context.env)
  if (organisationId !== undefined && report.request.organisation_id !== organisationId)
    throw refusals.notFound()
  context.env.scenarioFault ??= findFault(reportFaults, report.request.scenarios)
  return createPdfResponse(report)
}

/** Returns a report. Throws a Refusal with status 404 if there is none, or not yet. */
function findReport(checkId: string, refereeId: string | undefined, { service, now }: Call): Report {
  const request = service.state.requestByCheckId.get(checkId)
  if (request === undefined) throw refusals.notFound()
  service.bringUpToDate(request, now)
  const check = request.checks.find(({ id }) => id === checkId)
  const referee = check?.referees.find(({ referee_id }) => referee_id === refereeId)
  const type = refereeId === undefined ? 'background' : 'reference'
  const reportOwner = refereeId === undefined ? check : referee
  if (check?.type !== type || reportOwner === undefined || reportOwner.report_at === null)
    throw refusals.notFound()
  return { request, check, referee }
}

async function createPdfResponse(report: Report): Promise<Response> {
  const bytes = await createPdf(report)
  return new Response(bytes, { headers: { 'Content-Type': 'application/pdf', ...cacheHeaders } })
}

/**
 * Creates a report of one page with the check, the person and the outcome. The bytes of a report are always
 * the same.
 */
async function createPdf(report: Report): Promise<Uint8Array<ArrayBuffer>> {
  const { PDFDocument, StandardFonts } = await import('@cantoo/pdf-lib')
  const document = await PDFDocument.create({ updateMetadata: false })
  const { request, check, referee } = report
  const createdAt = new Date((referee ?? check).report_at ?? request.created_at)
  const title = referee === undefined ? (check.check_name ?? 'Background check') : 'Reference report'
  document.setTitle(title)
  document.setProducer('refcheck sandbox')
  document.setCreator('refcheck sandbox')
  document.setCreationDate(createdAt)
  document.setModificationDate(createdAt)
  const page = document.addPage([595, 842])
  drawReport(page, title, listFacts(report, createdAt), {
    plain: await document.embedFont(StandardFonts.Helvetica),
    bold: await document.embedFont(StandardFonts.HelveticaBold),
  })
  return Uint8Array.from(await document.save())
}

function listFacts({ request, check, referee }: Report, createdAt: Date): [string, string][] {
  const { recipient } = request
  const reportFacts: [string, string][] =
    referee === undefined
      ? [
          ['Check', check.check_name ?? 'not named'],
          ['Provider', check.partner_name ?? 'not named'],
          ['Status', check.status],
        ]
      : [
          ['Referee', referee.referee_name ?? 'not named'],
          ['Referee e-mail', referee.referee_email ?? 'not given'],
          ['Referee number', referee.referee_id],
          ['Status', referee.status],
        ]
  return [
    ['Person', `${recipient.first_name} ${recipient.last_name}`],
    ['E-mail', recipient.email],
    ...reportFacts,
    ['Check number', check.id],
    ['Request number', request.request_id],
    ['Made', createdAt.toISOString()],
  ]
}

function drawReport(
  page: PDFPage,
  title: string,
  lines: [string, string][],
  font: { plain: PDFFont; bold: PDFFont },
): void {
  let y = 770
  const drawLine = (text: string, face: PDFFont, size: number, x = 60): void => {
    page.drawText(replaceUnprintable(text, face), { x, y, size, font: face })
  }
  drawLine(title, font.bold, 20)
  y -= 40
  for (const [name, value] of lines) {
    drawLine(name, font.bold, 11)
    drawLine(value, font.plain, 11, 180)
    y -= 22
  }
  y -= 20
  drawLine('A sandbox made this report. It says nothing about a real person.', font.plain, 10)
}

/**
 * Replaces letters that the built-in fonts do not have, which are all but Western ones, by question marks, and cuts the
 * text to the width of the page.
 */
function replaceUnprintable(text: string, font: PDFFont): string {
  const supported = new Set(font.getCharacterSet())
  return Array.from(text, (char) => (supported.has(char.codePointAt(0) ?? 0) ? char : '?'))
    .join('')
    .slice(0, 70)
}
