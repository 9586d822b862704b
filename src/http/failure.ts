import { errors } from 'undici'

import { UnavailableError } from '../errors/kinds.ts'

interface TransportDetails {
  sent: boolean
  hint: string
  /** Whether trying again would end the same. */
  permanent?: boolean | undefined
  cause?: unknown
}

/** No whole answer came. `sent`: whether a byte of the request may have left. */
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
   * What to do where a proxy is set, of which host: then it is the proxy that was not reached, or that shows its own
   * certificate.
   */
  proxyHint?: (proxy: string) => string
}

const retryHint = 'Try again in a moment. Check whether the service is up with: refcheck ping'
const networkHint = 'Check the base URL and the network.'
const proxyHint = (proxy: string): string =>
  `The environment sets the proxy ${proxy}: check HTTPS_PROXY, and NO_PROXY for hosts to reach without it.`
const noProxyHint = 'Check HTTPS_PROXY, and NO_PROXY for hosts to reach without it.'

const selfSigned =
  'Check the base URL. If the certificate is the right one, set NODE_EXTRA_CA_CERTS to its file.'

const cut: Reason = { text: 'the connection was cut', hint: retryHint }
const slow: Reason = { text: 'the connection timed out', hint: retryHint, proxyHint }
const notHttp: Reason = {
  text: 'the answer is not HTTP',
  hint: 'Check the base URL and its port.',
  permanent: true,
}
const proxyCut: Reason = { text: 'the proxy cut the connection', hint: noProxyHint, proxyHint }

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
  ETIMEDOUT: slow,
  UND_ERR_CONNECT_TIMEOUT: slow,
  UND_ERR_HEADERS_TIMEOUT: { text: 'timed out waiting for an answer', hint: retryHint },
  UND_ERR_BODY_TIMEOUT: { text: 'timed out in the middle of the answer', hint: retryHint },
  UND_ERR_HEADERS_OVERFLOW: {
    text: 'the headers of the answer are too large',
    hint: retryHint,
    permanent: true,
  },
  ECONNRESET: cut,
  ECONNABORTED: cut,
  EPIPE: cut,
  UND_ERR_SOCKET: cut,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { text: 'the answer was cut short', hint: retryHint },
  UND_ERR_PRX_CONN: proxyCut,
  UND_ERR_PRX_TLS: {
    text: 'the certificate of the proxy is not trusted',
    hint: noProxyHint,
    proxyHint,
    permanent: true,
  },
  ERR_SSL_WRONG_VERSION_NUMBER: notTls(),
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls(),
  CERT_HAS_EXPIRED: certificate(
    'its certificate has expired',
    'Whoever runs it has to renew it. If it was renewed, set the clock of this machine; compare with: refcheck doctor',
  ),
  CERT_NOT_YET_VALID: certificate(
    'its certificate is not valid yet',
    'The clock of this machine may be behind; compare with: refcheck doctor',
  ),
  CERT_REVOKED: certificate('its certificate was revoked'),
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate('its certificate is self-signed', selfSigned),
  SELF_SIGNED_CERT_IN_CHAIN: certificate('its certificate chain is self-signed'),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate('its certificate is signed by an unknown authority'),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate('its certificate is signed by an unknown authority'),
  ERR_TLS_CERT_ALTNAME_INVALID: certificate('its certificate is for another host'),
}

function certificate(
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

function notTls(): Reason {
  return { text: 'it does not speak TLS', hint: 'Check the base URL and its port.', permanent: true }
}

/** Any failure of undici or the socket below it as one sentence. */
export function transportFailure(
  error: unknown,
  about: { url: URL; sent: boolean; proxy: string | undefined },
): TransportError {
  if (error instanceof TransportError) return error
  const reason =
    error instanceof errors.HTTPParserError ? notHttp : (refusedTunnel(error) ?? reasonOf(errorCode(error)))
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
  const known = reasons[code]
  if (known !== undefined) return known
  // The codes of X.509 verification that have no sentence of their own (Node's "X509 certificate error codes").
  if (/CERT|ISSUER|^INVALID_|^CRL_|^PATH_LENGTH/.test(code))
    return certificate(`its certificate cannot be verified (${code})`)
  if (/^ERR_SSL_|^EPROTO$/.test(code)) {
    return { text: `the TLS handshake failed (${code})`, hint: 'Check the base URL and its port.' }
  }
  return { text: `the exchange failed (${code})`, hint: retryHint }
}

/** undici distinguishes a refused CONNECT by its message alone. */
function refusedTunnel(error: unknown): Reason | undefined {
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

/** The first `code` along the chain of causes; an AggregateError (several addresses tried) counts by its first. */
function errorCode(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    if ('code' in current && typeof current.code === 'string') return current.code
    current = current instanceof AggregateError ? current.errors[0] : current.cause
  }
  return undefined
}
