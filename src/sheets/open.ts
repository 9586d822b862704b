import { UsageError } from '../errors/kinds.ts'
import { openCsv } from './csv/read.ts'
import { detectFormat } from './detect.ts'
import { requireEncoding } from './encoding.ts'
import { type JsonRowReader, openJson } from './json/read.ts'
import { limits } from './limits.ts'
import { refusal, splitHint } from './refusal.ts'
import { oneByOne, type Sheet } from './sheet.ts'
import { type SheetRow, textOf } from '../domain/sheet/cell.ts'
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
  const sheet = await openAny(source, options)
  const parts = (): AsyncGenerator<SheetRow[]> => limited(sheet)
  return { ...sheet, parts, rows: () => oneByOne(parts()) }
}

/** The rows of a sheet, as long as they are not too many or too large altogether. */
async function* limited(sheet: Sheet): AsyncGenerator<SheetRow[]> {
  let rows = 0
  let characters = 0
  for await (const part of sheet.parts()) {
    for (const { cells } of part) {
      rows += 1
      characters += cells.length
      for (const cell of cells) if (cell !== '') characters += textOf(cell).length
      if (rows > limits.rows) {
        throw refusal(sheet.name, `it has more than ${String(limits.rows)} rows, the limit`, splitHint)
      }
      if (characters > limits.characters) {
        throw refusal(
          sheet.name,
          `its first ${String(rows)} rows hold more than ${String(limits.characters)} characters, the limit`,
          splitHint,
        )
      }
    }
    yield part
  }
}

async function openAny(source: SheetSource, options: OpenOptions): Promise<Sheet> {
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
