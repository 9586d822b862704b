/* Posts signed deliveries in parallel and prints {perSecond, p99}. Run by run.ts: node load.ts URL SECRET */
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'

import { sign, signingKey } from '../../../src/contract/signature.ts'

const [url = '', secret = ''] = process.argv.slice(2)
const key = signingKey(secret)
const agent = new Agent({ keepAlive: true, maxSockets: 32 })
const deliveryCount = 8000
const parallelCount = 32

const deliveries = Array.from({ length: deliveryCount }, () => {
  const body = JSON.stringify({ event: 'request.updated', request_id: randomUUID(), status: 'PARTIAL' })
  return { body, signature: sign(Buffer.from(body), key) }
})

function post(index: number): Promise<number> {
  const { body, signature } = deliveries[index] ?? { body: '', signature: '' }
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-service-signature': signature,
    }
    const call = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer
        .resume()
        .on('end', () =>
          answer.statusCode === 204
            ? resolve(performance.now() - startedAt)
            : reject(new Error(String(answer.statusCode))),
        )
    })
    call.on('error', reject)
    call.end(body)
  })
}

const times: number[] = []
let nextIndex = 0
const startedAt = performance.now()
await Promise.all(
  Array.from({ length: parallelCount }, async () => {
    while (nextIndex < deliveryCount) {
      nextIndex += 1
      times.push(await post(nextIndex - 1))
    }
  }),
)
const perSecond = (deliveryCount / (performance.now() - startedAt)) * 1000
agent.destroy()
times.sort((a, b) => a - b)
console.log(JSON.stringify({ perSecond, p99: times[Math.floor(times.length * 0.99)] }))
