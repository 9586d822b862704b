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
  /** The address to listen on; by default 127.0.0.1. */
  host?: string | undefined
  /** The port to listen on; by default 0, which means any free port. */
  port?: number | undefined
  /** The PEM texts of a certificate and its key, with which the server uses HTTPS. */
  tls?: { cert: string; key: string } | undefined
}

interface LimitedServerOptions extends Pick<ServerAddress, 'tls'> {
  limits: ServerOptions
  incomplete?: IncompleteLimits | undefined
  /** Whether `onRequest` also gets requests that Node itself refuses: without a Host, or with an unknown Expect. */
  passesRefusedRequests: boolean
}

/** A request with more headers is refused with 431: 900 short ones would use about a megabyte of memory. */
const maxHeaders = 100

/**
 * Creates a server that limits the memory and connections of incomplete requests. Throws an InvalidInputError if the
 * certificate and key do not match.
 */
export function createLimitedServer(
  { limits, tls, incomplete, passesRefusedRequests }: LimitedServerOptions,
  onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): Server {
  const incompleteRequests = new IncompleteRequests(incomplete)
  const handleTracked = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (incompleteRequests.track(incoming, outgoing)) onRequest(incoming, outgoing)
  }
  const options = { ...limits, ...(passesRefusedRequests && { requireHostHeader: false }) }
  const server =
    tls === undefined
      ? createServer(options, handleTracked)
      : requireUsableTls(() => createTlsServer({ ...options, ...tls }, handleTracked))
  server.maxHeadersCount = maxHeaders
  incompleteRequests.watch(server)
  if (passesRefusedRequests) server.on('checkExpectation', handleTracked)
  return server
}

/**
 * Starts listening and returns the actual port and the URL without a slash at the end. Throws an IoError if the port
 * cannot be used.
 */
export async function startListening(
  server: Server,
  { host = '127.0.0.1', port = 0, tls }: ServerAddress,
): Promise<{ url: string; port: number }> {
  const boundPort = await bind(server, host, port)
  const urlHost = host.includes(':') ? `[${host}]` : host
  return { url: `${tls === undefined ? 'http' : 'https'}://${urlHost}:${boundPort}`, port: boundPort }
}

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(bindError(error, host, port))
    server.once('error', onError)
    server.listen(port, host, () => {
      server.off('error', onError)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function bindError(error: NodeJS.ErrnoException, host: string, port: number): IoError {
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

/**
 * Creates a server with TLS. Throws InvalidInputError, in place of OpenSSL's error, for an unusable certificate or
 * key.
 */
function requireUsableTls<T>(create: () => T): T {
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
  /** The maximum number of open connections that wait for the rest of a request or for the next request. */
  maxConnections: number
  /** The maximum number of bytes of incomplete bodies, in all connections together. */
  maxBytes: number
}

/**
 * The maximum number of unanswered requests of one connection. Providers send one request after the other. A client
 * that sends thousands at once would occupy memory for each of them.
 */
const maxUnanswered = 8

/**
 * The maximum number of tiny pieces of one body. Each piece occupies memory for an object, even if it has one byte.
 */
const maxTinyPieces = 256
/** A piece with at least this number of bytes is not tiny, and their number is not limited. */
const ordinaryPieceBytes = 256

const noBytes = Buffer.alloc(0)

/** Copies tiny pieces into one buffer, so that their objects do not stay in memory. */
class JoinedPieces {
  #pending = noBytes
  bytes = 0

  add(piece: Buffer): void {
    if (this.bytes + piece.byteLength > this.#pending.byteLength) {
      const larger = Buffer.allocUnsafe(2 * (this.bytes + piece.byteLength))
      this.#pending.copy(larger, 0, 0, this.bytes)
      this.#pending = larger
    }
    this.bytes += piece.copy(this.#pending, this.bytes)
  }

  /** Returns the bytes added since the last call. */
  flush(): Buffer {
    if (this.bytes === 0) return noBytes
    const combined = this.#pending.subarray(0, this.bytes)
    this.#pending = noBytes
    this.bytes = 0
    return combined
  }
}

const incompleteLimits: IncompleteLimits = { maxConnections: 512, maxBytes: 4 * 1024 * 1024 }

interface TrackedConnection {
  readonly socket: Socket
  /** The number of received bytes of the incomplete body. */
  bytes: number
  /**
   * The number of whole requests without a response. An answered request is counted until the data in which it
   * arrived has been parsed.
   */
  unansweredCount: number
}

/**
 * Limits the memory and connections of clients that never send a whole request. Above a limit, the connection that
 * has been incomplete longest is closed, whatever its address: the provider or a proxy may share its address with an
 * attacker. A connection is never closed while one of its requests is being answered.
 */
class IncompleteRequests {
  readonly #limits: IncompleteLimits
  /** Connections by remote address and port: over TLS, a request has another socket than its connection. */
  readonly #connections = new Map<string, TrackedConnection>()
  /** Incomplete connections in the order in which they became incomplete. */
  readonly #incomplete = new Set<TrackedConnection>()
  #bytes = 0

  constructor(limits: IncompleteLimits = incompleteLimits) {
    this.#limits = limits
  }

  /** Tracks every connection of a server. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      const key = remoteKey(socket)
      const connection: TrackedConnection = { socket, bytes: 0, unansweredCount: 0 }
      this.#connections.set(key, connection)
      socket.once('close', () => {
        this.#connections.delete(key)
        this.#remove(connection)
      })
      this.#add(connection)
    })
  }

  /**
   * Tracks a request; must be called before its body is read. Returns false if its connection was closed meanwhile.
   */
  track(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const connection = this.#connections.get(remoteKey(incoming.socket))
    if (connection === undefined) return true
    if (connection.socket.destroyed) return false
    let isWhole = false
    let isAnswered = false
    let pieceCount = 0
    let bodyBytes = 0
    // Node's parser passes each piece of a body, and its end, to `push`, even if the handler is not reading yet.
    const push = incoming.push.bind(incoming)
    const tinyPieces = new JoinedPieces()
    const pushTinyPieces = (): void => {
      const piece = tinyPieces.flush()
      if (piece.byteLength > 0 && !connection.socket.destroyed) push(piece)
    }
    incoming.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk !== null) {
        // The rest of the data is dropped: it would stay in memory until the connection is closed.
        if (connection.socket.destroyed) return false
        pieceCount += 1
        bodyBytes += chunk.byteLength
        if (pieceCount > maxTinyPieces + bodyBytes / ordinaryPieceBytes)
          closeAndStopParsing(connection, incoming)
        else this.#addBytes(connection, chunk.byteLength)
        if (chunk.byteLength < ordinaryPieceBytes) {
          // Tiny pieces of one read are passed on together.
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
          if (connection.unansweredCount > maxUnanswered) closeAndStopParsing(connection, incoming)
        }
      }
      pushTinyPieces()
      return push(chunk, encoding)
    }
    outgoing.once('close', () => {
      isAnswered = true
      if (!isWhole) return
      // Deferred, because Node may answer a request before it parses the next one in the same data; the count would
      // then never rise.
      setImmediate(() => {
        connection.unansweredCount -= 1
        if (connection.unansweredCount === 0) this.#add(connection)
      })
    })
    // The server asks the client to close, because closing an idle connection could lose a request that is being
    // sent.
    if (this.#incomplete.size > this.#limits.maxConnections / 2) outgoing.setHeader('connection', 'close')
    return true
  }

  #add(connection: TrackedConnection): void {
    if (connection.socket.destroyed) return
    this.#incomplete.add(connection)
    if (this.#incomplete.size > this.#limits.maxConnections) this.#closeOldest(() => true)
  }

  #addBytes(connection: TrackedConnection, bytes: number): void {
    connection.bytes += bytes
    this.#bytes += bytes
    // Large bodies that never end must not displace a small one, such as an event. Half of the limit is reserved for
    // bodies larger than this share, however many smaller ones there are.
    const share = this.#limits.maxBytes / this.#limits.maxConnections / 2
    while (this.#bytes > this.#limits.maxBytes && this.#closeOldest((each) => each.bytes > share));
  }

  #closeOldest(predicate: (connection: TrackedConnection) => boolean): boolean {
    for (const connection of this.#incomplete) {
      if (!predicate(connection)) continue
      this.#remove(connection)
      connection.socket.destroy()
      return true
    }
    return false
  }

  #remove(connection: TrackedConnection): void {
    this.#incomplete.delete(connection)
    this.#bytes -= connection.bytes
    connection.bytes = 0
  }
}

function closeAndStopParsing({ socket }: TrackedConnection, incoming: IncomingMessage): void {
  socket.destroy()
  stopParsing(incoming.socket)
}

/** The callbacks of Node's parser with their undocumented positions in the parser object. */
const parserCallbacks: readonly [number, string][] = [
  [1, 'parserOnHeaders'],
  [2, 'parserOnHeadersComplete'],
  [3, 'parserOnBody'],
  [4, 'parserOnMessageComplete'],
]

/**
 * Lets Node's parser reach the end of the data without callbacks. It would otherwise report thousands of requests,
 * which stay in memory until the connection is closed, or thousands of pieces of a body. Node reuses its parsers for
 * other connections after the 'close' of this one, which comes after `setImmediate`.
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
