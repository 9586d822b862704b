/** One HTTP exchange as every room above `http` sees it. */
export interface HttpRequest {
  method: 'GET' | 'POST'
  /** Absolute. */
  url: string
  headers?: Readonly<Record<string, string>> | undefined
  body?: Uint8Array | undefined
  signal?: AbortSignal | undefined
  limits?: Partial<HttpLimits> | undefined
}

export interface HttpLimits {
  /** Milliseconds until the connection (with TLS) must stand. */
  connectMs: number
  /** Milliseconds without a byte before the exchange is given up. */
  idleMs: number
  /** Milliseconds for the whole exchange. */
  totalMs: number
  /** Bytes of body taken at most. */
  maxBytes: number
}

/** Header names are lowercase; of a repeated header the values stand in an array. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface HttpResponse {
  status: number
  headers: HttpHeaders
  body: Buffer
}

export interface HttpStream {
  status: number
  headers: HttpHeaders
  /** The bytes as they come; throws when the transfer breaks, idles or passes a limit. */
  body: AsyncIterable<Uint8Array>
}

/** What one exchange looked like, for `--verbose`. Secrets are masked by whoever prints it. */
export interface ExchangeReport {
  method: string
  url: string
  /** Absent where no answer came. */
  status?: number | undefined
  /** Why no answer came. */
  failure?: string | undefined
  milliseconds: number
}
