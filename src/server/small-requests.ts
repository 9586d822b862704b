import type { IncomingMessage, Server, ServerResponse } from 'node:http'

import type { Listener } from './listen.ts'
import { createLimitedServer, type IncompleteLimits, type ServerAddress, startListening } from './sockets.ts'

/** A request with its whole body as bytes. */
export interface SmallRequest {
  method: string
  /** The path without the query. */
  path: string
  /** Returns the values of a header, one per header line; `name` is in lowercase. */
  headers: (name: string) => readonly string[]
  body: Buffer
}

export interface SmallResponse {
  status: number
  /** The text of the body; empty if undefined. */
  text?: string | undefined
  contentType?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

export interface SmallRequestOptions extends ServerAddress {
  /** The maximum size of a body. A larger body gets the status 413. */
  maxBytes: number
  /** The time in which a whole request must arrive. */
  requestTimeoutMs: number
  idleTimeoutMs: number
  incomplete?: IncompleteLimits | undefined
}

type SmallRequestHandler = (request: SmallRequest) => SmallResponse | Promise<SmallResponse>

/**
 * Serves many small requests. The handler gets each request with its whole body. Invalid requests do not reach the
 * handler: a body that is too large gets 413, too many headers 431, a slow request 408, and a malformed request 400.
 * If the handler throws, the response is 500.
 */
export async function serveSmallRequests(
  handle: SmallRequestHandler,
  options: SmallRequestOptions,
): Promise<Listener> {
  const server = createSmallServer(handle, options)
  return {
    ...(await startListening(server, options)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
  }
}

function createSmallServer(
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
  // Node itself would answer a request without a Host header, which `createLimitedServer` then could not count.
  const server = createLimitedServer(
    { limits, tls, incomplete, passesRefusedRequests: true },
    (incoming, outgoing) => {
      if (incoming.headers.host === undefined && incoming.httpVersion === '1.1') {
        return sendResponse(outgoing, { status: 400, text: 'the header Host is missing\n' }, true)
      }
      readBody(incoming, maxBytes, (body) => {
        if (body === undefined)
          return sendResponse(outgoing, { status: 413, text: 'the body is too large\n' }, true)
        void callHandler(handle, incoming, body).then((each) =>
          sendResponse(outgoing, each, !server.listening),
        )
      })
    },
  )
  return server
}

async function callHandler(
  handle: SmallRequestHandler,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<SmallResponse> {
  const { method = '', url = '/' } = incoming
  const queryIndex = url.indexOf('?')
  try {
    return await handle({
      method,
      path: queryIndex === -1 ? url : url.slice(0, queryIndex),
      headers: (name) => incoming.headersDistinct[name] ?? [],
      body,
    })
  } catch {
    return { status: 500, text: 'internal error\n' }
  }
}

/**
 * Calls `onBody` with the whole body, or with undefined if it exceeds the limit. Does not call it for an aborted
 * request.
 */
function readBody(
  incoming: IncomingMessage,
  maxBytes: number,
  onBody: (body: Buffer | undefined) => void,
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
    onBody(undefined)
  })
  incoming.on('end', () => onBody(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
  // A client that disconnects before the end of its request gets no response.
  incoming.on('error', () => undefined)
}

function sendResponse(
  outgoing: ServerResponse,
  { status, text = '', contentType, headers }: SmallResponse,
  shouldClose: boolean,
): void {
  outgoing.writeHead(status, {
    ...headers,
    ...(text === '' ? {} : { 'content-type': contentType ?? 'text/plain; charset=utf-8' }),
    ...(status === 204 ? {} : { 'content-length': Buffer.byteLength(text) }),
    ...(shouldClose ? { connection: 'close' } : {}),
  })
  outgoing.end(text)
}
