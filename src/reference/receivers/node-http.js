import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

import { receive } from './receive.js'

const server = createServer((request, response) => {
  const answer = (status) => response.writeHead(status).end()
  buffer(request)
    .then((body) => answer(receive(body, request.headers['x-service-signature'])))
    .catch(() => answer(500))
})
server.listen(process.env.PORT, '127.0.0.1')
