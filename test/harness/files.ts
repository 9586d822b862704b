import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the contents of all files below a folder, with one character for each byte. */
export function readAllFiles(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}
