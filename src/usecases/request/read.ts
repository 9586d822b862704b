import type { Api } from '../../api/api.ts'
import type { RequestResource } from '../../contract/request.ts'
import type { RefcheckError } from '../../errors/base.ts'
import { NotFoundError } from '../../errors/kinds.ts'

/**
 * Reads requests in the order of their ids. One that is not found does not keep the others from being
 * read and is told as `failure`; where none is found, that error is thrown, as any other is.
 */
export async function readRequests(
  api: Api,
  requestIds: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ requests: RequestResource[]; failure: RefcheckError | undefined }> {
  const requests: RequestResource[] = []
  const missing: { id: string; error: NotFoundError }[] = []
  for (const id of requestIds) {
    try {
      requests.push(await api.getRequest(id, signal))
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error
      missing.push({ id, error })
    }
  }
  const [first] = missing
  if (first === undefined) return { requests, failure: undefined }
  const { status, hint } = first.error
  const message =
    missing.length === 1
      ? first.error.message
      : `${missing.length} requests were not found: ${missing.map(({ id }) => id).join(', ')}`
  const failure = new NotFoundError(message, { status, hint, cause: first.error })
  if (requests.length === 0) throw failure
  return { requests, failure }
}
