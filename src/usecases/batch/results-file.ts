import type { Services } from '../services.ts'
import { createHash } from 'node:crypto'
import { access, constants, lstat, open, unlink } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'

import type { BatchFile, BatchEventListener } from './read-file.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import type { FileReading } from '../../domain/batch/new-row.ts'
import type { BatchCheck } from '../../domain/batch/plan.ts'
import { type Dialect, plainDialect, type SheetFormat } from '../../domain/sheet/cell.ts'
import { diskFailure, errorNumber } from '../../disk/failure.ts'
import { RefcheckError, UsageError } from '../../errors/kinds.ts'
import type { FileTarget } from '../services.ts'
import type { AnnotatedRow } from '../../sheets/rewrite.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { ResultsOf } from '../../domain/batch/results.ts'
import type { RowProblem } from '../../domain/batch/row.ts'

type ResultsServices = BatchEventListener & Pick<Services, 'batches' | 'files'>

/** Writes the rows to fix; where they are. A file that is already there is refused. */
export async function writeBatchErrors(
  { cwd, onBatchEvent }: Pick<FileTarget, 'cwd'> & BatchEventListener,
  sheet: Sheet,
  { problems }: BatchCheck,
  typed: string,
): Promise<string> {
  const path = resolve(cwd, typed)
  await requireFree(path, typed, '--errors')
  await writeTable(path, sheet, errorColumns, rowsToFix(sheet, problems))
  noteLostLook({ onBatchEvent }, path, sheet)
  return path
}

/**
 * Where a batch's results go: `--results`, else next to the file (`people.csv` → `people.results.csv`), under
 * a name that is free or was a batch's results before. Undefined where there is no such file, or
 * nothing can be written there. `current`: where they went so far.
 */
export async function resultsPath(
  { files: { cwd }, batches, onBatchEvent }: ResultsServices,
  { path }: BatchFile,
  typed: string | undefined,
  current?: string,
): Promise<string | undefined> {
  if (typed !== undefined) {
    const chosen = resolve(cwd, typed)
    if (chosen === current) return chosen
    await requireFree(chosen, typed, '--results')
    return chosen
  }
  if (path === undefined) return undefined
  if (!(await isWritable(dirname(path)))) {
    onBatchEvent({ name: 'no-results-folder', folder: dirname(path) })
    return undefined
  }
  const ours = await ownResults(batches)
  for (let number = 1; ; number += 1) {
    const candidate = numberedPath(path, number)
    if (ours.has(candidate) || !(await isThere(candidate))) return candidate
  }
}

/**
 * Takes the name of a results file, which another store may have chosen too: a file that is empty until the first results
 * are written. `giveUp` takes it away again.
 */
export async function claimedResults(
  ports: ResultsServices,
  file: BatchFile,
  typed: string | undefined,
  chosen: string | undefined,
): Promise<{ place: string | undefined; giveUp(): Promise<void> }> {
  const keep = async (): Promise<void> => undefined
  for (let candidate = chosen; candidate !== undefined; candidate = await resultsPath(ports, file, typed)) {
    if ((await ownResults(ports.batches)).has(candidate)) return { place: candidate, giveUp: keep }
    const taken = candidate
    if (await isCreated(taken)) return { place: candidate, giveUp: () => unlink(taken) }
  }
  return { place: undefined, giveUp: keep }
}

/** Whether there was no such file before. */
async function isCreated(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if (errorNumber(error) === 'EEXIST') return false
    throw diskFailure('write', path, error)
  }
}

/**
 * Results files next to a file that no batch of this store wrote: a colleague's, or those of a lost store; and `also`,
 * though a batch of this store is to write it.
 */
export async function foreignResults(
  batches: Pick<Batches, 'list'>,
  path: string,
  also?: string,
): Promise<string[]> {
  const ours = await ownResults(batches)
  const found: string[] = []
  for (let number = 1; ; number += 1) {
    const candidate = numberedPath(path, number)
    if (!(await isThere(candidate))) return found
    if (!ours.has(candidate) || candidate === also) found.push(candidate)
  }
}

async function ownResults(batches: Pick<Batches, 'list'>): Promise<ReadonlySet<string | undefined>> {
  return new Set((await batches.list()).map(({ resultsFile }) => resultsFile))
}

/** `people.csv` → `people.results.csv`, `people.results-2.csv` … */
function numberedPath(path: string, number: number): string {
  const own = extname(path)
  const stem = join(dirname(path), basename(path, own))
  const extension = unwritten.has(own.toLowerCase()) ? '.xlsx' : own
  return `${stem}.results${number === 1 ? '' : `-${number}`}${extension}`
}

/** Whether there is a file or a folder at a path. */
export const isThere = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined)) !== undefined

/** Says what of a workbook's look is not written to a path; all of its rows have to be read by then. */
export function noteLostLook({ onBatchEvent }: BatchEventListener, path: string, sheet: Sheet): void {
  const { format } = dialectFor(path, sheet)
  const style = sheet.style()
  if ((format !== 'xlsx' && format !== 'ods') || style.lost.size + style.otherSheets.length === 0) return
  onBatchEvent({ name: 'look-lost', file: basename(path), appearance: style })
}

/** Says how many rows the results leave out: written, they would be seen as all others are. */
export function noteLeftOut(
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

/** Workbooks that are read or refused, and never written. */
const unwritten = new Set(['.ods', '.ots', '.xls', '.xlsb', '.xlsm', '.xltm', '.xltx'])

/** Looked at before anything is sent: a file that is not there yet, in a folder that takes it. */
async function requireFree(path: string, typed: string, flag: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined)
  const extension = extname(path).toLowerCase()
  const problem = unwritten.has(extension)
    ? `ends in ${extension}, a format that is not written: let its name end in .xlsx`
    : stats?.isDirectory() === true
      ? 'is a folder'
      : stats !== undefined
        ? 'already exists'
        : (await isWritable(dirname(path)))
          ? undefined
          : 'is in a folder that is not writable'
  if (problem === undefined) return
  throw new UsageError(`${flag}: ${typed} ${problem}`, { hint: 'Nothing was sent. Choose another name.' })
}

/** Loads what `fileOfBatch` and `writeResults` take: the program may be replaced while a batch runs for hours. */
export async function loadForResults(): Promise<void> {
  await Promise.all([
    import('./read-file.ts'),
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

/** Writes the person's file with what became of each row; whether it is to have one. */
export async function writeResults(batches: Batches, batch: Batch, { sheet }: BatchFile): Promise<boolean> {
  const { resultsFile } = batch
  if (resultsFile === undefined) return false
  const { resultColumns } = await import('../../domain/batch/results.ts')
  await writeTable(resultsFile, sheet, resultColumns, resultRows(sheet, batches, batch))
  return true
}

/**
 * Writes the statuses read since `since` into the results files of this machine; the names of those that had others. A file that
 * is gone or was changed is left as it is, and so is one whose batch is running. No other column is touched: they inform other
 * stores of the orders.
 */
export async function updateStatuses(
  { ledger, batches, files }: Pick<Services, 'ledger' | 'batches' | 'files'>,
  since: number,
): Promise<string[]> {
  const updated: string[] = []
  const read = (await ledger.list({ states: ['accepted'] })).filter(
    ({ requestStatusAt = 0 }) => requestStatusAt >= since,
  )
  for (const id of new Set(read.map(({ batchId }) => batchId))) {
    const batch = await batches.find(id)
    if (batch?.resultsFile === undefined || !(await isThere(batch.resultsFile))) continue
    try {
      const lease = await batches.acquire(id)
      try {
        const file = lease && (await fileOfBatch(files, batch))
        if (file !== undefined && (await updateStatusesOf({ batches, files }, batch, file)))
          updated.push(basename(batch.resultsFile))
      } finally {
        await lease?.release()
      }
    } catch (error) {
      // The next reading of statuses tries again.
      if (!(error instanceof RefcheckError)) throw error
    }
  }
  return updated
}

/** Whether a results file, which has to be as it was written from `file`, had other statuses than the store has. */
async function updateStatusesOf(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
  { sheet }: BatchFile,
): Promise<boolean> {
  const [{ resultColumns }, { annotatedBytes }, { openBatchFile }] = await Promise.all([
    import('../../domain/batch/results.ts'),
    import('../../sheets/rewrite.ts'),
    import('./read-file.ts'),
  ])
  const { resultsFile = '' } = batch
  const dialect = dialectFor(resultsFile, sheet)
  const isTable = dialect.format === 'csv' || dialect.format === 'xlsx'
  const how = isTable ? { encoding: dialect.encoding, headerRow: 1 } : {}
  const written = await openBatchFile(files, resultsFile, how)
  const positions = resultColumns.map((column) => written.sheet.columns.indexOf(column))
  const statusAt = resultColumns.indexOf('refcheck_status')
  let hasOther = false
  async function* rows(isUpdate: boolean): AsyncGenerator<AnnotatedRow> {
    const before = written.sheet.rows()
    try {
      for await (const row of resultRows(sheet, batches, batch)) {
        const found = row.leftOut === true ? undefined : await before.next()
        const cells = found === undefined || found.done === true ? [] : found.value.cells
        const added = positions.map((at) => cells[at] ?? '')
        const status = row.added[statusAt] ?? ''
        if (row.leftOut !== true && status !== '' && added[statusAt] !== status) hasOther = true
        if (isUpdate && status !== '') added[statusAt] = status
        yield { ...row, added }
      }
    } finally {
      await before.return(undefined)
    }
  }
  const hash = createHash('sha256')
  const table = { sheet, addedColumns: resultColumns, rows: rows(false) }
  for await (const chunk of annotatedBytes(table, dialect)) hash.update(chunk)
  if (!hasOther || hash.digest('hex') !== written.sha256) return false
  await writeTable(resultsFile, sheet, resultColumns, rows(true))
  return true
}

/** The file that a batch was made from, as long as it is what it was; undefined once it is not. */
export async function fileOfBatch(target: FileTarget, batch: Batch): Promise<BatchFile | undefined> {
  if (batch.path === undefined) return undefined
  const { openBatchFile } = await import('./read-file.ts')
  const { sheet, header_row, encoding } = JSON.parse(batch.reading) as Partial<FileReading>
  const how = {
    sheet: sheet ?? undefined,
    headerRow: header_row ?? undefined,
    encoding: encoding ?? undefined,
  }
  try {
    const file = await openBatchFile(target, batch.path, how)
    return file.sha256 === batch.sha256 ? file : undefined
  } catch {
    // Gone, or no table any more: the store has all that is needed to go on.
    return undefined
  }
}

/** Where the rows of a batch stand in its file, by row; none where that is not what it was. */
export async function linesOfRows(target: FileTarget, batch: Batch): Promise<ReadonlyMap<number, number>> {
  const lines = new Map<number, number>()
  const file = await fileOfBatch(target, batch)
  if (file === undefined) return lines
  for await (const { row, line } of file.sheet.rows()) lines.set(row, line)
  return lines
}

/** Where one row stands in a file; undefined where there is no such file. */
export async function lineOfRow(file: BatchFile | undefined, number: number): Promise<number | undefined> {
  if (file === undefined) return undefined
  for await (const { row, line } of file.sheet.rows()) if (row === number) return line
  return undefined
}

async function writeTable(
  path: string,
  sheet: Sheet,
  addedColumns: readonly string[],
  rows: AsyncIterable<AnnotatedRow>,
): Promise<void> {
  const [{ annotatedBytes }, { writeWhole }] = await Promise.all([
    import('../../sheets/rewrite.ts'),
    import('../../disk/whole-file.ts'),
  ])
  await writeWhole(path, annotatedBytes({ sheet, addedColumns, rows }, dialectFor(path, sheet)))
}

const formats: Readonly<Record<string, SheetFormat>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.txt': 'csv',
  '.xlsx': 'xlsx',
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
}

/** The file's own dialect, unless the name asks for another format. */
function dialectFor(path: string, { dialect }: Sheet): Dialect {
  const format = formats[extname(path).toLowerCase()] ?? dialect.format
  if (format === dialect.format) return dialect
  return { ...plainDialect, format, delimiter: extname(path).toLowerCase() === '.tsv' ? '\t' : ',' }
}

/** Every row of the file as it is there, with what became of it. Rows that were not taken in are left bare. */
async function* resultRows(
  sheet: Sheet,
  batches: Batches,
  { id: batchId, ...of }: ResultsOf & { id: string },
): AsyncGenerator<AnnotatedRow> {
  const { resultCells, resultColumns } = await import('../../domain/batch/results.ts')
  const everyColumn = new Set(sheet.columns.keys())
  const taken = batches.rows(batchId)[Symbol.asyncIterator]()
  try {
    let next = await taken.next()
    for await (const row of sheet.rows()) {
      while (next.done !== true && next.value.row < row.row) next = await taken.next()
      const found = next.done !== true && next.value.row === row.row ? next.value : undefined
      const refused = found?.state === 'invalid' ? everyColumn : undefined
      const isUnseen = row.hidden === true || (row.struck ?? []).length > 0
      yield {
        row,
        refused,
        leftOut: found === undefined && isUnseen,
        added: found === undefined ? resultColumns.map(() => '') : resultCells(found, of),
      }
    }
  } finally {
    await taken.return(undefined)
  }
}

/** What is put at the end of a person's own columns where a row is not fit to be ordered. */
const errorColumns = ['refcheck_row', 'refcheck_column', 'refcheck_problem', 'refcheck_suggestion'] as const

/** The rows to fix, as they are there, with everything that is wrong with each. */
async function* rowsToFix(sheet: Sheet, problems: readonly RowProblem[]): AsyncGenerator<AnnotatedRow> {
  const { headerName } = await import('../../domain/batch/columns.ts')
  const byRow = Map.groupBy(problems, ({ row }) => row)
  const columns = new Map(sheet.columns.map((column, at) => [headerName(column), at]))
  for await (const row of sheet.rows()) {
    const found = byRow.get(row.row)
    if (found === undefined) continue
    const joinTexts = (text: (problem: RowProblem) => string | undefined): string =>
      found.flatMap((problem) => text(problem) ?? []).join('; ')
    const refused = new Set(found.map(({ column }) => columns.get(column) ?? -1))
    yield {
      row,
      refused,
      added: [
        { kind: 'number', text: String(row.row), value: row.row, format: 'General' },
        joinTexts(({ column }) => column),
        joinTexts(({ column, problem }) => (found.length === 1 ? problem : `${column} ${problem}`)),
        joinTexts(({ suggestion }) => suggestion),
      ],
    }
  }
}
