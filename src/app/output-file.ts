import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'

import type { ExportTable } from '../domain/batch/results.ts'
import type { TemplateColumn } from '../domain/sheet/cell.ts'
import { RefcheckError, UsageError } from '../errors/kinds.ts'
import type { WrittenFile } from '../store/written-files.ts'
import type { App } from './app.ts'
import type { Context } from './context.ts'

/** The target of `--output`: the absolute path of a file, or undefined for standard output (no flag, or `-`). */
export interface OutputFile {
  path: string | undefined
  overwrite: boolean
}

interface OutputOptions {
  overwrite?: boolean | undefined
  /** Whether the output is binary, so that a terminal cannot show it. */
  binary?: boolean | undefined
  /** The flag that names the file, for messages. */
  flag?: string | undefined
  /** Whether the command has the flag --overwrite, which the message about an existing file then names. */
  hasOverwrite?: boolean | undefined
}

/**
 * Checks the value of `--output` before anything is done. Throws a UsageError for a file that exists and may not be
 * replaced, and for binary output to a terminal.
 */
export async function openOutputFile(
  context: Pick<Context, 'cwd' | 'streams'>,
  typedPath: string | undefined,
  {
    overwrite = false,
    binary = false,
    flag = '--output',
    hasOverwrite = flag === '--output',
  }: OutputOptions = {},
): Promise<OutputFile> {
  if (typedPath === undefined || typedPath === '-') {
    if (binary && context.streams.stdout.isTTY) {
      throw new UsageError('refused to write a workbook to the terminal', {
        hint: 'Add --output FILE, or pipe it to a program.',
      })
    }
    return { path: undefined, overwrite }
  }
  const path = resolve(context.cwd, typedPath)
  const existingStatus = await lstat(path).catch(() => undefined)
  if (existingStatus?.isDirectory() === true) {
    throw new UsageError(`${flag}: ${typedPath} is a folder`, {
      hint: 'Give the name of a file in it.',
    })
  }
  if (existingStatus !== undefined && !overwrite) {
    throw new UsageError(`${flag}: ${typedPath} already exists`, {
      hint: `Choose another name, or ${hasOverwrite ? 'replace it with --overwrite' : 'remove it first'}.`,
    })
  }
  return { path, overwrite }
}

/** Checks the flag of a file, as `openOutputFile` does. Returns undefined without the flag. */
export async function openOptionalFile(
  context: Pick<Context, 'cwd' | 'streams'>,
  typedPath: string | undefined,
  options: OutputOptions,
): Promise<OutputFile | undefined> {
  return typedPath === undefined ? undefined : openOutputFile(context, typedPath, options)
}

type WrittenDetails = Omit<WrittenFile, 'path'>

/**
 * Writes the output; a file is written completely or not at all. `written`: what to record about a file with personal
 * data, so that a purge finds it.
 */
export async function writeOutput(
  app: App,
  { path, overwrite }: OutputFile,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  written?: WrittenDetails,
): Promise<void> {
  if (path !== undefined) {
    const { writeFileAtomically } = await import('../disk/whole-file.ts')
    await writeFileAtomically(path, toAsyncGenerator(content), { overwrite })
    if (written !== undefined) await recordWrittenFile(app, { path, ...written })
    return
  }
  const { stdout } = app.context.streams
  for await (const chunk of content) {
    stdout.write(chunk)
    await stdout.drain()
  }
}

/** Writes the file after the result was printed. Returns the error instead of throwing it. */
export async function tryToWriteOutput(
  app: App,
  output: OutputFile | undefined,
  content: () => Uint8Array,
  written?: WrittenDetails,
): Promise<RefcheckError | undefined> {
  if (output === undefined) return undefined
  try {
    await writeOutput(app, output, [content()], written)
    return undefined
  } catch (error) {
    if (error instanceof RefcheckError) return error
    throw error
  }
}

/**
 * Records a file with personal data, so that a purge finds it. An error is only reported, since the file itself was
 * written.
 */
export async function recordWrittenFile(app: App, file: WrittenFile): Promise<void> {
  const writtenFiles = await app.service('writtenFiles')
  try {
    await writtenFiles.add(file)
  } catch (error) {
    if (!(error instanceof RefcheckError)) throw error
    app.note(`A purge will not find ${file.path}: ${error.message}.`)
  }
}

async function* toAsyncGenerator(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* content
}

/** Returns an exported table as the bytes of a file. */
export async function tableBytes(
  table: ExportTable,
  format: 'csv' | 'xlsx' | 'json',
): Promise<AsyncIterable<Uint8Array>> {
  const { tableBytes: bytes } = await import('../sheets/rewrite.ts')
  return bytes(table, format)
}

/** Returns an empty table for the user to fill in, as the bytes of a file. */
export async function templateBytes(columns: readonly TemplateColumn[], format: 'csv' | 'xlsx') {
  return (await import('../sheets/rewrite.ts')).templateBytes(columns, format)
}
