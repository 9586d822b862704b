/*
 * Measures receiving deliveries, compared with a bare node:http server that answers 204, in the same run: once with
 * verification only, and once with storage on the disk too. A separate process sends the deliveries.
 * Run: node test/bench/webhook-receive/run.ts
 */
import { execFile } from 'node:child_process'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { signingKey } from '../../../src/contract/signature.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { serveSmallRequests } from '../../../src/server/small-requests.ts'
import type { Inbox } from '../../../src/store/ledger/inbox.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import { createReceiver } from '../../../src/usecases/webhook/listen.ts'
import { median, printFigures } from '../measuring.ts'

const secret = 'a-secret-of-the-benchmark'
const rounds = 5
const run = promisify(execFile)

interface Load {
  perSecond: number
  p99: number
}

async function measureLoad(url: string): Promise<Load> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'load.ts'), url, secret])
  return JSON.parse(stdout) as Load
}

const limits = {
  host: '127.0.0.1',
  port: 0,
  maxBytes: 1_000_000,
  requestTimeoutMs: 10_000,
  idleTimeoutMs: 5_000,
}

async function measureReceiver(inbox: Pick<Inbox, 'add'>): Promise<Load> {
  const options = { inbox, key: signingKey(secret), clock: systemClock, path: '/', shouldForward: false }
  const server = await serveSmallRequests(
    createReceiver({
      ...options,
      onStored: () => undefined,
      onRefused: () => undefined,
      onUnstored: () => undefined,
    }),
    limits,
  )
  const result = await measureLoad(server.url)
  await server.close()
  return result
}

async function measureBareServer(): Promise<Load> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const result = await measureLoad(
    `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
  )
  server.closeAllConnections()
  server.close()
  return result
}

/** Returns the number of appends a second, each with fdatasync. */
function measureFlushes(folder: string): number {
  const file = openSync(join(folder, 'plain'), 'a')
  const startedAt = performance.now()
  for (let count = 0; count < 1000; count += 1) {
    writeSync(file, Buffer.alloc(300, 'x'))
    fdatasyncSync(file)
  }
  closeSync(file)
  return 1_000_000 / (performance.now() - startedAt)
}

const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
const store = await openStore({
  chosenAddress: join(folder, 'ledger.sqlite'),
  paths: { config: folder, data: folder },
  cwd: folder,
  clock: systemClock,
  random: systemRandom,
})
let eventCount = 0
const inboxWithoutStorage: Pick<Inbox, 'add'> = {
  add: async (events) => events.map(() => ({ id: (eventCount += 1), repeated: false })),
}
try {
  const rates: { bare: Load; verified: Load; stored: Load; flushed: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    const loads = {
      bare: await measureBareServer(),
      verified: await measureReceiver(inboxWithoutStorage),
      stored: await measureReceiver(store.inbox),
    }
    rates.push({ ...loads, flushed: measureFlushes(folder) })
  }
  const formatMedian = (selectRate: (round: (typeof rates)[number]) => number): string =>
    `${Math.round(median(rates.map(selectRate))).toLocaleString('en')}/s`
  printFigures([
    {
      label: 'events a second, verified, to bare node:http',
      value: median(rates.map((each) => each.verified.perSecond / each.bare.perSecond)),
      atLeast: 0.6,
      note: `${formatMedian((each) => each.verified.perSecond)} to ${formatMedian((each) => each.bare.perSecond)}`,
    },
    {
      label: 'verified and stored on the disk, to bare node:http',
      value: median(rates.map((each) => each.stored.perSecond / each.bare.perSecond)),
      note: `${formatMedian((each) => each.stored.perSecond)}; append + fdatasync, one event each: ${formatMedian((each) => each.flushed)}`,
    },
    {
      label: 'p99 of a delivery that is verified and stored',
      value: median(rates.map((each) => each.stored.p99)),
      unit: ' ms',
      atMost: 1000,
    },
  ])
} finally {
  await store.close()
  rmSync(folder, { recursive: true })
}
