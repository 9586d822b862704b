import { createServer } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { misplaced, statuses } from '../../acceptance/receiver/campaign.ts'
import { eventBody, post } from '../../harness/deliveries.ts'
import { makeStore } from '../../harness/made-store.ts'
import { Cluster } from '../../harness/postgres-cluster.ts'
import { program } from '../../harness/program.ts'
import { type ReceiverProcess, start } from '../../harness/receiver-process.ts'
import { emptyEnv } from '../../harness/service-env.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

export interface ReceiversTally {
  kills: number
  acknowledged: number
  /** Acknowledged and not in the database. */
  lost: number
  /** Deliveries that the database holds more than once. */
  repeated: number
  /** In the database, and not seen by a reader who asked for what is new again and again. */
  skipped: number
  /** Forwarded again, beyond what was under way when a receiver was killed. */
  forwardedAgain: number
  /** Forwarded after a later one of the same request. */
  outOfOrder: number
  /** In the database and never forwarded. */
  stranded: number
}

const secret = 'a-secret-of-the-campaign'
const senders = 4
/** Events between two kills, at least and at most. */
const between = { least: 10, most: 60 }
/** Of the target's answers that are no yes. */
const unwell = 0.1
/** Events that a receiver has under way to its target, at most. */
const underWay = 8
/** Until what has not been forwarded counts as stranded. */
const longestMs = 60_000

/** Two receivers behind one address share a database; one or the other is killed while events pour in. */
export async function receivers(
  kills: number,
  rng: () => number,
  { program: runs = program }: { program?: string } = {},
): Promise<ReceiversTally> {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-fleet-'))
  const cluster = await Cluster.start()
  const forwarded: string[] = []
  const app = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const isHealthy = rng() >= unwell
      if (isHealthy) forwarded.push(Buffer.concat(chunks).toString())
      response.writeHead(isHealthy ? 204 : 503).end()
    })
  })
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  const address = app.address()
  const target = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
  const url = cluster.url(await cluster.create())
  const running: ReceiverProcess[] = []
  try {
    await makeStore(url)
    const begin = (at: number): Promise<ReceiverProcess> =>
      start(
        ['--forward-to', target],
        {
          REFCHECK_STORE: url,
          ...emptyEnv(join(folder, `receiver${at}`)),
          REFCHECK_WEBHOOK_SECRET: secret,
        },
        'ignore',
        runs,
      )
    running.push(await begin(0), await begin(1))
    const acknowledged: string[] = []
    const over = { value: false }
    /** As the service does: the same delivery again until it is acknowledged, whichever receiver answers. */
    const send = async (sender: number): Promise<void> => {
      for (let count = 1; !over.value; count += 1) {
        const id = `${(count * senders + sender).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
        for (const status of statuses) {
          const body = eventBody(id, status)
          for (let turn = sender; ; turn += 1) {
            const to = running[turn % running.length]?.url ?? ''
            if ((await post(to, secret, { body }).catch(() => 0)) === 204) break
            await pause(20)
          }
          acknowledged.push(body)
        }
      }
    }
    const sending = Array.from({ length: senders }, (_, at) => send(at))
    const sent = { value: false }
    const reading = read(url, folder, sent)
    for (let kill = 0; kill < kills; kill += 1) {
      const until = acknowledged.length + between.least + Math.floor(rng() * (between.most - between.least))
      while (acknowledged.length < until) await pause(2)
      const at = Math.floor(rng() * running.length)
      running[at]?.child.kill('SIGKILL')
      await running[at]?.ended
      running[at] = await begin(at)
    }
    over.value = true
    await Promise.all(sending)
    sent.value = true
    const seen = await reading
    const stored = await storedIn(url, folder)
    const missing = (): string[] => {
      const arrived = new Set(forwarded)
      return [...new Set(stored)].filter((body) => !arrived.has(body))
    }
    for (const deadline = Date.now() + longestMs; missing().length > 0 && Date.now() < deadline;)
      await pause(50)
    const has = new Set(stored)
    return {
      kills,
      acknowledged: acknowledged.length,
      lost: acknowledged.filter((body) => !has.has(body)).length,
      repeated: stored.length - has.size,
      skipped: stored.length - seen,
      forwardedAgain: Math.max(0, forwarded.length - new Set(forwarded).size - kills * underWay),
      outOfOrder: misplaced(forwarded),
      stranded: missing().length,
    }
  } finally {
    for (const { child, ended } of running) {
      child.kill('SIGKILL')
      await ended
    }
    await new Promise((resolve) => app.close(resolve))
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function opened(url: string, folder: string): Promise<Store> {
  const paths = { config: join(folder, 'counting'), data: join(folder, 'counting') }
  return openStore({ chosen: url, paths, cwd: folder, clock: systemClock, random: systemRandom })
}

/** How many events a client sees that always asks for those after the last one, until it is over. */
async function read(url: string, folder: string, over: { value: boolean }): Promise<number> {
  const store = await opened(url, folder)
  let seen = 0
  let after = 0
  for (let isLast = false; !isLast; await pause(1)) {
    isLast = over.value
    for await (const { id } of store.inbox.list({ after })) {
      after = id
      seen += 1
    }
  }
  await store.close()
  return seen
}

async function storedIn(url: string, folder: string): Promise<string[]> {
  const store = await opened(url, folder)
  const stored: string[] = []
  for await (const { body } of store.inbox.list()) stored.push(Buffer.from(body).toString())
  await store.close()
  return stored
}
