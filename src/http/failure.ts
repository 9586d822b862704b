import { UnavailableError } from '../errors/unavailable.ts'

/** No whole answer came. `sent` tells whether a byte of the request may have left. */
export class TransportError extends UnavailableError {
  readonly sent: boolean

  constructor(message: string, details: { sent: boolean; hint?: string; cause?: unknown }) {
    super(message, details)
    this.sent = details.sent
  }
}

const certificateHint =
  'The certificate is not trusted here: check the base URL, or name your own authority with NODE_EXTRA_CA_CERTS.'
const retryHint = 'Try again in a moment; "refcheck ping" tells whether the service is up.'

interface Reason {
  text: string
  hint: string
}

const reasons: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: {
    text: 'nothing listens there',
    hint: 'Check the base URL, and that the service is running.',
  },
  ENOTFOUND: { text: 'no such host', hint: 'Check the base URL and the network.' },
  EAI_AGAIN: { text: 'the host name could not be looked up', hint: 'Check the network.' },
  EHOSTUNREACH: { text: 'the host cannot be reached', hint: 'Check the network.' },
  ENETUNREACH: { text: 'the network cannot be reached', hint: 'Check the network.' },
  ETIMEDOUT: { text: 'the connection timed out', hint: retryHint },
  UND_ERR_CONNECT_TIMEOUT: { text: 'the connection timed out', hint: retryHint },
  UND_ERR_HEADERS_TIMEOUT: { text: 'no answer came in time', hint: retryHint },
  UND_ERR_BODY_TIMEOUT: { text: 'the answer stopped coming', hint: retryHint },
  UND_ERR_HEADERS_OVERFLOW: { text: 'the answer has headers without end', hint: retryHint },
  ECONNRESET: { text: 'the connection was cut', hint: retryHint },
  EPIPE: { text: 'the connection was cut', hint: retryHint },
  UND_ERR_SOCKET: { text: 'the connection was cut', hint: retryHint },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { text: 'the answer was cut short', hint: retryHint },
  CERT_HAS_EXPIRED: { text: 'its certificate has expired', hint: certificateHint },
  DEPTH_ZERO_SELF_SIGNED_CERT: { text: 'its certificate is self-signed', hint: certificateHint },
  SELF_SIGNED_CERT_IN_CHAIN: { text: 'its certificate chain is self-signed', hint: certificateHint },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { text: 'its certificate cannot be verified', hint: certificateHint },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { text: 'its certificate cannot be verified', hint: certificateHint },
  ERR_TLS_CERT_ALTNAME_INVALID: { text: 'its certificate is for another host', hint: certificateHint },
  ERR_SSL_WRONG_VERSION_NUMBER: { text: 'it does not speak TLS', hint: 'Check the base URL and its port.' },
}

/** Any failure of undici or the socket below it as one sentence. */
export function transportFailure(error: unknown, url: URL, sent: boolean): TransportError {
  if (error instanceof TransportError) return error
  const code = errorCode(error)
  const reason = (code !== undefined && reasons[code]) || undefined
  const text = reason?.text ?? (code?.startsWith('HPE_') ? 'what answered is not HTTP' : undefined)
  const detail = text ?? `the exchange failed${code === undefined ? '' : ` (${code})`}`
  return new TransportError(`${url.host}: ${detail}`, {
    sent,
    hint: reason?.hint ?? retryHint,
    cause: error,
  })
}

/** The first `code` along the chain of causes; an AggregateError (several addresses tried) counts by its first. */
function errorCode(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    if ('code' in current && typeof current.code === 'string') return current.code
    current = current instanceof AggregateError ? current.errors[0] : current.cause
  }
  return undefined
}
