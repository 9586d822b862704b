import { createHash } from 'node:crypto'
import { resolve } from 'node:path'

import { UndecidedError, UsageError } from '../../errors/kinds.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { SheetSource } from '../../sheets/sheet.ts'
import type { FileSource, Services } from '../services.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import type { FileReading } from '../../domain/batch/new-row.ts'
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
