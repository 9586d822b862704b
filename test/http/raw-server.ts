import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

/** A file of test/vectors/tls. */
export function vector(name: string): string {
  return readFileSync(new URL(`../vectors/tls/${name}`, import.meta.url), 'utf8')
}

/** Key and certificate of test/vectors/tls by name: service, other or self-signed. */
export function identity(name: 'service' | 'other' | 'self-signed'): { key: string; cert: string } {
  return { key: vector(`${name}.key`), cert: vector(`${name}.pem`) }
}

export interface RawServer extends AsyncDisposable {
  readonly port: number
  readonly origin: string
  /** TCP connections accepted so far. */
  readonly connections: number
  /** TCP connections that stand now. */
  readonly open: number
  /** Bytes that came in, deciphered where TLS is spoken. */
  readonly bytes: number
  /** Every whole request, head and body. */
  readonly requests: readonly string[]
}

export interface RawServerOptions {
  /** What happens when a connection stands, before any byte. */
  onConnection?: (socket: Socket) => void
  /** What happens when a request has come in whole. */
  onRequest?: (socket: Socket, request: string, count: number) => void
  /** What happens at the first bytes of a request. */
  onFirstBytes?: (socket: Socket) => void
  /** Forward everything to this port of this machine instead of listening to it. */
  pipeTo?: number
  tls?: TlsOptions
}

/** A server on loopback that says and does exactly what a test tells it. */
export async function startRawServer(options: RawServerOptions = {}): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const requests: string[] = []
  let connections = 0
  let bytes = 0
  const serve = (socket: Socket): void => {
    let held = ''
    socket.on('error', () => {})
    if (options.pipeTo !== undefined) {
      const upstream = connect(options.pipeTo, '127.0.0.1')
      upstream.on('error', () => socket.destroy())
      upstream.on('close', () => socket.destroy())
      upstream.pipe(socket).pipe(upstream)
      return
    }
    options.onConnection?.(socket)
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (held === '') options.onFirstBytes?.(socket)
      held += chunk.toString('latin1')
      for (let end = requestEnd(held); end !== undefined; end = requestEnd(held)) {
        const request = held.slice(0, end)
        held = held.slice(end)
        requests.push(request)
        options.onRequest?.(socket, request, requests.length)
      }
    })
  }
  const server = options.tls === undefined ? createServer(serve) : createTlsServer(options.tls, serve)
  server.on('tlsClientError', () => {})
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections
    },
    get open() {
      return sockets.size
    },
    get bytes() {
      return bytes
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Where the first whole request ends, by its Content-Length. */
function requestEnd(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const length = /^content-length: *(\d+)/im.exec(text.slice(0, head))?.[1] ?? '0'
  const end = head + 4 + Number(length)
  return text.length >= end ? end : undefined
}

/** An answer as it travels, with its Content-Length. */
export function answer(
  status: number,
  headers: Record<string, string> = {},
  body: string | Buffer = '',
): Buffer {
  const content = Buffer.from(body)
  const head = Object.entries({ 'content-length': String(content.length), ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Any\r\n${head}\r\n`, 'latin1'), content])
}

/** An answer in the envelope of the API. */
export function enveloped(
  status: number,
  data: unknown,
  message = '',
  headers: Record<string, string> = {},
): Buffer {
  const kinds = ['informational', 'informational', 'ok', 'redirect', 'client_error', 'server_error']
  const body = JSON.stringify({ data, status_message: kinds[Math.floor(status / 100)], message })
  return answer(status, { 'content-type': 'application/json', ...headers }, body)
}
