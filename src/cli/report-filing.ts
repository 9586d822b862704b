import { basename, dirname, resolve } from 'node:path'

import { Flags } from './oclif.ts'

import { fetchReports, type ReportSource } from '../domain/report/fetch.ts'
import type { FilingResult, StoredReport } from '../domain/report/filed.ts'
import { isSingle } from './report-source.ts'
import { destination } from '../domain/report/place.ts'
import { defaultTemplate, parseTemplate } from '../domain/report/template.ts'
import { RefcheckError } from '../errors/base.ts'
import { UsageError } from '../errors/kinds.ts'
import { flatMemory } from '../host/memory.ts'
import { ReportProgress } from '../output/views/report-progress.ts'
import type { ReportFolder } from '../store/reports/folder.ts'
import { following } from './following.ts'
import type { Services } from './services.ts'

/** Flags of every command that files reports. */
export const filingFlags = {
  'name-template': Flags.string({
    summary: 'What files are called, with fields in braces.',
    helpValue: 'TEMPLATE',
  }),
  concurrency: Flags.integer({ summary: 'Downloads at a time (default 8).', min: 1, max: 64 }),
}

interface FilingFlags {
  'name-template': string | undefined
  concurrency: number | undefined
  overwrite: boolean
  wait: boolean
  timeout: number | undefined
}

interface Place {
  /** `--output`, or what stands for it. */
  typed: string
  source: ReportSource
  signal: AbortSignal
}

/** A folder that reports can be put in. */
export interface Filing {
  folder: ReportFolder
  run: () => Promise<FilingResult>
}

/** Opens the folder for this run alone, once nothing more can be wrong with the command line. */
export async function openFiling(services: Services, flags: FilingFlags, place: Place): Promise<Filing> {
  const { clock } = services.context
  const template = parseTemplate(flags['name-template'] ?? defaultTemplate)
  const concurrency = flags.concurrency ?? Number((await services.setting('concurrency')) ?? 8)
  const { source } = place
  // Requests by name wait as any call does; whole batches and stores as long as the quota takes.
  const isLong = source.kind === 'batch' || source.kind === 'completed' || source.kind === 'all'
  const isPatient = flags.wait || (isLong && flags.timeout === undefined)
  const api = isPatient ? await services.patientApi() : await services.api()
  const { folder, file } = await openFolder(services, place, flags.overwrite)
  const progress = new ReportProgress(services.reporter, clock)
  const passed = flatMemory()
  return {
    folder,
    run: () =>
      fetchReports(source, {
        api,
        ledger: () => services.ledger(),
        clock,
        folder,
        file,
        template,
        overwrite: flags.overwrite,
        concurrency,
        waitMs: flags.wait ? (flags.timeout ?? Number.POSITIVE_INFINITY) : undefined,
        signal: place.signal,
        onEvent: (event) => {
          progress.take(event)
          if (event.name === 'received') passed(Math.max(0, event.bytes))
        },
        following: () => following(services),
      }),
  }
}

async function openFolder(
  services: Services,
  { typed, source }: Place,
  overwrite: boolean,
): Promise<{ folder: ReportFolder; file: string | undefined }> {
  const [{ standingAt, holdsPdf }, { ReportFolder }, { csv }] = await Promise.all([
    import('../store/reports/standing.ts'),
    import('../store/reports/folder.ts'),
    import('../output/csv.ts'),
  ])
  const { clock, random, cwd } = services.context
  const path = resolve(cwd, typed)
  const standing = await standingAt(path)
  const place = destination(typed, path, standing, isSingle(source))
  const options = { clock, random, pid: process.pid, csv }
  if (place.kind === 'folder') return { folder: await ReportFolder.open(path, options), file: undefined }
  if (standing === 'file' && !overwrite && !(await holdsPdf(path))) {
    throw new UsageError(`--output: ${typed} exists already`, {
      hint: 'Choose another name, or replace it with --overwrite.',
    })
  }
  const file = basename(path)
  return { folder: await ReportFolder.open(dirname(path), { ...options, alone: file }), file }
}

/** Files the reports and leaves the folder in order; a manifest that could not be written is a failure too. */
export async function fileAll({ folder, run }: Filing): Promise<FilingResult> {
  let result: FilingResult | undefined
  try {
    result = await run()
  } finally {
    const failure = await closed(folder)
    if (result !== undefined) result.failure ??= failure
  }
  return result
}

async function closed(folder: ReportFolder): Promise<RefcheckError | undefined> {
  try {
    await folder.close()
    return undefined
  } catch (error) {
    if (error instanceof RefcheckError) return error
    throw error
  }
}

/** `--open`: the report, or the folder of several. */
export async function showReports(
  services: Services,
  folder: string,
  stored: readonly StoredReport[],
): Promise<void> {
  const [first] = stored
  if (first === undefined) return
  const { openFile } = await import('../host/open-file.ts')
  const path = stored.length === 1 ? first.path : folder
  const why = await openFile(path, services.context.env)
  if (why !== undefined) services.reporter.warn(`${path} was not opened: ${why}`)
}
