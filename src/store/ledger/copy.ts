import { requireEqual, type TableDigest } from '../../domain/store/moving.ts'
import type { NewRows, Rows } from './moving.ts'
import { type Row, type Table, tables } from './tables.ts'

/** Copies all of a store, and proves it by what both places then read. */
export async function copyRows(from: Rows, into: NewRows): Promise<TableDigest[]> {
  const read = await digestsOf(from, (table, page) => into.add(table, page))
  await into.setNewestEvent(await from.newestEvent())
  requireEqual(read, await digestsOf(into))
  return read
}

/** Of each table, whatever keeps it: its rows in their order, each as a line of JSON. */
async function digestsOf(
  rows: Rows,
  each?: (table: Table, page: readonly Row[]) => Promise<void>,
): Promise<TableDigest[]> {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const found: TableDigest[] = []
  for (const table of tables) {
    const hash = createHash('sha256')
    let count = 0
    for await (const page of rows.read(table)) {
      for (const row of page) hash.update(`${canonical(row)}\n`)
      count += page.length
      await each?.(table, page)
    }
    found.push({ table: table.name, rows: count, sha256: hash.digest('hex') })
  }
  return found
}

/** PostgreSQL keeps no NUL in a text. */
function canonical(row: Row): string {
  return JSON.stringify(
    row.map((value) => {
      if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD')
      return value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value
    }),
  )
}
