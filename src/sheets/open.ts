import { UsageError } from '../errors/kinds.ts'
import { openCsv } from './csv/read.ts'
import { detectFormat } from './detect.ts'
import { requireEncoding } from './encoding.ts'
import { type JsonRowReader, openJson } from './json/read.ts'
import type { Sheet } from './sheet.ts'
import type { SheetSource } from './source.ts'

export interface OpenOptions {
  /** Workbooks only, by name. */
  sheet?: string | undefined
  /** Workbooks only: sheets that hold no data unless asked for. */
  aside?: readonly string[] | undefined
  /** Tables only: the line that names the columns, as a spreadsheet program counts. */
  headerRow?: number | undefined
  /** Of a text's bytes that are no UTF-8; a name of TextDecoder's or iconv-lite's. */
  encoding?: string | undefined
  readJson: JsonRowReader
}

/**
 * Opens a table of any format and reads its header. Throws an InvalidInputError that says what is wrong, an
 * UndecidedError where a person has to say how it is to be read.
 */
export async function openSheet(source: SheetSource, options: OpenOptions): Promise<Sheet> {
  const { sheet, aside = [], headerRow, readJson } = options
  const encoding =
    options.encoding === undefined ? undefined : await requireEncoding(options.encoding, '--encoding')
  const format = await detectFormat(source)
  if (format === 'xlsx') {
    const { openWorkbook } = await import('./book/workbook.ts')
    return openWorkbook(source, { sheet, aside, headerRow })
  }
  if (sheet !== undefined) {
    throw new UsageError(`--sheet: ${source.name} is not a workbook and has no sheets`, {
      hint: 'Leave out --sheet.',
    })
  }
  if (format === 'csv') return openCsv(source, { headerRow, encoding })
  if (headerRow !== undefined) {
    throw new UsageError(`--header-row: ${source.name} is JSON, it has no header`, {
      hint: 'Leave --header-row out.',
    })
  }
  return openJson(source, { array: format === 'json', read: readJson, encoding })
}
