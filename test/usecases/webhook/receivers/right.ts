import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { onTestFinished } from 'vitest'

import { readBytes, hasValidSignature, createEventStore, serve } from './served.ts'

/** A correct handler for each framework, which reads the raw bytes as its manual describes. */
export const rightHandlers: [framework: string, start: () => Promise<string>][] = [
  [
    'node:http',
    () => {
      const { statusFor } = createEventStore()
      return serve((request, response) => {
        const respond = async (): Promise<void> => {
          const body = await readBytes(request)
          response
            .writeHead(
              hasValidSignature(body, request.headers['x-service-signature']) ? statusFor(body) : 401,
            )
            .end()
        }
        void respond()
      })
    },
  ],
  [
    'express',
    () => {
      const { statusFor } = createEventStore()
      const app = express()
      app.post('/hook', express.raw({ type: () => true, limit: '1mb' }), (request, response) => {
        // For an empty body express.raw sets an empty object.
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        response.sendStatus(
          hasValidSignature(body, request.get('X-Service-Signature')) ? statusFor(body) : 401,
        )
      })
      return serve((request, response) => void app(request, response))
    },
  ],
  [
    'fastify',
    async () => {
      const { statusFor } = createEventStore()
      const app = fastify()
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
      app.post('/hook', (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        return reply
          .code(hasValidSignature(body, request.headers['x-service-signature']) ? statusFor(body) : 401)
          .send()
      })
      onTestFinished(() => app.close())
      return `${await app.listen({ port: 0, host: '127.0.0.1' })}/hook`
    },
  ],
  [
    'hono',
    () => {
      const { statusFor } = createEventStore()
      const app = new Hono()
      app.post('/hook', async (context) => {
        const body = new Uint8Array(await context.req.arrayBuffer())
        const isValid = hasValidSignature(body, context.req.header('x-service-signature'))
        return context.body(null, (isValid ? statusFor(body) : 401) as 204)
      })
      const listener = getRequestListener(app.fetch)
      return serve((request, response) => void listener(request, response))
    },
  ],
]
