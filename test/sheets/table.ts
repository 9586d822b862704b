import { openSheet } from '../../src/sheets/open.ts'
import type { JsonRow, Cell, JsonValue, SheetRow } from '../../src/domain/sheet/cell.ts'
import { type Sheet, bufferedSource, type OpenOptions } from '../../src/sheets/sheet.ts'
import { Ambiguities } from '../../src/domain/batch/ambiguities.ts'
import type { Target } from '../../src/domain/batch/columns.ts'

export type OpeningOptions = Omit<OpenOptions, 'readJson'>

const toOpeningOptions = (options: string | OpeningOptions | undefined): OpeningOptions =>
  typeof options === 'string' ? { sheet: options } : (options ?? {})

/** Opens bytes as the content of a file with the given name. `options` may be the name of a sheet. */
export async function openBytes(
  bytes: string | Uint8Array,
  name: string,
  options?: string | OpeningOptions,
): Promise<Sheet> {
  return openSheet(await bufferedSource(splitIntoChunks(Buffer.from(bytes), bytes.length), name), {
    ...toOpeningOptions(options),
    readJson: parseJsonRow,
  })
}

export async function* splitIntoChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += Math.max(1, size))
    yield bytes.subarray(start, start + Math.max(1, size))
}

export function parseJsonRow(text: string): JsonRow {
  try {
    return { entries: Object.entries(JSON.parse(text) as Record<string, JsonValue>) }
  } catch {
    return { fault: { reason: 'is not JSON', offset: 0 } }
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

export async function readRows(
  bytes: string | Uint8Array,
  name: string,
  options?: string | OpeningOptions,
): Promise<SheetRow[]> {
  return collect((await openBytes(bytes, name, options)).rows())
}

/** Returns the header and the rows as texts. */
export async function readTable(
  bytes: string | Uint8Array,
  name: string,
  options?: string | OpeningOptions,
): Promise<string[][]> {
  const sheet = await openBytes(bytes, name, options)
  const rows = await collect(sheet.rows())
  return [[...sheet.columns], ...rows.map(({ cells }) => cells.map(textOfCell))]
}

export function textOfCell(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

/** Reads a file as if all its columns were sent. Returns the message of the refusal, or `was read`. */
export async function readRefusal(
  bytes: string | Uint8Array,
  name: string,
  options?: string | OpeningOptions,
): Promise<string> {
  try {
    const sheet = await openBytes(bytes, name, options)
    const targets = sheet.columns.map((): Target => ({ kind: 'recipient', column: 'first_name' }))
    const ambiguities = new Ambiguities({ headers: sheet.columns, targets, hidden: undefined })
    for await (const row of sheet.rows()) ambiguities.shouldLeaveOut(row)
    const { firstUndecodedCell, samples } = ambiguities
    if (firstUndecodedCell !== undefined)
      throw await sheet.createUndecidedEncodingError(`line ${String(firstUndecodedCell.line)}`, samples)
    const refusal = ambiguities.findRefusal({
      name,
      headerLine: sheet.headerLine,
      merged: sheet.merged(),
      struckByConditionalFormat: sheet.appearance().struckByConditionalFormat,
    })
    if (refusal !== undefined) throw refusal
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'was read'
}

export async function collectBytes(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await collect(chunks))
}
