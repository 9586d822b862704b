import type { NewRow } from './batch.ts'
import type { BatchCheck } from './check.ts'
import type { HiddenRows } from './doubts.ts'
import type { PackedRows } from './packed-rows.ts'
import type { RowReading } from './row-reading.ts'
import { serviceOf } from '../submission/identity.ts'

/** A file checked whole, as the store takes it in. */
export interface CheckedFile {
  check: BatchCheck
  rows: PackedRows
}

/** What the store keeps of a row. Whether another order stands in its way, the store says. */
export function newRow({ row, source, body, packageId, person, problems, duplicateOf }: RowReading): NewRow {
  if (body !== undefined) {
    const { package_id, recipient } = body
    return {
      row,
      line: source.line,
      state: 'pending',
      packageId: package_id,
      recipient,
      body: new TextEncoder().encode(JSON.stringify(body)),
    }
  }
  const [first] = problems
  const told = problems.map(({ column, problem }) => `${column} ${problem}`).join('; ')
  return {
    row,
    state: duplicateOf === undefined ? 'invalid' : 'duplicate',
    packageId,
    email: person.email === '' ? undefined : person.email,
    reason: told === '' ? `is the same order as row ${duplicateOf ?? row}` : told,
    field: first?.column,
    matchesRow: duplicateOf,
  }
}

/**
 * What a file is to the store: the same bytes, for the same account, service and package. Its name is no part of it.
 * `reading`: of one that is a batch already and is read otherwise, which is another.
 */
export function fileIdentity(
  { account, baseUrl }: { account: string; baseUrl: string },
  sha256: string,
  packageId: number | undefined,
  reading?: FileReading,
): string {
  const read = reading === undefined ? [] : [readingText(reading)]
  return JSON.stringify(['file', account, serviceOf(baseUrl), sha256, packageId ?? null, ...read])
}

/** How a file was read, so that a later run can tell whether it is asked to read it otherwise. */
export interface FileReading {
  sheet: string | null
  map: Readonly<Record<string, string>>
  ignore: readonly string[]
  default_country: string | null
  header_row?: number | null
  encoding?: string | null
  hidden?: HiddenRows | null
  accept_lines?: readonly number[]
}

/** What nobody said is left out, so that it is the text of the versions that could not be told it. */
export function readingText({ sheet, map, ignore, default_country, ...more }: FileReading): string {
  const { header_row, encoding, hidden, accept_lines = [] } = more
  return JSON.stringify({
    sheet,
    map: Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))),
    ignore: [...ignore].sort(),
    default_country: default_country?.toUpperCase() ?? null,
    header_row: header_row ?? undefined,
    encoding: encoding?.toLowerCase(),
    hidden: hidden ?? undefined,
    accept_lines: accept_lines.length === 0 ? undefined : [...accept_lines].sort((a, b) => a - b),
  })
}
