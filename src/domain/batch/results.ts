import { isoTime } from '../wording/time.ts'
import type { BatchRow } from './batch.ts'
import { toListedRow } from './batch-status.ts'
import { uuid, type FieldValue, type RequestBody } from '../../contract/request.ts'
import { type Cell, textOf, writtenFormat } from '../sheet/cell.ts'
import { type PersonDigests, personDigests, type ExternalResult } from '../submission/external-results.ts'
import { serviceOf } from '../submission/identity.ts'
import { type SubmissionState, submissionStates } from '../submission/states.ts'
import { recipientFields } from '../../contract/package-schema.ts'

/** What informs another store, or a later one, of the outcome of a row: src/docs/ordering.md, section 4, "Results files". */
export const externalResultColumns = [
  'refcheck_ordered_at',
  'refcheck_account',
  'refcheck_service',
  'refcheck_package_id',
  'refcheck_batch_id',
  'refcheck_row',
  'refcheck_name_digest',
  'refcheck_email_digest',
  'refcheck_phone_digest',
] as const

/** What is put at the end of a person's own columns. */
export const resultColumns = [
  'refcheck_state',
  'refcheck_request_id',
  'refcheck_status',
  'refcheck_error',
  ...externalResultColumns,
] as const

/** Undefined where its person is not known: of a removed person there are no digests. */
export interface ResultsRow extends Omit<ExternalResult, 'person' | 'shares'> {
  digests: PersonDigests | undefined
  /** Its batch and row in a store. */
  batchId: string | undefined
  row: number | undefined
}

/** Whose batch a row is of. */
export interface ResultsOf {
  account?: string | undefined
}

export function resultCells(row: BatchRow, of: ResultsOf): Cell[] {
  const { state, request_id, error } = toListedRow(row)
  return [state, request_id ?? '', row.requestStatus ?? '', error ?? '', ...externalResultCells(row, of)]
}

/** The cells of `externalResultColumns`. */
export function externalResultCells(row: BatchRow, { account = '' }: ResultsOf): string[] {
  const { recipient, matches, packageId } = row
  const at = row.attemptedAt ?? matches?.orderedAt
  const digests = recipient && personDigests(recipient)
  return [
    isoTime(at) ?? '',
    account,
    serviceOf(row.baseUrl),
    packageId === undefined ? '' : String(packageId),
    row.batchId,
    String(row.row),
    digests?.name ?? '',
    digests?.email ?? '',
    digests?.phone ?? '',
  ]
}

/** Where our columns stand in a table; undefined where it has none that could tell of an order. */
export function resultsReader(
  columns: readonly string[],
):
  | ((cells: readonly Cell[], position: Pick<ExternalResult, 'file' | 'line'>) => ResultsRow | undefined)
  | undefined {
  const names = columns.map((column) => column.trim())
  const at = (name: (typeof resultColumns)[number]): number => names.indexOf(name)
  if (at('refcheck_state') === -1 && at('refcheck_request_id') === -1) return undefined
  return (cells, position) => {
    const text = (name: (typeof resultColumns)[number]): string => textOf(cells[at(name)] ?? '').trim()
    const id = uuid.safeParse(text('refcheck_request_id'))
    const requestId = id.success ? id.data.toLowerCase() : undefined
    // A row with a request whose state was cleared in the file was ordered all the same.
    const state =
      submissionStates.find((each) => each === text('refcheck_state')) ??
      (requestId === undefined ? undefined : ('accepted' satisfies SubmissionState))
    if (state === undefined) return undefined
    return {
      ...position,
      state,
      requestId,
      requestStatus: text('refcheck_status') || undefined,
      account: text('refcheck_account'),
      baseUrl: urlIn(text('refcheck_service')),
      packageId: wholeNumber(text('refcheck_package_id')),
      at: momentIn(text('refcheck_ordered_at')),
      batchId: text('refcheck_batch_id') || undefined,
      row: wholeNumber(text('refcheck_row')),
      digests: digestsIn([
        text('refcheck_name_digest'),
        text('refcheck_email_digest'),
        text('refcheck_phone_digest'),
      ]),
    }
  }
}

function digestsIn([name = '', email = '', phone = '']: readonly string[]): PersonDigests | undefined {
  const sound = [name, email, phone].every((each) => /^x[0-9a-f]{32}$/.test(each))
  return sound ? { name, email, phone } : undefined
}

function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
}

function momentIn(text: string): number | undefined {
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

function urlIn(text: string): string | undefined {
  return URL.canParse(text) ? text : undefined
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

export type ExportTable = ReturnType<typeof exportTable>

/** Rows as a table that can be run as a batch file. */
export function exportTable(rows: readonly ExportedRow[]) {
  const columns = valueColumns(rows)
  return {
    columns: [...columns, 'package_id', ...exportColumns, ...moreColumns],
    rows: rows.map(({ values, package_id, listed, status, ordered_at, evidence }): Cell[] => [
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

export type ExportedRow = ReturnType<typeof toExportedRow>

/** A row of a batch with everything that is known of it. */
export function toExportedRow(row: BatchRow, body: Uint8Array | undefined, of: ResultsOf = {}) {
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
    listed: toListedRow(row),
    status: row.requestStatus ?? null,
    ordered_at: isoTime(row.attemptedAt),
    package_id: row.packageId ?? null,
    /** By column of a batch file: `first_name`, `ncc_acic.date_of_birth`. */
    values,
    /** What informs another store of it, by column. */
    evidence: new Map(
      externalResultCells(row, of).map((cell, at) => [externalResultColumns[at] ?? '', cell]),
    ),
  }
}
