import type { PDFFont, PDFPage } from '@cantoo/pdf-lib'
import type { Context, Hono } from 'hono'

import { cacheHeaders } from '../../contract/headers.ts'
import { authenticate, type Call, type CallEnv } from './call.ts'
import { refusals } from './answer.ts'
import type { CheckRecord, RefereeRecord, RequestRecord } from './schemas.ts'
import { reportFault } from './scenarios.ts'
import { backgroundReport, refereeReport } from './service.ts'

export function addReportRoutes(app: Hono<CallEnv>): void {
  app.get('/v1/reports/:check', (context) => {
    const id = context.env.service.idOf(context.req.param('check'))
    return download(context, backgroundReport(id), ({ check }) => check.type === 'background')
  })
  app.get('/v1/reports/:check/referees/:referee', (context) => {
    const { check, referee: refereeId } = context.req.param()
    const checkId = context.env.service.idOf(check)
    return download(
      context,
      refereeReport(checkId, refereeId),
      (found) => found.check.type === 'reference',
      refereeId,
    )
  })
}

interface Found {
  request: RequestRecord
  check: CheckRecord
  referee: RefereeRecord | undefined
}

/**
 * Returns a report as PDF. The token `t` replaces the headers and is valid for this report only; an invalid token is
 * a 401 even with valid headers ("An invalid or expired token gives 401").
 */
function download(
  context: Context<CallEnv>,
  report: string,
  fits: (found: Found) => boolean,
  refereeId?: string,
): Promise<Response> {
  const { service, now } = context.env
  const tokens = context.req.queries('t') ?? []
  let organisation: string | undefined
  if (tokens.length === 0) {
    organisation = authenticate(context.req.raw.headers, context.env).organisation.id
  } else if (
    (tokens.length > 1 && service.rule('repeated-parameters') === 'refused') ||
    !tokens.every((token) => service.tokens.accepts(token, report, now))
  ) {
    throw refusals.invalidToken()
  }
  const found = find(service.idOf(context.req.param('check') ?? ''), refereeId, context.env)
  if (found === undefined || !fits(found)) throw refusals.notFound()
  if (organisation !== undefined && found.request.organisation_id !== organisation) throw refusals.notFound()
  context.env.fault ??= reportFault(found.request.scenarios)
  return pdf(found)
}

function find(checkId: string, refereeId: string | undefined, { service, now }: Call): Found | undefined {
  const request = service.state.checks.get(checkId)
  if (request === undefined) return undefined
  service.bringUpToDate(request, now)
  const check = request.checks.find(({ id }) => id === checkId)
  const referee = check?.referees.find(({ referee_id }) => referee_id === refereeId)
  const reported = refereeId === undefined ? check : referee
  if (check === undefined || reported === undefined || reported.report_at === null) return undefined
  return { request, check, referee }
}

async function pdf({ request, check, referee }: Found): Promise<Response> {
  const bytes = await reportPdf(request, check, referee)
  return new Response(bytes, { headers: { 'Content-Type': 'application/pdf', ...cacheHeaders } })
}

/** Makes a report of one page: the check, the person and the outcome. The bytes of a report are always the same. */
async function reportPdf(
  request: RequestRecord,
  check: CheckRecord,
  referee: RefereeRecord | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const { PDFDocument, StandardFonts } = await import('@cantoo/pdf-lib')
  const document = await PDFDocument.create({ updateMetadata: false })
  const subject = referee === undefined ? check : referee
  const made = new Date(subject.report_at ?? request.created_at)
  const title = referee === undefined ? (check.check_name ?? 'Background check') : 'Reference report'
  document.setTitle(title)
  document.setProducer('refcheck sandbox')
  document.setCreator('refcheck sandbox')
  document.setCreationDate(made)
  document.setModificationDate(made)
  const page = document.addPage([595, 842])
  write(page, title, facts(request, check, referee, made), {
    plain: await document.embedFont(StandardFonts.Helvetica),
    bold: await document.embedFont(StandardFonts.HelveticaBold),
  })
  return Uint8Array.from(await document.save())
}

function facts(
  request: RequestRecord,
  check: CheckRecord,
  referee: RefereeRecord | undefined,
  made: Date,
): [string, string][] {
  const { recipient } = request
  const about: [string, string][] =
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
    ...about,
    ['Check number', check.id],
    ['Request number', request.request_id],
    ['Made', made.toISOString()],
  ]
}

function write(
  page: PDFPage,
  title: string,
  lines: [string, string][],
  font: { plain: PDFFont; bold: PDFFont },
): void {
  let y = 770
  const line = (text: string, face: PDFFont, size: number, x = 60): void => {
    page.drawText(printable(text, face), { x, y, size, font: face })
  }
  line(title, font.bold, 20)
  y -= 40
  for (const [name, value] of lines) {
    line(name, font.bold, 11)
    line(value, font.plain, 11, 180)
    y -= 22
  }
  y -= 20
  line('A sandbox made this report. It says nothing about a real person.', font.plain, 10)
}

/** Replaces letters that the built-in fonts do not have, which are all but Western ones, by question marks. */
function printable(text: string, font: PDFFont): string {
  const known = new Set(font.getCharacterSet())
  return Array.from(text, (char) => (known.has(char.codePointAt(0) ?? 0) ? char : '?'))
    .join('')
    .slice(0, 70)
}
