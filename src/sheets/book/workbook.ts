import type { Sheet } from '../sheet.ts'
import type { SheetSource } from '../source.ts'
import { openArchive } from '../xlsx/archive.ts'
import { xlsxBook } from '../xlsx/read.ts'
import type { BookOptions } from './book.ts'
import { openBook } from './open.ts'

/** A zip as the workbook that it holds. */
export async function openWorkbook(source: SheetSource, options: BookOptions): Promise<Sheet> {
  const { name } = source
  const archive = await openArchive(await source.whole(), name)
  if (archive.has('content.xml')) {
    const { odsBook } = await import('../ods/read.ts')
    return openBook(await odsBook(archive, name), options, name)
  }
  return openBook(await xlsxBook(archive, name), options, name)
}
