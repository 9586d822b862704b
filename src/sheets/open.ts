import { type SheetFormat, type SheetRow, textOf } from '../domain/sheet/cell.ts'
import { UsageError } from '../errors/kinds.ts'
import { openCsv } from './csv.ts'
import { requireEncoding, encodingByMark, undecidedEncodingError } from './text.ts'
import { openJson } from './json.ts'
import {
  limits,
  refusal,
  splitHint,
  oneByOne,
  type Sheet,
  type SheetSource,
  type OpenedSheet,
  noAppearance,
  type OpenOptions,
} from './sheet.ts'

/**
 * Opens a table of any format and reads its header. Throws an InvalidInputError if the file cannot be read, and an
 * UndecidedError if a person has to decide how the file is read.
 */
export async function openSheet(source: SheetSource, options: OpenOptions): Promise<Sheet> {
  const { name } = source
  const opened = await openByFormat(source, options)
  const rowChunks = (): AsyncGenerator<SheetRow[]> => limitRows(opened, name)
  return {
    name,
    hiddenColumns: new Set(),
    merged: () => [],
    appearance: () => noAppearance,
    createUndecidedEncodingError: (position, samples) => undecidedEncodingError(name, position, samples),
    ...opened,
    rowChunks,
    rows: () => oneByOne(rowChunks()),
  }
}

/** Yields the rows of a sheet. Throws an InvalidInputError if their number or their total size exceeds the limit. */
async function* limitRows(sheet: OpenedSheet, name: string): AsyncGenerator<SheetRow[]> {
  let rows = 0
  let characters = 0
  for await (const part of sheet.rowChunks()) {
    for (const { cells } of part) {
      rows += 1
      characters += cells.length
      for (const cell of cells) if (cell !== '') characters += textOf(cell).length
      if (rows > limits.rows) {
        throw refusal(name, `it has more than ${limits.rows} rows, the limit`, splitHint)
      }
      if (characters > limits.characters) {
        throw refusal(
          name,
          `its first ${rows} rows hold more than ${limits.characters} characters, the limit`,
          splitHint,
        )
      }
    }
    yield part
  }
}

async function openByFormat(source: SheetSource, options: OpenOptions): Promise<OpenedSheet> {
  const { sheet, headerRow, readJson } = options
  const encoding =
    options.encoding === undefined ? undefined : await requireEncoding(options.encoding, '--encoding')
  const format = await detectFormat(source)
  if (format === 'xlsx') {
    const { openWorkbook } = await import('./workbook.ts')
    return openWorkbook(source, options)
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
  return openJson(source, format === 'json', { readJson, encoding })
}

const saveAsTable = 'Open it in a spreadsheet program and save it as XLSX or CSV.'

const oleSignature = Buffer.from('d0cf11e0a1b11ae1', 'hex')
const zipSignature = Buffer.from('PK\u0003\u0004', 'latin1')
const gzipSignature = Buffer.from('1f8b', 'hex')

/** Detects a file's format by its first bytes; the file name only distinguishes CSV from JSON. */
async function detectFormat(source: SheetSource): Promise<SheetFormat> {
  const { name } = source
  const firstBytes = await readFirstBytes(source)
  if (firstBytes.length === 0) {
    throw refusal(name, 'it is empty', 'It needs a header line and a row for each person.')
  }
  if (firstBytes.subarray(0, 4).equals(zipSignature)) return 'xlsx'
  if (firstBytes.subarray(0, 8).equals(oleSignature)) throw oleFileError(firstBytes, name)
  if (firstBytes.subarray(0, 2).equals(gzipSignature))
    throw refusal(name, 'it is packed with gzip', 'Unpack it first.')
  if (firstBytes.subarray(0, 5).toString('latin1') === '%PDF-') {
    throw refusal(name, 'it is a PDF', 'Export the table as CSV or XLSX.')
  }
  const otherFormat = misnamedFormat(firstBytes)
  if (otherFormat !== undefined) {
    throw refusal(name, `it is ${otherFormat}, whatever its name says`, saveAsTable)
  }
  // A character that is cut off at the end of these bytes is not an error.
  const text = new TextDecoder(encodingByMark(firstBytes)).decode(firstBytes)
  if (/^\s*<(?:!doctype html|html|table|\?xml|\?mso|meta|head)/i.test(text)) {
    throw refusal(name, 'it is a web page or XML', saveAsTable)
  }
  if (/\.(?:csv|tsv|tab|txt)$/i.test(name)) return 'csv'
  const character = /\S/.exec(text)?.[0]
  if (character === '[') return 'json'
  return character === '{' ? 'jsonl' : 'csv'
}

/** Returns the name of the format if the file is of a format that exporting programs often give another extension. */
function misnamedFormat(firstBytes: Buffer): string | undefined {
  const start = firstBytes.subarray(0, 512).toString('latin1')
  if (start.startsWith('{\\rtf')) return 'a text document (RTF)'
  if (/^(?:MIME-Version:|From: <Saved by)/i.test(start)) return 'a web archive (.mht)'
  if (/^ID;P[A-Z]/.test(start)) return 'a SYLK file (.slk)'
  const hasRecordType = firstBytes[0] === 0x09 && [0x00, 0x02, 0x04].includes(firstBytes[1] ?? 0xff)
  return hasRecordType && [0x04, 0x06].includes(firstBytes[2] ?? 0) && firstBytes[3] === 0
    ? 'a workbook of Excel 2 to 4'
    : undefined
}

async function readFirstBytes(source: SheetSource): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of source.chunks()) {
    parts.push(part)
    size += part.length
    if (size >= 4096) break
  }
  return Buffer.concat(parts)
}

/** Old workbooks and encrypted new ones use the same container format; the names of its folders distinguish them. */
function oleFileError(bytes: Buffer, name: string) {
  const names = bytes.toString('utf16le') + bytes.subarray(1).toString('utf16le')
  return names.includes('EncryptedPackage') || names.includes('EncryptionInfo')
    ? refusal(name, 'it is encrypted', 'Save it without a password, then run this again.')
    : refusal(
        name,
        'it is an old Excel file (.xls), or encrypted',
        'Save it as "Excel workbook (.xlsx)" without a password.',
      )
}
