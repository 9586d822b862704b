import type { Cell, JsonRow, JsonValue, SheetRow } from '../../src/domain/sheet/cell.ts'
import { openSheet } from '../../src/sheets/open.ts'
import type { Sheet } from '../../src/sheets/sheet.ts'
import { heldSource } from '../../src/sheets/source.ts'

/** Opens bytes as a file of that name would be; JSON objects are taken as they are. */
export async function openBytes(bytes: string | Uint8Array, name: string, sheet?: string): Promise<Sheet> {
  return openSheet(await heldSource(inChunks(Buffer.from(bytes), bytes.length), name), {
    sheet,
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

export async function rowsOf(bytes: string | Uint8Array, name: string, sheet?: string): Promise<SheetRow[]> {
  return all((await openBytes(bytes, name, sheet)).rows())
}

/** Header and rows as plain texts. */
export async function table(bytes: string | Uint8Array, name: string, sheet?: string): Promise<string[][]> {
  const opened = await openBytes(bytes, name, sheet)
  const rows = await all(opened.rows())
  return [[...opened.columns], ...rows.map(({ cells }) => cells.map(plain))]
}

export function plain(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

/** What reading says, where it refuses. */
export async function refusalOf(bytes: string | Uint8Array, name: string, sheet?: string): Promise<string> {
  try {
    await rowsOf(bytes, name, sheet)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'was read'
}

export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await all(chunks))
}
