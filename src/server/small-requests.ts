import type { IncomingMessage, Server, ServerResponse } from 'node:http'

import type { Listener } from './listen.ts'
import { createLimitedServer, type IncompleteLimits, type ServerAddress, start } from './sockets.ts'

/** A small request with its whole body, to the byte. */
export interface SmallRequest {
  method: string
  /** Path without the query. */
  path: string
  /** A line of the header each; names in lowercase. */
  headers: (name: string) => readonly string[]
  body: Buffer
}

export interface SmallAnswer {
  status: number
  /** Text, or nothing. */
  text?: string | undefined
  contentType?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

export interface SmallRequestOptions extends ServerAddress {
  /** Bytes of a body taken at most; more is answered with 413. */
  maxBytes: number
  /** Milliseconds for a whole request to arrive, and that an idle connection stays open. */
  requestTimeoutMs: number
  idleTimeoutMs: number
  incomplete?: IncompleteLimits | undefined
}

type SmallRequestHandler = (request: SmallRequest) => SmallAnswer | Promise<SmallAnswer>

/**
 * A server for many small requests: each is handed over whole. What is no proper request never gets there:
 * too large 413, too many headers 431, too slow 408, malformed 400, a handler that fails 500.
 */
export async function serveSmallRequests(
  handle: SmallRequestHandler,
  options: SmallRequestOptions,
): Promise<Listener> {
  const server = build(handle, options)
  return {
    ...(await start(server, options)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
  }
}

function build(
  handle: SmallRequestHandler,
  { tls, maxBytes, requestTimeoutMs, idleTimeoutMs, incomplete }: SmallRequestOptions,
): Server {
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
    connectionsCheckingInterval: Math.min(requestTimeoutMs, 5_000),
    maxHeaderSize: 16 * 1024,
  }
  // Node itself would answer a request without a Host without counting it.
  const server = createLimitedServer({ limits, tls, incomplete, answersAll: true }, (incoming, outgoing) => {
    if (incoming.headers.host === undefined && incoming.httpVersion === '1.1') {
      return answer(outgoing, { status: 400, text: 'the header Host is missing\n' }, true)
    }
    collect(incoming, maxBytes, (body) => {
      if (body === undefined) return answer(outgoing, { status: 413, text: 'the body is too large\n' }, true)
      void consumeBody(handle, incoming, body).then((each) => answer(outgoing, each, !server.listening))
    })
  })
  return server
}

async function consumeBody(
  handle: SmallRequestHandler,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<SmallAnswer> {
  const { method = '', url = '/' } = incoming
  const query = url.indexOf('?')
  try {
    return await handle({
      method,
      path: query === -1 ? url : url.slice(0, query),
      headers: (name) => incoming.headersDistinct[name] ?? [],
      body,
    })
  } catch {
    return { status: 500, text: 'internal error\n' }
  }
}

/** The whole body, or undefined once it passes the limit; never called for a request that broke off. */
function collect(
  incoming: IncomingMessage,
  maxBytes: number,
  done: (body: Buffer | undefined) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxBytes) {
      chunks.push(chunk)
      return
    }
    incoming.removeAllListeners('data')
    incoming.removeAllListeners('end')
    incoming.resume()
    done(undefined)
  })
  incoming.on('end', () => done(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
  // A sender that goes away in the middle receives no answer.
  incoming.on('error', () => undefined)
}

function answer(
  outgoing: ServerResponse,
  { status, text = '', contentType, headers }: SmallAnswer,
  close: boolean,
): void {
  outgoing.writeHead(status, {
    ...headers,
    ...(text === '' ? {} : { 'content-type': contentType ?? 'text/plain; charset=utf-8' }),
    ...(status === 204 ? {} : { 'content-length': Buffer.byteLength(text) }),
    ...(close ? { connection: 'close' } : {}),
  })
  outgoing.end(text)
}
