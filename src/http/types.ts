/** One HTTP request, for all modules above `http`. */
export interface HttpRequest {
  method: 'GET' | 'POST'
  /** An absolute URL. */
  url: string
  /** A header with an array is sent once for each value. */
  headers?: Readonly<Record<string, string | string[]>> | undefined
  body?: Uint8Array | undefined
  /** Whether the body is sent in two chunks without a Content-Length (RFC 9112, 7.1). */
  chunked?: boolean | undefined
  signal?: AbortSignal | undefined
  limits?: Partial<HttpLimits> | undefined
}

export interface HttpLimits {
  /** Time in milliseconds in which the connection (with TLS) must be open; through a proxy, for each step. */
  connectMs: number
  /** Time in milliseconds without a byte after which the exchange is ended. */
  idleMs: number
  /** Maximum time in milliseconds for the whole exchange. */
  totalMs: number
  /** Maximum number of bytes of the body. */
  maxBytes: number
}

/** Names are lowercase; the values of a repeated header are in an array. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface HttpResponse {
  status: number
  headers: HttpHeaders
  body: Buffer
  /** Time from the call to the last byte of the body. */
  milliseconds: number
}

export interface HttpStream {
  status: number
  headers: HttpHeaders
  /**
   * Yields the bytes as they arrive. Throws if the transfer breaks off, idles or exceeds a limit. It has to be
   * iterated, to its end or to a `break`, so that the connection is released.
   */
  body: AsyncIterable<Uint8Array>
}

/** A summary of one exchange after its end, for `--verbose`. Secrets are masked when it is printed. */
export interface ExchangeReport {
  method: string
  url: string
  /** Undefined if no response arrived. */
  status?: number | undefined
  /** The reason why no complete response arrived. */
  failure?: string | undefined
  milliseconds: number
}

/** Limits of JSON exchanges. Lists are not paged, so that the list of a large organisation must fit. */
export const jsonLimits: HttpLimits = {
  connectMs: 10_000,
  idleMs: 30_000,
  totalMs: 60_000,
  maxBytes: 16 * 1024 * 1024,
}

/** Limits of PDF downloads, which may be large and slow. */
export const reportLimits: HttpLimits = {
  connectMs: 10_000,
  idleMs: 30_000,
  totalMs: 15 * 60_000,
  maxBytes: 2 * 1024 * 1024 * 1024,
}
