import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

import { openMachineStore } from './open-store.ts'
import type { Figure } from '../measuring.ts'
import { unlimitedQuota } from '../program.ts'
import { program } from '../../harness/program.ts'
import { fileBatch } from '../../store/ledger/files.ts'
import { systemClock } from '../../../src/host/clock.ts'

/** Number of orders a second that one key can send at full quota. */
const ordersPerKey = 1000 / 3600

interface Key {
  baseUrl: string
  apiKey: string
  userEmail: string
}

/** A process with a sandbox for each key, which reports the number of orders that each sandbox accepted. */
class Service {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(keyCount: number, quota: string) {
    const argv = [join(import.meta.dirname, 'child.ts'), String(keyCount), quota]
    this.#child = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'] })
    const { stdout } = this.#child
    if (stdout === null) throw new Error('the process has no stdout')
    this.#lines = createInterface(stdout)[Symbol.asyncIterator]()
  }

  async readLine<T>(): Promise<T> {
    const { value } = (await this.#lines.next()) as { value: string }
    return JSON.parse(value) as T
  }

  readOrderCounts(): Promise<number[]> {
    this.#child.stdin?.write('\n')
    return this.readLine()
  }

  stop(): void {
    this.#child.kill()
  }
}

export interface WorkerBenchmark {
  /** URL of the store. */
  url: string
  folder: string
  keyCount: number
  /** Duration of each measurement. */
  measurementMs: number
}

/** Runs the built `worker --profiles all`, with a profile for each key, until `observe` has measured its orders. */
async function runWorker<T>(
  { url, folder, keyCount: count }: WorkerBenchmark,
  { quota, rows }: { quota: string; rows: number },
  observe: (readOrderCounts: () => Promise<number[]>, keys: readonly Key[]) => Promise<T>,
): Promise<T> {
  const service = new Service(count, quota)
  const keys = await service.readLine<Key[]>()
  const config = join(folder, `worker ${quota.replaceAll('/', '-')}`)
  mkdirSync(config, { recursive: true, mode: 0o700 })
  const writeConfig = (file: string, content: object): void =>
    writeFileSync(join(config, file), JSON.stringify(content), { mode: 0o600 })
  const namedKeys = keys.map((key, index) => [`key${index}`, key] as const)
  writeConfig('config.json', {
    profiles: Object.fromEntries(
      namedKeys.map(([name, { baseUrl, userEmail }]) => [name, { base_url: baseUrl, user_email: userEmail }]),
    ),
  })
  writeConfig('credentials.json', {
    secrets: Object.fromEntries(
      namedKeys.map(([name, { baseUrl, apiKey }]) => [
        name,
        { 'api-key': { value: apiKey, base_url: baseUrl } },
      ]),
    ),
  })
  const store = await openMachineStore(url, join(folder, 'queueing'))
  for (const [index, { baseUrl, userEmail }] of keys.entries()) {
    const batch = fileBatch({ baseUrl, userEmail, packageId: 102, addedAt: systemClock.now() })
    await store.batches.add(
      batch,
      Array.from({ length: rows }, (_, row) => createOrderRow(index, row + 1)),
    )
    await store.batches.recordQueued(batch.id, systemClock.now())
  }
  await store.close()
  const worker = spawn(process.execPath, [program, 'worker', '--profiles', 'all'], {
    env: {
      PATH: process.env['PATH'],
      REFCHECK_STORE: url,
      REFCHECK_QUOTA: quota,
      REFCHECK_CONFIG_DIR: config,
      REFCHECK_DATA_DIR: join(config, 'data'),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(worker, 'close')
  try {
    return await observe(() => service.readOrderCounts(), keys)
  } finally {
    worker.kill('SIGTERM')
    await ended
    service.stop()
  }
}

function createOrderRow(key: number, row: number) {
  const recipient = {
    first_name: 'Ana',
    last_name: `Row${row}`,
    email: `a${row}.of${key}@example.com`,
    phone: `+614${String(key * 10_000 + row).padStart(8, '0')}`,
  }
  const body = Buffer.from(JSON.stringify({ package_id: 102, recipient }))
  return { row, state: 'pending' as const, packageId: 102, recipient, body }
}

/** Waits until every key has at least one order, and returns the order counts. */
async function waitForFirstOrders(readOrderCounts: () => Promise<number[]>): Promise<number[]> {
  for (;;) {
    const counts = await readOrderCounts()
    if (counts.every((count) => count > 0)) return counts
    await pause(200)
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/**
 * Measures how many keys one process can serve at full quota, from the orders a second that it sends for all keys when
 * no quota limits them.
 */
async function measureCapacity(benchmark: WorkerBenchmark): Promise<Figure[]> {
  const rows = Math.ceil((benchmark.measurementMs * 3) / benchmark.keyCount) + 20
  return runWorker(benchmark, { quota: unlimitedQuota, rows }, async (readOrderCounts) => {
    const countsBefore = await waitForFirstOrders(readOrderCounts)
    const startedAt = performance.now()
    await pause(benchmark.measurementMs)
    const countsAfter = await readOrderCounts()
    const ordersByKey = countsAfter.map((count, key) => count - (countsBefore[key] ?? 0))
    const rate = (sum(ordersByKey) / (performance.now() - startedAt)) * 1000
    const note = `${rate.toFixed(0)} orders a second for ${benchmark.keyCount} keys in one process, each of which needs ${ordersPerKey.toFixed(2)}`
    return [
      { label: 'keys that one worker serves at full quota', value: Math.floor(rate / ordersPerKey), note },
      {
        label: 'the slowest of its keys, to the mean',
        value: (Math.min(...ordersByKey) * ordersByKey.length) / sum(ordersByKey),
        note,
      },
    ]
  })
}

/** Measures how much of each key's quota windows one process uses. */
async function measureQuotaUse(benchmark: WorkerBenchmark): Promise<Figure[]> {
  // Each key may send as many orders a second as with the real quota, but in short windows.
  const seconds = 15
  const calls = Math.ceil(seconds * ordersPerKey)
  return runWorker(benchmark, { quota: `${calls}/${seconds}`, rows: calls * 40 }, async (readOrderCounts) => {
    await waitForFirstOrders(readOrderCounts)
    // The reads of each key before its first order count against the quota too, so their windows are waited for.
    await pause(seconds * 1000 * 2)
    const countsBefore = await readOrderCounts()
    await pause(seconds * 1000)
    const countsAfter = await readOrderCounts()
    const usedFractions = countsAfter.map((count, key) => (count - (countsBefore[key] ?? 0)) / calls)
    const note = `${benchmark.keyCount} keys, each ${calls} in ${seconds} s`
    return [
      {
        label: 'quota that one worker uses, of all its keys',
        value: sum(usedFractions) / usedFractions.length,
        atLeast: 0.97,
        note,
      },
      {
        label: 'fullest window of a key, of what it holds',
        value: Math.max(...usedFractions),
        atMost: 1,
        note,
      },
    ]
  })
}

/** Measures one worker that serves many keys. */
export async function measureWorker(benchmark: WorkerBenchmark): Promise<Figure[]> {
  return [...(await measureCapacity(benchmark)), ...(await measureQuotaUse(benchmark))]
}
