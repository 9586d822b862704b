import type { RequestResource, RequestBody } from '../../contract/request.ts'
import type { ErrorCode, RefcheckError } from '../../errors/kinds.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { Package } from '../../contract/package.ts'
import type { Change } from '../form/problem.ts'

/** A request that could not be read, with the error. */
interface UnreadRequest {
  requestId: string
  error: RefcheckError
}

/** The result of reading a request. */
export type RequestResult = { requestId: string; request: RequestResource } | UnreadRequest

export const isUnread = (result: RequestResult): result is UnreadRequest => 'error' in result

/**
 * Error codes by severity: errors that stop everything, then those that need a person, then those that only take
 * time.
 */
const codesBySeverity: readonly ErrorCode[] = [
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

/** Returns the most severe error, which determines the exit code; undefined if there are no errors. */
export function mostSevere(errors: readonly (RefcheckError | undefined)[]): RefcheckError | undefined {
  return errors
    .filter((error) => error !== undefined)
    .reduce<RefcheckError | undefined>(
      (worst, error) =>
        worst === undefined || codesBySeverity.indexOf(error.code) < codesBySeverity.indexOf(worst.code)
          ? error
          : worst,
      undefined,
    )
}

/** Adds the known names of packages to the requests that were read. */
export function withPackageNames(
  results: readonly RequestResult[],
  names: ReadonlyMap<number, string>,
): RequestResult[] {
  return results.map((result) => {
    if (isUnread(result)) return result
    // A key `package_name` in the answer of the service must not replace the known name.
    const { package_name: _, ...request } = result.request
    const name = names.get(request.package_id)
    return { ...result, request: name === undefined ? request : { ...request, package_name: name } }
  })
}

/** A validated order that can be sent. */
export interface Order {
  body: RequestBody
  package: Package
  schema: PackageSchema
  /** The values that are changed before sending. */
  changes: Change[]
}

export interface CreateOptions {
  /** Whether to order although the same order exists. An existing order with an unknown outcome still prevents it. */
  allowDuplicate: boolean
  /** Whether to order although a similar person was ordered before. */
  allowSimilar?: boolean | undefined
  /** The maximum sum of all waits in milliseconds; Infinity for no limit. */
  waitBudgetMs: number
}

/** An order that the service accepted, as recorded in the journal. */
export interface Created {
  requestId: string
  /** The status of the request in the answer of the service. */
  status: string
  batchId: string
  /**
   * The error with which the command ends after it has printed the answer: the command was interrupted while the
   * order was in flight, or another row had the same request id as its answer.
   */
  interruption: RefcheckError | undefined
}
