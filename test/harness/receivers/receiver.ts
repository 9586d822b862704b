/**
 * A webhook receiver on node:http for tests of check-receiver: `node receiver.ts PORT FILE FAULT`. It stores each event as a line of
 * FILE and lists them at GET /stored. FAULT is "none", or one of the names below. The secret is in WEBHOOK_SECRET.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

const [port = '', file = '', fault = ''] = process.argv.slice(2)
const secret = process.env['WEBHOOK_SECRET'] ?? ''

interface Event {
  request_id: string
  status: string
}
const pairOf = ({ request_id, status }: Event): string => `${request_id} ${status}`
const isEvent = (value: unknown): value is Event =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Event).request_id === 'string' &&
  typeof (value as Event).status === 'string'

function storedLines(): Event[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Event)
}

/** The key by which the receiver recognises a duplicate. */
const keyOf = (event: Event): string => (fault === 'dedupes-on-request-id' ? event.request_id : pairOf(event))
/** Keys of the stored events, read from the file so that duplicates are found after a restart too. */
const storedKeys = new Set(fault === 'forgets-at-restart' ? [] : storedLines().map(keyOf))
const eventsInMemory: Event[] = []
const delayedEvents: Event[] = []
let count = 0

function writeEvent(event: Event): void {
  const line = `${JSON.stringify({ request_id: event.request_id, status: event.status })}\n`
  if (fault === 'memory-only') return void eventsInMemory.push(event)
  const descriptor = openSync(file, 'a')
  writeSync(descriptor, line)
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function storeEvent(event: Event): void {
  count += 1
  if (fault === 'loses-under-load' && requestsInProgress > 8 && count % 5 === 0) return
  const key = keyOf(event)
  if (fault !== 'never-dedupes' && storedKeys.has(key)) return
  storedKeys.add(key)
  if (fault !== 'out-of-order') return writeEvent(event)
  // Writes events in pairs, the later one first.
  delayedEvents.push(event)
  if (delayedEvents.length === 2) for (const each of delayedEvents.splice(0).reverse()) writeEvent(each)
}

function hasValidSignature(body: Buffer, signature: unknown): boolean {
  if (fault === 'any-signature') return true
  if (typeof signature !== 'string') return false
  const signedBytes =
    fault === 're-serialised' ? Buffer.from(JSON.stringify(JSON.parse(body.toString()))) : body
  const mac = createHmac('sha256', secret).update(signedBytes)
  if (fault === 'base64') return signature === mac.digest('base64')
  const expected = mac.digest('hex')
  if (fault === 'equals') return expected === signature
  return signature.length === 64 && timingSafeEqual(Buffer.from(expected), Buffer.from(signature))
}

let requestsInProgress = 0

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = (status: number): void => void response.writeHead(status).end()
  if (request.method === 'GET' && request.url === '/stored') {
    const events = fault === 'memory-only' ? eventsInMemory : [...storedLines(), ...delayedEvents]
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(events))
  }
  if (request.method !== 'POST') return reply(fault === 'accepts-get' ? 200 : 405)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  let event: unknown
  try {
    event = JSON.parse(body.toString())
  } catch {
    event = undefined
  }
  if (!hasValidSignature(body, request.headers['x-service-signature'])) {
    if (fault === 'keeps-forged' && isEvent(event)) storeEvent(event)
    return reply(401)
  }
  if (!isEvent(event)) return reply(400)
  const isRepeated = storedKeys.has(pairOf(event))
  if (fault === 'slow') await pause(1200)
  if (fault === '500-to-repeats' && isRepeated) return reply(500)
  if (fault === 'acknowledges-first') {
    reply(204)
    await pause(100)
    return storeEvent(event)
  }
  if (fault === 'loses-under-load') await pause(5)
  storeEvent(event)
  reply(204)
}

createServer((request, response) => {
  requestsInProgress += 1
  answer(request, response)
    .catch(() => response.writeHead(500).end())
    .finally(() => (requestsInProgress -= 1))
}).listen(Number(port), '127.0.0.1')
appendFileSync(file, '')
