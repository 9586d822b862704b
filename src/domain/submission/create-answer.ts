import type { Envelope } from '../../contract/envelope.ts'
import type { RefcheckError } from '../../errors/base.ts'

/**
 * What one POST /v1/requests came to, as the wire told it; what it means for the order is decided in
 * domain/request. The POST is sent at most once.
 */
export type CreateAnswer =
  /** The connection never stood: no byte has left. */
  | { kind: 'unsent'; error: RefcheckError }
  /** A byte may have left and no whole answer came back. */
  | { kind: 'lost'; error: RefcheckError }
  | {
      kind: 'answered'
      status: number
      /** Undefined where the body is not the documented envelope. */
      envelope: Envelope | undefined
      /** The header as it came. */
      retryAfter: string | undefined
      /** The typed error for this status (api/answer); undefined for a 2xx. */
      error: RefcheckError | undefined
    }
