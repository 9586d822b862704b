import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

/** Reads a file of test/vectors/tls. */
export function readTlsVector(name: string): string {
  return readFileSync(new URL(`../vectors/tls/${name}`, import.meta.url), 'utf8')
}

/** Returns a key and a certificate of test/vectors/tls. */
export function identity(name: 'service' | 'other' | 'self-signed'): { key: string; cert: string } {
  return { key: readTlsVector(`${name}.key`), cert: readTlsVector(`${name}.pem`) }
}

export interface RawServer extends AsyncDisposable {
  readonly port: number
  readonly origin: string
  /** Number of TCP connections accepted so far. */
  readonly connections: number
  /** Number of TCP connections that are open now. */
  readonly openConnections: number
  /** Number of bytes received, after TLS decryption. */
  readonly bytes: number
  /** Each complete request, with head and body. */
  readonly requests: readonly string[]
}

export interface RawServerOptions {
  /** Called when a connection is open, before any byte. */
  onConnection?: (socket: Socket) => void
  /** Called when a request is complete. `count` is the number of complete requests. */
  onRequest?: (socket: Socket, request: string, count: number) => void
  /** Called at the first bytes of a request. */
  onFirstBytes?: (socket: Socket) => void
  /** Forwards all bytes to this port of this machine, and reads no requests. */
  pipeTo?: number
  tls?: TlsOptions
}

/** Starts a server on loopback whose behaviour on the socket the test defines. */
export async function startRawServer(options: RawServerOptions = {}): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const requests: string[] = []
  let connections = 0
  let bytes = 0
  const serve = (socket: Socket): void => {
    let buffered = ''
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
      if (buffered === '') options.onFirstBytes?.(socket)
      buffered += chunk.toString('latin1')
      for (let end = findRequestEnd(buffered); end !== undefined; end = findRequestEnd(buffered)) {
        const request = buffered.slice(0, end)
        buffered = buffered.slice(end)
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
    get openConnections() {
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

/** Returns the length of the first complete request, or undefined if its head or its body is incomplete. */
function findRequestEnd(text: string): number | undefined {
  const headLength = text.indexOf('\r\n\r\n')
  if (headLength === -1) return undefined
  const length = /^content-length: *(\d+)/im.exec(text.slice(0, headLength))?.[1] ?? '0'
  const end = headLength + 4 + Number(length)
  return text.length >= end ? end : undefined
}

/** Returns the bytes of an answer, with its Content-Length. */
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

/** Returns the bytes of an answer in the envelope of the API. */
export function enveloped(
  status: number,
  data: unknown,
  message = '',
  headers: Record<string, string> = {},
): Buffer {
  const statusMessages = ['informational', 'informational', 'ok', 'redirect', 'client_error', 'server_error']
  const body = JSON.stringify({ data, status_message: statusMessages[Math.floor(status / 100)], message })
  return answer(status, { 'content-type': 'application/json', ...headers }, body)
}
