import { createHash } from 'node:crypto'
import { lstat, readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'

import { RefcheckError, UndecidedError, UsageError } from '../../errors/kinds.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { SheetSource } from '../../sheets/sheet.ts'
import type { FileSource, Services } from '../services.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import type { FileReading } from '../../domain/batch/new-row.ts'
import type { ResultsRow } from '../../domain/batch/results.ts'
import type { SheetFormat } from '../../domain/sheet/cell.ts'
import { isEvidence, type PersonDigests, personDigests } from '../../domain/submission/external-results.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import type { Recipient } from '../../contract/request.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { ColumnChoices, StoredMapping, StoredReading } from '../../domain/batch/columns.ts'
import type { Mappings } from '../../store/config/mappings.ts'
import type { ReadableBatch } from './check-file.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { BatchEvent } from '../../domain/batch/run-policy.ts'

/** A file of people that was opened as a table. */
export interface BatchFile {
  /** The file name as typed; `stdin` for -. */
  name: string
  /** Absolute path; undefined for stdin. */
  path: string | undefined
  sheet: Sheet
  /** SHA-256 of the bytes of the file, in hex. */
  sha256: string
}

/** Opens FILE, or stdin for `-`. Throws if it is not a table. */
export async function openBatchFile(
  files: FileSource,
  file: string,
  { sheet, headerRow, encoding }: Partial<Pick<ColumnChoices, 'sheet' | 'headerRow' | 'encoding'>> = {},
): Promise<BatchFile> {
  const [{ openSheet }, { jsonRow }] = await Promise.all([
    import('../../sheets/open.ts'),
    import('../../domain/batch/cell-value.ts'),
  ])
  const path = file === '-' ? undefined : resolve(files.cwd, file)
  const source = await openSource(files, path, file)
  const openedSheet = await openSheet(source, { sheet, headerRow, encoding, readJson: jsonRow })
  return { name: source.name, path, sheet: openedSheet, sha256: await computeDigest(source) }
}

async function openSource(
  { stdin }: FileSource,
  path: string | undefined,
  name: string,
): Promise<SheetSource> {
  const { fileSource, bufferedSource } = await import('../../sheets/sheet.ts')
  if (path !== undefined) return fileSource(path, name)
  if (stdin.isTTY) {
    throw new UsageError('no file: stdin is the terminal', {
      hint: 'Give the name of a file, or pipe one in with: < FILE',
    })
  }
  return bufferedSource(stdin.stream, 'stdin')
}

async function computeDigest(source: SheetSource): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of source.chunks()) hash.update(chunk)
  return hash.digest('hex')
}

/** Opens the file that a batch was made from; undefined if it is gone or has changed. */
export async function openFileOfBatch(files: FileSource, batch: Batch): Promise<BatchFile | undefined> {
  if (batch.path === undefined) return undefined
  const { sheet, header_row, encoding } = JSON.parse(batch.reading) as Partial<FileReading>
  const readingOptions = {
    sheet: sheet ?? undefined,
    headerRow: header_row ?? undefined,
    encoding: encoding ?? undefined,
  }
  try {
    const file = await openBatchFile(files, batch.path, readingOptions)
    return file.sha256 === batch.sha256 ? file : undefined
  } catch {
    // The file is gone or no table any more. The store has all the data that the run needs.
    return undefined
  }
}

/** Maps the rows of a batch to their lines in its file; empty if the file is gone or has changed. */
export async function readLinesOfRows(files: FileSource, batch: Batch): Promise<ReadonlyMap<number, number>> {
  const lines = new Map<number, number>()
  const file = await openFileOfBatch(files, batch)
  if (file === undefined) return lines
  for await (const { row, line } of file.sheet.rows()) lines.set(row, line)
  return lines
}

/** Returns the line of a row in a file; undefined if there is no file. */
export async function findLineOfRow(
  file: BatchFile | undefined,
  number: number,
): Promise<number | undefined> {
  if (file === undefined) return undefined
  for await (const { row, line } of file.sheet.rows()) if (row === number) return line
  return undefined
}

/** Formats of workbooks that are read or refused, and never written. */
export const unwritableExtensions = new Set(['.ods', '.ots', '.xls', '.xlsb', '.xlsm', '.xltm', '.xltx'])

export const formatsByExtension: Readonly<Record<string, SheetFormat>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.txt': 'csv',
  '.xlsx': 'xlsx',
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
}

/** Disks may ignore the case and the Unicode form of a name. */
const foldPath = (path: string): string => path.normalize('NFC').toLowerCase()

/**
 * Finds the files next to a file of people that may be results files: their names start as that of its results, and go on
 * in any way, such as with a number, or with what a copy, a download or a conflict of versions adds. A file with a lower
 * number, or in the format of the input, may be missing, because users move and convert such files.
 */
async function findPossibleResults(path: string): Promise<string[]> {
  const start = startOfResultsName(path)
  const isResultsName = (name: string): boolean => {
    const extension = extname(foldPath(name))
    const isFormat = Object.hasOwn(formatsByExtension, extension) || unwritableExtensions.has(extension)
    return isFormat && foldPath(name).startsWith(start)
  }
  return (await listNeighbours(path))
    .filter(isResultsName)
    .sort((one, other) => one.length - other.length || (one < other ? -1 : 1))
    .map((name) => join(dirname(path), name))
}

const startOfResultsName = (path: string): string => foldPath(`${basename(path, extname(path))}.results`)

/** Whether a file next to the file at `path` has exactly a name under which a run writes results, in any format. */
export function hasNameOfResults(resultsPath: string, path: string): boolean {
  const name = foldPath(basename(resultsPath, extname(resultsPath)))
  const start = startOfResultsName(path)
  return name.startsWith(start) && /^(?:-\d+)?$/.test(name.slice(start.length))
}

/** A results file, with its rows by position and by person. */
export interface ResultsFile {
  name: string
  /** Undefined for stdin. */
  path: string | undefined
  /** SHA-256 of the bytes of the file, in hex. */
  sha256: string
  /**
   * The rows of the results file. Each has the index that its row has in the file that the results were
   * written for.
   */
  rows: readonly (ResultsRow | undefined)[]
  /** The rows that are evidence, by person; of several for one package, service and account, the last. */
  byPerson: ReadonlyMap<string, ReadonlyMap<string, ResultsRow>>
}

/** Why an empty results file cannot be read. */
export const emptyText = 'it is empty, as long as another run orders the people of this file'

/** The results files of other stores next to a file of people. */
export interface ForeignResults {
  resultsFiles: ResultsFile[]
  /** Why a file cannot be read, by its path. An empty file is written by its store at the end of its run. */
  unreadable: Map<string, string>
}

/**
 * Reads the results files next to a file of people, without those of this store: files with results of its batches
 * alone, and the empty files of its own runs.
 */
export async function readForeignResults(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  path: string,
): Promise<ForeignResults> {
  const found: ForeignResults = { resultsFiles: [], unreadable: new Map() }
  for (const resultsPath of await findPossibleResults(path)) {
    const results = await readResults(files, resultsPath, async (file) => {
      if (await isOfStore(batches, file)) return undefined
      // A user may have deleted the columns of batches from a file of this store, which knows its own open rows.
      const isOwnPath = !hasBatchIds(file) && (await isResultsPathOfStore(batches, resultsPath))
      return readSheetResults(file, { hasOpenRows: !isOwnPath })
    })
    if (results === undefined || (results === noResultsText && !hasNameOfResults(resultsPath, path))) continue
    if (results === emptyText && (await isResultsPathOfStore(batches, resultsPath))) continue
    if (typeof results === 'string') found.unreadable.set(resultsPath, results)
    else found.resultsFiles.push(results)
  }
  return found
}

const noResultsText = 'it has no results in the columns refcheck_state and refcheck_request_id'

/** Reads a results file, or returns why it cannot be read. Returns undefined for a file that is not there. */
async function readResults<T>(
  files: FileSource,
  path: string,
  read: (file: BatchFile) => Promise<T>,
): Promise<T | string | undefined> {
  try {
    const found = await stat(path).catch(() => undefined)
    // The file was deleted meanwhile.
    if (found === undefined) return undefined
    if (found.size === 0) return emptyText
    const file = { ...(await openBatchFile(files, path)), name: basename(path) }
    for await (const row of resultsRows(file)) if (row !== undefined) return await read(file)
    return noResultsText
  } catch (error) {
    if (error instanceof RefcheckError) return error.message
    throw error
  }
}

/** Yields for each row of a file its result, if it has one; nothing for a file without columns for results. */
async function* resultsRows(file: BatchFile): AsyncGenerator<ResultsRow | undefined> {
  for await (const { read } of unreadResults(file)) yield read()
}

/** Yields for each row of a file its batch id, and a function that reads its result, which costs much more time. */
async function* unreadResults({ name, sheet }: BatchFile): AsyncGenerator<UnreadResult> {
  const { batchIdReader, resultsReader } = await import('../../domain/batch/results.ts')
  const readRow = resultsReader(sheet.columns)
  if (readRow === undefined) return
  const readBatchId = batchIdReader(sheet.columns)
  for await (const { cells, line } of sheet.rows())
    yield { batchId: readBatchId(cells), read: () => readRow(cells, { file: name, line }) }
}

interface UnreadResult {
  batchId: string | undefined
  read: () => ResultsRow | undefined
}

const hasBatchIds = ({ sheet }: BatchFile): boolean =>
  sheet.columns.some((each) => each.trim().toLowerCase() === 'refcheck_batch_id')

/** Returns the results in a file; undefined for a file without results. `hasOpenRows`: also rows without a request id. */
export async function readSheetResults(
  file: BatchFile,
  { hasOpenRows = true }: { hasOpenRows?: boolean } = {},
): Promise<ResultsFile | undefined> {
  const { name, path, sha256 } = file
  const rows: (ResultsRow | undefined)[] = []
  const byPerson = new Map<string, Map<string, ResultsRow>>()
  for await (const each of resultsRows(file)) {
    const row = hasOpenRows || each?.requestId !== undefined ? each : undefined
    rows.push(row)
    if (row?.digests === undefined || !isEvidence(row)) continue
    const key = createPersonKey(row.digests)
    const rowsOfPerson = byPerson.get(key) ?? new Map<string, ResultsRow>()
    byPerson.set(key, rowsOfPerson.set(createTargetKey(row), row))
  }
  return rows.length === 0 ? undefined : { name, path, sha256, rows, byPerson }
}

export const createPersonKey = ({ name, email, phone }: PersonDigests): string => `${name}${email}${phone}`

interface Target {
  packageId: number | undefined
  baseUrl: string | undefined
  account: string
}

const createTargetKey = ({ packageId, baseUrl, account }: Target): string =>
  `${packageId} ${baseUrl} ${account}`

/** A batch whose results may be written to the path of an existing results file. */
export interface ReplacingBatch extends Pick<Batch, 'id' | 'resultsFile'> {
  /** Returns a key for each person of the batch with the package, service and account. */
  readPeople: () => Promise<ReadonlySet<string>>
}

/** `rows`: the rows of the batch, which are read once, if they are needed. */
export function createReplacingBatch(
  { id, baseUrl, account = '', resultsFile }: Pick<Batch, 'id' | 'baseUrl' | 'account' | 'resultsFile'>,
  rows: () => Iterable<ReplacingRow> | AsyncIterable<ReplacingRow>,
): ReplacingBatch {
  const read = async (): Promise<Set<string>> => {
    const keys = new Set<string>()
    for await (const { recipient, packageId } of rows()) {
      if (recipient === undefined) continue
      const target = createTargetKey({ packageId, baseUrl: serviceOf(baseUrl), account })
      keys.add(`${createPersonKey(personDigests(recipient))} ${target}`)
    }
    return keys
  }
  let people: Promise<Set<string>> | undefined
  return { id, resultsFile, readPeople: () => (people ??= read()) }
}

interface ReplacingRow {
  recipient?: Recipient | undefined
  packageId: number | undefined
}

/**
 * Whether the results of a batch may replace a file: it has results of this store alone, and each of its people who were
 * ordered, or may be, is in the batch too, for the same package, service and account. An empty file is replaced only if
 * it is the batch's own.
 */
export async function isReplaceable(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  path: string,
  { id, resultsFile, readPeople }: ReplacingBatch,
): Promise<boolean> {
  let requests: Set<string | undefined> | undefined
  const readRequests = async (): Promise<ReadonlySet<string | undefined>> => {
    if (requests !== undefined) return requests
    requests = new Set()
    for await (const { requestId } of batches.rows(id)) requests.add(requestId)
    return requests
  }
  const answer = await readResults(files, path, async (file) => {
    const isOwn = createOwnIdCheck(batches)
    for await (const { batchId, read } of unreadResults(file)) {
      if (batchId === id) continue
      const row = read()
      if (row === undefined) continue
      if (path === resultsFile && !hasBatchIds(file)) {
        // A user may have deleted the columns of batches. Requests of other stores are not replaced.
        if (row.requestId === undefined || (await readRequests()).has(row.requestId)) continue
        return false
      }
      if (!(await isOwn(batchId))) return false
      if (!isEvidence(row)) continue
      const { digests } = row
      const key = digests && `${createPersonKey(digests)} ${createTargetKey(row)}`
      if (key !== undefined && (await readPeople()).has(key)) continue
      if (row.state !== 'pending' || (await isStillOrdered(batches, row))) return false
    }
    return true
  })
  return typeof answer === 'boolean' ? answer : answer === emptyText && path === resultsFile
}

/** Whether a row that was pending when a results file was written is ordered, or may be ordered yet, by the store. */
async function isStillOrdered(
  batches: Pick<Batches, 'rows'>,
  { batchId = '', row = 0 }: ResultsRow,
): Promise<boolean> {
  const { value } = await batches.rows(batchId, { after: row - 1, limit: 1 }).next()
  return value?.row === row && isEvidence(value)
}

/** Whether all results in a file are of batches of this store, whose own data then has precedence. */
async function isOfStore(batches: Pick<Batches, 'find'>, file: BatchFile): Promise<boolean> {
  const isOwn = createOwnIdCheck(batches)
  for await (const { batchId, read } of unreadResults(file))
    if (!(await isOwn(batchId)) && read() !== undefined) return false
  return true
}

/** Returns a function that returns whether a batch is in this store. Each id is looked up once. */
function createOwnIdCheck(batches: Pick<Batches, 'find'>): (id: string | undefined) => Promise<boolean> {
  const known = new Map<string, boolean>()
  return async (id) => {
    if (id === undefined) return false
    const isOwn = known.get(id) ?? (await batches.find(id))?.id === id
    known.set(id, isOwn)
    return isOwn
  }
}

/** Whether a batch of this store has its results at this path. */
export async function isResultsPathOfStore(batches: Pick<Batches, 'list'>, path: string): Promise<boolean> {
  const folded = foldPath(path)
  return (await batches.list()).some(
    ({ resultsFile }) => resultsFile !== undefined && foldPath(resultsFile) === folded,
  )
}

/** Returns the names in the folder of a file; of a folder that cannot be read, the names of results files that exist. */
async function listNeighbours(path: string): Promise<string[]> {
  try {
    return await readdir(dirname(path))
  } catch {
    const names: string[] = []
    for (let number = 1; await pathExists(numberedResultsPath(path, number)); number += 1)
      names.push(basename(numberedResultsPath(path, number)))
    return names
  }
}

/** Whether a results file has the format in which a run writes the results of the file at `path`. */
export const hasFormatOfResults = (resultsPath: string, path: string): boolean =>
  extname(resultsPath).toLowerCase() === extname(numberedResultsPath(path, 1)).toLowerCase()

/**
 * Returns the path of the results file with this number: `people.csv` → `people.results.csv`, `people.results-2.csv`
 * …
 */
export function numberedResultsPath(path: string, number: number): string {
  const ownExtension = extname(path)
  const stem = join(dirname(path), basename(path, ownExtension))
  const extension = unwritableExtensions.has(ownExtension.toLowerCase()) ? '.xlsx' : ownExtension
  return `${stem}.results${number === 1 ? '' : `-${number}`}${extension}`
}

/** Whether there is a file or a folder at a path. */
export const pathExists = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined)) !== undefined

/** Choices for which the saved mapping or the agreed columns were reported: each is reported once. */
const reportedSaves = new WeakSet<ColumnChoices>()
const reportedAgreements = new WeakSet<ColumnChoices>()

/** Interprets the columns of the file according to the flags, and asks on a terminal. */
export async function readOrders(
  { api, schemas, mappings, prompter, onBatchEvent }: ReadingServices,
  { sheet }: BatchFile,
  choices: ColumnChoices,
  packageId: number | undefined,
): Promise<ReadableBatch> {
  const [{ readColumns }, { loadSchema }, { noMapping }] = await Promise.all([
    import('./check-file.ts'),
    import('../form/package.ts'),
    import('../../domain/batch/columns.ts'),
  ])
  const country = choices.defaultCountry
  const orders = await readColumns(sheet, {
    packageId,
    map: choices.map ?? [],
    ignore: choices.ignore ?? [],
    storedMapping:
      choices.mapping === undefined ? noMapping : await readStoredMapping(mappings, choices.mapping),
    schemaOf: (id) => loadSchema(id, { api, schemas }),
    repair:
      country === undefined
        ? undefined
        : await (await import('../form/phone-repair.ts')).createPhoneRepair(country),
    hidden: choices.hidden,
    acceptedLines: choices.acceptLines,
    async agree(columns) {
      const { agreeColumns } = await import('./ask-columns.ts')
      return agreeColumns({ mappings, prompter }, columns, (event) => {
        // The file is read again after each further answer; the agreement is reported only once.
        if (!reportedAgreements.has(choices)) onBatchEvent(event)
        reportedAgreements.add(choices)
      })
    },
  })
  const name = choices.saveMapping
  if (name !== undefined) {
    const { sheet: sheetName, headerRow, encoding, hidden, defaultCountry } = choices
    const reading = {
      sheet: sheetName,
      header_row: headerRow,
      encoding,
      hidden,
      default_country: defaultCountry,
    }
    await mappings.put(name, { ...orders.mapping, reading })
    // The file is read again after each further answer; the saved mapping is reported only once.
    if (!reportedSaves.has(choices)) onBatchEvent({ name: 'mapping-kept', mapping: name })
    reportedSaves.add(choices)
  }
  return orders
}

async function readStoredMapping(mappings: Pick<Mappings, 'get'>, name: string): Promise<StoredMapping> {
  const storedMapping = await mappings.get(name)
  if (storedMapping !== undefined) return storedMapping
  throw new UsageError(`--mapping: no mapping named "${name}"`, {
    hint: `Save one with: refcheck batch validate FILE --map 'Given name=first_name' --save-mapping ${name}`,
  })
}

/**
 * Returns the package for rows that name no package: from the flag, the setting, or the user's choice.
 * Returns undefined if the rows name their packages.
 */
export async function findDefaultPackage(
  {
    api,
    prompter,
    packageSetting,
  }: Pick<ReadingServices, 'api' | 'prompter'> & { packageSetting: number | undefined },
  { sheet }: BatchFile,
  { packageId, map }: ColumnChoices,
): Promise<number | undefined> {
  if (packageId !== undefined) return packageId
  const fieldNames = [
    ...sheet.columns.map((column) => column.trim()),
    ...(map ?? []).map((each) => each.split('=').pop()),
  ]
  if (fieldNames.includes('package_id')) return undefined
  if (packageSetting !== undefined) return packageSetting
  if (prompter === undefined) return undefined
  const { choosePackage } = await import('../form/package.ts')
  const packages = await api.listPackages({ status: 'active' })
  return (await choosePackage(prompter, packages)).id
}

/** Sources of default values for the flags that control reading. */
export interface DefaultSources {
  mappings: Pick<Mappings, 'get'>
  readSetting: (key: string) => Promise<string | undefined>
}

/** Completes the choices for reading a file from the saved mapping, or else from the settings. */
export async function withDefaults(
  choices: ColumnChoices,
  { mappings, readSetting }: DefaultSources,
): Promise<ColumnChoices> {
  const { mapping } = choices
  const storedReading: StoredReading =
    mapping === undefined ? {} : ((await readStoredMapping(mappings, mapping)).reading ?? {})
  return {
    ...choices,
    sheet: choices.sheet ?? storedReading.sheet,
    headerRow: choices.headerRow ?? storedReading.header_row,
    hidden: choices.hidden ?? storedReading.hidden,
    encoding: choices.encoding ?? storedReading.encoding ?? (await readSetting('encoding')),
    defaultCountry:
      choices.defaultCountry ?? storedReading.default_country ?? (await readSetting('default-country')),
  }
}

/** Whether flags state how to read the file. */
export function isReadingChosen(choices: ColumnChoices): boolean {
  const { sheet, headerRow, encoding, hidden, acceptLines, map, ignore, mapping, defaultCountry } = choices
  const readingChoices = [
    sheet,
    headerRow,
    encoding,
    hidden,
    acceptLines,
    map,
    ignore,
    mapping,
    defaultCountry,
  ]
  return readingChoices.some((each) => each !== undefined)
}

/**
 * Runs a job that reads a file. If the file can be read in more than one way, asks the user, stores the
 * answer in `choices` and runs the job again; so the job must send nothing while it reads. Without a terminal
 * the error is thrown.
 */
export async function readWithAnswers<T>(
  choices: ColumnChoices,
  prompter: Prompter | undefined,
  job: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await job()
    } catch (error) {
      if (!(error instanceof UndecidedError) || error.answers.length === 0) throw error
      const option = error.flag === 'header-row' ? 'headerRow' : error.flag
      if (prompter === undefined || choices[option] !== undefined) throw error
      const answer = await prompter.select({ message: error.question, choices: error.answers })
      Object.assign(choices, { [option]: option === 'headerRow' ? Number(answer) : answer })
    }
  }
}

/** Receives events for the user that are not part of the output. */
export interface BatchEventListener {
  onBatchEvent: (event: BatchEvent) => void
}

/** The services that reading the columns of a file uses. */
export type ReadingServices = BatchEventListener & Pick<Services, 'api' | 'schemas' | 'mappings' | 'prompter'>
