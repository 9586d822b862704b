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
  /** Acknowledged and not in the inbox. */
  lost: number
  /** Handed on after a later one of the same request. */
  outOfOrder: number
  /** In the inbox and never handed on. */
  stranded: number
}

const secret = 'a-secret-of-the-campaign'
export const statuses = ['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED']
const senders = 8
/** Until what the last run has not handed on counts as stranded. */
const longestMs = 60_000

/**
 * Ends a real receiver by SIGKILL again and again while events pour in and are handed on, each run on the same
 * store; `rng` gives numbers in [0, 1).
 */
export async function killReceivers(folder: string, kills: number, rng: () => number): Promise<Tally> {
  const taken: string[] = []
  let onTaken = (): void => undefined
  const app = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      // A handler that is not always well.
      const isHealthy = rng() < 0.9
      if (isHealthy) taken.push(Buffer.concat(chunks).toString())
      onTaken()
      response.writeHead(isHealthy ? 204 : 503).end()
    })
  })
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  const address = app.address()
  const forwardTo = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
  const env = { ...emptyEnv(folder), REFCHECK_WEBHOOK_SECRET: secret }
  const acknowledged: string[] = []
  let onAcknowledged = (): void => undefined
  let requests = 0
  /** A request's events one after another, each until it is acknowledged or the receiver is gone. */
  const send = async (url: string, signal: { over: boolean }): Promise<void> => {
    while (!signal.over) {
      requests += 1
      const id = `${requests.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
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
    const signal = { over: false }
    const sending = Promise.all(Array.from({ length: senders }, () => send(receiver.url, signal)))
    const until = acknowledged.length + 20 + Math.floor(rng() * 200)
    await new Promise<void>((resolve) => {
      onAcknowledged = () => {
        if (acknowledged.length >= until) resolve()
      }
    })
    receiver.child.kill('SIGKILL')
    signal.over = true
    await sending
    await receiver.ended
  }
  const store = await openStore({
    chosen: undefined,
    paths: { config: join(folder, 'config'), data: join(folder, 'data') },
    cwd: folder,
    clock: systemClock,
    random: systemRandom,
  })
  const stored = new Set<string>()
  for await (const { body } of store.inbox.list()) stored.add(Buffer.from(body).toString())
  const handedOn = new Set(taken)
  const last = await startReceiverProcess(['--forward-to', forwardTo], env)
  const all = new Promise<void>((resolve) => {
    onTaken = () => {
      for (const body of taken) handedOn.add(body)
      if ([...stored].every((body) => handedOn.has(body))) resolve()
    }
    onTaken()
  })
  const through = new AbortController()
  const limit = systemClock.sleep(longestMs, through.signal).catch(() => undefined)
  await Promise.race([all, last.ended, limit])
  through.abort()
  last.child.kill('SIGKILL')
  await last.ended
  await store.close()
  await new Promise((resolve) => app.close(resolve))
  return {
    kills,
    acknowledged: acknowledged.length,
    lost: acknowledged.filter((body) => !stored.has(body)).length,
    outOfOrder: misplaced(taken),
    stranded: [...stored].filter((body) => !handedOn.has(body)).length,
  }
}

/** First times alone: one that was handed on when the receiver died may come once more. */
export function misplaced(taken: readonly string[]): number {
  const reached = new Map<string, number>()
  let wrong = 0
  for (const body of new Set(taken)) {
    const { request_id, status } = JSON.parse(body) as { request_id: string; status: string }
    const rank = statuses.indexOf(status)
    if (rank < (reached.get(request_id) ?? 0)) wrong += 1
    reached.set(request_id, rank)
  }
  return wrong
}
