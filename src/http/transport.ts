import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

import { Agent, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'

import { decodeUriOrUndefined, isLoopbackHost } from '../contract/url.ts'
import { InternalError, UsageError } from '../errors/kinds.ts'
import { type Environment, variable } from '../host/process.ts'
import type { HttpLimits } from './types.ts'

/**
 * Returns the URL if it is https, or http on this machine. "HTTPS only; plain HTTP requests are rejected" ("What the
 * service does"), so no data is sent in clear text over a network. Throws a UsageError for any other URL, without its
 * possibly secret parts. `source`: the origin of the text, for messages; `isPlainHttpAllowed`: whether plain http to a
 * URL of another machine is allowed.
 */
export function secureUrl(text: string, source?: string, isPlainHttpAllowed?: (url: URL) => boolean): URL {
  if (!URL.canParse(text)) {
    throw new UsageError(`${source ?? 'this'} is not a URL`, {
      hint: 'A URL looks like https://api.example.com',
    })
  }
  const url = new URL(text)
  const refused = source === undefined ? 'refused' : `${source}: refused`
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`${refused} a URL with a user name in it: ${url.host}`, {
      hint: 'Remove the part before the @.',
    })
  }
  if (url.protocol === 'https:') return url
  if (url.protocol === 'http:' && (isLoopbackHost(url.hostname) || isPlainHttpAllowed?.(url) === true))
    return url
  throw new UsageError(`${refused} ${url.protocol}//${url.host}: https is required`, {
    hint: 'http is allowed for this machine only (127.0.0.1, ::1, localhost).',
  })
}

/** Certificate authorities that replace the default ones, if any. */
interface Trust {
  ca?: string[]
}

/** A dispatcher, and a function that closes every socket that it opened or is opening. */
interface Route {
  dispatcher: Dispatcher
  close(): Promise<void>
}

/**
 * The connections: direct, or through the proxy of the environment; loopback is never proxied. HTTP/2 is off, because
 * undici repeats a buffered POST after a GOAWAY.
 */
export class Transport {
  readonly #env: Environment
  readonly #trust: Trust
  readonly #givenRoute: Route | undefined
  readonly #openRoutes = new Map<'loopback' | 'network', Route>()
  #proxies: ProxySettings | undefined
  #isClosed = false

  /**
   * `authorities`: certificates (PEM) that are trusted in place of those of this machine. `givenDispatcher`: used for
   * all exchanges.
   */
  constructor(env: Environment, authorities?: string[], givenDispatcher?: Dispatcher) {
    this.#env = env
    this.#givenRoute =
      givenDispatcher === undefined ? undefined : { dispatcher: givenDispatcher, close: async () => {} }
    this.#trust = authorities === undefined ? {} : { ca: authorities }
    skipContinues()
  }

  /**
   * Returns the host of the proxy for a URL, without its address, which may contain a password; undefined without a
   * proxy.
   */
  proxyFor(url: URL): string | undefined {
    if (this.#givenRoute !== undefined || isLoopbackHost(url.hostname)) return undefined
    const { httpsProxy, httpProxy } = this.#readProxySettings()
    const address = httpsProxy === '' ? httpProxy : httpsProxy
    return address === '' ? undefined : new URL(address).host
  }

  /**
   * Returns connections that stay open and are reused, for reads. The first call determines the time limit for
   * connecting.
   */
  sharedDispatcher(url: URL, limits: HttpLimits): Dispatcher {
    this.#requireOpen()
    if (this.#givenRoute !== undefined) return this.#givenRoute.dispatcher
    const network = isLoopbackHost(url.hostname) ? 'loopback' : 'network'
    let route = this.#openRoutes.get(network)
    if (route === undefined) {
      route =
        network === 'loopback'
          ? loopbackRoute(limits, this.#trust)
          : networkRoute(limits, this.#readProxySettings(), this.#trust)
      this.#openRoutes.set(network, route)
    }
    return route.dispatcher
  }

  /** Opens a connection for one exchange; the caller closes it. */
  freshRoute(url: URL, limits: HttpLimits): Route {
    this.#requireOpen()
    if (this.#givenRoute !== undefined) return this.#givenRoute
    return isLoopbackHost(url.hostname)
      ? loopbackConnection(url, limits, this.#trust)
      : networkRoute(limits, this.#readProxySettings(), this.#trust)
  }

  /** Closes all connections. Later calls throw. */
  async close(): Promise<void> {
    this.#isClosed = true
    const routes = [...this.#openRoutes.values()]
    this.#openRoutes.clear()
    await Promise.all(routes.map((each) => each.close()))
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new InternalError('a closed HTTP client was used')
  }

  #readProxySettings(): ProxySettings {
    this.#proxies ??= proxySettings(this.#env)
    return this.#proxies
  }
}

/**
 * Creates direct connections. The signal closes all sockets: undici alone would leave a connecting one open until its
 * time-out.
 */
function loopbackRoute({ connectMs }: HttpLimits, trust: Trust): Route {
  const sockets = new AbortController()
  const connect = { ...trust, timeout: connectMs, signal: sockets.signal }
  return toRoute(new Agent({ allowH2: false, connect }), sockets)
}

/** Creates a direct connection for a single exchange, without the cost of an agent and a pool. */
function loopbackConnection({ origin }: URL, { connectMs }: HttpLimits, trust: Trust): Route {
  const sockets = new AbortController()
  const connect = { ...trust, timeout: connectMs, signal: sockets.signal }
  return toRoute(new Client(origin, { allowH2: false, connect }), sockets)
}

function networkRoute({ connectMs }: HttpLimits, proxies: ProxySettings, trust: Trust): Route {
  const sockets = new AbortController()
  // NODE_TLS_REJECT_UNAUTHORIZED=0 applies only to this machine: over a network, any machine in between could read
  // the key.
  const tls = { ...trust, rejectUnauthorized: true, signal: sockets.signal }
  const agent = new EnvHttpProxyAgent({
    ...proxies,
    allowH2: false,
    connect: { ...tls, timeout: connectMs },
    connectTimeout: connectMs,
    proxyTls: { ...tls, allowH2: false },
    requestTls: tls,
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: connectMs }),
  })
  return toRoute(agent, sockets)
}

/** One error for all closed connections: without a reason, every abort would create an error with its stack. */
const closedReason = new Error('the connection is no longer needed')

function toRoute(dispatcher: Dispatcher, socketsController: AbortController): Route {
  return {
    dispatcher,
    async close() {
      const destroyed = dispatcher.destroy(closedReason)
      socketsController.abort(closedReason)
      await destroyed
    },
  }
}

const interim = /^HTTP\/1\.\d 100[ \r]/
const statusLength = 'HTTP/1.1 100 '.length
/** A longer head without an end is passed to undici, which refuses it. */
const maxHeadBytes = 16 * 1024

let isSubscribed = false

/**
 * Removes interim 100 responses. "An interim 1xx answer is no answer" (src/docs/ordering.md, section 2), and a server
 * may send 100 without a request for it (RFC 9110, 15.2), but undici ends the connection then. Applies to each
 * connection that undici opens, also through a proxy.
 */
function skipContinues(): void {
  if (isSubscribed) return
  isSubscribed = true
  subscribe('undici:client:connected', (message) => skipContinuesOf((message as { socket: Socket }).socket))
}

function skipContinuesOf(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  const write = socket.write.bind(socket) as (...values: unknown[]) => boolean
  let isStart = true
  let buffered: Buffer = Buffer.alloc(0)
  socket.write = (...values: unknown[]) => {
    // undici writes the head of a request as one text; the next bytes that arrive are the start of its response.
    if (typeof values[0] === 'string' && /^[A-Z]+ /.test(values[0])) isStart = true
    return write(...values)
  }
  socket.read = (size) => {
    for (;;) {
      const chunk = read(size)
      if (!isStart || chunk === null) return chunk
      buffered = buffered.byteLength === 0 ? chunk : Buffer.concat([buffered, chunk])
      const start = answerStart(buffered)
      if (start === undefined) continue
      const answer = buffered.subarray(start)
      buffered = Buffer.alloc(0)
      isStart = false
      return answer
    }
  }
}

/** Returns the position of the final response, after every 100 that precedes it; undefined if it is not known yet. */
function answerStart(bytes: Buffer): number | undefined {
  for (let at = 0; ;) {
    const head = bytes.toString('latin1', at, at + statusLength)
    if (head.length < statusLength && 'HTTP/1.1 100 '.startsWith(head)) return undefined
    if (!interim.test(head)) return at
    const end = bytes.indexOf('\r\n\r\n', at, 'latin1')
    if (end === -1) return bytes.byteLength - at > maxHeadBytes ? at : undefined
    at = end + 4
  }
}

/** The proxies of the environment; '' for each one that is not set. */
interface ProxySettings {
  httpProxy: string
  httpsProxy: string
  noProxy: string
}

/**
 * Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in lower case first, as curl does. As in Node, HTTP_PROXY is used if
 * HTTPS_PROXY is not set. Throws UsageError for a text that is not the address of a proxy.
 */
export function proxySettings(env: Environment): ProxySettings {
  const eitherCase = (name: string): string => variable(env, name.toLowerCase()) ?? variable(env, name) ?? ''
  return {
    httpProxy: proxyAddress('HTTP_PROXY', eitherCase('HTTP_PROXY')),
    httpsProxy: proxyAddress('HTTPS_PROXY', eitherCase('HTTPS_PROXY')),
    noProxy: eitherCase('NO_PROXY'),
  }
}

/**
 * Returns only the origin and credentials; a HOST:PORT without a scheme is an http proxy. Errors do not contain the
 * value, which may have a password.
 */
function proxyAddress(name: string, value: string): string {
  if (value === '') return ''
  const text = value.includes('://') ? value : `http://${value}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    decodeUriOrUndefined(url.username + url.password) === undefined
  ) {
    throw new UsageError(`${name} in the environment is not the address of an http or https proxy`, {
      hint: `Set it like this: ${name}=http://proxy.example.com:3128`,
    })
  }
  url.pathname = ''
  url.search = ''
  url.hash = ''
  return url.href
}
