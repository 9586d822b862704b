import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'

import type { ExportTable } from '../domain/batch/results.ts'
import type { TemplateColumn } from '../domain/sheet/cell.ts'
import { RefcheckError } from '../errors/base.ts'
import { UsageError } from '../errors/kinds.ts'
import type { Context } from './context.ts'

/** Where `--output` leads: standard output where it is left out or `-`, else a file by its absolute path. */
export interface OutputFile {
  path: string | undefined
  overwrite: boolean
}

export interface OutputOptions {
  overwrite: boolean
  binary: boolean
  /** The flag that names the file: `--output`, or another name in a command whose files are always replaced. */
  flag?: string | undefined
  hasOverwrite?: boolean | undefined
}

/**
 * Reads `--output FILE`. A file that is already there is refused unless it may be replaced, and so is
 * standard output for bytes that a terminal cannot show.
 */
export async function openOutputFile(
  context: Pick<Context, 'cwd' | 'streams'>,
  typed: string | undefined,
  { overwrite, binary, flag, hasOverwrite = flag === undefined }: OutputOptions,
): Promise<OutputFile> {
  if (typed === undefined || typed === '-') {
    if (binary && context.streams.stdout.isTTY) {
      throw new UsageError('refused to write a workbook to the terminal', {
        hint: 'Add --output FILE, or pipe it to a program.',
      })
    }
    return { path: undefined, overwrite }
  }
  const path = resolve(context.cwd, typed)
  const existing = await lstat(path).catch(() => undefined)
  if (existing?.isDirectory() === true) {
    throw new UsageError(`${flag ?? '--output'}: ${typed} is a folder`, {
      hint: 'Give the name of a file in it.',
    })
  }
  if (existing !== undefined && !overwrite) {
    throw new UsageError(`${flag ?? '--output'}: ${typed} already exists`, {
      hint: `Choose another name, or ${hasOverwrite ? 'replace it with --overwrite' : 'remove it first'}.`,
    })
  }
  return { path, overwrite }
}

/** Writes it there: a file whole or not at all. */
export async function writeOutput(
  { streams: { stdout } }: Pick<Context, 'streams'>,
  { path, overwrite }: OutputFile,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  if (path !== undefined) {
    const { writeWhole } = await import('../disk/whole-file.ts')
    return writeWhole(path, streamed(content), { overwrite })
  }
  for await (const chunk of content) {
    stdout.write(chunk)
    await stdout.drained()
  }
}

/** Writes the file after the result was printed, which it never prevents: returns why it was not written. */
export async function failureToWrite(
  context: Pick<Context, 'streams'>,
  output: OutputFile | undefined,
  content: () => Uint8Array,
): Promise<RefcheckError | undefined> {
  if (output === undefined) return undefined
  try {
    await writeOutput(context, output, [content()])
    return undefined
  } catch (error) {
    if (error instanceof RefcheckError) return error
    throw error
  }
}

async function* streamed(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* content
}

/** A table of our own as a file's bytes. */
export async function tableBytes(
  table: ExportTable,
  format: 'csv' | 'xlsx' | 'json',
): Promise<AsyncIterable<Uint8Array>> {
  const { tableBytes: bytes } = await import('../sheets/rewrite.ts')
  return bytes(table, format)
}

/** A table to be filled in as a file's bytes. */
export async function templateBytes(columns: readonly TemplateColumn[], format: 'csv' | 'xlsx') {
  return (await import('../sheets/rewrite.ts')).templateBytes(columns, format)
}
