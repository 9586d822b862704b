import { UsageError } from '../../errors/kinds.ts'
import { shellWord } from '../wording/shell-word.ts'

/** What a person said about the columns of a file: header → column, and headers to leave out. */
export interface Mapping {
  map: Readonly<Record<string, string>>
  ignore: readonly string[]
}

export const noMapping: Mapping = { map: {}, ignore: [] }

/**
 * Reads `--map 'Given name=first_name'`. A header may hold `=` itself, so the split is taken whose left side
 * the file has; without one, the last.
 */
export function readMapFlags(flags: readonly string[], headers: readonly string[]): Record<string, string> {
  const map = Object.create(null) as Record<string, string>
  const known = new Set(headers.map(headerName))
  for (const flag of flags) {
    const [header, column] = split(flag, known)
    if (map[header] !== undefined) {
      throw new UsageError(`--map: the column "${header}" is mapped twice`, { hint: 'Map it once.' })
    }
    map[header] = column
  }
  return map
}

function split(flag: string, known: ReadonlySet<string>): [header: string, column: string] {
  for (let at = flag.indexOf('='); at !== -1; at = flag.indexOf('=', at + 1)) {
    const header = headerName(flag.slice(0, at))
    if (known.has(header)) return [header, flag.slice(at + 1).trim()]
  }
  const last = flag.lastIndexOf('=')
  if (last < 1) {
    throw new UsageError(`--map: "${flag.slice(0, 80)}" has no =`, {
      hint: "Give the column and the field: --map 'Given name=first_name'",
    })
  }
  throw new UsageError(`--map: the file has no column "${flag.slice(0, last).trim().slice(0, 80)}"`, {
    hint: `Columns of the file: ${[...known].filter((header) => header !== '').join(', ')}`,
  })
}

/** What is said now overrides what was kept. */
export function merged(kept: Mapping, now: Mapping): Mapping {
  const ignore = [...kept.ignore.filter((header) => now.map[header] === undefined), ...now.ignore]
  const map = { ...kept.map, ...now.map }
  const left = Object.entries(map).filter(([header]) => !now.ignore.includes(header))
  return {
    map: Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(left)),
    ignore: [...new Set(ignore)],
  }
}

/** The flags that say the same on a command line. */
export function mappingFlags({ map, ignore }: Mapping): string {
  return [
    ...Object.entries(map).map(([header, column]) => `--map ${shellWord(`${header}=${column}`)}`),
    ...ignore.map((header) => `--ignore ${shellWord(header)}`),
  ].join(' ')
}

/** A header as it is spoken of: line breaks and other white space within it are one space. */
export function headerName(header: string): string {
  return header.trim().replaceAll(/\s+/g, ' ')
}
