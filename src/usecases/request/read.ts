import type { Api } from '../../api/api.ts'
import { gravest, isUnread, type RequestResult } from '../../domain/request/result.ts'
import { RefcheckError } from '../../errors/base.ts'
import { interrupted, NotFoundError, UnavailableError } from '../../errors/kinds.ts'

/** So many requests in a row that the service fails to answer about: then it is away, and the rest is not tried. */
const mostFailedReads = 3

/**
 * Reads requests in the order of their ids. One that cannot be read has its error in its place, and does not keep
 * the others from being read, unless the error is about all of them. Throws where that is so before any was read;
 * `failure` is the gravest error.
 */
export async function readRequests(
  api: Pick<Api, 'getRequest'>,
  requestIds: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ results: RequestResult[]; failure: RefcheckError | undefined }> {
  const results: RequestResult[] = []
  let halted: RefcheckError | undefined
  let failedReads = 0
  for (const requestId of requestIds) {
    if (halted !== undefined) {
      results.push({ requestId, error: halted })
      continue
    }
    try {
      results.push({ requestId, request: await api.getRequest(requestId, signal) })
      failedReads = 0
    } catch (error) {
      const failure = signal?.aborted ? interrupted(error) : error
      if (!(failure instanceof RefcheckError)) throw failure
      results.push({ requestId, error: failure })
      failedReads += failure instanceof UnavailableError ? 1 : 0
      const isOfOne = failure instanceof NotFoundError || failure instanceof UnavailableError
      if (!isOfOne || failedReads >= mostFailedReads) halted = failure
    }
  }
  const unread = results.filter(isUnread)
  const [first] = unread
  const isNothingRead = unread.length === results.length
  if (first !== undefined && isNothingRead && (halted !== undefined || results.length === 1)) {
    throw halted ?? first.error
  }
  return { results, failure: gravest(unread.map(({ error }) => error)) }
}
