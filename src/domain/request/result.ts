import type { RequestResource } from '../../contract/request.ts'
import type { ErrorCode, RefcheckError } from '../../errors/base.ts'

/** A request that was asked for and could not be read, and why. */
export interface UnreadRequest {
  requestId: string
  error: RefcheckError
}

/** What came of asking for one request. */
export type RequestResult = { requestId: string; request: RequestResource } | UnreadRequest

export const isUnread = (result: RequestResult): result is UnreadRequest => 'error' in result

/** By precedence: what stopped everything, then what needs a person, then what only takes time. */
const gravity: readonly ErrorCode[] = [
  'interrupted',
  'outcome_unknown',
  'internal',
  'io',
  'unauthenticated',
  'forbidden',
  'unavailable',
  'throttled',
  'not_found',
  'invalid_input',
  'usage',
  'duplicate',
  'bad_signature',
  'timed_out',
  'incomplete',
]

/** The error that decides the exit code of several; undefined where there is none. */
export function mostSevere(errors: readonly (RefcheckError | undefined)[]): RefcheckError | undefined {
  return errors
    .filter((error) => error !== undefined)
    .reduce<RefcheckError | undefined>(
      (worst, error) =>
        worst === undefined || gravity.indexOf(error.code) < gravity.indexOf(worst.code) ? error : worst,
      undefined,
    )
}

/** Requests that were read, each with its package's name where that is known. */
export function withPackageNames(
  results: readonly RequestResult[],
  names: ReadonlyMap<number, string>,
): RequestResult[] {
  return results.map((result) => {
    if (isUnread(result) || result.request['package_name'] !== undefined) return result
    const name = names.get(result.request.package_id)
    return name === undefined ? result : { ...result, request: { ...result.request, package_name: name } }
  })
}
