import type { Package } from '../contract/package.ts'
import type { PackageSchema } from '../contract/package-schema.ts'
import type { RequestResource } from '../contract/request.ts'
import type { User } from '../contract/user.ts'
import type { RefcheckError } from '../errors/base.ts'
import type { HttpHeaders, HttpStream } from '../http/types.ts'
import type { CreateAnswer } from '../domain/submission/outcome.ts'

export interface PackageFilter {
  status?: 'active' | 'inactive' | 'disabled' | undefined
  id?: number | undefined
}

/** Which PDF: a background check's, or one referee's. */
export interface ReportAddress {
  checkId: string
  refereeId?: string | undefined
}

/** An answer as it came, but for secrets. */
export interface AnyAnswer {
  status: number
  headers: HttpHeaders
  /** The envelope and all. */
  body: unknown
  /** Set where the status is not 200. */
  failure: RefcheckError | undefined
}

/**
 * The service, an operation a method, the envelope taken off. Every method throws a RefcheckError
 * (api/answer) for anything but the documented success, except `createRequest`, which tells.
 */
export interface Api {
  /** No trailing slash. */
  readonly baseUrl: string
  /** The user the calls are attributed to. */
  readonly userEmail: string
  /**
   * By how many milliseconds the service's clock is ahead of this one, by the Date header of its last answer, to
   * the second; undefined before one.
   */
  clockDifferenceMs(): number | undefined
  ping(signal?: AbortSignal): Promise<{ status: string; latency_ms: number }>
  listPackages(filter?: PackageFilter, signal?: AbortSignal): Promise<Package[]>
  packageSchema(packageId: number, signal?: AbortSignal): Promise<PackageSchema>
  /** `body` is sent as it is, once. */
  createRequest(body: Uint8Array, signal?: AbortSignal): Promise<CreateAnswer>
  getRequest(requestId: string, signal?: AbortSignal): Promise<RequestResource>
  listUsers(signal?: AbortSignal): Promise<User[]>
  /** Any read as it is, by its path from /v1/ on. */
  getAny(path: string, signal?: AbortSignal): Promise<AnyAnswer>
  /** With the authentication headers; counts against the quota. */
  openReport(address: ReportAddress, signal?: AbortSignal): Promise<HttpStream>
  /** By a signed URL of this service, without headers. Any other origin or path is refused before a connection. */
  openSignedReport(url: string, signal?: AbortSignal): Promise<HttpStream>
}
