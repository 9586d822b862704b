import { createServer } from 'node:http'

import { onTestFinished } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { type ListeningCommand, startListener } from './listening.ts'
import type { Session, Step } from './session.ts'

/** Starts `webhook listen` in a session. Its exit code and output are a step of the session. */
export async function startListening(
  { type }: Pick<Session, 'type'>,
  argv: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<ListeningCommand & { stop: () => Promise<Step>; ended: Promise<Step> }> {
  // Deliveries arrive in real time.
  const run = (line: readonly string[], options = {}) => type(line, { clock: systemClock, env, ...options })
  return (await startListener({ run }, argv)) as ListeningCommand & {
    stop: () => Promise<Step>
    ended: Promise<Step>
  }
}

export interface HandlerApp {
  url: string
  /** Bodies and signatures of the accepted deliveries, in sequence. */
  acceptedDeliveries: { body: string; signature: string }[]
  /** Statuses of the next answers; 204 after them. */
  answers: number[]
}

/** Starts the HTTP server that a user would forward events to. */
export async function startHandlerApp(): Promise<HandlerApp> {
  const state: HandlerApp = { url: '', acceptedDeliveries: [], answers: [] }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const status = state.answers.shift() ?? 204
      if (status < 300) {
        const signature = String(request.headers['x-service-signature'])
        state.acceptedDeliveries.push({ body: Buffer.concat(chunks).toString(), signature })
      }
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  state.url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/hooks`
  return state
}
