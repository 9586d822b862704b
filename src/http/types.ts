/** One HTTP exchange as every room above `http` sees it. */
export interface HttpRequest {
  method: 'GET' | 'POST'
  /** Absolute. */
  url: string
  /** A list of values makes a line of each. */
  headers?: Readonly<Record<string, string | string[]>> | undefined
  body?: Uint8Array | undefined
  /** The body goes in two chunks, its length not announced (RFC 9112, 7.1). */
  chunked?: boolean | undefined
  signal?: AbortSignal | undefined
  limits?: Partial<HttpLimits> | undefined
}

export interface HttpLimits {
  /** Milliseconds until the connection (with TLS) must be open; through a proxy, for each step to it. */
  connectMs: number
  /** Milliseconds without a byte before the exchange is given up. */
  idleMs: number
  /** Milliseconds for the whole exchange. */
  totalMs: number
  /** Bytes of body taken at most. */
  maxBytes: number
}

/** Header names are lowercase; of a repeated header the values are in an array. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface HttpResponse {
  status: number
  headers: HttpHeaders
  body: Buffer
  /** From the call to the last byte of the body. */
  milliseconds: number
}

export interface HttpStream {
  status: number
  headers: HttpHeaders
  /**
   * The bytes as they come; throws when the transfer breaks, idles or passes a limit. It has to be
   * iterated, to its end or to a `break`: that gives the connection back.
   */
  body: AsyncIterable<Uint8Array>
}

/** What one exchange looked like once it was over, for `--verbose`. Secrets are masked where it is printed. */
export interface ExchangeReport {
  method: string
  url: string
  /** Absent where no answer came. */
  status?: number | undefined
  /** Why no whole answer came. */
  failure?: string | undefined
  milliseconds: number
}

/** For JSON exchanges. The lists come unpaged, so a large organisation must fit. */
export const jsonLimits: HttpLimits = {
  connectMs: 10_000,
  idleMs: 30_000,
  totalMs: 60_000,
  maxBytes: 16 * 1024 * 1024,
}

/** For PDFs: large and slow is allowed, endless is not. */
export const reportLimits: HttpLimits = {
  connectMs: 10_000,
  idleMs: 30_000,
  totalMs: 15 * 60_000,
  maxBytes: 2 * 1024 * 1024 * 1024,
}
