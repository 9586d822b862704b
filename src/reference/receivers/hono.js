import { serve } from '@hono/node-server'
import { Hono } from 'hono'

import { receive } from './receive.js'

const app = new Hono()
app.post('/', async (context) => {
  const body = new Uint8Array(await context.req.arrayBuffer())
  return context.body(null, receive(body, context.req.header('X-Service-Signature')))
})
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' })
