import { basename, dirname, resolve } from 'node:path'

import type { App } from './app.ts'
import { createSendTimeEstimate, createWaitServices } from './request.ts'
import { resolveBatchId, resolveRequestIds } from './ids.ts'
import { readSecretLine } from './input.ts'
import { recordWrittenFile } from './output-file.ts'
import { parseDestination, isReportOf, isSingleSource, type ReportSource } from '../domain/report/source.ts'
import { defaultTemplate, parseTemplate } from '../domain/report/template.ts'
import type { RequestResource } from '../contract/request.ts'
import { noReportText } from '../domain/overview/attention.ts'
import { serviceOf } from '../domain/submission/identity.ts'
import { UsageError } from '../errors/kinds.ts'
import { createGarbageTrigger } from '../host/memory.ts'
import { type ReadingTime, ReportProgress } from '../output/views/progress.ts'
import { chmodCommand, type ReportFolder } from '../store/reports/folder.ts'
import type { FilingResult } from '../domain/report/filed.ts'
import { fetchReports } from '../usecases/report/fetch.ts'

export interface DownloadFlags {
  'name-template': string | undefined
  concurrency: number | undefined
  overwrite: boolean
  wait: boolean
  timeout: number | undefined
}

interface Destination {
  /** The value of `--output`, or its default. */
  typedPath: string
  source: ReportSource
  signal: AbortSignal
  /**
   * Called once if another run downloads into the same folder, with a description of that run. The default reports it
   * on stderr.
   */
  onWait?: (other: string) => void
}

/**
 * Downloads the reports of a source into a folder that no other run uses at the same time. Returns the path of the
 * folder with the result.
 */
export async function downloadReports(
  app: App,
  flags: DownloadFlags,
  options: Destination,
): Promise<FilingResult & { folder: string }> {
  const template = parseTemplate(flags['name-template'] ?? defaultTemplate)
  const concurrency = flags.concurrency ?? Number((await app.setting('concurrency')) ?? 8)
  const { source, signal } = options
  // Downloads of a batch or of the whole store wait for the quota without a limit, others only as long as every call
  // does.
  const isLong = source.kind === 'batch' || source.kind === 'completed' || source.kind === 'all'
  const waitsForQuota = flags.wait || (isLong && flags.timeout === undefined)
  const { api, waitingApi, clock } = await app.services('api', 'waitingApi', 'clock')
  const { folder, file } = await openFolder(app, options, flags)
  const progress = new ReportProgress(app.reporter, clock, isLong ? estimateReadingTime(app) : undefined)
  const countReceived = createGarbageTrigger()
  const result = await fetchReports(source, {
    api: waitsForQuota ? waitingApi : api,
    openLedger: () => app.service('ledger'),
    clock,
    folder,
    file,
    template,
    overwrite: flags.overwrite,
    concurrency,
    waitMs: flags.wait ? (flags.timeout ?? Number.POSITIVE_INFINITY) : undefined,
    signal,
    onEvent: (event) => {
      progress.record(event)
      if (event.name === 'received') countReceived(Math.max(0, event.bytes))
    },
    createWaitOptions: () => createWaitServices(app),
  })
  return { ...result, folder: folder.path }
}

/**
 * Acknowledges completed requests for which a sync has found no report, and prints a note, so that `status` no longer
 * counts them as new. Each sync still reads them and downloads a report that has appeared.
 */
export async function acknowledgeWithoutReport(
  app: App,
  requests: FilingResult['withoutReport'] = [],
): Promise<void> {
  if (requests.length === 0) return
  const { ledger, session, clock } = await app.services('ledger', 'session', 'clock')
  const acknowledged: RequestResource[] = []
  for (const request of requests) {
    const { request_id: requestId } = request
    const orders = await ledger.list({ requestId, states: ['accepted'] })
    const order = orders.find(({ baseUrl }) => serviceOf(baseUrl) === serviceOf(session.baseUrl))
    if (order === undefined || order.acknowledgedAt !== undefined) continue
    await ledger.acknowledge(session.baseUrl, requestId, clock.now())
    acknowledged.push(request)
  }
  if (acknowledged.length > 0) app.note(noReportText(acknowledged))
}

/** Returns a function that estimates the time for a number of requests, by the calls that this store has recorded. */
function estimateReadingTime(app: App): ReadingTime {
  return async (requests) =>
    (await createSendTimeEstimate(app, (await app.service('session')).baseUrl))(requests)
}

const reportWait =
  (app: App) =>
  (other: string): void =>
    app.reporter.note(`Waiting until ${other} has downloaded its reports into the same folder.`)

async function openFolder(
  app: App,
  { typedPath, source, signal, onWait = reportWait(app) }: Destination,
  { overwrite, timeout }: DownloadFlags,
): Promise<{ folder: ReportFolder; file: string | undefined }> {
  const { findExisting, isPdfFile } = await import('../store/reports/file.ts')
  const reportFolders = await app.service('reportFolders')
  const path = resolve(app.context.cwd, typedPath)
  const status = await findExisting(path)
  const target = parseDestination(typedPath, path, status, isSingleSource(source))
  const waitOptions = {
    waitMs: timeout ?? Number.POSITIVE_INFINITY,
    signal,
    onWait,
  }
  if (target.kind === 'folder') {
    const folder = await reportFolders.open(path, waitOptions)
    for (const text of folderWarnings(path, folder)) app.reporter.warn(text)
    await recordWrittenFile(app, { path, kind: 'reports' })
    return { folder, file: undefined }
  }
  if (status === 'file' && !overwrite && !(await isPdfFile(path))) {
    throw new UsageError(`--output: ${typedPath} already exists`, {
      hint: 'Choose another name, or replace it with --overwrite.',
    })
  }
  const file = basename(path)
  if (status === 'file' && overwrite) {
    const listedReport = (await reportFolders.readRecords(dirname(path))).find(
      (record) => record.file === file,
    )
    if (listedReport !== undefined && isSingleSource(source) && !isReportOf(listedReport, source)) {
      throw new UsageError(`--output: ${typedPath} is another report, as the manifest of its folder says`, {
        hint: 'It was left as it is. Choose another name.',
      })
    }
  }
  return { folder: await reportFolders.open(dirname(path), waitOptions, file), file }
}

/** Returns warnings about other users who may write to a folder of reports, or exchange it for another one. */
function folderWarnings(path: string, { openToWriters, exchangeableFolderAbove }: ReportFolder): string[] {
  const texts: string[] = []
  if (openToWriters === 'its owner')
    texts.push(`${path} belongs to another user of this machine, who may replace what is in it.`)
  else if (openToWriters !== undefined)
    texts.push(
      `${openToWriters === 'all' ? 'Every user of this machine' : 'Every user of its group'} may put files into ${path}; make it private with: ${chmodCommand(path, openToWriters)}`,
    )
  if (exchangeableFolderAbove === undefined) return texts
  const { path: above, writers } = exchangeableFolderAbove
  if (writers === 'its owner')
    texts.push(
      `${above} belongs to another user of this machine, who may exchange ${path} for another folder.`,
    )
  else
    texts.push(
      `Every user of ${writers === 'all' ? 'this machine' : `the group of ${above}`} may exchange ${path} for another folder; prevent it with: ${chmodCommand(above, writers)}`,
    )
  return texts
}

/** Opens the report, or the folder if there are several, with a program of the desktop. */
export async function openInViewer(
  app: App,
  { folder, stored }: FilingResult & { folder: string },
): Promise<void> {
  const [first] = stored
  if (first === undefined) return
  const { openFile } = await import('../host/run-program.ts')
  const path = stored.length === 1 ? first.path : folder
  const failure = await openFile(path, { env: app.context.env, childEnv: await app.childEnvironment() })
  if (failure !== undefined) app.reporter.warn(`${path} was not opened: ${failure}`)
}

interface SourceFlags {
  referee: string | undefined
  request: string[] | undefined
  batch: string | undefined
  'all-completed': boolean
  since: number | undefined
  url: string | undefined
  json: boolean
}

/** Reads the source of the reports from the flags. Throws a UsageError unless exactly one source is named. */
export async function reportSource(
  app: App,
  checkId: string | undefined,
  { 'all-completed': isAll, referee, request, batch, since, url, json }: SourceFlags,
): Promise<ReportSource> {
  refuseIf(
    referee !== undefined && checkId === undefined,
    '--referee requires the CHECK_ID of a reference check',
    '"refcheck request get" with the id of its request shows both ids.',
  )
  refuseIf(
    since !== undefined && !isAll,
    '--since requires --all-completed',
    'Add --all-completed, or leave out --since.',
  )
  const sources = [checkId, request, batch, url, isAll || undefined].filter((each) => each !== undefined)
  refuseIf(
    sources.length === 0,
    'no report was named',
    'Give one of: CHECK_ID, --request ID, --batch ID, --all-completed, --url SIGNED_URL.',
  )
  refuseIf(
    sources.length > 1,
    'CHECK_ID, --request, --batch, --all-completed and --url cannot be combined',
    'Give one of them.',
  )
  if (url !== undefined) {
    const signedUrl = url === '-' ? await readSecretLine(app.context, 'the signed URL') : url
    app.secrets.addTokenOf(signedUrl)
    return { kind: 'url', url: signedUrl }
  }
  if (request !== undefined) {
    const prompter = json ? undefined : app.prompter()
    return {
      kind: 'requests',
      requestIds: [...new Set(await resolveRequestIds(app, request, prompter, '--request'))],
    }
  }
  const batchId = await resolveBatchId(app, batch)
  if (batchId !== undefined) return { kind: 'batch', batchId }
  if (isAll) return { kind: 'completed', since }
  return { kind: 'ids', checkId: checkId ?? '', refereeId: referee }
}

function refuseIf(condition: boolean, message: string, hint: string): void {
  if (condition) throw new UsageError(message, { hint })
}
