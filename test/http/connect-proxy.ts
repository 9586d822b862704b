import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

export interface ConnectProxy extends AsyncDisposable {
  readonly port: number
  /** The HOST:PORT of each CONNECT, in order. */
  readonly connectTargets: readonly string[]
  /** The headers of each CONNECT. */
  readonly headers: readonly IncomingHttpHeaders[]
  /** Requests with another method than CONNECT. */
  readonly otherRequests: readonly string[]
}

export interface ConnectProxyOptions {
  /** Maps the HOST:PORT of a CONNECT to a port of this machine. */
  routes?: Record<string, number>
  /** Refuses each CONNECT with this status. */
  refuseStatus?: number
  /** Called with the socket of each CONNECT, instead of opening a tunnel. */
  onConnect?: (socket: Socket) => void
}

/** Starts an HTTP proxy on loopback. `routes` determines the ports of this machine to which its tunnels lead. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const connectTargets: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const otherRequests: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    otherRequests.push(`${request.method} ${request.url}`)
    response.writeHead(400).end()
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('connect', (request, client: Socket) => {
    connectTargets.push(request.url ?? '')
    headers.push(request.headers)
    client.on('error', () => {})
    const port = options.routes?.[request.url ?? '']
    if (options.onConnect !== undefined) return options.onConnect(client)
    if (options.refuseStatus !== undefined || port === undefined) {
      client.end(`HTTP/1.1 ${options.refuseStatus ?? 502} No\r\ncontent-length: 0\r\n\r\n`)
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
    connectTargets,
    headers,
    otherRequests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
