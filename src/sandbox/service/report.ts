import type { PDFFont, PDFPage } from '@cantoo/pdf-lib'

import type { CheckRecord, RefereeRecord, RequestRecord } from './records.ts'

/**
 * A report of one page: what was checked, on whom, and how it ended. The same report is the same
 * bytes every time.
 */
export async function reportPdf(
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

/** The built-in fonts know Western letters only; others become question marks. */
function printable(text: string, font: PDFFont): string {
  const known = new Set(font.getCharacterSet())
  return Array.from(text, (char) => (known.has(char.codePointAt(0) ?? 0) ? char : '?'))
    .join('')
    .slice(0, 70)
}
