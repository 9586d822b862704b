import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'

import { InvalidInputError, IoError } from '../errors/kinds.ts'

export interface ServerAddress {
  /** Default 127.0.0.1. */
  host?: string | undefined
  /** Default 0: any free port. */
  port?: number | undefined
  /** PEM texts; with them the server speaks https. */
  tls?: { cert: string; key: string } | undefined
}

interface LimitedServerOptions extends Pick<ServerAddress, 'tls'> {
  limits: ServerOptions
  incomplete?: IncompleteLimits | undefined
  /** Whether `onRequest` answers what Node itself refuses: a request without a Host, and an Expect that Node does not know. */
  answersAll: boolean
}

/** A server that limits what incomplete requests occupy. Throws InvalidInputError for a TLS pair that is none. */
export function createLimitedServer(
  { limits, tls, incomplete, answersAll }: LimitedServerOptions,
  onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): Server {
  const incompleteRequests = new IncompleteRequests(incomplete)
  const onTracked = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (incompleteRequests.track(incoming, outgoing)) onRequest(incoming, outgoing)
  }
  const options = { ...limits, ...(answersAll && { requireHostHeader: false }) }
  const server =
    tls === undefined
      ? createServer(options, onTracked)
      : withTls(() => createTlsServer({ ...options, ...tls }, onTracked))
  incompleteRequests.watch(server)
  if (answersAll) server.on('checkExpectation', onTracked)
  return server
}

/** Starts listening: the port that it is, and the URL, without a slash at the end. Throws IoError when the port cannot be had. */
export async function start(
  server: Server,
  { host = '127.0.0.1', port = 0, tls }: ServerAddress,
): Promise<{ url: string; port: number }> {
  const bound = await bind(server, host, port)
  const shown = host.includes(':') ? `[${host}]` : host
  return { url: `${tls === undefined ? 'http' : 'https'}://${shown}:${bound}`, port: bound }
}

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(bindFailure(error, host, port))
    server.once('error', onError)
    server.listen(port, host, () => {
      server.off('error', onError)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function bindFailure(error: NodeJS.ErrnoException, host: string, port: number): IoError {
  const where = `${host}:${port}`
  if (error.code === 'EADDRINUSE') {
    return new IoError(`port ${port} on ${host} is used by another program`, {
      hint: 'Choose another port, or 0 for any free one.',
      cause: error,
    })
  }
  if (error.code === 'EACCES') {
    return new IoError(`not allowed to listen on ${where}`, {
      hint: 'Ports below 1024 need special rights. Choose a higher one, or 0 for any free one.',
      cause: error,
    })
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new IoError(`"${host}" is not an address of this machine`, {
      hint: 'Use 127.0.0.1, ::1 or another address of this machine.',
      cause: error,
    })
  }
  return new IoError(`cannot listen on ${where}: ${error.message}`, { cause: error })
}

/** Makes a server of a certificate and its key; OpenSSL's message about two that are no pair is replaced. */
function withTls<T>(create: () => T): T {
  try {
    return create()
  } catch (error) {
    throw new InvalidInputError('the TLS certificate and its key cannot be used', {
      hint: 'Both have to be PEM files, and the key has to belong to the certificate and have no passphrase.',
      cause: error,
    })
  }
}

export interface IncompleteLimits {
  /** Open connections that wait for the rest of a request, or for the next one. */
  maxConnections: number
  /** Bytes of incomplete bodies, of all connections together. */
  maxBytes: number
}

/**
 * Requests of one connection that wait for their answers. Providers send one request after the other; a client that sends
 * thousands of whole requests at once occupies memory for each.
 */
const maxUnanswered = 8

/** Pieces of a body that may be tiny; each occupies memory for an object, also when it holds one byte. */
const maxTinyPieces = 256
/** Bytes of a piece that is not tiny: a connection may send any number of these. */
const ordinaryPieceBytes = 256

/** Joins tiny pieces, so that the object of none of them stays in memory. */
class JoinedPieces {
  #pending = Buffer.alloc(0)
  bytes = 0

  add(piece: Buffer): void {
    if (this.bytes + piece.byteLength > this.#pending.byteLength) {
      const larger = Buffer.allocUnsafe(2 * (this.bytes + piece.byteLength))
      this.#pending.copy(larger, 0, 0, this.bytes)
      this.#pending = larger
    }
    this.bytes += piece.copy(this.#pending, this.bytes)
  }

  /** What was joined since the last time. */
  flush(): Buffer {
    const taken = this.#pending.subarray(0, this.bytes)
    this.#pending = Buffer.alloc(0)
    this.bytes = 0
    return taken
  }
}

const incompleteLimits: IncompleteLimits = { maxConnections: 512, maxBytes: 4 * 1024 * 1024 }

interface Connection {
  readonly socket: Socket
  /** Of the incomplete body. */
  bytes: number
  /** Requests that arrived whole and have no answer yet, or had none when the data that was read last was parsed. */
  unansweredCount: number
}

/**
 * Limits what clients can occupy that never send a whole request. Above a limit the connection that has been incomplete
 * longest is closed, whatever its address: the provider, or a proxy before this server, may share its address with an
 * attacker. A connection is never closed here while one of its requests is being answered.
 */
class IncompleteRequests {
  readonly #limits: IncompleteLimits
  /** By remote address and port: over TLS a request has another socket than its connection. */
  readonly #connections = new Map<string, Connection>()
  /** In the order in which they became incomplete. */
  readonly #incomplete = new Set<Connection>()
  #bytes = 0

  constructor(limits: IncompleteLimits = incompleteLimits) {
    this.#limits = limits
  }

  /** Counts every connection of a server. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      const key = remoteKey(socket)
      const connection: Connection = { socket, bytes: 0, unansweredCount: 0 }
      this.#connections.set(key, connection)
      socket.once('close', () => {
        this.#connections.delete(key)
        this.#remove(connection)
      })
      this.#add(connection)
    })
  }

  /** Counts a request; to be called before its body is read. False where its connection was closed meanwhile. */
  track(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const connection = this.#connections.get(remoteKey(incoming.socket))
    if (connection === undefined) return true
    if (connection.socket.destroyed) return false
    let isWhole = false
    let isAnswered = false
    let pieceCount = 0
    let bodyBytes = 0
    // Node's parser hands over each piece of a body, and its end, by `push`, whether or not the handler reads it yet.
    const push = incoming.push.bind(incoming)
    const tinyPieces = new JoinedPieces()
    const pushTinyPieces = (): void => {
      const piece = tinyPieces.flush()
      if (piece.byteLength > 0 && !connection.socket.destroyed) push(piece)
    }
    incoming.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk !== null) {
        // The rest of what was read: it would stay in memory until the connection is closed.
        if (connection.socket.destroyed) return false
        pieceCount += 1
        bodyBytes += chunk.byteLength
        if (pieceCount > maxTinyPieces + bodyBytes / ordinaryPieceBytes) close(connection, incoming)
        else this.#count(connection, chunk.byteLength)
        if (chunk.byteLength < ordinaryPieceBytes) {
          // All of one read are handed over together.
          if (tinyPieces.bytes === 0) process.nextTick(pushTinyPieces)
          tinyPieces.add(chunk)
          return true
        }
      } else if (!isWhole) {
        isWhole = true
        this.#remove(connection)
        if (isAnswered) this.#add(connection)
        else {
          connection.unansweredCount += 1
          if (connection.unansweredCount > maxUnanswered) close(connection, incoming)
        }
      }
      pushTinyPieces()
      return push(chunk, encoding)
    }
    outgoing.once('close', () => {
      isAnswered = true
      if (!isWhole) return
      // Node may answer a request before it parses the next one of the same data, so that none would ever wait.
      setImmediate(() => {
        connection.unansweredCount -= 1
        if (connection.unansweredCount === 0) this.#add(connection)
      })
    })
    // An idle connection may be closed at the moment when the client sends its next request, which would then be lost.
    if (this.#incomplete.size > this.#limits.maxConnections / 2) outgoing.setHeader('connection', 'close')
    return true
  }

  #add(connection: Connection): void {
    if (connection.socket.destroyed) return
    this.#incomplete.add(connection)
    if (this.#incomplete.size > this.#limits.maxConnections) this.#closeOldest(() => true)
  }

  #count(connection: Connection, bytes: number): void {
    connection.bytes += bytes
    this.#bytes += bytes
    // Large bodies that never end do not displace a small one, such as an event. Half of the limit is left to
    // bodies of more than this share, however many smaller ones there are.
    const share = this.#limits.maxBytes / this.#limits.maxConnections / 2
    while (this.#bytes > this.#limits.maxBytes && this.#closeOldest((each) => each.bytes > share));
  }

  #closeOldest(is: (connection: Connection) => boolean): boolean {
    for (const connection of this.#incomplete) {
      if (!is(connection)) continue
      this.#remove(connection)
      connection.socket.destroy()
      return true
    }
    return false
  }

  #remove(connection: Connection): void {
    this.#incomplete.delete(connection)
    this.#bytes -= connection.bytes
    connection.bytes = 0
  }
}

function close({ socket }: Connection, incoming: IncomingMessage): void {
  socket.destroy()
  stopParsing(incoming.socket)
}

/** What Node's parser calls for what it finds, by the position of each in the parser; Node does not document them. */
const parserCallbacks: readonly [number, string][] = [
  [1, 'parserOnHeaders'],
  [2, 'parserOnHeadersComplete'],
  [3, 'parserOnBody'],
  [4, 'parserOnMessageComplete'],
]

/**
 * Lets Node's parser go silently to the end of what was read: it would report thousands of requests, which stay in memory until
 * the connection is closed, or thousands of pieces of a body. Node uses its parsers again, for other connections, after
 * the 'close' of this one, which comes after `setImmediate`.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { parser?: Record<number, unknown> | null }
  if (!parser) return
  for (const [position, name] of parserCallbacks) {
    const callback = parser[position]
    if (typeof callback !== 'function' || callback.name !== name) continue
    parser[position] = null
    setImmediate(() => {
      parser[position] = callback
    })
  }
}

const remoteKey = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`
