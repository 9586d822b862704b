import type { XlsxBook } from './write.ts'

/** `xlsxBytes`, loaded with the zip library when the first byte is asked for: most tables are CSV. */
export async function* bookBytes(book: XlsxBook): AsyncGenerator<Uint8Array> {
  const { xlsxBytes } = await import('./write.ts')
  yield* xlsxBytes(book)
}
