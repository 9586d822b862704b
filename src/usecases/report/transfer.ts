import type { Api } from '../../api/api.ts'
import { addressOf } from '../../domain/submission/identity.ts'
import { NotFoundError, UnauthenticatedError, UnavailableError } from '../../errors/kinds.ts'
import type { HttpStream } from '../../http/types.ts'
import type { Kept, KeepRequest, ReportFolder } from '../../store/reports/folder.ts'
import { PdfStream } from './pdf-stream.ts'
import { requireUrlOf } from '../../domain/report/source.ts'
import { reportTargets, type ReportTarget } from '../../domain/report/targets.ts'

/** Tries of one transfer: a cut one is worth another. What fails before its first byte was repeated already. */
const mostTries = 3

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
): Promise<Kept> {
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
      if (!isCut || tries >= mostTries || signal?.aborted) throw error
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
 * The signed URLs of one request. When one is no longer accepted, the request is read again, once for
 * all of its reports: "a fresh URL is obtained by reading the request again" ("Authentication", rule 5).
 */
export class SignedUrls {
  readonly #api: Api
  readonly #requestId: string
  readonly #signal: AbortSignal | undefined
  #fresh: Promise<ReportTarget[]> | undefined

  constructor(api: Api, requestId: string, signal: AbortSignal | undefined) {
    this.#api = api
    this.#requestId = requestId
    this.#signal = signal
  }

  async open(target: ReportTarget & { url: string }): Promise<HttpStream> {
    const isFresh = this.#fresh !== undefined
    try {
      return await this.#called(target, isFresh ? await this.#again(target) : target.url)
    } catch (error) {
      if (!(error instanceof UnauthenticatedError) || isFresh) throw error
      return this.#called(target, await this.#again(target))
    }
  }

  async #called(target: ReportTarget, url: string): Promise<HttpStream> {
    requireUrlOf(target, url)
    return this.#api.openSignedReport(url, this.#signal)
  }

  async #again(target: ReportTarget): Promise<string> {
    this.#fresh ??= this.#api
      .getRequest(this.#requestId, this.#signal)
      .then((request) => reportTargets(request, addressOf(this.#api.baseUrl)))
      .catch((error: unknown) => {
        throw new FreshReadError(error)
      })
    const url = (await this.#fresh).find(
      (each) => each.checkId === target.checkId && each.refereeId === target.refereeId,
    )?.url
    if (url === undefined) throw new NotFoundError(`${target.title}: its report is no longer available`)
    return url
  }
}
