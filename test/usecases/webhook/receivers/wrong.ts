import { createHmac, timingSafeEqual } from 'node:crypto'

import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { onTestFinished } from 'vitest'

import { handlerWithComparison, handler, handlerForEvents } from './handler.ts'
import { readBytes, hasValidSignature, serve } from './served.ts'

/** A handler with one planted fault, and the cases that have to find it. */
export interface PlantedHandler {
  fault: string
  /** Starts the handler, and returns its URL. */
  start: () => Promise<string>
  /** Ids of the cases that have to fail. */
  failedCases: string[]
  /** Ids of the cases that have to report advice, not a failure. */
  advisedCases?: string[]
}

const reformatted = ['bytes-spaced', 'bytes-escaped', 'bytes-newline']
const everySignature = [
  'signature-missing',
  'signature-empty',
  'signature-wrong',
  'signature-prefixed',
  'signature-doubled',
  'signature-cut',
  'signature-longer',
  'signature-not-hex',
]

const frameworks: PlantedHandler[] = [
  {
    fault: 'express: express.json(), then verifies the output of JSON.stringify',
    start() {
      const app = express()
      app.post('/hook', express.json(), (request, response) => {
        const text = JSON.stringify(request.body)
        response.sendStatus(
          hasValidSignature(Buffer.from(text), request.get('x-service-signature')) ? 204 : 401,
        )
      })
      return serve((request, response) => void app(request, response))
    },
    failedCases: [...reformatted, 'body-reformatted'],
    advisedCases: ['verify-before-parsing'],
  },
  {
    fault: 'verifies the body as json.dumps of Python formats it',
    start: handler({
      isSignatureValid(body, signature) {
        const value = JSON.stringify(JSON.parse(body.toString()))
        return hasValidSignature(
          Buffer.from(value.replaceAll('":"', '": "').replaceAll('","', '", "')),
          signature,
        )
      },
    }),
    failedCases: ['good-event'],
  },
  {
    fault: 'fastify: its own JSON parser, then verifies the output of JSON.stringify',
    async start() {
      const app = fastify()
      app.post('/hook', (request, reply) => {
        const text = JSON.stringify(request.body)
        return reply
          .code(hasValidSignature(Buffer.from(text), request.headers['x-service-signature']) ? 204 : 401)
          .send()
      })
      onTestFinished(() => app.close())
      return `${await app.listen({ port: 0, host: '127.0.0.1' })}/hook`
    },
    failedCases: [...reformatted, 'body-reformatted'],
    advisedCases: ['verify-before-parsing'],
  },
  {
    fault: 'hono: context.req.json(), then verifies the output of JSON.stringify',
    start() {
      const app = new Hono()
      // This is the default behaviour without printing the error.
      app.onError((_error, context) => context.body(null, 500))
      app.post('/hook', async (context) => {
        const text = JSON.stringify(await context.req.json())
        const isValid = hasValidSignature(Buffer.from(text), context.req.header('x-service-signature'))
        return context.body(null, isValid ? 204 : 401)
      })
      const listener = getRequestListener(app.fetch)
      return serve((request, response) => void listener(request, response))
    },
    failedCases: [...reformatted, 'body-reformatted', 'verify-before-parsing'],
    advisedCases: ['signed-oddities'],
  },
  {
    fault: 'express: express.raw for exactly application/json of at most 4 kB',
    start() {
      const app = express()
      app.post('/hook', express.raw({ type: 'application/json', limit: '4kb' }), (request, response) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        response.sendStatus(hasValidSignature(body, request.get('x-service-signature')) ? 204 : 401)
      })
      return serve((request, response) => void app(request, response))
    },
    failedCases: ['error-reason-odd'],
  },
]

const comparisons: PlantedHandler[] = [
  {
    fault: 'never verifies',
    start: handler({ isSignatureValid: () => true }),
    failedCases: [...everySignature, 'body-edited', 'body-reformatted', 'verify-before-parsing'],
    advisedCases: ['signature-upper-case', 'signature-base64'],
  },
  {
    fault: 'verifies only if there is a signature',
    start: handler({
      isSignatureValid: (body, signature) =>
        signature === undefined || signature === '' || hasValidSignature(body, signature),
    }),
    failedCases: ['signature-missing', 'signature-empty'],
  },
  {
    fault: 'accepts a signature with an empty secret as well',
    start: handler({
      isSignatureValid: (body, signature) =>
        hasValidSignature(body, signature) ||
        signature === createHmac('sha256', '').update(body).digest('hex'),
    }),
    failedCases: ['signature-wrong'],
  },
  {
    fault: 'compares without case',
    start: handlerWithComparison((expected, received) => expected === received.toLowerCase()),
    failedCases: [],
    advisedCases: ['signature-upper-case'],
  },
  {
    fault: 'removes a prefix of the signature',
    start: handlerWithComparison((expected, received) => expected === received.replace(/^sha256=/, '')),
    failedCases: ['signature-prefixed'],
  },
  {
    fault: 'accepts a header that starts with the signature',
    start: handlerWithComparison((expected, received) => received.startsWith(expected)),
    failedCases: ['signature-doubled', 'signature-longer'],
  },
  {
    fault: 'accepts a header with only the start of the signature',
    start: handlerWithComparison((expected, received) => expected.startsWith(received)),
    failedCases: ['signature-empty', 'signature-cut'],
  },
  {
    fault: 'accepts a header that contains the signature',
    start: handlerWithComparison((expected, received) => received.includes(expected)),
    failedCases: ['signature-prefixed', 'signature-doubled', 'signature-longer'],
  },
  {
    fault: 'compares the bytes decoded from hexadecimal, which end at the first other character',
    start: handlerWithComparison((expected, received) =>
      Buffer.from(expected, 'hex').equals(Buffer.from(received, 'hex')),
    ),
    failedCases: ['signature-longer'],
    advisedCases: ['signature-upper-case', 'signature-doubled'],
  },
  {
    fault: 'compares only as many bytes as the header has',
    start: handlerWithComparison((expected, received) => {
      // A text that is not hexadecimal has no bytes here, so that the digits at the start of base64 do not matter.
      const bytes = Buffer.from(/^[\da-f]*$/i.test(received) ? received : '', 'hex')
      return timingSafeEqual(bytes, Buffer.from(expected, 'hex').subarray(0, bytes.length))
    }),
    failedCases: [
      'signature-empty',
      'signature-prefixed',
      'signature-cut',
      'signature-longer',
      'signature-not-hex',
    ],
    advisedCases: ['signature-upper-case', 'signature-base64', 'signature-doubled'],
  },
  {
    fault: 'throws if the length differs, as timingSafeEqual does',
    start: handlerWithComparison((expected, received) =>
      timingSafeEqual(Buffer.from(expected), Buffer.from(received)),
    ),
    failedCases: [],
    advisedCases: [
      'signature-empty',
      'signature-base64',
      'signature-prefixed',
      'signature-doubled',
      'signature-cut',
      'signature-longer',
    ],
  },
  {
    fault: 'takes the first of two signatures',
    start: handler({ signature: (request) => request.headersDistinct['x-service-signature']?.[0] }),
    failedCases: [],
    advisedCases: ['signature-doubled'],
  },
  {
    fault: 'reads the header in only one spelling',
    start: handler({
      signature: ({ rawHeaders }) => rawHeaders[rawHeaders.indexOf('X-Service-Signature') + 1],
    }),
    failedCases: ['header-case'],
    advisedCases: ['signature-doubled'],
  },
]

const bodies: PlantedHandler[] = [
  {
    fault: 'changes CRLF to LF',
    start: handler({
      read: async (request) => Buffer.from((await readBytes(request)).toString().replaceAll('\r\n', '\n')),
    }),
    failedCases: ['bytes-newline'],
  },
  {
    fault: 'trims the body',
    start: handler({ read: async (request) => Buffer.from((await readBytes(request)).toString().trim()) }),
    failedCases: ['bytes-newline', 'body-reformatted'],
  },
  {
    fault: 'reads the body as Latin-1',
    start: handler({ read: async (request) => Buffer.from((await readBytes(request)).toString('latin1')) }),
    failedCases: ['error-reason-odd', 'bytes-utf8', 'chunked'],
  },
  {
    fault: 'decodes each chunk separately',
    start: handler({
      async read(request) {
        let text = ''
        for await (const chunk of request) text += (chunk as Buffer).toString()
        return Buffer.from(text)
      },
    }),
    failedCases: ['chunked'],
  },
  {
    fault: 'reads only as many bytes as Content-Length states',
    start: handler({
      read: async (request) =>
        (await readBytes(request)).subarray(0, Number(request.headers['content-length'] ?? 0)),
    }),
    failedCases: ['chunked'],
  },
  {
    fault: 'parses before it verifies, and fails if the body is not JSON',
    start: handler({
      async read(request) {
        const body = await readBytes(request)
        if (body.length > 0) JSON.parse(body.toString())
        return body
      },
    }),
    failedCases: ['verify-before-parsing'],
    advisedCases: ['body-reformatted', 'signed-oddities'],
  },
  {
    fault: 'requires exactly application/json',
    start: handler({
      signature: (request) =>
        request.headers['content-type'] === 'application/json'
          ? request.headers['x-service-signature']
          : undefined,
    }),
    failedCases: [],
    advisedCases: ['content-type-charset'],
  },
]

const statuses = new Set(['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'ERROR', 'CANCELLED'])

const events: PlantedHandler[] = [
  {
    fault: 'fails at an unknown status',
    start: handlerForEvents(({ status }) => {
      if (!statuses.has(status)) throw new Error('unknown status')
      return 204
    }),
    failedCases: ['unknown-status'],
    advisedCases: ['signed-oddities'],
  },
  {
    fault: 'refuses an unknown status',
    start: handlerForEvents(({ status }) => (statuses.has(status) ? 204 : 422)),
    failedCases: [],
    advisedCases: ['unknown-status'],
  },
  {
    fault: 'refuses unknown fields',
    start: handlerForEvents((event) =>
      Object.keys(event).every((name) => /^(event|request_id|status|error_reason)$/.test(name)) ? 204 : 400,
    ),
    failedCases: ['extra-fields'],
  },
  {
    fault: 'requires a reason with ERROR',
    start: handlerForEvents(({ status, error_reason }) =>
      status === 'ERROR' && error_reason === undefined ? 400 : 204,
    ),
    failedCases: ['error-without-reason'],
  },
  {
    fault: 'accepts only the statuses COMPLETED and ERROR',
    start: handlerForEvents(({ status }) => (['COMPLETED', 'ERROR'].includes(status) ? 204 : 400)),
    failedCases: ['every-status', 'out-of-order'],
    advisedCases: ['unknown-status'],
  },
  {
    fault: 'refuses duplicates with 409',
    start: refuseDuplicates(),
    failedCases: ['duplicate', 'duplicate-at-once'],
  },
  { fault: 'refuses a status that comes late', start: refuseLateStatuses(), failedCases: ['out-of-order'] },
  {
    fault: 'fails if the same event is delivered twice at once',
    start: createRacingHandler(),
    failedCases: ['duplicate-at-once'],
  },
  {
    fault: 'accepts at most ten deliveries at once',
    start: createLimitedHandler(),
    failedCases: [],
    advisedCases: ['burst'],
  },
  { fault: 'answers with a redirect', start: handler({ statusFor: () => 302 }), failedCases: ['good-event'] },
]

function refuseDuplicates(): () => Promise<string> {
  const seen = new Set<string>()
  return handlerForEvents(({ request_id, status }) => {
    const pair = `${request_id} ${status}`
    if (seen.has(pair)) return 409
    seen.add(pair)
    return 204
  })
}

function refuseLateStatuses(): () => Promise<string> {
  const completed = new Set<string>()
  return handlerForEvents(({ request_id, status }) => {
    if (completed.has(request_id) && status !== 'COMPLETED') return 409
    if (status === 'COMPLETED') completed.add(request_id)
    return 204
  })
}

/** Waits until `isReached` is true, for at most 5000 turns of the event loop. */
async function waitUntil(isReached: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5000 && !isReached(); turn += 1)
    await new Promise((resolve) => setImmediate(resolve))
}

/** Returns a handler that reads and then stores the pair without a lock, so that the second of two fails. */
function createRacingHandler(): () => Promise<string> {
  const rows = new Set<string>()
  return handlerForEvents(async ({ request_id, status }) => {
    const pair = `${request_id} ${status}`
    if (rows.has(pair)) return 204
    // The slower of two deliveries finds the row of the faster one.
    await waitUntil(() => rows.has(pair))
    if (rows.has(pair)) throw new Error('unique constraint')
    rows.add(pair)
    return 204
  })
}

function createLimitedHandler(): () => Promise<string> {
  let activeCount = 0
  let hasRefused = false
  return handlerForEvents(async () => {
    if (activeCount >= 10) {
      hasRefused = true
      return 503
    }
    activeCount += 1
    await waitUntil(() => hasRefused)
    activeCount -= 1
    return 204
  })
}

export const plantedFaults: readonly PlantedHandler[] = [...frameworks, ...comparisons, ...bodies, ...events]
