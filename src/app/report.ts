import { basename, dirname, resolve } from 'node:path'

import { processId } from '../host/process-id.ts'
import type { App } from './app.ts'
import { timeToSend } from './time-to-send.ts'
import { rememberWritten } from '../usecases/store/files-of-person.ts'
import { destination } from '../domain/report/place.ts'
import { isSingle, type ReportSource } from '../domain/report/source.ts'
import { defaultTemplate, parseTemplate } from '../domain/report/template.ts'
import { shellWord } from '../domain/wording/shell-word.ts'
import { UsageError } from '../errors/kinds.ts'
import { flatMemory } from '../host/memory.ts'
import { ReportProgress, type ReadingTime } from '../output/views/report-progress.ts'
import { following } from './request.ts'
import type { ReportFolder } from '../store/reports/folder.ts'
import { fetchReports } from '../usecases/report/fetch.ts'
import type { Filing } from '../usecases/report/fetch.ts'

export interface FilingFlags {
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

/** Opens the folder for this run alone, once nothing more can be wrong with the command line. */
export async function openFiling(app: App, flags: FilingFlags, place: Place): Promise<Filing> {
  const { clock } = app.context
  const template = parseTemplate(flags['name-template'] ?? defaultTemplate)
  const concurrency = flags.concurrency ?? Number((await app.setting('concurrency')) ?? 8)
  const { source } = place
  // Requests by name wait as any call does; whole batches and stores as long as the quota takes.
  const isLong = source.kind === 'batch' || source.kind === 'completed' || source.kind === 'all'
  const isPatient = flags.wait || (isLong && flags.timeout === undefined)
  const reading = isPatient ? (await app.services('patientApi')).patientApi : (await app.services('api')).api
  const { folder, file } = await openFolder(app, place, flags.overwrite)
  const progress = new ReportProgress(app.reporter, clock, isLong ? readingTime(app) : undefined)
  const passed = flatMemory()
  return {
    folder,
    run: () =>
      fetchReports(source, {
        api: reading,
        ledger: async () => (await app.services('ledger')).ledger,
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
        following: () => following(app),
      }),
  }
}

/** By what this store knows of the quota at the start. */
function readingTime(app: App): ReadingTime {
  return async (requests) =>
    (await timeToSend(app, (await app.services('session')).session.baseUrl))(requests)
}

async function openFolder(
  app: App,
  { typed, source }: Place,
  overwrite: boolean,
): Promise<{ folder: ReportFolder; file: string | undefined }> {
  const [{ standingAt, holdsPdf }, { ReportFolder }, { csv }] = await Promise.all([
    import('../store/reports/file.ts'),
    import('../store/reports/folder.ts'),
    import('../output/csv.ts'),
  ])
  const { clock, random, cwd } = app.context
  const path = resolve(cwd, typed)
  const standing = await standingAt(path)
  const place = destination(typed, path, standing, isSingle(source))
  const options = { clock, random, pid: processId(), csv }
  if (place.kind === 'folder') {
    const folder = await ReportFolder.open(path, options)
    if (folder.isOpenToAll)
      app.reporter.warn(
        `Every user of this machine may put files into ${path}; make it private with: chmod go-w ${shellWord(path)}`,
      )
    await rememberWritten(await app.services('written', 'reporter'), { path, kind: 'reports' })
    return { folder, file: undefined }
  }
  if (standing === 'file' && !overwrite && !(await holdsPdf(path))) {
    throw new UsageError(`--output: ${typed} already exists`, {
      hint: 'Choose another name, or replace it with --overwrite.',
    })
  }
  const file = basename(path)
  return { folder: await ReportFolder.open(dirname(path), { ...options, alone: file }), file }
}

/** How a file is shown to the person, and what is said where it cannot be. */
export function opener(app: App) {
  return [
    async (path: string) => {
      const { openFile } = await import('../host/open-file.ts')
      return openFile(path, { env: app.context.env, childEnv: await app.childEnvironment() })
    },
    (path: string, why: string): void => app.reporter.warn(`${path} was not opened: ${why}`),
  ] as const
}
