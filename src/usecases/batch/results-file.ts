import type { Services } from '../services.ts'
import { createHash } from 'node:crypto'
import { access, constants, lstat, unlink } from 'node:fs/promises'
import { basename, dirname, extname, resolve } from 'node:path'

import {
  type BatchFile,
  type BatchEventListener,
  createReplacingBatch,
  formatsByExtension,
  isReplaceable,
  numberedResultsPath,
  openBatchFile,
  openFileOfBatch,
  pathExists,
  type ReplacingBatch,
  unwritableExtensions,
} from './read-file.ts'
import type { Batch, BatchRow, RowFilter } from '../../domain/batch/batch.ts'
import type { BatchCheck } from '../../domain/batch/plan.ts'
import { type Dialect, plainDialect } from '../../domain/sheet/cell.ts'
import { isAlreadyExists } from '../../disk/failure.ts'
import { RefcheckError, UsageError } from '../../errors/kinds.ts'
import type { FileSource } from '../services.ts'
import type { AnnotatedRow } from '../../sheets/rewrite.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { ExportedRow, ResultsProperties } from '../../domain/batch/results.ts'
import { submissionStates } from '../../domain/submission/states.ts'
import type { RowProblem } from '../../domain/batch/row.ts'

type ResultsServices = BatchEventListener & Pick<Services, 'batches' | 'files'>

/**
 * Writes the rows that cannot be ordered, with their problems, to a new file and returns its path. Throws a UsageError
 * if the file exists already.
 */
export async function writeBatchErrors(
  { cwd, onBatchEvent }: Pick<FileSource, 'cwd'> & BatchEventListener,
  sheet: Sheet,
  { problems }: BatchCheck,
  typedPath: string,
): Promise<string> {
  const path = resolve(cwd, typedPath)
  await requireNewFile(path, typedPath, '--errors')
  await writeTable(path, sheet, errorColumns, rowsToFix(sheet, problems))
  reportLostFormatting({ onBatchEvent }, path, sheet)
  return path
}

/**
 * Returns the path for the results of a batch: `--results`, or else a path next to the file (`people.csv` →
 * `people.results.csv`) that does not exist yet or is the results file of an earlier batch that this batch may replace.
 * Undefined for stdin and if the folder is not writable. `currentPath`: the present path of the results.
 */
export async function findResultsPath(
  services: ResultsServices,
  { path }: BatchFile,
  typedPath: string | undefined,
  { batch, currentPath }: { batch?: ReplacingBatch; currentPath?: string | undefined } = {},
): Promise<string | undefined> {
  const { files, onBatchEvent } = services
  if (typedPath !== undefined) {
    const chosenPath = resolve(files.cwd, typedPath)
    if (chosenPath === currentPath) return chosenPath
    await requireNewFile(chosenPath, typedPath, '--results')
    return chosenPath
  }
  if (path === undefined) return undefined
  if (!(await isWritable(dirname(path)))) {
    onBatchEvent({ name: 'no-results-folder', folder: dirname(path) })
    return undefined
  }
  for (let number = 1; ; number += 1) {
    const candidate = numberedResultsPath(path, number)
    if (!(await pathExists(candidate))) return candidate
    if (batch !== undefined && (await isReplaceable(services, candidate, batch))) return candidate
  }
}

/**
 * Reserves the path of a results file, which another store may choose too, by creating an empty file there, unless the
 * batch replaces the file. Returns the path, and a function that deletes this file again.
 */
export async function claimResultsFile(
  ports: ResultsServices,
  file: BatchFile,
  typedPath: string | undefined,
  chosenPath: string | undefined,
  batch: ReplacingBatch,
): Promise<ClaimedFile> {
  const deleteNothing = async (): Promise<void> => undefined
  for (
    let candidate = chosenPath;
    candidate !== undefined;
    candidate = await findResultsPath(ports, file, typedPath, { batch })
  ) {
    const createdPath = candidate
    if (await createEmptyFile(createdPath))
      return { path: candidate, isReplacing: false, deleteEmptyFile: () => unlink(createdPath) }
    if (typedPath === undefined && (await isReplaceable(ports, candidate, batch)))
      return { path: candidate, isReplacing: true, deleteEmptyFile: deleteNothing }
  }
  return { path: undefined, isReplacing: false, deleteEmptyFile: deleteNothing }
}

interface ClaimedFile {
  path: string | undefined
  /** Whether the file has the results of an earlier batch. */
  isReplacing: boolean
  deleteEmptyFile(): Promise<void>
}

/** Creates an empty file. Returns false if the file exists already. Throws an IoError. */
async function createEmptyFile(path: string): Promise<boolean> {
  const { writeFileAtomically } = await import('../../disk/whole-file.ts')
  try {
    await writeFileAtomically(path, '', { overwrite: false })
    return true
  } catch (error) {
    if (isAlreadyExists(error)) return false
    throw error
  }
}

/**
 * Reports which formatting of a workbook is lost in a new file. All rows of the workbook must have been read before.
 */
export function reportLostFormatting({ onBatchEvent }: BatchEventListener, path: string, sheet: Sheet): void {
  const { format } = dialectFor(path, sheet)
  const appearance = sheet.appearance()
  if ((format !== 'xlsx' && format !== 'ods') || appearance.lost.size + appearance.otherSheets.length === 0)
    return
  onBatchEvent({ name: 'formatting-lost', file: basename(path), appearance })
}

/** Reports how many rows are left out of the results: rows that the workbook hides would be visible there. */
export function reportLeftOut(
  { onBatchEvent }: BatchEventListener,
  path: string,
  { leftOut }: Pick<BatchCheck, 'leftOut'>,
): void {
  if (leftOut > 0) onBatchEvent({ name: 'rows-left-out', file: basename(path), rows: leftOut })
}

async function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
}

/** Throws a UsageError, before anything is sent, unless a new file can be created at the path. */
async function requireNewFile(path: string, typedPath: string, flag: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined)
  const extension = extname(path).toLowerCase()
  const problem = unwritableExtensions.has(extension)
    ? `ends in ${extension}, a format that is not written: let its name end in .xlsx`
    : stats?.isDirectory() === true
      ? 'is a folder'
      : stats !== undefined
        ? 'already exists'
        : (await isWritable(dirname(path)))
          ? undefined
          : 'is in a folder that is not writable'
  if (problem === undefined) return
  throw new UsageError(`${flag}: ${typedPath} ${problem}`, { hint: 'Nothing was sent. Choose another name.' })
}

/**
 * Loads the modules that `openFileOfBatch` and `writeResults` use: refcheck may be updated on disk while a batch runs for
 * hours.
 */
export async function loadResultsModules(): Promise<void> {
  await Promise.all([
    import('../../domain/batch/cell-value.ts'),
    import('../../domain/batch/results.ts'),
    import('../../sheets/open.ts'),
    import('../../sheets/rewrite.ts'),
    import('../../sheets/sheet.ts'),
    import('../../sheets/workbook.ts'),
    import('../../sheets/ods/read.ts'),
    import('../../sheets/xlsx/write.ts'),
    import('../../disk/whole-file.ts'),
  ])
}

/**
 * Writes the user's file with the outcome of each row. Returns false if the batch has no results file. If there is a
 * file now that the batch may not replace, such as that of another store, the batch gets another one.
 */
export async function writeResults(
  services: ResultsServices,
  batch: Batch,
  file: BatchFile,
): Promise<boolean> {
  const { batches } = services
  const { id, resultsFile } = batch
  if (resultsFile === undefined) return false
  const { resultColumns } = await import('../../domain/batch/results.ts')
  const replacing = createReplacingBatch(batch, () => batches.rows(id))
  const { path } = await claimResultsFile(services, file, undefined, resultsFile, replacing)
  if (path === undefined) return false
  if (path !== resultsFile) await batches.recordResultsFile(id, path)
  await writeTable(path, file.sheet, resultColumns, resultRows(file.sheet, batches, batch))
  return true
}

/**
 * Whether the results file of a batch is missing, and a person was removed from the batch: the file may have been deleted
 * with that person's data, which the file of people still has.
 */
export async function isDeletedWithPerson(
  batches: Pick<Batches, 'rows'>,
  { id, resultsFile }: Pick<Batch, 'id' | 'resultsFile'>,
): Promise<boolean> {
  if (resultsFile === undefined || (await pathExists(resultsFile))) return false
  const states = submissionStates.filter((state) => state !== 'invalid')
  for await (const { recipient } of batches.rows(id, { states })) if (recipient === undefined) return true
  return false
}

/**
 * Writes the results file again after rows have changed, if there is one and the file of people is unchanged.
 */
export async function rewriteResults(services: ResultsServices, batch: Batch): Promise<void> {
  const file = await openFileOfBatch(services.files, batch)
  if (file === undefined) return
  try {
    await writeResults(services, batch, file)
  } catch (error) {
    if (!(error instanceof RefcheckError)) throw error
    services.onBatchEvent({ name: 'results-unwritten', why: error.message, batchId: undefined })
  }
}

/**
 * Writes the rows that a command changed to the results file, which would show their former states until the next run.
 * A file that was deleted is not made again, a file that a later batch uses too keeps the rows of that batch, and a
 * batch that is running writes its file at the end.
 */
export async function updateResults(services: ResultsServices, batch: Batch): Promise<void> {
  if (!(await isWriterOfResults(services.batches, batch))) return
  const lease = await services.batches.acquire(batch.id)
  if (lease === undefined) return
  try {
    await rewriteResults(services, batch)
  } finally {
    await lease.release()
  }
}

/** Whether a batch has a results file that exists and that no later batch uses. */
async function isWriterOfResults(
  batches: Pick<Batches, 'findLatestOfResults'>,
  { id, resultsFile }: Pick<Batch, 'id' | 'resultsFile'>,
): Promise<boolean> {
  if (resultsFile === undefined || !(await pathExists(resultsFile))) return false
  return (await batches.findLatestOfResults(resultsFile)) === id
}

/**
 * Returns the results file of a batch; undefined if it is missing or has the results of a later batch, or is still empty
 * although rows were sent.
 */
export async function findResultsFile(
  batches: Pick<Batches, 'findLatestOfResults'>,
  batch: Pick<Batch, 'id' | 'resultsFile' | 'counts'>,
): Promise<string | undefined> {
  const { resultsFile, counts } = batch
  if (resultsFile === undefined || !(await isWriterOfResults(batches, batch))) return undefined
  const hasSent = counts.accepted + counts.rejected + counts.unknown > 0
  return hasSent && (await lstat(resultsFile)).size === 0 ? undefined : resultsFile
}

/**
 * Writes statuses that were read at or after `since` into the results files of this machine. Returns the names of the
 * files that changed. A file that was deleted or edited is left unchanged, and so is a file whose batch is running.
 * No other column changes, since other stores read the orders from these files. `onLeftOut`: called with a batch whose
 * results file cannot be updated because its file of people has changed or is gone.
 */
export async function updateStatuses(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  since: number,
  onLeftOut?: (batch: Batch) => void,
): Promise<string[]> {
  const updatedNames: string[] = []
  for (const id of await batches.findReadSince(since)) {
    const batch = await batches.find(id)
    if (batch?.resultsFile === undefined || !(await pathExists(batch.resultsFile))) continue
    try {
      const lease = await batches.acquire(id)
      try {
        const file = lease && (await openFileOfBatch(files, batch))
        if (file !== undefined && (await updateStatusesInFile({ batches, files }, batch, file)))
          updatedNames.push(basename(batch.resultsFile))
        const isLeftOut = lease !== undefined && file === undefined && batch.path !== undefined
        if (isLeftOut && (await findResultsFile(batches, batch)) !== undefined) onLeftOut?.(batch)
      } finally {
        await lease?.release()
      }
    } catch (error) {
      // The file is updated after the next read of statuses.
      if (!(error instanceof RefcheckError)) throw error
    }
  }
  return updatedNames
}

/**
 * Updates the statuses in the results file of a batch, if the file is unchanged since it was written. `sheet`: the file
 * of people. Returns true if a status differed.
 */
async function updateStatusesInFile(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
  { sheet }: BatchFile,
): Promise<boolean> {
  const [{ resultColumns }, { annotatedBytes }] = await Promise.all([
    import('../../domain/batch/results.ts'),
    import('../../sheets/rewrite.ts'),
  ])
  const { resultsFile = '' } = batch
  const dialect = dialectFor(resultsFile, sheet)
  const isTable = dialect.format === 'csv' || dialect.format === 'xlsx'
  const readingOptions = isTable ? { encoding: dialect.encoding, headerRow: 1 } : {}
  const writtenFile = await openBatchFile(files, resultsFile, readingOptions)
  const positions = resultColumns.map((column) => writtenFile.sheet.columns.indexOf(column))
  const statusIndex = resultColumns.indexOf('refcheck_status')
  const requestIndex = resultColumns.indexOf('refcheck_request_id')
  let hasNewStatus = false
  /** Yields the rows as they are in the results file; if `isUpdate`, with the statuses of the store. */
  async function* generateRows(isUpdate: boolean): AsyncGenerator<AnnotatedRow> {
    const writtenRows = writtenFile.sheet.rows()
    try {
      for await (const row of resultRows(sheet, batches, batch)) {
        const found = row.isLeftOut === true ? undefined : await writtenRows.next()
        const cells = found === undefined || found.done === true ? [] : found.value.cells
        const added = positions.map((position) => cells[position] ?? '')
        // The results file shows an earlier state of the store, in which a row may have matched another request.
        const isSameRequest = added[requestIndex] === row.added[requestIndex]
        const status = isSameRequest ? (row.added[statusIndex] ?? '') : ''
        if (row.isLeftOut !== true && status !== '' && added[statusIndex] !== status) hasNewStatus = true
        if (isUpdate && status !== '') added[statusIndex] = status
        yield { ...row, added }
      }
    } finally {
      await writtenRows.return(undefined)
    }
  }
  const hash = createHash('sha256')
  const table = { sheet, addedColumns: resultColumns, rows: generateRows(false) }
  for await (const chunk of annotatedBytes(table, dialect)) hash.update(chunk)
  if (!hasNewStatus || hash.digest('hex') !== writtenFile.sha256) return false
  await writeTable(resultsFile, sheet, resultColumns, generateRows(true))
  return true
}

async function writeTable(
  path: string,
  sheet: Sheet,
  addedColumns: readonly string[],
  rows: AsyncIterable<AnnotatedRow>,
): Promise<void> {
  const [{ annotatedBytes }, { writeFileAtomically }] = await Promise.all([
    import('../../sheets/rewrite.ts'),
    import('../../disk/whole-file.ts'),
  ])
  await writeFileAtomically(path, annotatedBytes({ sheet, addedColumns, rows }, dialectFor(path, sheet)))
}

/** Returns the dialect of the sheet, or a plain one if the extension of the path requires another format. */
function dialectFor(path: string, { dialect }: Sheet): Dialect {
  const format = formatsByExtension[extname(path).toLowerCase()] ?? dialect.format
  if (format === dialect.format) return dialect
  return { ...plainDialect, format, delimiter: extname(path).toLowerCase() === '.tsv' ? '\t' : ',' }
}

/**
 * Yields every row of the file unchanged, with its outcome added. The added cells of rows without an order are empty.
 */
async function* resultRows(
  sheet: Sheet,
  batches: Batches,
  { id: batchId, ...properties }: ResultsProperties & { id: string },
): AsyncGenerator<AnnotatedRow> {
  const { resultCells, resultColumns } = await import('../../domain/batch/results.ts')
  const everyColumn = new Set(sheet.columns.keys())
  const lines = new Map<number, number>()
  const batchRows = batches.rows(batchId)[Symbol.asyncIterator]()
  try {
    let next = await batchRows.next()
    for await (const row of sheet.rows()) {
      while (next.done !== true && next.value.row < row.row) next = await batchRows.next()
      lines.set(row.row, row.line)
      const found =
        next.done !== true && next.value.row === row.row ? withLineOfMatch(next.value, lines) : undefined
      const refusedColumns = found?.state === 'invalid' ? everyColumn : undefined
      const isHidden = row.isHidden === true || (row.struckColumns ?? []).length > 0
      yield {
        row,
        refusedColumns,
        isLeftOut: found === undefined && isHidden,
        added: found === undefined ? resultColumns.map(() => '') : resultCells(found, properties),
      }
    }
  } finally {
    await batchRows.return(undefined)
  }
}

/** Returns the row with the line of the row of the same batch that it matches, if that row comes earlier in the file. */
function withLineOfMatch(row: BatchRow, lines: ReadonlyMap<number, number>): BatchRow {
  const { matches, batchId } = row
  return matches?.batchId === batchId
    ? { ...row, matches: { ...matches, line: lines.get(matches.row) } }
    : row
}

/** Columns that are added at the end of each row that cannot be ordered. */
const errorColumns = ['refcheck_row', 'refcheck_column', 'refcheck_problem', 'refcheck_suggestion'] as const

/** Yields each row that cannot be ordered, with its cells unchanged and all its problems added. */
async function* rowsToFix(sheet: Sheet, problems: readonly RowProblem[]): AsyncGenerator<AnnotatedRow> {
  const { headerName } = await import('../../domain/batch/columns.ts')
  const problemsByRow = Map.groupBy(problems, ({ row }) => row)
  const columns = new Map(sheet.columns.map((column, index) => [headerName(column), index]))
  for await (const row of sheet.rows()) {
    const problemsOfRow = problemsByRow.get(row.row)
    if (problemsOfRow === undefined) continue
    const joinTexts = (text: (problem: RowProblem) => string | undefined): string =>
      problemsOfRow.flatMap((problem) => text(problem) ?? []).join('; ')
    const refusedColumns = new Set(problemsOfRow.map(({ column }) => columns.get(column) ?? -1))
    yield {
      row,
      refusedColumns,
      added: [
        { kind: 'number', text: String(row.row), value: row.row, format: 'General' },
        joinTexts(({ column }) => column),
        joinTexts(({ column, problem }) => (problemsOfRow.length === 1 ? problem : `${column} ${problem}`)),
        joinTexts(({ suggestion }) => suggestion),
      ],
    }
  }
}

/**
 * Returns the rows of a batch in the order of the file, with the values of their orders, also of orders that
 * were not sent.
 */
export async function readExportedRows(
  batches: Batches,
  { id: batchId, ...properties }: ResultsProperties & { id: string },
  filter: RowFilter,
): Promise<ExportedRow[]> {
  const { toExportedRow } = await import('../../domain/batch/results.ts')
  const rows: ExportedRow[] = []
  const bodies = batches.bodies(batchId, filter)[Symbol.asyncIterator]()
  try {
    let next = await bodies.next()
    for await (const row of batches.rows(batchId, filter)) {
      while (next.done !== true && next.value.row < row.row) next = await bodies.next()
      const body = next.done !== true && next.value.row === row.row ? next.value.body : undefined
      rows.push(toExportedRow(row, body, properties))
    }
    return rows
  } finally {
    await bodies.return?.()
  }
}
