import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

export interface ConnectProxy extends AsyncDisposable {
  readonly port: number
  /** The HOST:PORT of every CONNECT, in order. */
  readonly asked: readonly string[]
  /** The headers of every CONNECT. */
  readonly headers: readonly IncomingHttpHeaders[]
  /** Anything that was not a CONNECT. */
  readonly others: readonly string[]
}

export interface ConnectProxyOptions {
  /** HOST:PORT as asked for → port of this machine. */
  routes?: Record<string, number>
  /** Answer every CONNECT with this instead. */
  refuse?: number
  /** Do this with every CONNECT instead. */
  handle?: (socket: Socket) => void
}

/** An HTTP proxy on loopback that tunnels to ports of this machine, whatever name was asked for. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const asked: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const others: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    others.push(`${request.method} ${request.url}`)
    response.writeHead(400).end()
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('connect', (request, client: Socket) => {
    asked.push(request.url ?? '')
    headers.push(request.headers)
    client.on('error', () => {})
    const port = options.routes?.[request.url ?? '']
    if (options.handle !== undefined) return options.handle(client)
    if (options.refuse !== undefined || port === undefined) {
      client.end(`HTTP/1.1 ${options.refuse ?? 502} No\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    sockets.add(upstream)
    upstream.on('error', () => client.destroy())
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    headers,
    others,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
