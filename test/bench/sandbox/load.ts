import { connect, type Socket } from 'node:net'

/**
 * Sends `count` requests over `connections` keep-alive sockets, one request at a time on each socket. Returns the
 * requests a second. The client is never idle, because waking it would cost more processor time than a short answer.
 */
export async function measureLoad(
  url: string,
  request: Buffer,
  count: number,
  connections = 8,
): Promise<number> {
  const { hostname, port } = new URL(url)
  let remaining = count
  let isRunning = true
  const keepBusy = (): void => {
    if (isRunning) setImmediate(keepBusy)
  }
  keepBusy()
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(port), hostname)
      socket.setNoDelay(true)
      await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
      await sendRequests(socket, request, () => (remaining -= 1) >= 0)
      socket.destroy()
    }),
  )
  isRunning = false
  return count / ((performance.now() - startedAt) / 1000)
}

/** Sends the request repeatedly. `claimRequest` counts a request, and returns false once enough have been sent. */
function sendRequests(socket: Socket, request: Buffer, claimRequest: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let missingBytes = 0
    let head = ''
    const send = (): void => {
      if (claimRequest()) socket.write(request)
      else resolve()
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed the connection')))
    socket.on('data', (chunk: Buffer) => {
      if (missingBytes === 0) {
        head += chunk.toString('latin1')
        const headEnd = head.indexOf('\r\n\r\n')
        if (headEnd === -1) return
        if (!/^HTTP\/1\.1 20[01]/.test(head)) reject(new Error(head))
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
        missingBytes = length - (head.length - headEnd - 4)
        head = ''
      } else missingBytes -= chunk.byteLength
      if (missingBytes === 0) send()
    })
    send()
  })
}

/** Returns the bytes of an HTTP request. */
export function formatHttpRequest(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Buffer {
  const lines = Object.entries({
    Host: '127.0.0.1',
    ...headers,
    ...(body !== '' && { 'Content-Length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n'))
}
