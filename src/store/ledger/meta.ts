import { get, run, type Work } from './engine.ts'

/** A value that the store keeps of itself, as text; undefined where it has none. */
export function* metaText(name: string): Work<string | undefined> {
  const bytes = yield* metaBytes(name)
  return bytes && Buffer.from(bytes).toString()
}

export function* metaBytes(name: string): Work<Uint8Array | undefined> {
  return (yield* get<{ value: Uint8Array }>('SELECT value FROM meta WHERE name = :name', { name }))?.value
}

/** Undefined removes it. */
export function* setMeta(name: string, value: string | Uint8Array | undefined): Work<void> {
  if (value === undefined) {
    yield* run('DELETE FROM meta WHERE name = :name', { name })
    return
  }
  yield* run(
    `INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    { name, value: typeof value === 'string' ? Buffer.from(value) : value },
  )
}
