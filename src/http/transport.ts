import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { getCACertificates } from 'node:tls'

import { Agent, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'

import { isLoopbackHost } from '../contract/url.ts'
import { InternalError, UsageError } from '../errors/kinds.ts'
import { type Environment, variable } from '../host/process.ts'
import type { HttpLimits } from './types.ts'

/**
 * "HTTPS only; plain HTTP requests are rejected" ("What the service does"). Plain http stays on this
 * machine, so nothing is ever sent in clear text over a network. What is refused is not shown whole: it may
 * hold a password or a token. `source` names where it came from; `isApproved` names other machines that plain http may go to.
 */
export function secureUrl(text: string, source?: string, isApproved?: (url: URL) => boolean): URL {
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
  if (url.protocol === 'http:' && (isLoopbackHost(url.hostname) || isApproved?.(url) === true)) return url
  throw new UsageError(`${refused} ${url.protocol}//${url.host}: https is required`, {
    hint: 'http is allowed for this machine only (127.0.0.1, ::1, localhost).',
  })
}

/** Authorities instead of the usual ones, if any. */
interface Trust {
  ca?: string[]
}

/** A way out, and what closes every socket it opened, also one that still connects. */
interface Route {
  dispatcher: Dispatcher
  close(): Promise<void>
}

/**
 * The ways out: straight, or through the proxy of the environment; loopback is never proxied. HTTP/2
 * is off, because undici replays a buffered POST after a GOAWAY.
 */
export class Transport {
  readonly #env: Environment
  readonly #trust: Trust
  readonly #given: Route | undefined
  readonly #kept = new Map<'loopback' | 'network', Route>()
  #proxies: ProxySettings | undefined
  #closed = false

  /** `authority`: a certificate (PEM) that is trusted besides those of this machine. `given`: the only way out. */
  constructor(env: Environment, authority?: string, given?: Dispatcher) {
    this.#env = env
    this.#given = given === undefined ? undefined : { dispatcher: given, close: async () => {} }
    this.#trust = authority === undefined ? {} : { ca: [...getCACertificates(), authority] }
    skipContinues()
  }

  /** The host of the proxy that the environment names for what is not loopback; its address may hold a password. */
  proxyFor(url: URL): string | undefined {
    if (this.#given !== undefined || isLoopbackHost(url.hostname)) return undefined
    const { httpsProxy, httpProxy } = this.#settings()
    const address = httpsProxy === '' ? httpProxy : httpsProxy
    return address === '' ? undefined : new URL(address).host
  }

  /** Connections that stay open and are used again: for reads. The connect limit is that of the first call. */
  shared(url: URL, limits: HttpLimits): Dispatcher {
    this.#requireOpen()
    if (this.#given !== undefined) return this.#given.dispatcher
    const network = isLoopbackHost(url.hostname) ? 'loopback' : 'network'
    let route = this.#kept.get(network)
    if (route === undefined) {
      route =
        network === 'loopback'
          ? loopbackRoute(limits, this.#trust)
          : networkRoute(limits, this.#settings(), this.#trust)
      this.#kept.set(network, route)
    }
    return route.dispatcher
  }

  /** An unused connection; the caller closes it. */
  fresh(url: URL, limits: HttpLimits): Route {
    this.#requireOpen()
    if (this.#given !== undefined) return this.#given
    return isLoopbackHost(url.hostname)
      ? loopbackConnection(url, limits, this.#trust)
      : networkRoute(limits, this.#settings(), this.#trust)
  }

  /** For good: what is repeated after this opens nothing again. */
  async close(): Promise<void> {
    this.#closed = true
    const routes = [...this.#kept.values()]
    this.#kept.clear()
    await Promise.all(routes.map((each) => each.close()))
  }

  #requireOpen(): void {
    if (this.#closed) throw new InternalError('a closed HTTP client was used')
  }

  #settings(): ProxySettings {
    this.#proxies ??= proxySettings(this.#env)
    return this.#proxies
  }
}

/** The signal reaches into every socket: undici alone would leave one that still connects to its time-out. */
function loopbackRoute({ connectMs }: HttpLimits, trust: Trust): Route {
  const sockets = new AbortController()
  const connect = { ...trust, timeout: connectMs, signal: sockets.signal }
  return closing(new Agent({ allowH2: false, connect }), sockets)
}

/** For a single exchange: no agent and no pool are made only to be thrown away. */
function loopbackConnection({ origin }: URL, { connectMs }: HttpLimits, trust: Trust): Route {
  const sockets = new AbortController()
  const connect = { ...trust, timeout: connectMs, signal: sockets.signal }
  return closing(new Client(origin, { allowH2: false, connect }), sockets)
}

function networkRoute({ connectMs }: HttpLimits, proxies: ProxySettings, trust: Trust): Route {
  const sockets = new AbortController()
  // NODE_TLS_REJECT_UNAUTHORIZED=0 counts on this machine only: over a network any machine in between could read the key.
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
  return closing(agent, sockets)
}

/** Made once: without a reason of its own every abort would make an error with its stack. */
const done = new Error('the connection is no longer needed')

function closing(dispatcher: Dispatcher, sockets: AbortController): Route {
  return {
    dispatcher,
    async close() {
      const destroyed = dispatcher.destroy(done)
      sockets.abort(done)
      await destroyed
    },
  }
}

/** Where the bytes of an answer begin, as far as they are there. */
type Start = { kind: 'undecided' } | { kind: 'answer'; at: number }

const interim = /^HTTP\/1\.\d 100[ \r]/
const longestStatus = 'HTTP/1.1 100 '.length
/** A head that does not end within this is left to undici to refuse. */
const longestHead = 16 * 1024

let isSubscribed = false

/**
 * "An interim 1xx answer is no answer" (src/docs/ordering.md, section 2), and a server may send 100 without being asked
 * (RFC 9110, 15.2). undici breaks the connection off there, so it never sees one: each connection it makes, through
 * a proxy too, has them taken out where an answer begins.
 */
function skipContinues(): void {
  if (isSubscribed) return
  isSubscribed = true
  subscribe('undici:client:connected', (message) => filter((message as { socket: Socket }).socket))
}

function filter(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  const write = socket.write.bind(socket) as (...values: unknown[]) => boolean
  let isStart = true
  let held: Buffer = Buffer.alloc(0)
  socket.write = (...values: unknown[]) => {
    // The head of a request goes out as one text; the next bytes that come in begin its answer.
    if (typeof values[0] === 'string' && /^[A-Z]+ /.test(values[0])) isStart = true
    return write(...values)
  }
  socket.read = (size) => {
    for (;;) {
      const chunk = read(size)
      if (!isStart || chunk === null) return chunk
      held = held.byteLength === 0 ? chunk : Buffer.concat([held, chunk])
      const start = answerStart(held)
      if (start.kind === 'undecided') continue
      const answer = held.subarray(start.at)
      held = Buffer.alloc(0)
      isStart = false
      return answer
    }
  }
}

/** Past every 100 before the answer. */
function answerStart(bytes: Buffer): Start {
  for (let at = 0; ;) {
    const head = bytes.toString('latin1', at, at + longestStatus)
    if (head.length < longestStatus && 'HTTP/1.1 100 '.startsWith(head)) return { kind: 'undecided' }
    if (!interim.test(head)) return { kind: 'answer', at }
    const end = bytes.indexOf('\r\n\r\n', at, 'latin1')
    if (end === -1) {
      return bytes.byteLength - at > longestHead ? { kind: 'answer', at } : { kind: 'undecided' }
    }
    at = end + 4
  }
}

/** The proxies of the environment, each absent as ''. */
interface ProxySettings {
  httpProxy: string
  httpsProxy: string
  noProxy: string
}

/**
 * HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in lower case first, as curl reads them. HTTP_PROXY serves where
 * HTTPS_PROXY is not set, as in Node itself. Throws UsageError for what is no address of a proxy.
 */
export function proxySettings(env: Environment): ProxySettings {
  const either = (name: string): string => variable(env, name.toLowerCase()) ?? variable(env, name) ?? ''
  return {
    httpProxy: proxyAddress('HTTP_PROXY', either('HTTP_PROXY')),
    httpsProxy: proxyAddress('HTTPS_PROXY', either('HTTPS_PROXY')),
    noProxy: either('NO_PROXY'),
  }
}

/** Origin and credentials alone; a bare HOST:PORT is an http proxy. The value may hold a password: it is never shown. */
function proxyAddress(name: string, value: string): string {
  if (value === '') return ''
  const text = value.includes('://') ? value : `http://${value}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || !decodable(url.username + url.password)) {
    throw new UsageError(`${name} in the environment is not the address of an http or https proxy`, {
      hint: `Set it like this: ${name}=http://proxy.example.com:3128`,
    })
  }
  url.pathname = ''
  url.search = ''
  url.hash = ''
  return url.href
}

function decodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
