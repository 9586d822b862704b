import { fastify } from 'fastify'

import { receive } from './receive.js'

const app = fastify()
// The signature covers the exact bytes, so the body is not parsed before.
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request, body) => body)
app.post('/', async (request, reply) => {
  const body = request.body ?? Buffer.alloc(0)
  return reply.code(receive(body, request.headers['x-service-signature'])).send()
})
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
