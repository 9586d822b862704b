import { errors } from 'undici'

import { UnavailableError } from '../errors/kinds.ts'

interface TransportDetails {
  sent: boolean
  hint: string
  /** Whether another try would fail in the same way. */
  permanent?: boolean | undefined
  cause?: unknown
}

/** No complete response arrived. `sent`: whether a byte of the request may have been sent. */
export class TransportError extends UnavailableError {
  readonly sent: boolean
  readonly permanent: boolean

  constructor(message: string, details: TransportDetails) {
    super(message, details)
    this.sent = details.sent
    this.permanent = details.permanent ?? false
  }
}

interface Reason {
  text: string
  hint: string
  permanent?: boolean
  /**
   * Returns the hint if a proxy with this host is set: then the proxy was not reached, or it presents its own
   * certificate.
   */
  proxyHint?: (proxy: string) => string
}

const retryHint = 'Try again in a moment. Check whether the service is up with: refcheck ping'
const networkHint = 'Check the base URL and the network.'
const proxyHint = (proxy: string): string =>
  `The environment sets the proxy ${proxy}: check HTTPS_PROXY, and NO_PROXY for hosts to reach without it.`
const noProxyHint = 'Check HTTPS_PROXY, and NO_PROXY for hosts to reach without it.'

const selfSignedHint =
  'Check the base URL. If the certificate is the right one, set NODE_EXTRA_CA_CERTS to its file.'

const cutReason: Reason = { text: 'the connection was cut', hint: retryHint }
const timeoutReason: Reason = { text: 'the connection timed out', hint: retryHint, proxyHint }
const notHttpReason: Reason = {
  text: 'the answer is not HTTP',
  hint: 'Check the base URL and its port.',
  permanent: true,
}
const proxyCutReason: Reason = { text: 'the proxy cut the connection', hint: noProxyHint, proxyHint }

const reasons: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: {
    text: 'connection refused',
    hint: 'Check the base URL, and that the service is running.',
    proxyHint,
  },
  ENOTFOUND: { text: 'host not found', hint: networkHint, proxyHint },
  EAI_AGAIN: { text: 'the host name could not be resolved', hint: networkHint, proxyHint },
  EHOSTUNREACH: { text: 'the host is unreachable', hint: networkHint, proxyHint },
  ENETUNREACH: { text: 'the network is unreachable', hint: networkHint, proxyHint },
  EADDRNOTAVAIL: { text: 'the address is unreachable from this machine', hint: networkHint, proxyHint },
  ETIMEDOUT: timeoutReason,
  UND_ERR_CONNECT_TIMEOUT: timeoutReason,
  UND_ERR_HEADERS_TIMEOUT: { text: 'timed out waiting for an answer', hint: retryHint },
  UND_ERR_BODY_TIMEOUT: { text: 'timed out in the middle of the answer', hint: retryHint },
  UND_ERR_HEADERS_OVERFLOW: {
    text: 'the headers of the answer are too large',
    hint: retryHint,
    permanent: true,
  },
  ECONNRESET: cutReason,
  ECONNABORTED: cutReason,
  EPIPE: cutReason,
  UND_ERR_SOCKET: cutReason,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { text: 'the answer was cut short', hint: retryHint },
  UND_ERR_PRX_CONN: proxyCutReason,
  UND_ERR_PRX_TLS: {
    text: 'the certificate of the proxy is not trusted',
    hint: noProxyHint,
    proxyHint,
    permanent: true,
  },
  ERR_SSL_WRONG_VERSION_NUMBER: notTlsReason(),
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTlsReason(),
  CERT_HAS_EXPIRED: certificateReason(
    'its certificate has expired',
    'Whoever runs it has to renew it. If it was renewed, set the clock of this machine; compare with: refcheck doctor',
  ),
  CERT_NOT_YET_VALID: certificateReason(
    'its certificate is not valid yet',
    'The clock of this machine may be behind; compare with: refcheck doctor',
  ),
  CERT_REVOKED: certificateReason('its certificate was revoked'),
  DEPTH_ZERO_SELF_SIGNED_CERT: certificateReason('its certificate is self-signed', selfSignedHint),
  SELF_SIGNED_CERT_IN_CHAIN: certificateReason('its certificate chain is self-signed'),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificateReason('its certificate is signed by an unknown authority'),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificateReason('its certificate is signed by an unknown authority'),
  ERR_TLS_CERT_ALTNAME_INVALID: certificateReason('its certificate is for another host'),
}

function certificateReason(
  text: string,
  hint = 'Check the base URL. If the certificate is signed by your own authority, set NODE_EXTRA_CA_CERTS to its file, or NODE_USE_SYSTEM_CA=1 where this machine trusts it.',
): Reason {
  return {
    text,
    hint,
    proxyHint: (proxy) =>
      `${hint}\nThe environment sets the proxy ${proxy} (HTTPS_PROXY); the certificate may be its own.`,
    permanent: true,
  }
}

function notTlsReason(): Reason {
  return { text: 'it does not speak TLS', hint: 'Check the base URL and its port.', permanent: true }
}

/** Describes an error of undici, or of the socket below it, in one sentence. */
export function transportFailure(
  error: unknown,
  about: { url: URL; sent: boolean; proxy: string | undefined },
): TransportError {
  if (error instanceof TransportError) return error
  const reason =
    error instanceof errors.HTTPParserError
      ? notHttpReason
      : (refusedTunnelReason(error) ?? reasonOf(errorCode(error)))
  const { proxy } = about
  const hint = (proxy === undefined ? undefined : reason.proxyHint?.(proxy)) ?? reason.hint
  const text = proxy === undefined ? reason.text : reason.text.replace('the proxy', `the proxy ${proxy}`)
  return new TransportError(`${about.url.host}: ${text}`, {
    sent: about.sent,
    permanent: reason.permanent,
    hint,
    cause: error,
  })
}

function reasonOf(code: string | undefined): Reason {
  if (code === undefined) return { text: 'the exchange failed', hint: retryHint }
  const knownReason = reasons[code]
  if (knownReason !== undefined) return knownReason
  // Codes of X.509 verification without an entry in `reasons` (Node's "X509 certificate error codes").
  if (/CERT|ISSUER|^INVALID_|^CRL_|^PATH_LENGTH/.test(code))
    return certificateReason(`its certificate cannot be verified (${code})`)
  if (/^ERR_SSL_|^EPROTO$/.test(code)) {
    return { text: `the TLS handshake failed (${code})`, hint: 'Check the base URL and its port.' }
  }
  return { text: `the exchange failed (${code})`, hint: retryHint }
}

/** Returns the reason for a CONNECT that the proxy refused, which undici distinguishes only by its message. */
function refusedTunnelReason(error: unknown): Reason | undefined {
  const status = error instanceof Error ? /^Proxy response \((\d{3})\)/.exec(error.message)?.[1] : undefined
  if (status === undefined) return undefined
  return {
    text: `the proxy refused the connection (${status})`,
    hint:
      status === '407'
        ? 'The proxy requires a user name and a password: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT'
        : noProxyHint,
    ...(status !== '407' && { proxyHint }),
    permanent: status.startsWith('4'),
  }
}

/**
 * Returns the first `code` in the chain of causes. For an AggregateError (several addresses tried), the first error
 * counts.
 */
function errorCode(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    if ('code' in current && typeof current.code === 'string') return current.code
    current = current instanceof AggregateError ? current.errors[0] : current.cause
  }
  return undefined
}
