import { connect, type Socket } from 'node:net'

/**
 * Requests a second over `connections` kept-alive sockets, each with one request under way at a time. The client
 * never sleeps: to wake it would cost the server more than a short answer does.
 */
export async function load(url: string, sent: Buffer, count: number, connections = 8): Promise<number> {
  const { hostname, port } = new URL(url)
  let left = count
  let awake = true
  const stayAwake = (): void => {
    if (awake) setImmediate(stayAwake)
  }
  stayAwake()
  const began = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(port), hostname)
      socket.setNoDelay(true)
      await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
      await exchange(socket, sent, () => (left -= 1) >= 0)
      socket.destroy()
    }),
  )
  awake = false
  return count / ((performance.now() - began) / 1000)
}

function exchange(socket: Socket, sent: Buffer, next: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let missing = 0
    let head = ''
    const send = (): void => {
      if (next()) socket.write(sent)
      else resolve()
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed the connection')))
    socket.on('data', (chunk: Buffer) => {
      if (missing === 0) {
        head += chunk.toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        if (end === -1) return
        if (!/^HTTP\/1\.1 20[01]/.test(head)) reject(new Error(head))
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
        missing = length - (head.length - end - 4)
        head = ''
      } else missing -= chunk.byteLength
      if (missing === 0) send()
    })
    send()
  })
}

/** A request as it goes over the wire. */
export function wire(method: string, path: string, headers: Record<string, string>, body = ''): Buffer {
  const lines = Object.entries({
    Host: '127.0.0.1',
    ...headers,
    ...(body !== '' && { 'Content-Length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n'))
}
