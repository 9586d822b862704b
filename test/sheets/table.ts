import { openSheet } from '../../src/sheets/open.ts'
import type { JsonRow, Cell, JsonValue, SheetRow } from '../../src/domain/sheet/cell.ts'
import { type Sheet, bufferedSource, type OpenOptions } from '../../src/sheets/sheet.ts'
import { Ambiguities } from '../../src/domain/batch/ambiguities.ts'
import type { Target } from '../../src/domain/batch/columns.ts'

export type Opening = Omit<OpenOptions, 'readJson'>

const openingOf = (how: string | Opening | undefined): Opening =>
  typeof how === 'string' ? { sheet: how } : (how ?? {})

/** Opens bytes as a file of that name would be; JSON objects are taken as they are. `how`: a sheet, or more. */
export async function openBytes(
  bytes: string | Uint8Array,
  name: string,
  how?: string | Opening,
): Promise<Sheet> {
  return openSheet(await bufferedSource(inChunks(Buffer.from(bytes), bytes.length), name), {
    ...openingOf(how),
    readJson: plainJson,
  })
}

export async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += Math.max(1, size))
    yield bytes.subarray(at, at + Math.max(1, size))
}

export function plainJson(text: string): JsonRow {
  try {
    return { entries: Object.entries(JSON.parse(text) as Record<string, JsonValue>) }
  } catch {
    return { fault: { reason: 'is not JSON', offset: 0 } }
  }
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = []
  for await (const item of items) taken.push(item)
  return taken
}

export async function rowsOf(
  bytes: string | Uint8Array,
  name: string,
  how?: string | Opening,
): Promise<SheetRow[]> {
  return all((await openBytes(bytes, name, how)).rows())
}

/** Header and rows as plain texts. */
export async function table(
  bytes: string | Uint8Array,
  name: string,
  how?: string | Opening,
): Promise<string[][]> {
  const opened = await openBytes(bytes, name, how)
  const rows = await all(opened.rows())
  return [[...opened.columns], ...rows.map(({ cells }) => cells.map(plain))]
}

export function plain(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

/** What reading says, where it refuses, every column being sent. */
export async function refusalOf(
  bytes: string | Uint8Array,
  name: string,
  how?: string | Opening,
): Promise<string> {
  try {
    const sheet = await openBytes(bytes, name, how)
    const targets = sheet.columns.map((): Target => ({ kind: 'recipient', column: 'first_name' }))
    const ambiguities = new Ambiguities({ headers: sheet.columns, targets, hidden: undefined })
    for await (const row of sheet.rows()) ambiguities.shouldLeaveOut(row)
    const { firstBytes, samples } = ambiguities
    if (firstBytes !== undefined) throw await sheet.undecided(`line ${String(firstBytes.line)}`, samples)
    const refusal = ambiguities.findRefusal({
      name,
      headerLine: sheet.headerLine,
      merged: sheet.merged(),
      struckByRule: sheet.appearance().struckByRule,
    })
    if (refusal !== undefined) throw refusal
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'was read'
}

export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await all(chunks))
}
