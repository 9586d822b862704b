import { createHash } from 'node:crypto'

import type { Api } from '../../api/api.ts'
import {
  type FilingEvent,
  type StoredReport,
  storedReport,
  fileChangedError,
  fileInTheWay,
  otherPersonsReportError,
  reportMissing,
} from '../../domain/report/filed.ts'
import { plainReportName } from '../../domain/report/template.ts'
import { isSameName, type ReportRecord, type ReportSubject } from '../../domain/report/record.ts'
import {
  idsOf,
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
import type { ReportFolder, StoreResult, KeepRequest } from '../../store/reports/folder.ts'
import { endMark, headMark, notPdf, tailBytes } from '../../domain/report/source.ts'
import { headerValue } from '../../domain/report/source.ts'

export interface Connection {
  api: Api
  signal?: AbortSignal | undefined
}

export interface SingleOptions extends Connection {
  folder: ReportFolder
  /** Its name in the folder; default: one of its ids. */
  file?: string | undefined
  overwrite: boolean
  onEvent?: ((event: FilingEvent) => void) | undefined
}

/** Files one report that is not reached through its request, whose person is therefore not known. */
export async function fileOne(source: SingleSource, options: SingleOptions): Promise<StoredReport> {
  const { folder, file, overwrite, signal, onEvent } = options
  const { checkId, refereeId } = idsOf(source)
  const subject = {
    service: addressOf(options.api.baseUrl),
    request_id: null,
    check_id: checkId ?? null,
    referee_id: refereeId ?? null,
    first_name: null,
    last_name: null,
    check_name: null,
    request_reports: null,
    request_without: null,
    email: null,
    package_id: null,
  }
  onEvent?.({ name: 'planned', files: 1 })
  const { record, skipped } = await fileTarget(
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
    // Of one report it is not some that are lacking: it could not be written.
    if (!(error instanceof IncompleteError)) throw error
    if (file === undefined || overwrite) throw new IoError(error.message, { hint: error.hint })
    throw new UsageError(`--output: ${file} already exists and is not this report`, {
      hint: 'It was left as it is. Choose another name, or replace it with: --overwrite',
    })
  })
  onEvent?.({ name: 'filed', skipped })
  return storedReport(record, folder.pathOf(record.file), skipped)
}

/** One report as a checked stream, for a pipe. */
export function streamReport(source: SingleSource, connection: Connection): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* new PdfStream(await openSource(source, connection))
    },
  }
}

/** By URL with its token alone, else with the authentication headers. */
function openSource(source: SingleSource, { api, signal }: Connection): Promise<HttpStream> {
  return source.kind === 'url'
    ? api.openSignedReport(source.url, signal)
    : api.openReport({ checkId: source.checkId, refereeId: source.refereeId }, signal)
}

export interface TargetOptions {
  folder: ReportFolder
  overwrite: boolean
  quick: boolean
  signal?: AbortSignal | undefined
  onBytes?: ((bytes: number) => void) | undefined
  /** Called when all of it came, and only the disk is left. */
  onReceived?: (() => void) | undefined
}

/** One report to file. */
export interface FileRequest {
  subject: ReportSubject
  /** The name it gets, unless it has one on record. */
  file: string
  /** The check's or referee's status, where it has no report to download. */
  notReady?: string | undefined
}

/**
 * Files one report: left where it is on record and whole, fixed where it is damaged, refused with an
 * IncompleteError where something else stands there. `overwrite` replaces all of these, under the name wanted.
 */
export async function fileTarget(
  { subject, file, notReady }: FileRequest,
  open: () => Promise<HttpStream>,
  options: TargetOptions,
): Promise<{ record: ReportRecord; skipped: boolean }> {
  const { folder, overwrite, quick } = options
  const record = folder.record(subject)
  if (record !== undefined && !isSameName(record, subject)) throw otherPersonsReportError(record)
  const statusOnDisk = record === undefined ? 'absent' : await folder.fileStatus(record, !quick)
  if (!overwrite && record !== undefined) {
    if (statusOnDisk === 'whole') return { record, skipped: true }
    if (statusOnDisk === 'changed') throw fileChangedError(record.file)
  }
  if (notReady !== undefined) throw reportMissing(subject.check_name ?? 'the report', notReady)
  const stored = await transfer(
    {
      subject,
      file: overwrite ? file : (record?.file ?? file),
      replace: overwrite || statusOnDisk === 'damaged',
      onReceived: options.onReceived,
    },
    open,
    options,
  )
  if (stored.outcome === 'refused') throw fileInTheWay(stored.why, file)
  if (overwrite && record !== undefined && record.file !== stored.record.file && statusOnDisk === 'whole') {
    await folder.discard(record.file)
  }
  return { record: stored.record, skipped: stored.outcome === 'there' }
}

/** Tries of one transfer: a cut one is worth another. What fails before its first byte was repeated already. */
const maxTries = 3

interface TransferOptions {
  folder: ReportFolder
  signal?: AbortSignal | undefined
  onBytes?: ((bytes: number) => void) | undefined
}

/** Brings one report into the folder. `open` is asked again for each try. */
export async function transfer(
  request: Omit<KeepRequest, 'open'>,
  open: () => Promise<HttpStream>,
  { folder, signal, onBytes }: TransferOptions,
): Promise<StoreResult> {
  for (let tries = 1; ; tries += 1) {
    let isOpen = false
    let taken = 0
    try {
      return await folder.keep({
        ...request,
        async open() {
          const stream = await open()
          isOpen = true
          return new PdfStream(stream, (bytes) => {
            taken += bytes
            onBytes?.(bytes)
          })
        },
      })
    } catch (error) {
      onBytes?.(-taken)
      const isCut = isOpen && error instanceof UnavailableError
      if (!isCut || tries >= maxTries || signal?.aborted) throw error
    }
  }
}

/** A read of a request that failed while a fresh URL was looked for: it says nothing about one report. */
export class FreshReadError extends Error {
  constructor(cause: unknown) {
    super('a request could not be read again', { cause })
  }
}

/**
 * Opens reports of one request by their signed URLs. When one is no longer accepted, the request is read again, once for
 * all of its reports: "a fresh URL is obtained by reading the request again" ("Authentication", rule 5).
 */
export function signedUrls(
  api: Api,
  requestId: string,
  signal: AbortSignal | undefined,
): (target: ReportTarget & { url: string }) => Promise<HttpStream> {
  let fresh: Promise<ReportTarget[]> | undefined
  const openAt = async (target: ReportTarget, url: string): Promise<HttpStream> => {
    requireUrlOf(target, url)
    return api.openSignedReport(url, signal)
  }
  const freshUrl = async ({ checkId, refereeId, title }: ReportTarget): Promise<string> => {
    fresh ??= api
      .getRequest(requestId, signal)
      .then((request) => reportTargets(request, addressOf(api.baseUrl)))
      .catch((error: unknown) => {
        throw new FreshReadError(error)
      })
    const found = (await fresh).find((each) => each.checkId === checkId && each.refereeId === refereeId)
    if (found?.url !== undefined) return found.url
    throw new NotFoundError(`${title}: its report is no longer available`)
  }
  return async (target) => {
    const isFresh = fresh !== undefined
    try {
      return await openAt(target, isFresh ? await freshUrl(target) : target.url)
    } catch (error) {
      if (!(error instanceof UnauthenticatedError) || isFresh) throw error
      return openAt(target, await freshUrl(target))
    }
  }
}

export interface Received {
  bytes: number
  sha256: string
}

/**
 * The bytes of a report as they come, checked as they pass: content type, length, first and last
 * marks. Throws UnavailableError where it is not a whole PDF; `received` is set when it has ended well.
 */
export class PdfStream implements AsyncIterable<Uint8Array> {
  readonly #stream: HttpStream
  readonly #onBytes: ((bytes: number) => void) | undefined
  received: Received | undefined

  /** `onBytes` is called with the number of bytes, as they arrive. */
  constructor(stream: HttpStream, onBytes?: (bytes: number) => void) {
    this.#stream = stream
    this.#onBytes = onBytes
    const type = headerValue(stream.headers['content-type'])?.split(';')[0]?.trim().toLowerCase()
    if (type !== 'application/pdf') {
      throw notPdf(`the answer is ${type === undefined ? 'of no type' : `"${type}"`}, not application/pdf`)
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
      if (head.byteLength < headMark.length) {
        head = Buffer.concat([head, chunk.subarray(0, headMark.length - head.byteLength)])
        if (!headMark.startsWith(head.toString('latin1'))) {
          throw notPdf('it does not start like a PDF')
        }
      }
      tail =
        chunk.byteLength < tailBytes
          ? Buffer.concat([tail, chunk]).subarray(-tailBytes)
          : Buffer.from(chunk.subarray(-tailBytes))
      yield chunk
    }
    const promised = headerValue(this.#stream.headers['content-length'])
    if (promised !== undefined && Number(promised) !== bytes) {
      throw notPdf(`it is incomplete: ${bytes} of ${promised} bytes`)
    }
    if (head.byteLength < headMark.length || !tail.includes(endMark)) {
      throw notPdf('it is incomplete: the end mark of a PDF is missing')
    }
    this.received = { bytes, sha256: hash.digest('hex') }
  }
}
