import type { Sql } from './connection.ts'

/** A value that the store keeps of itself, as text; undefined where it has none. */
export async function metaText(sql: Sql, name: string): Promise<string | undefined> {
  return (await metaBytes(sql, name))?.toString()
}

export async function metaBytes(sql: Sql, name: string): Promise<Buffer | undefined> {
  const found = (await sql.get('SELECT value FROM meta WHERE name = :name', { name })) as
    | { value: Buffer }
    | undefined
  return found?.value
}

/** Undefined removes it. */
export async function setMeta(sql: Sql, name: string, value: string | Uint8Array | undefined): Promise<void> {
  if (value === undefined) {
    await sql.run('DELETE FROM meta WHERE name = :name', { name })
    return
  }
  await sql.run(
    `INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    { name, value: typeof value === 'string' ? Buffer.from(value) : value },
  )
}
