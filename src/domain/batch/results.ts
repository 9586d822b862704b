import { isoTime } from '../wording/time.ts'
import type { BatchRow } from './batch.ts'
import { errorInResults, isLeftOutAsSimilar, perhapsOrderedText, toListedRow } from './batch-status.ts'
import { uuid, type FieldValue, type RequestBody } from '../../contract/request.ts'
import { type Cell, textOf, chooseOutputFormat } from '../sheet/cell.ts'
import { type PersonDigests, personDigests, type ExternalResult } from '../submission/external-results.ts'
import { serviceOf } from '../submission/identity.ts'
import { type SubmissionState, submissionStates } from '../submission/states.ts'
import { recipientFields } from '../../contract/package-schema.ts'

/** Columns that contain the outcome of a row for other stores (src/docs/ordering.md, section 4, "Results files"). */
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

/** Columns that are added after the columns of the user's file. */
export const resultColumns = [
  'refcheck_state',
  'refcheck_request_id',
  'refcheck_status',
  'refcheck_error',
  ...externalResultColumns,
] as const

/** A row of a results file. `digests` is undefined if the person is not known, as for an erased person. */
export interface ResultsRow extends Omit<ExternalResult, 'person' | 'shares'> {
  digests: PersonDigests | undefined
  /** The row's batch and number in a store. */
  batchId: string | undefined
  row: number | undefined
}

/** Properties of the batch that its results contain. */
export interface ResultsProperties {
  account?: string | undefined
}

export function resultCells(row: BatchRow, properties: ResultsProperties): Cell[] {
  const { state, request_id, status } = toListedRow(row)
  return [
    state,
    request_id ?? '',
    status ?? '',
    errorInResults(row) ?? '',
    ...externalResultCells(row, properties),
  ]
}

/** Returns the cells of `externalResultColumns`. */
export function externalResultCells(row: BatchRow, { account = '' }: ResultsProperties): string[] {
  const { matches, packageId = matches?.packageId } = row
  // The later order of the person of an invalid row has the person as it was ordered.
  const recipient = (row.state === 'invalid' ? matches?.recipient : undefined) ?? row.recipient
  // A held row was not ordered, and the order that it matches may be that of another person.
  const isNotOrdered = row.state === 'held' || isLeftOutAsSimilar(row)
  const earlierOrderedAt = isNotOrdered || matches?.state !== 'accepted' ? undefined : matches.orderedAt
  const orderedAt = row.state === 'accepted' ? row.attemptedAt : earlierOrderedAt
  const digests = recipient && personDigests(recipient)
  return [
    isoTime(orderedAt) ?? '',
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

/** Returns a reader for the batch ids in the result columns of a table. */
export function batchIdReader(columns: readonly string[]): (cells: readonly Cell[]) => string | undefined {
  const index = columns.findIndex((column) => column.trim().toLowerCase() === 'refcheck_batch_id')
  return (cells) => textOf(cells[index] ?? '').trim() || undefined
}

/** Returns a reader for the result columns of a table; undefined if the table has no state and no request id. */
export function resultsReader(
  columns: readonly string[],
):
  | ((cells: readonly Cell[], position: Pick<ExternalResult, 'file' | 'line'>) => ResultsRow | undefined)
  | undefined {
  const names = columns.map((column) => column.trim().toLowerCase())
  const columnOf = (name: (typeof resultColumns)[number]): number => names.indexOf(name)
  if (columnOf('refcheck_state') === -1 && columnOf('refcheck_request_id') === -1) return undefined
  return (cells, position) => {
    const text = (name: (typeof resultColumns)[number]): string => textOf(cells[columnOf(name)] ?? '').trim()
    const id = uuid.safeParse(text('refcheck_request_id'))
    const requestId = id.success ? id.data.toLowerCase() : undefined
    const at = parseTime(text('refcheck_ordered_at'))
    const digests = parseDigests([
      text('refcheck_name_digest'),
      text('refcheck_email_digest'),
      text('refcheck_phone_digest'),
    ])
    // A row with a request, or with the time of an order, was ordered, even if its state was cleared in the file.
    const stateOfCleared: SubmissionState | undefined =
      requestId !== undefined ? 'accepted' : at !== undefined && digests !== undefined ? 'unknown' : undefined
    const state =
      submissionStates.find((each) => each === text('refcheck_state').toLowerCase()) ?? stateOfCleared
    if (state === undefined) return undefined
    const isPerhapsOrdered =
      ['held', 'rejected', 'cancelled'].includes(state) &&
      text('refcheck_error')
        .replace(/^held: /, '')
        .startsWith(perhapsOrderedText)
    return {
      ...position,
      state: isPerhapsOrdered ? 'unknown' : state,
      requestId,
      requestStatus: text('refcheck_status') || undefined,
      account: text('refcheck_account'),
      baseUrl: parseUrl(text('refcheck_service')),
      packageId: parseWholeNumber(text('refcheck_package_id')),
      at,
      batchId: text('refcheck_batch_id') || undefined,
      row: parseWholeNumber(text('refcheck_row')),
      digests,
    }
  }
}

function parseDigests(cells: readonly string[]): PersonDigests | undefined {
  const [name = '', email = '', phone = ''] = cells.map((cell) => cell.toLowerCase())
  const areValid = [name, email, phone].every((each) => /^x[0-9a-f]{32}$/.test(each))
  return areValid ? { name, email, phone } : undefined
}

function parseWholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
}

function parseTime(text: string): number | undefined {
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

function parseUrl(text: string): string | undefined {
  return URL.canParse(text) ? text : undefined
}

/** Columns of refcheck that follow the columns of a batch file, so that an export can be run as a batch file. */
const ownExportColumns = [
  'refcheck_row',
  'refcheck_state',
  'refcheck_request_id',
  'refcheck_status',
  'refcheck_ordered_at',
  'refcheck_error',
] as const

const otherResultColumns = externalResultColumns.filter(
  (column) => !(ownExportColumns as readonly string[]).includes(column),
)

export const exportFormats = ['csv', 'xlsx', 'json', 'html'] as const

export type ExportFormat = (typeof exportFormats)[number]

/** Returns the chosen format, or that of the file's extension. For stdout it is CSV, or JSON with `--json`. */
export function chooseExportFormat(
  chosen: ExportFormat | undefined,
  file: string | undefined,
  json: boolean,
): ExportFormat {
  if (chosen === undefined && json && (file === undefined || file === '-')) return 'json'
  return chooseOutputFormat('an export', exportFormats, { requested: chosen, output: file })
}

export type ExportTable = ReturnType<typeof exportTable>

/** Returns rows as a table that can be run as a batch file. */
export function exportTable(rows: readonly ExportedRow[]) {
  const columns = valueColumns(rows)
  return {
    columns: [...columns, 'package_id', ...ownExportColumns, ...otherResultColumns],
    rows: rows.map(({ values, package_id, listed, ordered_at, evidence }): Cell[] => [
      ...columns.map((column) => cellForValue(values.get(column))),
      cellForValue(package_id ?? undefined),
      cellForValue(listed.row),
      listed.state,
      listed.request_id ?? '',
      listed.status ?? '',
      ordered_at ?? '',
      listed.error ?? '',
      ...otherResultColumns.map((column) => evidence.get(column) ?? ''),
    ]),
  }
}

/** Returns all columns that have a value in one of the rows; those of the recipient come first. */
function valueColumns(rows: readonly ExportedRow[]): string[] {
  const columns = new Set<string>(recipientFields)
  for (const { values } of rows) for (const column of values.keys()) columns.add(column)
  return [...columns]
}

/** Returns a cell that is read back as the same value. */
function cellForValue(value: FieldValue | undefined): Cell {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : { kind: 'json', text: JSON.stringify(value), value }
}

export type ExportedRow = ReturnType<typeof toExportedRow>

/** Returns a row of a batch with all its data in the store. */
export function toExportedRow(
  row: BatchRow,
  body: Uint8Array | undefined,
  properties: ResultsProperties = {},
) {
  const values = new Map<string, FieldValue>()
  for (const name of recipientFields) {
    const value = row.person[name]
    if (value !== undefined) values.set(name, value)
  }
  if (body !== undefined) {
    // refcheck recorded this body in the journal after checking it.
    const order = JSON.parse(new TextDecoder().decode(body)) as RequestBody
    for (const { code, fields } of order.additional_information ?? []) {
      for (const [name, value] of Object.entries(fields)) values.set(`${code}.${name}`, value)
    }
  }
  const evidence = new Map(
    externalResultCells(row, properties).map((cell, index) => [externalResultColumns[index] ?? '', cell]),
  )
  return {
    listed: { ...toListedRow(row), error: errorInResults(row) },
    /** When the listed request was ordered, by this row or by another one. */
    ordered_at: evidence.get('refcheck_ordered_at') || null,
    package_id: row.packageId ?? null,
    /** The values by column of a batch file: `first_name`, `ncc_acic.date_of_birth`. */
    values,
    /** The cells that inform other stores, by column. */
    evidence,
  }
}
