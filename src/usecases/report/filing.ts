import type { Api } from '../../api/api.ts'
import type { RequestResource } from '../../contract/request.ts'
import { FileNames, type NameTemplate } from '../../domain/report/template.ts'
import {
  otherRequestsCheckError,
  filingResult,
  type FilingEvent,
  type FilingOutcome,
  type FilingResult,
  incompleteError,
  isAboutOne,
  isFinal,
  isMissing,
  missingReport,
  type MissingReport,
  missingRequest,
  reportsOf,
  type StoredReport,
  storedReport,
  subjectOf,
  missingChecks,
} from '../../domain/report/filed.ts'
import { type ReportRecord, reportKey } from '../../domain/report/record.ts'
import { endedWithout, type ReportTarget, reportTargets, targetKey } from '../../domain/report/source.ts'
import { mostSevere } from '../../domain/request/result.ts'
import { addressOf } from '../../domain/submission/identity.ts'
import { RefcheckError, interrupted, NotFoundError, UnavailableError } from '../../errors/kinds.ts'
import type { ReportFolder } from '../../store/reports/folder.ts'
import { fileTarget, FreshReadError, signedUrls } from './one-report.ts'

export interface FilingOptions {
  api: Api
  folder: ReportFolder
  template: NameTemplate
  overwrite: boolean
  /** Downloads side by side. */
  concurrency: number
  /** Whether what is not ready, or never will be, counts as missing: so where a request was named. */
  named: boolean
  /** Only requests of this status; others count as unfinished. */
  only?: string | undefined
  /** Files are believed by size and time instead of being hashed. */
  quick: boolean
  signal?: AbortSignal | undefined
  onEvent?: ((event: FilingEvent) => void) | undefined
  /** Called with each request that was read. */
  onRead?: ((request: RequestResource) => Promise<void>) | undefined
}

/** A request to file the reports of; `read` where it was read just now, `error` where that failed. */
export interface WantedRequest {
  requestId: string
  read?: RequestResource | undefined
  error?: RefcheckError | undefined
}

/** One request after another that cannot be read: then the service is away, and the rest is not tried. */
const maxFailedReads = 3

/** Files that may wait for the disk, for each that may be under way. */
const maxFlushing = 3

/**
 * Files every report of some requests that can be had: one authenticated read a request, none where the
 * folder has all of it on record, then the signed URLs, several at a time, while the next one is read.
 * Never throws once something was filed or found missing: `failure` tells what ended it.
 */
export async function fileReports(
  wanted: readonly WantedRequest[],
  options: FilingOptions,
): Promise<FilingResult> {
  const filing = new Filing(options)
  options.onEvent?.({ name: 'wanted', requests: wanted.length })
  for (const each of wanted) {
    await filing.add(each)
    options.onEvent?.({ name: 'looked' })
  }
  return filing.end()
}

type OpenSigned = ReturnType<typeof signedUrls>

class Filing {
  readonly #options: FilingOptions
  readonly #service: string
  readonly #names: FileNames
  readonly #byRequest = new Map<string, ReportRecord[]>()
  /** The request that each check was first read with in this run, since a sandbox that is started again repeats ids. */
  readonly #requestOfCheck = new Map<string, string>()
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal
  /** Downloads that bytes are still to come of, and all that have not ended. */
  readonly #running = new Set<Promise<void>>()
  readonly #working = new Set<Promise<void>>()
  readonly #ends: Promise<void>[] = []
  /** By place in the plan, so that the answer's order is the same each time. */
  readonly #outcomes: FilingOutcome[] = []
  #unfinished = 0
  #notReady = 0
  #failedReads = 0
  #halted: unknown

  constructor(options: FilingOptions) {
    this.#options = options
    this.#service = addressOf(options.api.baseUrl)
    const { folder, signal } = options
    this.#signal = signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal])
    const records = folder.records()
    this.#names = new FileNames(records.map((each) => ({ key: reportKey(each), file: each.file })))
    for (const record of records) {
      if (record.request_id === null || record.service !== this.#service) continue
      const others = this.#byRequest.get(record.request_id)
      if (others === undefined) this.#byRequest.set(record.request_id, [record])
      else others.push(record)
    }
  }

  async add(wanted: WantedRequest): Promise<void> {
    const { requestId, error: unread } = wanted
    if (this.#isOver) {
      this.#outcomes.push({ untried: requestId })
      return
    }
    if (unread !== undefined) {
      this.#outcomes.push(missingRequest(requestId, unread))
      return
    }
    try {
      if (await this.#isAllThere(wanted.requestId)) return
      const request = wanted.read ?? (await this.#read(wanted.requestId))
      if (request !== undefined) await this.#file(request)
    } catch (error) {
      this.#outcomes.push({ untried: requestId })
      this.#halt(error)
    }
  }

  async end(): Promise<FilingResult> {
    await Promise.all(this.#ends)
    const outcomes = this.#outcomes.filter((each) => 'error' in each || 'path' in each)
    const nothing = outcomes.every((each) => isMissing(each) && each.checkId === null)
    const halted = this.#haltedBy()
    if (halted !== undefined) {
      if (nothing || !(halted instanceof RefcheckError)) throw halted
      return this.#result(halted, halted)
    }
    const { missing } = this.#result(undefined, undefined)
    const [first] = missing
    if (nothing && this.#unfinished === 0 && first !== undefined && first.error.code !== 'incomplete') {
      if (missing.length === 1) throw first.error
      return this.#result(undefined, mostSevere(missing.map(({ error }) => error)))
    }
    return this.#result(undefined, incompleteError(missing))
  }

  #result(halted: RefcheckError | undefined, failure: RefcheckError | undefined): FilingResult {
    const ending = this.#options.named ? halted : undefined
    const open = { unfinished: this.#unfinished, notReady: this.#notReady }
    return filingResult(reportsOf(this.#outcomes, ending), { ...open, failure })
  }

  get #isOver(): boolean {
    return this.#signal.aborted
  }

  /** What ended everything early. */
  #haltedBy(): unknown {
    return this.#options.signal?.aborted ? interrupted(undefined, 'What is on disk stays.') : this.#halted
  }

  #halt(error: unknown): void {
    this.#halted ??= error
    this.#stop.abort(error)
  }

  /** Whether nothing is left to ask about a request; its reports are answered as skipped then. */
  async #isAllThere(requestId: string): Promise<boolean> {
    const { folder, overwrite, named, quick, onEvent } = this.#options
    const records = this.#byRequest.get(requestId) ?? []
    const [first] = records
    if (overwrite || first === undefined || first.request_reports !== records.length) return false
    if (named && first.request_without !== 0) return false
    for (const record of records) {
      if ((await folder.fileStatus(record, !quick)) !== 'whole') return false
    }
    onEvent?.({ name: 'planned', files: records.length })
    for (const record of records) {
      this.#outcomes.push(storedReport(record, folder.pathOf(record.file), true))
      onEvent?.({ name: 'filed', skipped: true })
    }
    return true
  }

  /** Undefined where it cannot be read, which is listed then. */
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
      this.#outcomes.push(missingRequest(requestId, error))
      return undefined
    }
  }

  /** Starts the downloads of a request, each as soon as there is room for it. */
  async #file(request: RequestResource): Promise<void> {
    const { api, named, only, template, onEvent } = this.#options
    const targets = reportTargets(request, this.#service)
    const isWaiting = targets.some((target) => target.url === undefined && !endedWithout(target))
    if (!named && (isWaiting || !isFinal(request))) this.#unfinished += 1
    if (!named && isWaiting && isFinal(request)) this.#notReady += 1
    if (only !== undefined && request.status !== only) return
    if (targets.length === 0 && named) this.#outcomes.push(missingChecks(request))
    const open = signedUrls(api, request.request_id, this.#signal)
    const started: Promise<void>[] = []
    for (const target of targets) {
      const file = this.#names.assign(targetKey(target), template.name(target))
      if (!named && target.url === undefined) continue
      onEvent?.({ name: 'planned', files: 1 })
      const owner = this.#requestOf(target.checkId, target.requestId)
      if (owner !== target.requestId.toLowerCase()) {
        this.#outcomes.push(missingReport(target, otherRequestsCheckError(target, owner)))
        continue
      }
      await this.#room()
      if (this.#isOver) {
        this.#outcomes.push(target)
        continue
      }
      started.push(this.#start(target, file, open))
    }
    this.#ends.push(Promise.all(started).then(() => this.#arrange(request, targets)))
  }

  /** The request that the check belongs to, as far as is known: the first one of this run. */
  #requestOf(checkId: string, requestId: string): string {
    const check = checkId.toLowerCase()
    const known = this.#requestOfCheck.get(check) ?? requestId.toLowerCase()
    this.#requestOfCheck.set(check, known)
    return known
  }

  /** Waits until one more download may start. What only the disk still works on is no download. */
  async #room(): Promise<void> {
    const { concurrency } = this.#options
    while (this.#running.size >= concurrency) await Promise.race(this.#running)
    while (this.#working.size >= concurrency * maxFlushing) await Promise.race(this.#working)
  }

  #start(target: ReportTarget, file: string, open: OpenSigned): Promise<void> {
    const index = this.#outcomes.push(target) - 1
    const { promise: received, resolve } = Promise.withResolvers<void>()
    const onReceived = (): void => {
      this.#running.delete(received)
      resolve()
    }
    const work = this.#one(target, file, open, onReceived)
      .then((outcome) => this.#recordOutcome(index, outcome))
      .catch((error: unknown) => this.#halt(error))
      .finally(() => {
        onReceived()
        this.#working.delete(work)
      })
    this.#running.add(received)
    this.#working.add(work)
    return work
  }

  #recordOutcome(index: number, outcome: StoredReport | MissingReport): void {
    this.#outcomes[index] = outcome
    this.#options.onEvent?.({ name: 'filed', skipped: 'skipped' in outcome && outcome.skipped })
  }

  /** Only what concerns one report is an answer about it; anything else ends everything. */
  async #one(
    target: ReportTarget,
    file: string,
    open: OpenSigned,
    onReceived: () => void,
  ): Promise<StoredReport | MissingReport> {
    const { folder, overwrite, quick, onEvent } = this.#options
    try {
      const { record, skipped } = await fileTarget(
        { subject: subjectOf(target), file, notReady: target.url === undefined ? target.status : undefined },
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
      if (this.#isOver) throw error
      if (error instanceof FreshReadError && !(error.cause instanceof NotFoundError)) throw error.cause
      const cause = error instanceof FreshReadError ? error.cause : error
      if (cause instanceof RefcheckError && isAboutOne(cause)) return missingReport(target, cause)
      throw cause
    }
  }

  /** What the manifest says of a request, once it is known what it has in all. */
  #arrange(request: RequestResource, targets: readonly ReportTarget[]): void {
    const without = targets.filter(endedWithout).length
    const counts = isFinal(request) ? { reports: targets.length - without, without } : undefined
    this.#options.folder.arrange(targets.map((target) => subjectOf(target, counts)))
  }
}
