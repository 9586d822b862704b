import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CountingService {
  baseUrl: string
  /** Returns the ids of the requests that were created for a person, oldest first. */
  listRequestIds(email: string): string[]
  /** If set, an order is accepted and counted at once, and answered when the promise of this function resolves. */
  beforeAnswer: (() => Promise<void>) | undefined
  close(): Promise<void>
}

/** Starts a service that accepts and counts every order. It does not prevent a second order for a person. */
export async function startCountingService(): Promise<CountingService> {
  const requestIds = new Map<string, string[]>()
  const server = createServer((request, response) => void handle(request, response))
  const service: CountingService = {
    baseUrl: '',
    listRequestIds: (email) => requestIds.get(email) ?? [],
    beforeAnswer: undefined,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { recipient } = JSON.parse(Buffer.concat(chunks).toString()) as { recipient: { email: string } }
    const request_id = randomUUID()
    requestIds.set(recipient.email, [...service.listRequestIds(recipient.email), request_id])
    await service.beforeAnswer?.()
    response.writeHead(201, { 'content-type': 'application/json' })
    const data = { request_id, status: 'RECEIVED' }
    response.end(JSON.stringify({ data, status_message: 'ok', message: '' }))
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  service.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return service
}
