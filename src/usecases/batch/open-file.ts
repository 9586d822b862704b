import { createHash } from 'node:crypto'
import { resolve } from 'node:path'

import { UsageError } from '../../errors/kinds.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { SheetSource } from '../../sheets/source.ts'
import type { FilePlace } from './ports.ts'

/** A table as it was given. */
export interface BatchFile {
  /** As typed; `stdin` for -. */
  name: string
  /** Absolute; undefined for stdin. */
  path: string | undefined
  sheet: Sheet
  /** Of its bytes, in hex. */
  sha256: string
}

/** How its bytes become a table, as the flags say. */
export interface FileReading {
  sheet?: string | undefined
  headerRow?: number | undefined
  encoding?: string | undefined
}

/** Opens FILE, or stdin for `-`. Throws where it is no table. */
export async function openBatchFile(
  place: FilePlace,
  file: string,
  how: FileReading = {},
): Promise<BatchFile> {
  const [{ openSheet }, { jsonRow }] = await Promise.all([
    import('../../sheets/open.ts'),
    import('../../domain/batch/json-row.ts'),
  ])
  const path = file === '-' ? undefined : resolve(place.cwd, file)
  const source = await sourceOf(place, path, file)
  const { exampleSheet } = await import('../../sheets/template.ts')
  const sheet = await openSheet(source, {
    sheet: how.sheet,
    headerRow: how.headerRow,
    encoding: how.encoding,
    aside: [exampleSheet],
    readJson: jsonRow,
  })
  return { name: source.name, path, sheet, sha256: await digest(source) }
}

async function sourceOf({ stdin }: FilePlace, path: string | undefined, name: string): Promise<SheetSource> {
  const { fileSource, heldSource } = await import('../../sheets/source.ts')
  if (path !== undefined) return fileSource(path, name)
  if (stdin.isTTY) {
    throw new UsageError('no file: stdin is the terminal', {
      hint: 'Give the name of a file, or pipe one in with: < FILE',
    })
  }
  return heldSource(stdin.stream, 'stdin')
}

async function digest(source: SheetSource): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of source.chunks()) hash.update(chunk)
  return hash.digest('hex')
}
