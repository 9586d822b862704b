import type { Api } from '../../api/api.ts'
import type { RefcheckError } from '../../errors/base.ts'
import { IncompleteError } from '../../errors/incomplete.ts'
import { InternalError } from '../../errors/internal.ts'
import { InterruptedError } from '../../errors/interrupted.ts'
import { NotFoundError } from '../../errors/not-found.ts'
import { UnauthenticatedError } from '../../errors/unauthenticated.ts'
import { UnavailableError } from '../../errors/unavailable.ts'
import type { HttpStream } from '../../http/types.ts'
import { plainReportName, reportFileName } from './name.ts'
import { PdfStream, type Received } from './pdf.ts'
import { type ReportTarget, reportTargets } from './targets.ts'

/** A report on disk; cli-contract, `report download --json`. */
export interface StoredReport {
  check_id: string | null
  referee_id: string | null
  /** Absolute. */
  path: string
  bytes: number
  sha256: string
  /** True where the file was there already and was left. */
  skipped: boolean
}

/** A report that could not be had, and why. */
export interface MissingReport {
  target: ReportTarget
  error: RefcheckError
}

/** Where reports are kept; the file system, for the program. */
export interface ReportFiles {
  /** Size and hash of a regular file, or undefined where there is none. */
  existing(path: string): Promise<Received | undefined>
  /** Writes a file whole or not at all. */
  write(path: string, content: AsyncIterable<Uint8Array>, overwrite: boolean): Promise<void>
}

/** What to download: a check's or referee's report by its ids, one signed URL, or all of some requests. */
export type DownloadSource =
  | { kind: 'ids'; checkId: string; refereeId: string | undefined }
  | { kind: 'url'; url: string }
  | { kind: 'requests'; requestIds: readonly string[] }

export interface Connection {
  api: Api
  signal?: AbortSignal | undefined
}

export interface DownloadOptions extends Connection {
  files: ReportFiles
  /** Absolute path for a report's own file name. */
  place(name: string): string
  overwrite: boolean
  concurrency: number
  onStored?: ((report: StoredReport) => void) | undefined
}

export interface DownloadResult {
  stored: StoredReport[]
  missing: MissingReport[]
  /** IncompleteError where something is missing. */
  failure: RefcheckError | undefined
}

/** Tries of one transfer: a cut one is worth another. */
const mostTries = 3

/**
 * Every report of the source that can be had. For requests: one authenticated read each, then the
 * signed URLs, several at a time. Nothing partial is ever left.
 */
export async function fetchReports(
  source: DownloadSource,
  options: DownloadOptions,
): Promise<DownloadResult> {
  if (source.kind === 'requests') return fetchRequests(source.requestIds, options)
  const { check_id, referee_id, name } = single(source)
  const ids = { check_id, referee_id, path: options.place(name) }
  const report = await store(ids, options, () => openSource(source, options))
  return { stored: [report], missing: [], failure: undefined }
}

/** One report as a checked stream, for a pipe. */
export function streamReport(source: DownloadSource, connection: Connection): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* new PdfStream(await openSource(source, connection))
    },
  }
}

async function openSource(source: DownloadSource, { api, signal }: Connection): Promise<HttpStream> {
  switch (source.kind) {
    case 'ids':
      return api.openReport({ checkId: source.checkId, refereeId: source.refereeId }, signal)
    case 'url':
      return api.openSignedReport(source.url, signal)
    case 'requests':
      throw new InternalError('several reports were asked for as one')
  }
}

/** Ids and file name of a report that is not reached through its request. */
function single(source: Exclude<DownloadSource, { kind: 'requests' }>) {
  if (source.kind === 'ids') {
    const { checkId, refereeId } = source
    return { check_id: checkId, referee_id: refereeId ?? null, name: plainReportName(checkId, refereeId) }
  }
  const [, check, referee] = /\/reports\/([^/?#]+)(?:\/referees\/([^/?#]+))?/.exec(source.url) ?? []
  return {
    check_id: check ?? null,
    referee_id: referee ?? null,
    name: plainReportName(check ?? 'unnamed', referee),
  }
}

async function fetchRequests(
  requestIds: readonly string[],
  options: DownloadOptions,
): Promise<DownloadResult> {
  const targets: ReportTarget[] = []
  const without: string[] = []
  for (const id of requestIds) {
    const found = reportTargets(await options.api.getRequest(id, options.signal))
    if (found.length === 0) without.push(id)
    targets.push(...found)
  }
  const stored = new Map<ReportTarget, StoredReport>()
  const missing: MissingReport[] = []
  const queue = [...targets]
  const worker = async (): Promise<void> => {
    for (let target = queue.shift(); target !== undefined; target = queue.shift()) {
      try {
        const report = await storeTarget(target, options)
        stored.set(target, report)
        options.onStored?.(report)
      } catch (error) {
        missing.push({ target, error: asMissing(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, options.concurrency) }, worker))
  return {
    stored: targets.flatMap((target) => stored.get(target) ?? []),
    missing,
    failure: incomplete(missing, without),
  }
}

function incomplete(
  missing: readonly MissingReport[],
  without: readonly string[],
): RefcheckError | undefined {
  const lacking = missing.length + without.length
  if (lacking === 0) return undefined
  const [first] = missing
  const why = first === undefined ? `request ${without[0]} has no checks yet` : first.error.message
  return new IncompleteError(lacking === 1 ? why : `${lacking} reports are not there; the first: ${why}`, {
    hint: 'Run the same command again later; what is on disk is skipped.',
  })
}

async function storeTarget(target: ReportTarget, options: DownloadOptions): Promise<StoredReport> {
  if (options.signal?.aborted) {
    throw new InterruptedError('interrupted', { hint: 'What is on disk stays; run it again to go on.' })
  }
  const { url } = target
  if (url === undefined) throw new NotFoundError(`${target.title}: ${notReady(target.status)}`)
  const ids = {
    check_id: target.checkId,
    referee_id: target.refereeId ?? null,
    path: options.place(reportFileName(target)),
  }
  return store(ids, options, async () => {
    try {
      return await options.api.openSignedReport(url, options.signal)
    } catch (error) {
      if (!(error instanceof UnauthenticatedError)) throw error
      return options.api.openSignedReport(await freshUrl(target, options), options.signal)
    }
  })
}

/** "A fresh URL is obtained by reading the request again" ("Authentication", rule 5). */
async function freshUrl(target: ReportTarget, options: DownloadOptions): Promise<string> {
  const request = await options.api.getRequest(target.requestId, options.signal)
  const again = reportTargets(request).find(
    (each) => each.checkId === target.checkId && each.refereeId === target.refereeId,
  )
  if (again?.url === undefined) throw new NotFoundError(`${target.title}: its report is no longer available`)
  return again.url
}

function notReady(status: string): string {
  return status === 'CANCELLED' || status === 'ERROR'
    ? `no report, it ended ${status}`
    : `the report is not ready, it is ${status}`
}

async function store(
  ids: Pick<StoredReport, 'check_id' | 'referee_id' | 'path'>,
  options: Pick<DownloadOptions, 'files' | 'overwrite' | 'signal'>,
  open: () => Promise<HttpStream>,
): Promise<StoredReport> {
  const { check_id, referee_id, path } = ids
  if (!options.overwrite) {
    const there = await options.files.existing(path)
    if (there !== undefined) return { check_id, referee_id, path, ...there, skipped: true }
  }
  for (let tries = 1; ; tries += 1) {
    try {
      const pdf = new PdfStream(await open())
      await options.files.write(path, pdf, options.overwrite)
      if (pdf.received === undefined) throw new UnavailableError('the report was not read to its end')
      return { check_id, referee_id, path, ...pdf.received, skipped: false }
    } catch (error) {
      if (!(error instanceof UnavailableError) || tries >= mostTries || options.signal?.aborted) throw error
    }
  }
}

/** Only what concerns one report is listed; anything else ends the whole download. */
function asMissing(error: unknown): RefcheckError {
  if (error instanceof NotFoundError || error instanceof UnavailableError) return error
  if (error instanceof UnauthenticatedError) return error
  throw error
}
