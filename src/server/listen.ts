import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

import { getRequestListener } from '@hono/node-server'

import { createLimitedServer, type ServerAddress, startListening } from './sockets.ts'

/** The connection of a request, for its handler. */
export interface Connection {
  readonly remoteAddress: string
  /** The base URL that the client called, if it is not the URL of this server. */
  readonly publicUrl?: string | undefined
  /** Destroys the socket; the rest of the response is not sent. */
  cut(): void
  /**
   * Sends the head of a response and `part`, the first bytes of its body, then closes the connection, even if the
   * head states a longer body.
   */
  sendPartAndClose(status: number, headers: Readonly<Record<string, string>>, part: Uint8Array): void
}

export type Handler = (request: Request, connection: Connection) => Response | Promise<Response>

export interface ListenOptions extends ServerAddress {
  /** The time in which a whole request must arrive; by default 5 minutes. */
  requestTimeoutMs?: number | undefined
  /** The time for which an idle connection stays open; by default 5 s. */
  keepAliveTimeoutMs?: number | undefined
  /**
   * Returns the response to an invalid request, or after a handler threw. For an invalid request (a bad Host or URL,
   * data that is not HTTP, or a header that is too large) the error has the name RequestError. By default the
   * response is empty.
   */
  onError?: ((error: unknown) => Response) | undefined
}

export interface Listener {
  /** The URL without a slash at the end. */
  readonly url: string
  readonly port: number
  /** Stops listening and closes open connections at once. */
  close: () => Promise<void>
}

/**
 * Serves a Request → Response handler on a port. Throws an IoError if the port cannot be used, and an
 * InvalidInputError if the certificate and key do not match.
 */
export async function listen(handler: Handler, options: ListenOptions = {}): Promise<Listener> {
  const server = createHandlerServer(handler, options)
  return {
    ...(await startListening(server, options)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function createHandlerServer(handler: Handler, options: ListenOptions): Server {
  const { onError } = options
  const listener = getRequestListener(
    (request, bindings) => {
      const connection = new NodeConnection(
        bindings.incoming as IncomingMessage,
        bindings.outgoing as ServerResponse,
      )
      const answer = handler(request, connection)
      if (answer instanceof Promise)
        return answer.then((response) => (connection.isCut ? neverResolve() : response))
      return connection.isCut ? neverResolve() : answer
    },
    onError === undefined ? {} : { errorHandler: (error) => onError(error) },
  )
  const limits = {
    ...(options.requestTimeoutMs !== undefined && {
      requestTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(options.requestTimeoutMs, 30_000),
    }),
    ...(options.keepAliveTimeoutMs !== undefined && { keepAliveTimeout: options.keepAliveTimeoutMs }),
  }
  // The listener passes a request without a Host to `onError`; Node itself would respond without a body.
  const server = createLimitedServer(
    { limits, tls: options.tls, passesRefusedRequests: onError !== undefined },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  if (onError !== undefined) {
    server.on(
      'clientError',
      (_error, socket) => void respondToMalformed(socket, onError(new MalformedRequest())),
    )
  }
  return server
}

/** The error for a request that Node's parser refuses. The listener uses the same name for a bad Host or URL. */
class MalformedRequest extends Error {
  override readonly name = 'RequestError'
}

/** Responds to data that is not a request, then closes the connection, which cannot be used any more. */
async function respondToMalformed(socket: Duplex, answer: Response): Promise<void> {
  if (!socket.writable) return void socket.destroy()
  const body = Buffer.from(await answer.arrayBuffer())
  const headers = [...answer.headers, ['Content-Length', String(body.byteLength)], ['Connection', 'close']]
  const head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  socket.end(Buffer.concat([Buffer.from(`${[head, ...lines].join('\r\n')}\r\n\r\n`, 'latin1'), body]))
}

/** Returns a promise that never resolves, for a connection that was cut. */
function neverResolve(): Promise<Response> {
  return new Promise(() => {})
}

class NodeConnection implements Connection {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  isCut = false

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  get remoteAddress(): string {
    return this.#incoming.socket.remoteAddress ?? ''
  }

  cut(): void {
    this.isCut = true
    this.#incoming.socket.destroy()
  }

  sendPartAndClose(status: number, headers: Readonly<Record<string, string>>, part: Uint8Array): void {
    this.isCut = true
    this.#outgoing.writeHead(status, headers)
    this.#outgoing.write(part, () => this.#incoming.socket.destroySoon())
  }
}
