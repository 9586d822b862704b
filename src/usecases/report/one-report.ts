import { createHash } from 'node:crypto'

import type { Api } from '../../api/api.ts'
import {
  type FilingEvent,
  type StoredReport,
  storedReport,
  fileChangedError,
  fileExistsError,
  otherPersonsReportError,
  missingReportError,
} from '../../domain/report/filed.ts'
import { plainReportName } from '../../domain/report/template.ts'
import { isSameName, type ReportRecord, type ReportSubject } from '../../domain/report/record.ts'
import {
  sourceIds,
  type ReportTarget,
  reportTargets,
  requireUrlOf,
  type SingleSource,
} from '../../domain/report/source.ts'
import { addressOf } from '../../domain/submission/identity.ts'
import {
  IncompleteError,
  IoError,
  UsageError,
  NotFoundError,
  UnauthenticatedError,
  UnavailableError,
} from '../../errors/kinds.ts'
import type { HttpStream } from '../../http/types.ts'
import type { ReportFolder, StoreResult, StoreRequest } from '../../store/reports/folder.ts'
import { pdfEnd, pdfStart, notPdfError, pdfTailBytes } from '../../domain/report/source.ts'
import { headerValue } from '../../domain/report/source.ts'

export interface Connection {
  api: Api
  signal?: AbortSignal | undefined
}

export interface SingleOptions extends Connection {
  folder: ReportFolder
  /** Name of the file in the folder; by default one of the report's ids. */
  file?: string | undefined
  overwrite: boolean
  onEvent?: ((event: FilingEvent) => void) | undefined
}

/**
 * Downloads one report by its URL or check id, without reading a request; the report's person is therefore
 * not known.
 */
export async function downloadOneReport(source: SingleSource, options: SingleOptions): Promise<StoredReport> {
  const { folder, file, overwrite, signal, onEvent } = options
  const { checkId, refereeId } = sourceIds(source)
  const subject = {
    service: addressOf(options.api.baseUrl),
    request_id: null,
    check_id: checkId ?? null,
    referee_id: refereeId ?? null,
    first_name: null,
    last_name: null,
    check_name: null,
    // Not known without a read of the request: its number of reports, and of checks and referees without one.
    request_reports: null,
    request_without: null,
    email: null,
    package_id: null,
  }
  onEvent?.({ name: 'filesFound', files: 1 })
  const { record, skipped } = await downloadToFolder(
    { subject, file: file ?? plainReportName(checkId ?? 'unnamed', refereeId) },
    () => openSource(source, options),
    {
      folder,
      overwrite,
      quick: false,
      signal,
      onBytes: (bytes) => onEvent?.({ name: 'received', bytes }),
    },
  ).catch((error: unknown) => {
    // IncompleteError means that a part of the work was done. Here the only report was not stored: that is a
    // UsageError if --output named a file that exists, and otherwise an IoError.
    if (!(error instanceof IncompleteError)) throw error
    if (file === undefined || overwrite) throw new IoError(error.message, { hint: error.hint })
    throw new UsageError(`--output: ${file} already exists and is not this report`, {
      hint: 'It was left as it is. Choose another name, or replace it with: --overwrite',
    })
  })
  onEvent?.({ name: 'fileFinished', skipped })
  return storedReport(record, folder.pathOf(record.file), skipped)
}

/** Returns one report as a stream that is checked, for output to a pipe. */
export function streamReport(source: SingleSource, connection: Connection): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* new PdfStream(await openSource(source, connection))
    },
  }
}

/** Opens a report: a signed URL with its token alone, a check id with the authentication headers. */
function openSource(source: SingleSource, { api, signal }: Connection): Promise<HttpStream> {
  return source.kind === 'url'
    ? api.openSignedReport(source.url, signal)
    : api.openReport({ checkId: source.checkId, refereeId: source.refereeId }, signal)
}

export interface DownloadOptions {
  folder: ReportFolder
  overwrite: boolean
  /** Whether stored files are checked by size and time instead of by hash. */
  quick: boolean
  signal?: AbortSignal | undefined
  /** Called with the number of bytes as they arrive, and with minus their number if a try failed. */
  onBytes?: ((bytes: number) => void) | undefined
  /** Called when all bytes have arrived and only the disk is still working. */
  onReceived?: (() => void) | undefined
}

/** One report to download. */
export interface FileRequest {
  subject: ReportSubject
  /** Name of the file, unless the folder has recorded another one for the report. */
  file: string
  /** Status of the check or referee, if it has no report to download. */
  statusWithoutReport?: string | undefined
}

/**
 * Downloads one report into the folder. A recorded file is left as it is if it is whole, and replaced if it is damaged
 * (not a complete PDF). A recorded file that was changed (a PDF with other content) and a file that is not recorded are
 * refused with an IncompleteError. `overwrite` replaces all of these, under the requested name.
 */
export async function downloadToFolder(
  { subject, file, statusWithoutReport }: FileRequest,
  open: () => Promise<HttpStream>,
  options: DownloadOptions,
): Promise<{ record: ReportRecord; skipped: boolean }> {
  const { folder, overwrite, quick } = options
  const record = folder.record(subject)
  if (record !== undefined && !isSameName(record, subject)) throw otherPersonsReportError(record)
  const statusOnDisk = record === undefined ? 'absent' : await folder.fileStatus(record, !quick)
  if (!overwrite && record !== undefined) {
    if (statusOnDisk === 'whole') return { record, skipped: true }
    if (statusOnDisk === 'changed') throw fileChangedError(record.file)
  }
  if (statusWithoutReport !== undefined)
    throw missingReportError(subject.check_name ?? 'the report', statusWithoutReport)
  const storeResult = await transferReport(
    {
      subject,
      file: overwrite ? file : (record?.file ?? file),
      replace: overwrite || statusOnDisk === 'damaged',
      onReceived: options.onReceived,
    },
    open,
    options,
  )
  if (storeResult.outcome === 'refused') throw fileExistsError(storeResult.why, file)
  if (
    overwrite &&
    record !== undefined &&
    record.file !== storeResult.record.file &&
    statusOnDisk === 'whole'
  ) {
    await folder.discard(record.file)
  }
  return { record: storeResult.record, skipped: storeResult.outcome === 'identical' }
}

/** Maximum number of tries for a transfer that breaks off. Failures before the first byte were retried already. */
const maxTries = 3

interface TransferOptions {
  folder: ReportFolder
  signal?: AbortSignal | undefined
  /** Called with the number of bytes as they arrive, and with minus their number if a try failed. */
  onBytes?: ((bytes: number) => void) | undefined
}

/** Transfers one report to the folder. `open` is called for each try. */
export async function transferReport(
  request: Omit<StoreRequest, 'open'>,
  open: () => Promise<HttpStream>,
  { folder, signal, onBytes }: TransferOptions,
): Promise<StoreResult> {
  for (let tries = 1; ; tries += 1) {
    let isOpen = false
    let receivedBytes = 0
    try {
      return await folder.store({
        ...request,
        async open() {
          const stream = await open()
          isOpen = true
          return new PdfStream(stream, (bytes) => {
            receivedBytes += bytes
            onBytes?.(bytes)
          })
        },
      })
    } catch (error) {
      onBytes?.(-receivedBytes)
      const wasCutOff = isOpen && error instanceof UnavailableError
      if (!wasCutOff || tries >= maxTries || signal?.aborted) throw error
    }
  }
}

/**
 * A request could not be read again for a new URL. The cause concerns the whole request and not only one
 * report.
 */
export class FreshReadError extends Error {
  constructor(cause: unknown) {
    super('a request could not be read again', { cause })
  }
}

/**
 * Returns a function that opens reports of one request by their signed URLs. When a URL is no longer
 * accepted, the request is read again, once for all its reports: "a fresh URL is obtained by reading the
 * request again" (API document, "Authentication", rule 5).
 */
export function createSignedOpener(
  api: Api,
  requestId: string,
  signal: AbortSignal | undefined,
): (target: ReportTarget & { url: string }) => Promise<HttpStream> {
  let rereadTargets: Promise<ReportTarget[]> | undefined
  const openAt = async (target: ReportTarget, url: string): Promise<HttpStream> => {
    requireUrlOf(target, url)
    return api.openSignedReport(url, signal)
  }
  const findFreshUrl = async ({ checkId, refereeId, title }: ReportTarget): Promise<string> => {
    rereadTargets ??= api
      .getRequest(requestId, signal)
      .then((request) => reportTargets(request, addressOf(api.baseUrl)))
      .catch((error: unknown) => {
        throw new FreshReadError(error)
      })
    const freshTarget = (await rereadTargets).find(
      (each) => each.checkId === checkId && each.refereeId === refereeId,
    )
    if (freshTarget?.url !== undefined) return freshTarget.url
    throw new NotFoundError(`${title}: its report is no longer available`)
  }
  return async (target) => {
    const wasReread = rereadTargets !== undefined
    try {
      return await openAt(target, wasReread ? await findFreshUrl(target) : target.url)
    } catch (error) {
      if (!(error instanceof UnauthenticatedError) || wasReread) throw error
      return openAt(target, await findFreshUrl(target))
    }
  }
}

export interface ReceivedReport {
  bytes: number
  sha256: string
}

/**
 * Yields the bytes of a report as they arrive and checks them: content type, length, first and last bytes. Throws
 * UnavailableError if they are not a complete PDF; `received` is set once the stream has ended without an error.
 */
export class PdfStream implements AsyncIterable<Uint8Array> {
  readonly #stream: HttpStream
  readonly #onBytes: ((bytes: number) => void) | undefined
  received: ReceivedReport | undefined

  /** `onBytes` is called with the number of bytes, as they arrive. */
  constructor(stream: HttpStream, onBytes?: (bytes: number) => void) {
    this.#stream = stream
    this.#onBytes = onBytes
    const type = headerValue(stream.headers['content-type'])?.split(';')[0]?.trim().toLowerCase()
    if (type !== 'application/pdf') {
      throw notPdfError(
        `the answer is ${type === undefined ? 'of no type' : `"${type}"`}, not application/pdf`,
      )
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256')
    let bytes = 0
    let head = Buffer.alloc(0)
    let tail = Buffer.alloc(0)
    for await (const chunk of this.#stream.body) {
      hash.update(chunk)
      bytes += chunk.byteLength
      this.#onBytes?.(chunk.byteLength)
      if (head.byteLength < pdfStart.length) {
        head = Buffer.concat([head, chunk.subarray(0, pdfStart.length - head.byteLength)])
        if (!pdfStart.startsWith(head.toString('latin1'))) {
          throw notPdfError('it does not start like a PDF')
        }
      }
      tail =
        chunk.byteLength < pdfTailBytes
          ? Buffer.concat([tail, chunk]).subarray(-pdfTailBytes)
          : Buffer.from(chunk.subarray(-pdfTailBytes))
      yield chunk
    }
    const statedLength = headerValue(this.#stream.headers['content-length'])
    if (statedLength !== undefined && Number(statedLength) !== bytes) {
      throw notPdfError(`it is incomplete: ${bytes} of ${statedLength} bytes`)
    }
    if (head.byteLength < pdfStart.length || !tail.includes(pdfEnd)) {
      throw notPdfError('it is incomplete: the end mark of a PDF is missing')
    }
    this.received = { bytes, sha256: hash.digest('hex') }
  }
}
