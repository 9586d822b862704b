import type { IncomingMessage, ServerResponse } from 'node:http'

import { readBytes, hmac, hasValidSignature, createEventStore, serve } from './served.ts'

/** The steps of a correct handler on node:http; a test replaces one by a faulty step. */
export interface Steps {
  /** Reads the body. */
  read: (request: IncomingMessage) => Promise<Buffer>
  /** Returns the signature in the headers; undefined if there is none. */
  signature: (request: IncomingMessage) => unknown
  isSignatureValid: (body: Buffer, signature: unknown) => boolean
  /** Stores the event, and returns the status of the answer. */
  statusFor: (body: Buffer) => number | Promise<number>
  answer: (response: ServerResponse, status: number) => void
}

type Event = Record<'event' | 'request_id' | 'status', string> & Record<string, unknown>

/** Returns a function that starts a handler with these steps in place of the correct ones, and returns its URL. */
export function handler(steps: Partial<Steps>): () => Promise<string> {
  return () => {
    const correctSteps: Steps = {
      read: readBytes,
      signature: (request) => request.headers['x-service-signature'],
      isSignatureValid: hasValidSignature,
      statusFor: createEventStore().statusFor,
      answer: (response, status) => void response.writeHead(status).end(),
    }
    const allSteps = { ...correctSteps, ...steps }
    return serve((request, response) => {
      const respond = async (): Promise<void> => {
        const body = await allSteps.read(request)
        const status = allSteps.isSignatureValid(body, allSteps.signature(request))
          ? await allSteps.statusFor(body)
          : 401
        allSteps.answer(response, status)
      }
      // Frameworks answer an unhandled error with 500.
      respond().catch(() => response.writeHead(500).end())
    })
  }
}

/** Returns a handler with `statusFor` for parsed events; a body that is not an event is refused. */
export function handlerForEvents(
  statusFor: (event: Event) => number | Promise<number>,
): () => Promise<string> {
  return handler({
    statusFor(body) {
      const status = createEventStore().statusFor(body)
      return status === 400 ? status : statusFor(JSON.parse(body.toString()) as Event)
    },
  })
}

/** Returns a handler with another comparison of the expected and the received signature. */
export function handlerWithComparison(
  matches: (expected: string, received: string) => boolean,
): () => Promise<string> {
  return handler({
    isSignatureValid: (body, signature) => typeof signature === 'string' && matches(hmac(body), signature),
  })
}
