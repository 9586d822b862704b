import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

import { getRequestListener } from '@hono/node-server'

import { createLimitedServer, type ServerAddress, start } from './sockets.ts'

/** What a handler may learn of, and do to, the connection a request came in on. */
export interface Connection {
  readonly remoteAddress: string
  /** The base URL that was called, where it is not the one of this server. */
  readonly publicUrl?: string | undefined
  /** Destroys the socket; nothing of an answer is sent any more. */
  cut(): void
  /** Sends the head of an answer and the first bytes of its body, whatever length was announced, then cuts. */
  cutShort(status: number, headers: Readonly<Record<string, string>>, part: Uint8Array): void
}

export type Handler = (request: Request, connection: Connection) => Response | Promise<Response>

export interface ListenOptions extends ServerAddress {
  /** Milliseconds for a whole request to arrive; Node's own default is 5 minutes. */
  requestTimeoutMs?: number | undefined
  /** Milliseconds an idle connection stays open; Node's own default is 5 s. */
  keepAliveTimeoutMs?: number | undefined
  /**
   * Answers a request that is no proper one (an error called RequestError: a bad Host or URL, what is no
   * HTTP, a header that is too large) or whose handler threw. Default: an empty answer.
   */
  onError?: ((error: unknown) => Response) | undefined
}

export interface Listener {
  /** No slash at the end. */
  readonly url: string
  readonly port: number
  /** Stops listening and ends open connections at once. */
  close: () => Promise<void>
}

/** Puts a Request → Response handler on a port. Throws IoError when the port cannot be had, InvalidInputError for a TLS pair that is none. */
export async function listen(handler: Handler, options: ListenOptions = {}): Promise<Listener> {
  const server = build(handler, options)
  return {
    ...(await start(server, options)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function build(handler: Handler, options: ListenOptions): Server {
  const { onError } = options
  const listener = getRequestListener(
    (request, bindings) => {
      const connection = new NodeConnection(
        bindings.incoming as IncomingMessage,
        bindings.outgoing as ServerResponse,
      )
      const answer = handler(request, connection)
      if (answer instanceof Promise) return answer.then((response) => (connection.isCut ? never() : response))
      return connection.isCut ? never() : answer
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
  // The listener answers a request without a Host by `onError`, Node itself without a body.
  const server = createLimitedServer(
    { limits, tls: options.tls, answersAll: onError !== undefined },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  if (onError !== undefined) {
    server.on('clientError', (_error, socket) => void refuse(socket, onError(new MalformedRequest())))
  }
  return server
}

/** What Node's parser does not take, by the name that the listener gives to a bad Host or URL. */
class MalformedRequest extends Error {
  override readonly name = 'RequestError'
}

/** Answers where no request came of what was sent; the connection is of no use after it. */
async function refuse(socket: Duplex, answer: Response): Promise<void> {
  if (!socket.writable) return void socket.destroy()
  const body = Buffer.from(await answer.arrayBuffer())
  const headers = [...answer.headers, ['Content-Length', String(body.byteLength)], ['Connection', 'close']]
  const head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  socket.end(Buffer.concat([Buffer.from(`${[head, ...lines].join('\r\n')}\r\n\r\n`, 'latin1'), body]))
}

/** What follows a cut: an answer that never comes. */
function never(): Promise<Response> {
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

  cutShort(status: number, headers: Readonly<Record<string, string>>, part: Uint8Array): void {
    this.isCut = true
    this.#outgoing.writeHead(status, headers)
    this.#outgoing.write(part, () => this.#incoming.socket.destroySoon())
  }
}
