import express from 'express'

import { receive } from './receive.js'

const app = express()
// The signature covers the exact bytes, so express.json() must not run before this route.
app.post('/', express.raw({ type: () => true, limit: '1mb' }), (request, response) => {
  // Without a body, express.raw does not set request.body to a Buffer.
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  response.sendStatus(receive(body, request.get('X-Service-Signature')))
})
app.listen(process.env.PORT, '127.0.0.1')
