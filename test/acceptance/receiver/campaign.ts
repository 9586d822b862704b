import { createServer } from 'node:http'
import { join } from 'node:path'

import { openStore } from '../../../src/store/ledger/open.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { eventBody, postDelivery } from '../../harness/deliveries.ts'
import { startReceiverProcess } from '../../harness/receiver-process.ts'
import { emptyEnv } from '../../harness/service-env.ts'

export interface Tally {
  kills: number
  acknowledged: number
  /** Acknowledged events that are not in the inbox. */
  lost: number
  /** Events that were forwarded after a later event of the same request. */
  outOfOrder: number
  /** Events in the inbox that were never forwarded. */
  notForwarded: number
}

const secret = 'a-secret-of-the-campaign'
export const statuses = ['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED']
const senders = 8
/** Maximum time that the last receiver has to forward all events. */
const maxForwardMs = 60_000

/**
 * Starts receivers one after the other on the same store, and kills each by SIGKILL while it receives and forwards
 * events.
 */
export async function killReceivers(folder: string, kills: number, rng: () => number): Promise<Tally> {
  const forwarded: string[] = []
  let onForwarded = (): void => undefined
  const targetServer = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      // The target answers 503 to a tenth of the events.
      const isHealthy = rng() < 0.9
      if (isHealthy) forwarded.push(Buffer.concat(chunks).toString())
      onForwarded()
      response.writeHead(isHealthy ? 204 : 503).end()
    })
  })
  await new Promise<void>((resolve) => targetServer.listen(0, '127.0.0.1', resolve))
  const address = targetServer.address()
  const forwardTo = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
  const env = { ...emptyEnv(folder), REFCHECK_WEBHOOK_SECRET: secret }
  const acknowledged: string[] = []
  let onAcknowledged = (): void => undefined
  let requestCount = 0
  /** Sends the events of one request after the other, until `signal.isOver` or until the receiver has ended. */
  const send = async (url: string, signal: { isOver: boolean }): Promise<void> => {
    while (!signal.isOver) {
      requestCount += 1
      const id = `${requestCount.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
      for (const status of statuses) {
        const body = eventBody(id, status)
        const answer = await postDelivery(url, secret, { body }).catch(() => undefined)
        if (answer !== 204) return
        acknowledged.push(body)
        onAcknowledged()
      }
    }
  }
  for (let kill = 0; kill < kills; kill += 1) {
    const receiver = await startReceiverProcess(['--forward-to', forwardTo], env)
    const signal = { isOver: false }
    const sending = Promise.all(Array.from({ length: senders }, () => send(receiver.url, signal)))
    const targetCount = acknowledged.length + 20 + Math.floor(rng() * 200)
    await new Promise<void>((resolve) => {
      onAcknowledged = () => {
        if (acknowledged.length >= targetCount) resolve()
      }
    })
    receiver.child.kill('SIGKILL')
    signal.isOver = true
    await sending
    await receiver.ended
  }
  const store = await openStore({
    chosenAddress: undefined,
    paths: { config: join(folder, 'config'), data: join(folder, 'data') },
    cwd: folder,
    clock: systemClock,
    random: systemRandom,
  })
  const stored = new Set<string>()
  for await (const { body } of store.inbox.list()) stored.add(Buffer.from(body).toString())
  const forwardedBodies = new Set(forwarded)
  const lastReceiver = await startReceiverProcess(['--forward-to', forwardTo], env)
  const allForwarded = new Promise<void>((resolve) => {
    onForwarded = () => {
      for (const body of forwarded) forwardedBodies.add(body)
      if ([...stored].every((body) => forwardedBodies.has(body))) resolve()
    }
    onForwarded()
  })
  const limitAbort = new AbortController()
  const limit = systemClock.sleep(maxForwardMs, limitAbort.signal).catch(() => undefined)
  await Promise.race([allForwarded, lastReceiver.ended, limit])
  limitAbort.abort()
  lastReceiver.child.kill('SIGKILL')
  await lastReceiver.ended
  await store.close()
  await new Promise((resolve) => targetServer.close(resolve))
  return {
    kills,
    acknowledged: acknowledged.length,
    lost: acknowledged.filter((body) => !stored.has(body)).length,
    outOfOrder: countMisplaced(forwarded),
    notForwarded: [...stored].filter((body) => !forwardedBodies.has(body)).length,
  }
}

/**
 * Counts the events that were forwarded after a later event of the same request. Only the first forwarding of each
 * event counts, because an event in flight is forwarded again if its receiver is killed.
 */
export function countMisplaced(forwarded: readonly string[]): number {
  const lastRanks = new Map<string, number>()
  let misplacedCount = 0
  for (const body of new Set(forwarded)) {
    const { request_id, status } = JSON.parse(body) as { request_id: string; status: string }
    const rank = statuses.indexOf(status)
    if (rank < (lastRanks.get(request_id) ?? 0)) misplacedCount += 1
    lastRanks.set(request_id, rank)
  }
  return misplacedCount
}
