import { createServer } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { openCampaignStore } from './open-store.ts'
import { countMisplaced, statuses } from '../../acceptance/receiver/campaign.ts'
import { eventBody, postDelivery } from '../../harness/deliveries.ts'
import { createStore } from '../../harness/create-store.ts'
import { Cluster } from '../../harness/postgres-cluster.ts'
import { program } from '../../harness/program.ts'
import { type ReceiverProcess, startReceiverProcess } from '../../harness/receiver-process.ts'
import { emptyEnv } from '../../harness/service-env.ts'

export interface ReceiversTally {
  kills: number
  acknowledged: number
  /** Acknowledged events that are not in the database. */
  lost: number
  /** Deliveries that are in the database more than once. */
  repeated: number
  /** Events in the database that a client which polls for new events did not get. */
  skipped: number
  /** Events forwarded a second time, less the maximum number that kills can cause: `maxInFlight` for each. */
  forwardedAgain: number
  /** Events forwarded after a later event of the same request. */
  outOfOrder: number
  /** Events in the database that were never forwarded. */
  neverForwarded: number
}

const secret = 'a-secret-of-the-campaign'
/** Number of senders, which send events at the same time. */
const senderCount = 4
/** The minimum and maximum number of events between two kills. */
const eventsBetweenKills = { min: 10, max: 60 }
/** Fraction of the target's answers that are 503. */
const failureRate = 0.1
/** Maximum number of events that a receiver forwards at the same time. */
const maxInFlight = 8
/** How long the campaign waits at the end for events to be forwarded. */
const maxForwardWaitMs = 60_000

/** Runs two receivers that share a database, and repeatedly kills one of them while events arrive. */
export async function runReceivers(
  kills: number,
  rng: () => number,
  { program: programPath = program }: { program?: string } = {},
): Promise<ReceiversTally> {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-fleet-'))
  const cluster = await Cluster.start()
  const forwarded: string[] = []
  const targetServer = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const isHealthy = rng() >= failureRate
      if (isHealthy) forwarded.push(Buffer.concat(chunks).toString())
      response.writeHead(isHealthy ? 204 : 503).end()
    })
  })
  await new Promise<void>((resolve) => targetServer.listen(0, '127.0.0.1', resolve))
  const address = targetServer.address()
  const target = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
  const url = cluster.url(await cluster.create())
  const receivers: ReceiverProcess[] = []
  try {
    await createStore(url)
    const startReceiver = (index: number): Promise<ReceiverProcess> =>
      startReceiverProcess(
        ['--forward-to', target],
        {
          REFCHECK_STORE: url,
          ...emptyEnv(join(folder, `receiver${index}`)),
          REFCHECK_WEBHOOK_SECRET: secret,
        },
        'ignore',
        programPath,
      )
    receivers.push(await startReceiver(0), await startReceiver(1))
    const acknowledged: string[] = []
    const sendingEnded = { value: false }
    /** Sends each delivery again until one of the receivers acknowledges it, as the service does. */
    const send = async (sender: number): Promise<void> => {
      for (let count = 1; !sendingEnded.value; count += 1) {
        const id = `${(count * senderCount + sender).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
        for (const status of statuses) {
          const body = eventBody(id, status)
          for (let turn = sender; ; turn += 1) {
            const receiverUrl = receivers[turn % receivers.length]?.url ?? ''
            if ((await postDelivery(receiverUrl, secret, { body }).catch(() => 0)) === 204) break
            await pause(20)
          }
          acknowledged.push(body)
        }
      }
    }
    const sending = Array.from({ length: senderCount }, (_, index) => send(index))
    const readingEnded = { value: false }
    const readCountPromise = countEventsRead(url, folder, readingEnded)
    for (let kill = 0; kill < kills; kill += 1) {
      const targetCount =
        acknowledged.length +
        eventsBetweenKills.min +
        Math.floor(rng() * (eventsBetweenKills.max - eventsBetweenKills.min))
      while (acknowledged.length < targetCount) await pause(2)
      const index = Math.floor(rng() * receivers.length)
      receivers[index]?.child.kill('SIGKILL')
      await receivers[index]?.ended
      receivers[index] = await startReceiver(index)
    }
    sendingEnded.value = true
    await Promise.all(sending)
    readingEnded.value = true
    const readCount = await readCountPromise
    const stored = await readStoredBodies(url, folder)
    const listMissing = (): string[] => {
      const arrived = new Set(forwarded)
      return [...new Set(stored)].filter((body) => !arrived.has(body))
    }
    for (const deadline = Date.now() + maxForwardWaitMs; listMissing().length > 0 && Date.now() < deadline;)
      await pause(50)
    const uniqueStored = new Set(stored)
    return {
      kills,
      acknowledged: acknowledged.length,
      lost: acknowledged.filter((body) => !uniqueStored.has(body)).length,
      repeated: stored.length - uniqueStored.size,
      skipped: stored.length - readCount,
      forwardedAgain: Math.max(0, forwarded.length - new Set(forwarded).size - kills * maxInFlight),
      outOfOrder: countMisplaced(forwarded),
      neverForwarded: listMissing().length,
    }
  } finally {
    for (const { child, ended } of receivers) {
      child.kill('SIGKILL')
      await ended
    }
    await new Promise((resolve) => targetServer.close(resolve))
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Counts the events that a client receives that polls for events after the last one it received. The last poll
 * begins after `readingEnded.value` has become true.
 */
async function countEventsRead(
  url: string,
  folder: string,
  readingEnded: { value: boolean },
): Promise<number> {
  const store = await openCampaignStore(url, folder)
  let readCount = 0
  let lastId = 0
  for (let isLast = false; !isLast; await pause(1)) {
    isLast = readingEnded.value
    for await (const { id } of store.inbox.list({ after: lastId })) {
      lastId = id
      readCount += 1
    }
  }
  await store.close()
  return readCount
}

async function readStoredBodies(url: string, folder: string): Promise<string[]> {
  const store = await openCampaignStore(url, folder)
  const stored: string[] = []
  for await (const { body } of store.inbox.list()) stored.push(Buffer.from(body).toString())
  await store.close()
  return stored
}
