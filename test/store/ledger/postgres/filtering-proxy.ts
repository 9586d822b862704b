import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

import { onTestFinished } from 'vitest'

import { serverOf } from './connect.ts'

/**
 * Starts a proxy that forwards all bytes of the server, and those of the client for which `mayPass` returns true. Returns
 * its URL. It closes with the test. `sockets` are the connections to the client and to the server.
 */
export async function startProxy(
  url: string,
  mayPass: (text: string, sockets: [Socket, Socket]) => boolean,
): Promise<string> {
  const { port } = serverOf(url)
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    upstream.pipe(client)
    client.on('data', (bytes) => {
      if (mayPass(bytes.toString('latin1'), [client, upstream])) upstream.write(bytes)
    })
    client.on('close', () => upstream.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return url.replace(`:${port}/`, `:${typeof address === 'object' ? address?.port : ''}/`)
}
