import { UsageError } from '../../errors/kinds.ts'

/** What stands at a path. */
export type ExistingEntry = 'nothing' | 'folder' | 'file'

/** Where downloads go: one file, or a folder that takes them by name. */
export type Destination = { kind: 'file'; path: string } | { kind: 'folder'; path: string }

/**
 * Reads `--output DIR|FILE`: an existing folder, a path that ends in a slash, or one without `.pdf` is
 * a folder; the rest is a file, which only one report can go to. `path` is absolute.
 */
export function destination(
  typed: string,
  path: string,
  existing: ExistingEntry,
  single: boolean,
): Destination {
  const looksLikeFile = /\.pdf$/i.test(typed)
  const isFolder =
    existing === 'folder' || (existing === 'nothing' && (/[/\\]$/.test(typed) || !looksLikeFile))
  if (isFolder) return { kind: 'folder', path }
  if (!single) {
    throw new UsageError(`--output: ${typed} is a file, but there may be several reports`, {
      hint: 'Give a folder.',
    })
  }
  return { kind: 'file', path }
}
