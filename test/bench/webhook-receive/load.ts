/* Posts signed deliveries side by side for a while: node load.ts URL SECRET; prints {perSecond, p99}. */
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'

import { sign, signingKey } from '../../../src/contract/signature.ts'

const [url = '', secret = ''] = process.argv.slice(2)
const key = signingKey(secret)
const agent = new Agent({ keepAlive: true, maxSockets: 32 })
const total = 8000
const sideBySide = 32

const deliveries = Array.from({ length: total }, () => {
  const body = JSON.stringify({ event: 'request.updated', request_id: randomUUID(), status: 'PARTIAL' })
  return { body, signature: sign(Buffer.from(body), key) }
})

function post(at: number): Promise<number> {
  const { body, signature } = deliveries[at] ?? { body: '', signature: '' }
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
let next = 0
const startedAt = performance.now()
await Promise.all(
  Array.from({ length: sideBySide }, async () => {
    while (next < total) {
      next += 1
      times.push(await post(next - 1))
    }
  }),
)
const perSecond = (total / (performance.now() - startedAt)) * 1000
agent.destroy()
times.sort((a, b) => a - b)
console.log(JSON.stringify({ perSecond, p99: times[Math.floor(times.length * 0.99)] }))
