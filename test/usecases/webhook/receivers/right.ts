import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { onTestFinished } from 'vitest'

import { bytesOf, isGood, ledger, serve } from './served.ts'

/** A correct handler for each framework, which reads the raw bytes as its manual describes. */
export const rightHandlers: [framework: string, start: () => Promise<string>][] = [
  [
    'node:http',
    () => {
      const { statusFor } = ledger()
      return serve((request, response) => {
        const work = async (): Promise<void> => {
          const body = await bytesOf(request)
          response
            .writeHead(isGood(body, request.headers['x-service-signature']) ? statusFor(body) : 401)
            .end()
        }
        void work()
      })
    },
  ],
  [
    'express',
    () => {
      const { statusFor } = ledger()
      const app = express()
      app.post('/hook', express.raw({ type: () => true, limit: '1mb' }), (request, response) => {
        // For an empty body express.raw sets an empty object.
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        response.sendStatus(isGood(body, request.get('X-Service-Signature')) ? statusFor(body) : 401)
      })
      return serve((request, response) => void app(request, response))
    },
  ],
  [
    'fastify',
    async () => {
      const { statusFor } = ledger()
      const app = fastify()
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
      app.post('/hook', (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        return reply.code(isGood(body, request.headers['x-service-signature']) ? statusFor(body) : 401).send()
      })
      onTestFinished(() => app.close())
      return `${await app.listen({ port: 0, host: '127.0.0.1' })}/hook`
    },
  ],
  [
    'hono',
    () => {
      const { statusFor } = ledger()
      const app = new Hono()
      app.post('/hook', async (context) => {
        const body = new Uint8Array(await context.req.arrayBuffer())
        const good = isGood(body, context.req.header('x-service-signature'))
        return context.body(null, (good ? statusFor(body) : 401) as 204)
      })
      const listener = getRequestListener(app.fetch)
      return serve((request, response) => void listener(request, response))
    },
  ],
]
