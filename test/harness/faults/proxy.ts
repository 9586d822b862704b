import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Where a connection is cut. Bytes before the cut reach the other side, bytes after it do not. */
export interface Cut {
  /** Number of bytes that are forwarded from the client; undefined for all. */
  up?: number | undefined
  /** Number of bytes that are forwarded to the client; undefined for all. */
  down?: number | undefined
  /** How the connection ends for the client: closed, reset, or open without any further bytes. */
  how?: 'close' | 'reset' | 'silence' | undefined
}

export interface FaultProxy extends AsyncDisposable {
  readonly port: number
  /** Connections accepted so far. */
  readonly connections: number
  /** The cut of the next connections. */
  cut: Cut
  close(): Promise<void>
}

/** A TCP proxy on loopback, in front of a port of this machine, that cuts every connection at the given position. */
export async function startFaultProxy(target: number, cut: Cut = {}): Promise<FaultProxy> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((client) => {
    connections += 1
    for (const socket of connectSockets(client, target, proxy.cut)) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    cut,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
    [Symbol.asyncDispose]: () => proxy.close(),
  }
  return proxy
}

/** Connects a client to `port` and forwards bytes until the allowance of one side is used up. Returns both sockets. */
function connectSockets(
  client: Socket,
  port: number,
  { up = Infinity, down = Infinity, how: ending = 'close' }: Cut,
): Socket[] {
  const server = connect({ port, host: '127.0.0.1' })
  let isCut = false
  const cutConnection = (): void => {
    if (isCut) return
    isCut = true
    for (const socket of [client, server]) {
      if (ending === 'silence') socket.removeAllListeners('data').pause()
      else if (ending === 'reset' && socket === client) socket.resetAndDestroy()
      else socket.end(() => socket.destroy())
    }
  }
  const forward = (from: Socket, to: Socket, allowance: number): void => {
    let remaining = allowance
    from.on('data', (chunk: Buffer) => {
      if (isCut) return
      const part = chunk.subarray(0, remaining)
      remaining -= part.length
      // Ends the connection only after the last allowed bytes are handed to the operating system.
      to.write(part, () => remaining === 0 && cutConnection())
      if (remaining === 0) from.pause()
    })
    from.on('end', () => to.end())
    from.on('error', () => to.destroy())
    from.on('close', () => ending !== 'silence' && to.end())
  }
  forward(client, server, up)
  forward(server, client, down)
  if (up === 0 || down === 0) cutConnection()
  return [client, server]
}
