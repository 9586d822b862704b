import type { BatchRow } from './batch.ts'
import { recipientFields } from '../../contract/package-schema.ts'
import type { FieldValue, RequestBody } from '../../contract/request-body.ts'
import type { Cell } from '../sheet/cell.ts'
import { writtenFormat } from '../sheet/written-format.ts'
import { type ResultsOf, externalResultCells, externalResultColumns } from './results-columns.ts'
import { listedRow } from './batch-status.ts'

/** A row of a batch with everything that is known of it. */
export interface ExportedRow {
  listed: ReturnType<typeof listedRow>
  status: string | null
  ordered_at: string | null
  package_id: number | null
  /** By column of a batch file: `first_name`, `ncc_acic.date_of_birth`. */
  values: ReadonlyMap<string, FieldValue>
  /** What tells another store of it, by column. */
  evidence: ReadonlyMap<string, string>
}

/** Ours, after the columns of a batch file, so that an export can be run as one. */
const exportColumns = [
  'refcheck_row',
  'refcheck_state',
  'refcheck_request_id',
  'refcheck_status',
  'refcheck_ordered_at',
  'refcheck_error',
] as const

const moreColumns = externalResultColumns.filter(
  (column) => !(exportColumns as readonly string[]).includes(column),
)

export const exportFormats = ['csv', 'xlsx', 'json', 'html'] as const

export type ExportFormat = (typeof exportFormats)[number]

/** As asked for, else as the name of the file ends; for stdout CSV, or JSON with `--json`. */
export function exportFormatOf(
  asked: ExportFormat | undefined,
  file: string | undefined,
  json: boolean,
): ExportFormat {
  if (asked === undefined && json && (file === undefined || file === '-')) return 'json'
  return writtenFormat('an export', exportFormats, { asked, output: file })
}

export interface ExportTable {
  columns: string[]
  rows: Cell[][]
}

/** Rows as a table that can be run as a batch file. */
export function exportTable(rows: readonly ExportedRow[]): ExportTable {
  const columns = valueColumns(rows)
  return {
    columns: [...columns, 'package_id', ...exportColumns, ...moreColumns],
    rows: rows.map(({ values, package_id, listed, status, ordered_at, evidence }) => [
      ...columns.map((column) => cellOf(values.get(column))),
      cellOf(package_id ?? undefined),
      cellOf(listed.row),
      listed.state,
      listed.request_id ?? '',
      status ?? '',
      ordered_at ?? '',
      listed.error ?? '',
      ...moreColumns.map((column) => evidence.get(column) ?? ''),
    ]),
  }
}

/** Every column that one of the rows has a value for, the recipient's first. */
function valueColumns(rows: readonly ExportedRow[]): string[] {
  const columns = new Set<string>(recipientFields)
  for (const { values } of rows) for (const column of values.keys()) columns.add(column)
  return [...columns]
}

/** A value as a cell that reads back as itself. */
function cellOf(value: FieldValue | undefined): Cell {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : { kind: 'json', text: JSON.stringify(value), value }
}

export function exported(row: BatchRow, body: Uint8Array | undefined, of: ResultsOf = {}): ExportedRow {
  const values = new Map<string, FieldValue>()
  for (const name of recipientFields) {
    const value = row.recipient?.[name] ?? (name === 'email' ? row.email : undefined)
    if (value !== undefined) values.set(name, value)
  }
  if (body !== undefined) {
    // Journaled by this program from a checked body.
    const order = JSON.parse(new TextDecoder().decode(body)) as RequestBody
    for (const { code, fields } of order.additional_information ?? []) {
      for (const [name, value] of Object.entries(fields)) values.set(`${code}.${name}`, value)
    }
  }
  return {
    listed: listedRow(row),
    status: row.requestStatus ?? null,
    ordered_at: row.attemptedAt === undefined ? null : new Date(row.attemptedAt).toISOString(),
    package_id: row.packageId ?? null,
    values,
    evidence: new Map(
      externalResultCells(row, of).map((cell, at) => [externalResultColumns[at] ?? '', cell]),
    ),
  }
}
