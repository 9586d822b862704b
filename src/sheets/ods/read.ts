import { type Book, type BookSheet, noFindings } from '../book/book.ts'
import { refusal } from '../refusal.ts'
import type { Archive } from '../xlsx/archive.ts'
import { limits } from '../limits.ts'
import { requireFewSheets } from '../xlsx/parts.ts'
import { readXml } from '../xlsx/xml.ts'
import { sheetRows } from './rows.ts'
import { spaces } from './spaces.ts'
import { type Styles, stylesOf } from './styles.ts'

/** A workbook of OpenDocument (ISO/IEC 26300), as LibreOffice saves it. Nothing of its sheets is read yet. */
export async function odsBook(archive: Archive, name: string): Promise<Book> {
  await requireSpreadsheet(archive, name)
  const styles = await stylesOf(archive, name)
  const hidesZeros = await hidesZerosIn(archive, name)
  const sheets: BookSheet[] = []
  for (const [number, { title, hidden }] of (await tablesOf(archive, styles, name)).entries()) {
    const found = noFindings()
    const rows = (): ReturnType<BookSheet['rows']> =>
      sheetRows(archive, { number, name, styles, hidesZeros, found })
    sheets.push({ name: title, hidden, found, rows })
  }
  return { format: 'ods', from1904: false, sheets }
}

async function requireSpreadsheet(archive: Archive, name: string): Promise<void> {
  const kind = archive.has('mimetype') ? await textOf(archive, 'mimetype') : ''
  const isOther = kind !== '' && !kind.startsWith('application/vnd.oasis.opendocument.spreadsheet')
  if (isOther) {
    throw refusal(
      name,
      'it is an OpenDocument file, but not a spreadsheet',
      'Export the table as ODS, XLSX or CSV.',
    )
  }
  if (!archive.has('META-INF/manifest.xml')) return
  const manifest = await textOf(archive, 'META-INF/manifest.xml')
  if (/encryption-data|encrypted-key/.test(manifest)) {
    throw refusal(name, 'it is encrypted', 'Save it without a password, then run this again.')
  }
}

async function textOf(archive: Archive, part: string): Promise<string> {
  const bytes: Buffer[] = []
  for await (const chunk of archive.read(part, limits.smallPartBytes)) bytes.push(chunk)
  return Buffer.concat(bytes).toString().trim()
}

interface Table {
  title: string
  hidden: boolean
}

async function tablesOf(archive: Archive, styles: Styles, name: string): Promise<Table[]> {
  const tables: Table[] = []
  let depth = 0
  await readXml(archive, 'content.xml', name, {
    spaces,
    largest: limits.sheetBytes,
    open(tag, attributes) {
      if (tag !== 'table:table') return
      depth += 1
      if (depth > 1) return
      const { 'table:name': title = '', 'table:style-name': style = '' } = attributes
      tables.push({ title, hidden: styles.hiddenTables.has(style) })
      requireFewSheets(tables.length, name)
    },
    close(tag) {
      if (tag === 'table:table') depth -= 1
    },
  })
  return tables
}

/** A setting of the document, or of one view of it, that LibreOffice keeps. */
async function hidesZerosIn(archive: Archive, name: string): Promise<boolean> {
  if (!archive.has('settings.xml')) return false
  let isAsked = false
  let hides = false
  await readXml(archive, 'settings.xml', name, {
    spaces,
    largest: limits.smallPartBytes,
    open(tag, attributes) {
      isAsked = tag === 'config:config-item' && attributes['config:name'] === 'ShowZeroValues'
    },
    text(piece) {
      if (isAsked && piece.trim() === 'false') hides = true
    },
  })
  return hides
}
