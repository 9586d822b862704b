import { createServer } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { misplaced, statuses } from '../../acceptance/receiver/campaign.ts'
import { eventBody, post } from '../../harness/deliveries.ts'
import { makeStore } from '../../harness/made-store.ts'
import { Cluster } from '../../harness/postgres-cluster.ts'
import { type ReceiverProcess, start } from '../../harness/receiver-process.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'

export interface ReceiversTally {
  kills: number
  acknowledged: number
  /** Acknowledged and not in the database. */
  lost: number
  /** Deliveries that the database holds more than once. */
  repeated: number
  /** Forwarded after a later one of the same request. */
  outOfOrder: number
  /** In the database and never forwarded. */
  stranded: number
}

const secret = 'a-secret-of-the-campaign'
const senders = 4
/** Events between two kills, at least and at most. */
const between = { least: 10, most: 60 }
/** Until what has not been forwarded counts as stranded. */
const longestMs = 60_000

/** Two receivers behind one address share a database; one or the other is killed while events pour in. */
export async function receivers(kills: number, rng: () => number): Promise<ReceiversTally> {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-fleet-'))
  const cluster = await Cluster.start()
  const forwarded: string[] = []
  const app = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      forwarded.push(Buffer.concat(chunks).toString())
      response.writeHead(204).end()
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
      start(['--forward-to', target], {
        REFCHECK_STORE: url,
        REFCHECK_CONFIG_DIR: join(folder, `receiver${at}`, 'config'),
        REFCHECK_DATA_DIR: join(folder, `receiver${at}`, 'data'),
        REFCHECK_WEBHOOK_SECRET: secret,
      })
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
    const kept = await keptIn(url, folder)
    const missing = (): string[] => {
      const arrived = new Set(forwarded)
      return [...new Set(kept)].filter((body) => !arrived.has(body))
    }
    for (const deadline = Date.now() + longestMs; missing().length > 0 && Date.now() < deadline;)
      await pause(50)
    const has = new Set(kept)
    return {
      kills,
      acknowledged: acknowledged.length,
      lost: acknowledged.filter((body) => !has.has(body)).length,
      repeated: kept.length - has.size,
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

async function keptIn(url: string, folder: string): Promise<string[]> {
  const paths = { config: join(folder, 'counting'), data: join(folder, 'counting') }
  const store = await openStore({ chosen: url, paths, cwd: folder, clock: systemClock, random: systemRandom })
  const kept: string[] = []
  for await (const { body } of store.inbox.list()) kept.push(Buffer.from(body).toString())
  await store.close()
  return kept
}
