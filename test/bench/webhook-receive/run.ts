/*
 * Receiving deliveries beside a bare node:http server that answers 204, in one run: verifying alone, and with the
 * durable keep. The load comes from a process of its own.
 * Run: node test/bench/webhook-receive/run.ts
 */
import { execFile } from 'node:child_process'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { signingKey } from '../../../src/contract/signature.ts'
import { receiver } from '../../../src/domain/webhook/receive.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { takeIn } from '../../../src/server/intake.ts'
import type { Inbox } from '../../../src/store/ledger/inbox.ts'
import { openStore } from '../../../src/store/ledger/open.ts'

const secret = 'a-secret-of-the-benchmark'
const rounds = 5
const run = promisify(execFile)

interface Load {
  perSecond: number
  p99: number
}

async function load(url: string): Promise<Load> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'load.ts'), url, secret])
  return JSON.parse(stdout) as Load
}

const limits = {
  host: '127.0.0.1',
  port: 0,
  maxBytes: 1_000_000,
  requestTimeoutMs: 10_000,
  idleTimeoutMs: 5_000,
  maxConnections: 512,
}

async function ours(inbox: Inbox): Promise<Load> {
  const options = { inbox, key: signingKey(secret), clock: systemClock, path: '/', forward: false }
  const server = await takeIn(
    receiver({ ...options, onKept: () => undefined, onRefused: () => undefined, onLost: () => undefined }),
    limits,
  )
  const result = await load(server.url)
  await server.close()
  return result
}

async function bare(): Promise<Load> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const result = await load(
    `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
  )
  server.closeAllConnections()
  server.close()
  return result
}

function flushes(folder: string): number {
  const file = openSync(join(folder, 'plain'), 'a')
  const startedAt = performance.now()
  for (let count = 0; count < 1000; count += 1) {
    writeSync(file, Buffer.alloc(300, 'x'))
    fdatasyncSync(file)
  }
  closeSync(file)
  return 1_000_000 / (performance.now() - startedAt)
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
const store = await openStore({
  chosen: join(folder, 'ledger.sqlite'),
  paths: { config: folder, data: folder },
  cwd: folder,
  clock: systemClock,
  random: systemRandom,
})
let count = 0
const nowhere = {
  ...store.inbox,
  add: async (events: readonly unknown[]) => events.map(() => ({ id: (count += 1), repeated: false })),
} as Inbox
try {
  const results: Record<string, Load[]> = { 'bare node:http': [], 'verify alone': [], 'verify and keep': [] }
  for (let round = 0; round < rounds; round += 1) {
    results['bare node:http']?.push(await bare())
    results['verify alone']?.push(await ours(nowhere))
    results['verify and keep']?.push(await ours(store.inbox))
  }
  const floor = median(results['bare node:http']?.map(({ perSecond }) => perSecond) ?? [])
  console.table(
    Object.entries(results).map(([what, loads]) => ({
      what,
      'events/s': Math.round(median(loads.map(({ perSecond }) => perSecond))),
      'to bare': (median(loads.map(({ perSecond }) => perSecond)) / floor).toFixed(2),
      'p99 ms': median(loads.map(({ p99 }) => p99)).toFixed(1),
      goal: what === 'verify alone' ? '0.6' : what === 'verify and keep' ? 'p99 < 1 s' : '',
    })),
  )
  console.log(`append + fdatasync, one event each: ${Math.round(flushes(folder))}/s`)
} finally {
  await store.close()
  rmSync(folder, { recursive: true })
}
