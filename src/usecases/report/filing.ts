import { isUnfinished } from '../../contract/statuses.ts'
import type { Api } from '../../api/api.ts'
import type { Recipient, RequestResource } from '../../contract/request.ts'
import { FileNames, type NameTemplate } from '../../domain/report/template.ts'
import {
  otherRequestsCheckError,
  filingResult,
  type FilingEvent,
  type FilingOutcome,
  type FilingResult,
  incompleteError,
  isAboutOneReport,
  isFinal,
  isMissing,
  missingReport,
  type MissingReport,
  requestWithoutReports,
  reportsWithEnding,
  type StoredReport,
  storedReport,
  subjectOf,
  requestWithoutChecks,
} from '../../domain/report/filed.ts'
import { type ReportRecord, reportKey } from '../../domain/report/record.ts'
import {
  hasEndedWithoutReport,
  type ReportTarget,
  reportTargets,
  targetKey,
} from '../../domain/report/source.ts'
import { mostSevere } from '../../domain/request/result.ts'
import { addressOf } from '../../domain/submission/identity.ts'
import { RefcheckError, interrupted, NotFoundError, UnavailableError } from '../../errors/kinds.ts'
import type { ReportFolder } from '../../store/reports/folder.ts'
import { downloadToFolder, FreshReadError, createSignedOpener } from './one-report.ts'

export interface FilingOptions {
  api: Api
  folder: ReportFolder
  /** The template of file names (`--name-template`). */
  template: NameTemplate
  /** Whether existing files are replaced. */
  overwrite: boolean
  /** Maximum number of concurrent downloads. */
  concurrency: number
  /** Whether the user named the requests. Reports that are not ready or do not exist then count as missing. */
  isNamed: boolean
  /** If set, only requests of this status are downloaded; others count as unfinished. */
  onlyStatus?: string | undefined
  /** Whether stored files are checked by size and time instead of by hash. */
  quick: boolean
  signal?: AbortSignal | undefined
  onEvent?: ((event: FilingEvent) => void) | undefined
  /** Called with each request that was read. */
  onRead?: ((request: RequestResource) => Promise<void>) | undefined
}

/**
 * A request whose reports are wanted. `read`: the request, if the caller has just read it; `error`: the error of that
 * read.
 */
export interface WantedRequest {
  requestId: string
  read?: RequestResource | undefined
  error?: RefcheckError | undefined
  /**
   * Whether the store has no final status of the request. The request is then read even if the folder has all
   * its reports.
   */
  isOpen?: boolean | undefined
}

/**
 * Number of consecutive unreadable requests after which the service counts as unreachable and no more
 * requests are read.
 */
const maxFailedReads = 3

/**
 * Maximum number of unfinished downloads for each concurrent download: received files may still wait for the
 * disk.
 */
const maxFlushing = 3

/**
 * Downloads every available report of some requests. Each request costs one authenticated read, or none if the folder
 * has all its reports; the signed URLs are then downloaded concurrently while the next request is read. Never throws
 * once a report was stored or found missing: `failure` is the error that ended the run.
 */
export async function downloadReports(
  wanted: readonly WantedRequest[],
  options: FilingOptions,
): Promise<FilingResult> {
  const filing = new DownloadRun(options)
  options.onEvent?.({ name: 'requestsFound', requests: wanted.length })
  for (const request of wanted) {
    await filing.addRequest(request)
    options.onEvent?.({ name: 'requestRead' })
  }
  return filing.end()
}

type OpenSigned = ReturnType<typeof createSignedOpener>

class DownloadRun {
  readonly #options: FilingOptions
  readonly #service: string
  readonly #names: FileNames
  readonly #recordsByRequest = new Map<string, ReportRecord[]>()
  /** By the id of a check: the id of the request with which the check was first read in this run. */
  readonly #requestOfCheck = new Map<string, string>()
  /** By the id of a check: the id of the request under which the folder has its report. */
  readonly #storedRequestOfCheck = new Map<string, string>()
  readonly #abortController = new AbortController()
  readonly #signal: AbortSignal
  /** Downloads that still receive bytes. */
  readonly #receiving = new Set<Promise<void>>()
  /** All downloads that have not ended. */
  readonly #unfinishedDownloads = new Set<Promise<void>>()
  readonly #requestEnds: Promise<void>[] = []
  /** The outcomes in the order of the plan, so that the output has the same order each time. */
  readonly #outcomes: FilingOutcome[] = []
  /** Number of requests that may still get reports. */
  #unfinishedCount = 0
  /** Number of finished requests with a report that is not ready. */
  readonly #notReadyPeople: Recipient[] = []
  /** Completed requests that have no report. */
  readonly #withoutReport: RequestResource[] = []
  /** Number of consecutive reads that failed. */
  #failedReads = 0
  #haltError: unknown

  constructor(options: FilingOptions) {
    this.#options = options
    this.#service = addressOf(options.api.baseUrl)
    const { folder, signal } = options
    this.#signal =
      signal === undefined
        ? this.#abortController.signal
        : AbortSignal.any([signal, this.#abortController.signal])
    const records = folder.records()
    this.#names = new FileNames(records.map((each) => ({ key: reportKey(each), file: each.file })))
    for (const record of records) {
      if (record.request_id === null || record.service !== this.#service) continue
      const { check_id: checkId, request_id: requestId } = record
      if (checkId !== null) this.#storedRequestOfCheck.set(checkId.toLowerCase(), requestId.toLowerCase())
      const recordsOfRequest = this.#recordsByRequest.get(record.request_id)
      if (recordsOfRequest === undefined) this.#recordsByRequest.set(record.request_id, [record])
      else recordsOfRequest.push(record)
    }
  }

  async addRequest(wanted: WantedRequest): Promise<void> {
    const { requestId, error: readError } = wanted
    if (this.#isAborted) {
      this.#outcomes.push({ untriedRequestId: requestId })
      return
    }
    if (readError !== undefined) {
      this.#outcomes.push(requestWithoutReports(requestId, readError))
      return
    }
    try {
      if (await this.#isComplete(requestId)) {
        if (wanted.isOpen === true) await this.#readStatus(requestId)
        return
      }
      const request = wanted.read ?? (await this.#read(wanted.requestId))
      if (request !== undefined) await this.#downloadRequest(request)
    } catch (error) {
      this.#outcomes.push({ untriedRequestId: requestId })
      this.#halt(error)
    }
  }

  async end(): Promise<FilingResult> {
    await Promise.all(this.#requestEnds)
    const finishedOutcomes = this.#outcomes.filter((each) => 'error' in each || 'path' in each)
    // No report was stored, and no missing report is that of a check: at most whole requests are missing.
    const hasNothing = finishedOutcomes.every((each) => isMissing(each) && each.checkId === null)
    const haltError = this.#findHaltError()
    if (haltError !== undefined) {
      if (hasNothing || !(haltError instanceof RefcheckError)) throw haltError
      return this.#createResult(haltError, haltError)
    }
    const { missing } = this.#createResult(undefined, undefined)
    const [first] = missing
    if (
      hasNothing &&
      this.#unfinishedCount === 0 &&
      first !== undefined &&
      first.error.code !== 'incomplete'
    ) {
      if (missing.length === 1) throw first.error
      return this.#createResult(undefined, mostSevere(missing.map(({ error }) => error)))
    }
    return this.#createResult(undefined, incompleteError(missing))
  }

  /** `halted`: the error that ended the run early; `failure`: the error of the result. */
  #createResult(halted: RefcheckError | undefined, failure: RefcheckError | undefined): FilingResult {
    const ending = this.#options.isNamed ? halted : undefined
    const openCounts = {
      unfinishedCount: this.#unfinishedCount,
      notReadyCount: this.#notReadyPeople.length,
      notReadyPeople: this.#notReadyPeople,
      withoutReport: this.#withoutReport,
    }
    return filingResult(reportsWithEnding(this.#outcomes, ending), { ...openCounts, failure })
  }

  get #isAborted(): boolean {
    return this.#signal.aborted
  }

  /** Returns the error that ended the run early, if there is one. */
  #findHaltError(): unknown {
    return this.#options.signal?.aborted ? interrupted(undefined, 'What is on disk stays.') : this.#haltError
  }

  #halt(error: unknown): void {
    this.#haltError ??= error
    this.#abortController.abort(error)
  }

  /**
   * Whether the folder has all reports of a request, so that the request need not be read. The reports are
   * then listed as skipped.
   */
  async #isComplete(requestId: string): Promise<boolean> {
    const { folder, overwrite, isNamed, quick, onEvent } = this.#options
    const records = this.#recordsByRequest.get(requestId) ?? []
    const [first] = records
    if (overwrite || first === undefined || first.request_reports !== records.length) return false
    if (isNamed && first.request_without !== 0) return false
    for (const record of records) {
      if ((await folder.fileStatus(record, !quick)) !== 'whole') return false
    }
    onEvent?.({ name: 'filesFound', files: records.length })
    for (const record of records) {
      this.#outcomes.push(storedReport(record, folder.pathOf(record.file), true))
      onEvent?.({ name: 'fileFinished', skipped: true })
    }
    return true
  }

  /**
   * Reads a request only for its status. No report of the request is missing, so a failed read is not an
   * error.
   */
  async #readStatus(requestId: string): Promise<void> {
    const { api, onRead } = this.#options
    try {
      await onRead?.(await api.getRequest(requestId, this.#signal))
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof UnavailableError)) throw error
    }
  }

  /** Reads a request. Returns undefined if it cannot be read; the request is then listed as missing. */
  async #read(requestId: string): Promise<RequestResource | undefined> {
    const { api, onRead } = this.#options
    try {
      const request = await api.getRequest(requestId, this.#signal)
      this.#failedReads = 0
      await onRead?.(request)
      return request
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof UnavailableError)) throw error
      this.#failedReads += error instanceof UnavailableError ? 1 : 0
      if (this.#failedReads >= maxFailedReads) throw error
      this.#outcomes.push(requestWithoutReports(requestId, error))
      return undefined
    }
  }

  /** Starts the downloads of a request, each as soon as the limits allow it. */
  async #downloadRequest(request: RequestResource): Promise<void> {
    const { api, isNamed, onlyStatus, template, onEvent } = this.#options
    const targets = reportTargets(request, this.#service)
    const isWaiting = targets.some((target) => target.url === undefined && !hasEndedWithoutReport(target))
    if (!isNamed && (isWaiting || isUnfinished(request.status))) this.#unfinishedCount += 1
    if (!isNamed && isWaiting && isFinal(request)) this.#notReadyPeople.push(request.recipient)
    const isStored = this.#recordsByRequest.has(request.request_id)
    if (
      !isNamed &&
      !isStored &&
      request.status === 'COMPLETED' &&
      targets.every(({ url }) => url === undefined)
    )
      this.#withoutReport.push(request)
    if (onlyStatus !== undefined && request.status !== onlyStatus) return
    if (targets.length === 0 && isNamed) this.#outcomes.push(requestWithoutChecks(request))
    const openSigned = createSignedOpener(api, request.request_id, this.#signal)
    const startedDownloads: Promise<void>[] = []
    for (const target of targets) {
      const file = this.#names.assign(targetKey(target), template.name(target))
      if (!isNamed && target.url === undefined) continue
      onEvent?.({ name: 'filesFound', files: 1 })
      const owner = await this.#findRequestOfCheck(target)
      if (owner !== target.requestId.toLowerCase()) {
        this.#outcomes.push(missingReport(target, otherRequestsCheckError(target, owner)))
        continue
      }
      await this.#waitForFreeSlot()
      if (this.#isAborted) {
        this.#outcomes.push(target)
        continue
      }
      startedDownloads.push(this.#startDownload(target, file, openSigned))
    }
    this.#requestEnds.push(Promise.all(startedDownloads).then(() => this.#arrangeManifest(request, targets)))
  }

  /**
   * Returns the id (in lower case) of the request that a check belongs to: the first one that was read with it in this
   * run, or the one under which the folder has its report.
   */
  async #findRequestOfCheck({ checkId, requestId }: ReportTarget): Promise<string> {
    const [check, request] = [checkId.toLowerCase(), requestId.toLowerCase()]
    const knownOwner = this.#requestOfCheck.get(check)
    if (knownOwner !== undefined) return knownOwner
    const storedRequest = this.#storedRequestOfCheck.get(check)
    const isOwnedByStored =
      storedRequest !== undefined && storedRequest !== request && (await this.#hasCheck(storedRequest, check))
    const owner = isOwnedByStored ? storedRequest : request
    this.#requestOfCheck.set(check, owner)
    return owner
  }

  /**
   * Whether the service still shows a check in a request. A restarted sandbox repeats ids, but lacks the request.
   * `check`: the id of the check in lower case.
   */
  async #hasCheck(requestId: string, check: string): Promise<boolean> {
    try {
      const request = await this.#options.api.getRequest(requestId, this.#signal)
      return reportTargets(request, this.#service).some(({ checkId }) => checkId.toLowerCase() === check)
    } catch (error) {
      if (error instanceof NotFoundError) return false
      throw error
    }
  }

  /** Waits until one more download may start. A download that has received all bytes does not count as running. */
  async #waitForFreeSlot(): Promise<void> {
    const { concurrency } = this.#options
    while (this.#receiving.size >= concurrency) await Promise.race(this.#receiving)
    while (this.#unfinishedDownloads.size >= concurrency * maxFlushing)
      await Promise.race(this.#unfinishedDownloads)
  }

  #startDownload(target: ReportTarget, file: string, open: OpenSigned): Promise<void> {
    const index = this.#outcomes.push(target) - 1
    const { promise: received, resolve } = Promise.withResolvers<void>()
    const onReceived = (): void => {
      this.#receiving.delete(received)
      resolve()
    }
    const download = this.#downloadOne(target, file, open, onReceived)
      .then((outcome) => this.#recordOutcome(index, outcome))
      .catch((error: unknown) => this.#halt(error))
      .finally(() => {
        onReceived()
        this.#unfinishedDownloads.delete(download)
      })
    this.#receiving.add(received)
    this.#unfinishedDownloads.add(download)
    return download
  }

  #recordOutcome(index: number, outcome: StoredReport | MissingReport): void {
    this.#outcomes[index] = outcome
    this.#options.onEvent?.({ name: 'fileFinished', skipped: 'skipped' in outcome && outcome.skipped })
  }

  /**
   * Downloads one report. An error about this report alone is returned as a missing report; any other error ends the
   * run.
   */
  async #downloadOne(
    target: ReportTarget,
    file: string,
    open: OpenSigned,
    onReceived: () => void,
  ): Promise<StoredReport | MissingReport> {
    const { folder, overwrite, quick, onEvent } = this.#options
    try {
      const { record, skipped } = await downloadToFolder(
        {
          subject: subjectOf(target),
          file,
          statusWithoutReport: target.url === undefined ? target.status : undefined,
        },
        () => open({ ...target, url: target.url ?? '' }),
        {
          folder,
          overwrite,
          quick,
          signal: this.#signal,
          onReceived,
          onBytes: (bytes) => onEvent?.({ name: 'received', bytes }),
        },
      )
      return storedReport(record, folder.pathOf(record.file), skipped)
    } catch (error) {
      if (this.#isAborted) throw error
      if (error instanceof FreshReadError && !(error.cause instanceof NotFoundError)) throw error.cause
      const cause = error instanceof FreshReadError ? error.cause : error
      if (cause instanceof RefcheckError && isAboutOneReport(cause)) return missingReport(target, cause)
      throw cause
    }
  }

  /** Writes the entries of a request to the manifest, once the number of its reports is known. */
  #arrangeManifest(request: RequestResource, targets: readonly ReportTarget[]): void {
    const withoutReport = targets.filter(hasEndedWithoutReport).length
    const counts = isFinal(request)
      ? { reports: targets.length - withoutReport, without: withoutReport }
      : undefined
    this.#options.folder.updateRecords(targets.map((target) => subjectOf(target, counts)))
  }
}
