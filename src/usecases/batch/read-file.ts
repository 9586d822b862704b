import { createHash } from 'node:crypto'
import { resolve } from 'node:path'

import { UndecidedError, UsageError } from '../../errors/kinds.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { SheetSource } from '../../sheets/sheet.ts'
import type { FileTarget, Services } from '../services.ts'
import type { ColumnChoices, StoredMapping, StoredReading } from '../../domain/batch/columns.ts'
import type { Mappings } from '../../store/config/mappings.ts'
import type { ReadableBatch } from './check-file.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { BatchEvent } from '../../domain/batch/run-policy.ts'

/** A table as it was given. */
export interface BatchFile {
  /** As typed; `stdin` for -. */
  name: string
  /** Absolute; undefined for stdin. */
  path: string | undefined
  sheet: Sheet
  /** Of its bytes, in hex. */
  sha256: string
}

/** Opens FILE, or stdin for `-`. Throws where it is no table. */
export async function openBatchFile(
  target: FileTarget,
  file: string,
  { sheet, headerRow, encoding }: Partial<Pick<ColumnChoices, 'sheet' | 'headerRow' | 'encoding'>> = {},
): Promise<BatchFile> {
  const [{ openSheet }, { jsonRow }] = await Promise.all([
    import('../../sheets/open.ts'),
    import('../../domain/batch/cell-value.ts'),
  ])
  const path = file === '-' ? undefined : resolve(target.cwd, file)
  const source = await sourceOf(target, path, file)
  const opened = await openSheet(source, { sheet, headerRow, encoding, readJson: jsonRow })
  return { name: source.name, path, sheet: opened, sha256: await digest(source) }
}

async function sourceOf({ stdin }: FileTarget, path: string | undefined, name: string): Promise<SheetSource> {
  const { fileSource, heldSource } = await import('../../sheets/sheet.ts')
  if (path !== undefined) return fileSource(path, name)
  if (stdin.isTTY) {
    throw new UsageError('no file: stdin is the terminal', {
      hint: 'Give the name of a file, or pipe one in with: < FILE',
    })
  }
  return heldSource(stdin.stream, 'stdin')
}

async function digest(source: SheetSource): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of source.chunks()) hash.update(chunk)
  return hash.digest('hex')
}

/** Choices of which it was said that they are kept, and of which it was said what was agreed. */
const reported = new WeakSet<ColumnChoices>()
const agreedAlready = new WeakSet<ColumnChoices>()

/** Interprets the file's columns by flags, asking on a terminal. */
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
    kept: choices.mapping === undefined ? noMapping : await storedMapping(mappings, choices.mapping),
    schemaOf: (id) => loadSchema(id, { api, schemas }),
    repair:
      country === undefined
        ? undefined
        : await (await import('../form/phone-repair.ts')).phoneRepair(country),
    hidden: choices.hidden,
    accepted: choices.acceptLines,
    async agree(columns) {
      const { agreedColumns } = await import('./ask-columns.ts')
      return agreedColumns({ mappings, prompter }, columns, (event) => {
        // A file may be read again, with one more answer.
        if (!agreedAlready.has(choices)) onBatchEvent(event)
        agreedAlready.add(choices)
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
    // A file may be read again, with one more answer.
    if (!reported.has(choices)) onBatchEvent({ name: 'mapping-kept', mapping: name })
    reported.add(choices)
  }
  return orders
}

async function storedMapping(mappings: Pick<Mappings, 'get'>, name: string): Promise<StoredMapping> {
  const stored = await mappings.get(name)
  if (stored !== undefined) return stored
  throw new UsageError(`--mapping: no mapping named "${name}"`, {
    hint: `Save one with: refcheck batch validate FILE --map 'Given name=first_name' --save-mapping ${name}`,
  })
}

/** The package that rows without one of their own are for: the chosen one, the setting's, or a person's choice. */
export async function packageFor(
  {
    api,
    prompter,
    packageSetting,
  }: Pick<ReadingServices, 'api' | 'prompter'> & { packageSetting: number | undefined },
  { sheet }: BatchFile,
  { packageId, map }: ColumnChoices,
): Promise<number | undefined> {
  if (packageId !== undefined) return packageId
  const names = [
    ...sheet.columns.map((column) => column.trim()),
    ...(map ?? []).map((each) => each.split('=').pop()),
  ]
  if (names.includes('package_id')) return undefined
  if (packageSetting !== undefined) return packageSetting
  if (prompter === undefined) return undefined
  const { choosePackage } = await import('../form/package.ts')
  const packages = await api.listPackages({ status: 'active' })
  return (await choosePackage(prompter, packages)).id
}

/** What a default is looked up by. */
export interface DefaultSources {
  mappings: Pick<Mappings, 'get'>
  setting: (key: string) => Promise<string | undefined>
}

/** How a file is read without flags: as the saved mapping has it, else as the settings do. */
export async function withDefaults(
  choices: ColumnChoices,
  { mappings, setting }: DefaultSources,
): Promise<ColumnChoices> {
  const { mapping } = choices
  const stored: StoredReading =
    mapping === undefined ? {} : ((await storedMapping(mappings, mapping)).reading ?? {})
  return {
    ...choices,
    sheet: choices.sheet ?? stored.sheet,
    headerRow: choices.headerRow ?? stored.header_row,
    hidden: choices.hidden ?? stored.hidden,
    encoding: choices.encoding ?? stored.encoding ?? (await setting('encoding')),
    defaultCountry: choices.defaultCountry ?? stored.default_country ?? (await setting('default-country')),
  }
}

/** Whether flags state how a file is to be read, and not only which one. */
export function isReadingChosen(choices: ColumnChoices): boolean {
  const { sheet, headerRow, encoding, hidden, acceptLines, map, ignore, mapping, defaultCountry } = choices
  const chosen = [sheet, headerRow, encoding, hidden, acceptLines, map, ignore, mapping, defaultCountry]
  return chosen.some((each) => each !== undefined)
}

/**
 * Runs a job that reads a file, and asks where it can be read in more than one way; the answers go into `choices`, and
 * the job runs again. Nothing may have been sent by then. Without a person the error is thrown.
 */
export async function readAsAnswered<T>(
  choices: ColumnChoices,
  prompter: Prompter | undefined,
  job: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await job()
    } catch (error) {
      if (!(error instanceof UndecidedError) || error.answers.length === 0) throw error
      const option = error.about === 'header-row' ? 'headerRow' : error.about
      if (prompter === undefined || choices[option] !== undefined) throw error
      const answer = await prompter.select({ message: error.question, choices: error.answers })
      Object.assign(choices, { [option]: option === 'headerRow' ? Number(answer) : answer })
    }
  }
}

/** For what is worth a word and is no answer. */
export interface BatchEventListener {
  onBatchEvent: (event: BatchEvent) => void
}

/** What understanding the columns of a file needs. */
export type ReadingServices = BatchEventListener & Pick<Services, 'api' | 'schemas' | 'mappings' | 'prompter'>
