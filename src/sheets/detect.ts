import type { SheetFormat } from '../domain/sheet/cell.ts'
import { refusal } from './refusal.ts'
import type { SheetSource } from './source.ts'

const ole = Buffer.from('d0cf11e0a1b11ae1', 'hex')
const zip = Buffer.from('PK\u0003\u0004', 'latin1')
const gzip = Buffer.from('1f8b', 'hex')

/** What a file is by its first bytes; its name only tells CSV from JSON. */
export async function detectFormat(source: SheetSource): Promise<SheetFormat> {
  const { name } = source
  const first = await beginning(source)
  if (first.length === 0) {
    throw refusal(name, 'it is empty', 'It needs a header line and a row for each person.')
  }
  if (first.subarray(0, 4).equals(zip)) return 'xlsx'
  if (first.subarray(0, 8).equals(ole)) throw oleFile(first, name)
  if (first.subarray(0, 2).equals(gzip)) throw refusal(name, 'it is packed with gzip', 'Unpack it first.')
  if (first.subarray(0, 5).toString('latin1') === '%PDF-') {
    throw refusal(name, 'it is a PDF', 'Export the table as CSV or XLSX.')
  }
  const old = misnamed(first)
  if (old !== undefined) {
    throw refusal(
      name,
      `it is ${old}, whatever its name says`,
      'Open it in a spreadsheet program and save it as XLSX or CSV.',
    )
  }
  const text = decoded(first)
  if (/^\s*<(?:!doctype html|html|table|\?xml|\?mso|meta|head)/i.test(text)) {
    throw refusal(
      name,
      'it is a web page or XML',
      'Open it in a spreadsheet program and save it as XLSX or CSV.',
    )
  }
  if (/\.(?:csv|tsv|tab|txt)$/i.test(name)) return 'csv'
  const character = /\S/.exec(text)?.[0]
  if (character === '[') return 'json'
  return character === '{' ? 'jsonl' : 'csv'
}

/** Formats that exports give the name of another. */
function misnamed(first: Buffer): string | undefined {
  const start = first.subarray(0, 512).toString('latin1')
  if (start.startsWith('{\\rtf')) return 'a text document (RTF)'
  if (/^(?:MIME-Version:|From: <Saved by)/i.test(start)) return 'a web archive (.mht)'
  if (/^ID;P[A-Z]/.test(start)) return 'a SYLK file (.slk)'
  const record = first[0] === 0x09 && [0x00, 0x02, 0x04].includes(first[1] ?? 0xff)
  return record && [0x04, 0x06].includes(first[2] ?? 0) && first[3] === 0
    ? 'a workbook of Excel 2 to 4'
    : undefined
}

/** As text by its byte order mark; what is only cut off or wrong at its end does not matter here. */
function decoded(first: Buffer): string {
  const encoding =
    first[0] === 0xff && first[1] === 0xfe
      ? 'utf-16le'
      : first[0] === 0xfe && first[1] === 0xff
        ? 'utf-16be'
        : 'utf-8'
  return new TextDecoder(encoding).decode(first)
}

async function beginning(source: SheetSource): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of source.chunks()) {
    parts.push(part)
    size += part.length
    if (size >= 4096) break
  }
  return Buffer.concat(parts)
}

/** Old workbooks and encrypted new ones stand in the same container; its folder names tell them apart. */
function oleFile(bytes: Buffer, name: string) {
  const names = bytes.toString('utf16le') + bytes.subarray(1).toString('utf16le')
  return names.includes('EncryptedPackage') || names.includes('EncryptionInfo')
    ? refusal(name, 'it is encrypted', 'Save it without a password, then run this again.')
    : refusal(
        name,
        'it is an old Excel file (.xls), or encrypted',
        'Save it as "Excel workbook (.xlsx)" without a password.',
      )
}
