import { type Book, type BookSheet, noFindings } from '../book/book.ts'
import type { Archive } from './archive.ts'
import { cellFormats } from './cell-formats.ts'
import { type SheetPart, sharedStrings, workbookParts } from './parts.ts'
import { sheetRows } from './rows.ts'

/** A workbook of Office Open XML. Nothing of its sheets is read yet. */
export async function xlsxBook(archive: Archive, name: string): Promise<Book> {
  const { sheets, from1904, uncomputed, ...parts } = await workbookParts(archive, name)
  const context = {
    ...(await cellFormats(archive, parts, name)),
    strings: await sharedStrings(archive, parts.strings, name),
    from1904,
    uncomputed,
  }
  const sheetOf = ({ name: title, hidden, part }: SheetPart): BookSheet => {
    const found = noFindings()
    return {
      name: title,
      hidden,
      found,
      rows: () => sheetRows(archive, { part, name, context, found }),
    }
  }
  return { format: 'xlsx', from1904, sheets: sheets.map(sheetOf) }
}
