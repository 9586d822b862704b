import { basename, dirname, resolve } from 'node:path'

import type { FilingFlags } from '../cli/flags/filing.ts'
import { processId } from '../host/process-id.ts'
import type { Scope } from '../cli/scope.ts'
import { api, patientApi, timeToSend } from './api.ts'
import { environmentOfChild, session, setting } from './session.ts'
import { store } from './store.ts'
import { rememberWritten } from './written-files.ts'
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

interface Place {
  /** `--output`, or what stands for it. */
  typed: string
  source: ReportSource
  signal: AbortSignal
}

/** Opens the folder for this run alone, once nothing more can be wrong with the command line. */
export async function openFiling(scope: Scope, flags: FilingFlags, place: Place): Promise<Filing> {
  const { clock } = scope.context
  const template = parseTemplate(flags['name-template'] ?? defaultTemplate)
  const concurrency = flags.concurrency ?? Number((await setting(scope, 'concurrency')) ?? 8)
  const { source } = place
  // Requests by name wait as any call does; whole batches and stores as long as the quota takes.
  const isLong = source.kind === 'batch' || source.kind === 'completed' || source.kind === 'all'
  const isPatient = flags.wait || (isLong && flags.timeout === undefined)
  const reading = isPatient ? await patientApi(scope) : await api(scope)
  const { folder, file } = await openFolder(scope, place, flags.overwrite)
  const progress = new ReportProgress(scope.reporter, clock, isLong ? readingTime(scope) : undefined)
  const passed = flatMemory()
  return {
    folder,
    run: () =>
      fetchReports(source, {
        api: reading,
        ledger: async () => (await store(scope)).ledger,
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
        following: () => following(scope),
      }),
  }
}

/** By what this store knows of the quota at the start. */
function readingTime(scope: Scope): ReadingTime {
  return async (requests) => (await timeToSend(scope, (await session(scope)).baseUrl))(requests)
}

async function openFolder(
  scope: Scope,
  { typed, source }: Place,
  overwrite: boolean,
): Promise<{ folder: ReportFolder; file: string | undefined }> {
  const [{ standingAt, holdsPdf }, { ReportFolder }, { csv }] = await Promise.all([
    import('../store/reports/file.ts'),
    import('../store/reports/folder.ts'),
    import('../output/csv.ts'),
  ])
  const { clock, random, cwd } = scope.context
  const path = resolve(cwd, typed)
  const standing = await standingAt(path)
  const place = destination(typed, path, standing, isSingle(source))
  const options = { clock, random, pid: processId(), csv }
  if (place.kind === 'folder') {
    const folder = await ReportFolder.open(path, options)
    if (folder.isOpenToAll)
      scope.reporter.warn(
        `Every user of this machine may put files into ${path}; make it private with: chmod go-w ${shellWord(path)}`,
      )
    await rememberWritten(scope, { path, kind: 'reports' })
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
export function opener(scope: Scope) {
  return [
    async (path: string) => {
      const { openFile } = await import('../host/open-file.ts')
      return openFile(path, { env: scope.context.env, childEnv: await environmentOfChild(scope) })
    },
    (path: string, why: string): void => scope.reporter.warn(`${path} was not opened: ${why}`),
  ] as const
}
