import type { Database } from './connection.ts'

/** A value that the store keeps of itself, as text; undefined where it has none. */
export function metaText(database: Database, name: string): string | undefined {
  const bytes = metaBytes(database, name)
  return bytes && Buffer.from(bytes).toString()
}

export function metaBytes(database: Database, name: string): Uint8Array | undefined {
  const found = database.get('SELECT value FROM meta WHERE name = :name', { name }) as
    | { value: Uint8Array }
    | undefined
  return found?.value
}

/** Undefined removes it. */
export function setMeta(database: Database, name: string, value: string | Uint8Array | undefined): void {
  if (value === undefined) {
    database.run('DELETE FROM meta WHERE name = :name', { name })
    return
  }
  database.run('INSERT OR REPLACE INTO meta (name, value) VALUES (:name, :value)', {
    name,
    value: typeof value === 'string' ? Buffer.from(value) : value,
  })
}
