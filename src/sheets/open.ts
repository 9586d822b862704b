import { UsageError } from '../errors/kinds.ts'
import { openCsv } from './csv/read.ts'
import { detectFormat } from './detect.ts'
import { type JsonRowReader, openJson } from './json/read.ts'
import type { Sheet } from './sheet.ts'
import type { SheetSource } from './source.ts'

export interface OpenOptions {
  /** XLSX only, by name. */
  sheet?: string | undefined
  /** XLSX only: sheets that hold no data unless asked for. */
  aside?: readonly string[] | undefined
  readJson: JsonRowReader
}

/** Opens a table of any format and reads its header. Throws an InvalidInputError that says what is wrong. */
export async function openSheet(source: SheetSource, options: OpenOptions): Promise<Sheet> {
  const format = await detectFormat(source)
  if (format === 'xlsx') {
    const { openXlsx } = await import('./xlsx/read.ts')
    return openXlsx(source, { sheet: options.sheet, aside: options.aside ?? [] })
  }
  if (options.sheet !== undefined) {
    throw new UsageError(`--sheet: ${source.name} is no workbook, it has no sheets`, {
      hint: 'Leave --sheet out.',
    })
  }
  return format === 'csv' ? openCsv(source) : openJson(source, format === 'json', options.readJson)
}
