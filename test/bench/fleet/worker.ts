import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

import { opened } from './opened.ts'
import type { Figure } from '../measuring.ts'
import { freeQuota } from '../program.ts'
import { program } from '../../harness/program.ts'
import { fileBatch } from '../../store/ledger/files.ts'
import { systemClock } from '../../../src/host/clock.ts'

/** An order of one key at full quota, a second. */
const aKey = 1000 / 3600

interface Key {
  baseUrl: string
  apiKey: string
  userEmail: string
}

/** Sandboxes, and how many orders each has taken. */
class Service {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(keys: number, quota: string) {
    const argv = [join(import.meta.dirname, 'child.ts'), String(keys), quota]
    this.#child = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'] })
    const { stdout } = this.#child
    if (stdout === null) throw new Error('it has no output')
    this.#lines = createInterface(stdout)[Symbol.asyncIterator]()
  }

  async line<T>(): Promise<T> {
    const { value } = (await this.#lines.next()) as { value: string }
    return JSON.parse(value) as T
  }

  orders(): Promise<number[]> {
    this.#child.stdin?.write('\n')
    return this.line()
  }

  stop(): void {
    this.#child.kill()
  }
}

export interface Work {
  /** Of the store. */
  url: string
  folder: string
  keys: number
  /** Milliseconds of each measurement. */
  ms: number
}

/** A `worker --profiles all` as it is shipped, with a profile for each key, while `observe` reads its orders. */
async function working<T>(
  { url, folder, keys: count }: Work,
  { quota, rows }: { quota: string; rows: number },
  observe: (orders: () => Promise<number[]>, keys: readonly Key[]) => Promise<T>,
): Promise<T> {
  const service = new Service(count, quota)
  const keys = await service.line<Key[]>()
  const config = join(folder, `worker ${quota.replaceAll('/', '-')}`)
  mkdirSync(config, { recursive: true, mode: 0o700 })
  const writeConfig = (file: string, content: object): void =>
    writeFileSync(join(config, file), JSON.stringify(content), { mode: 0o600 })
  const named = keys.map((key, at) => [`key${at}`, key] as const)
  writeConfig('config.json', {
    profiles: Object.fromEntries(
      named.map(([name, { baseUrl, userEmail }]) => [name, { base_url: baseUrl, user_email: userEmail }]),
    ),
  })
  writeConfig('credentials.json', {
    secrets: Object.fromEntries(
      named.map(([name, { baseUrl, apiKey }]) => [name, { 'api-key': { value: apiKey, base_url: baseUrl } }]),
    ),
  })
  const store = await opened(url, join(folder, 'queueing'))
  for (const [at, { baseUrl, userEmail }] of keys.entries()) {
    const batch = fileBatch({ baseUrl, userEmail, packageId: 102, addedAt: systemClock.now() })
    await store.batches.add(
      batch,
      Array.from({ length: rows }, (_, row) => orderOf(at, row + 1)),
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
    return await observe(() => service.orders(), keys)
  } finally {
    worker.kill('SIGTERM')
    await ended
    service.stop()
  }
}

function orderOf(key: number, row: number) {
  const recipient = {
    first_name: 'Ana',
    last_name: `Row${row}`,
    email: `a${row}.of${key}@example.com`,
    phone: `+614${String(key * 10_000 + row).padStart(8, '0')}`,
  }
  const body = Buffer.from(JSON.stringify({ package_id: 102, recipient }))
  return { row, state: 'pending' as const, packageId: 102, recipient, body }
}

/** Once every key has ordered. */
async function firstOrders(orders: () => Promise<number[]>): Promise<number[]> {
  for (;;) {
    const so = await orders()
    if (so.every((each) => each > 0)) return so
    await pause(200)
  }
}

const sum = (values: readonly number[]): number => values.reduce((so, each) => so + each, 0)

/** How many keys one process has time for: what it orders for so many at once, whose quotas are never exceeded. */
async function capacity(work: Work): Promise<Figure[]> {
  const rows = Math.ceil((work.ms * 3) / work.keys) + 20
  return working(work, { quota: freeQuota, rows }, async (orders) => {
    const before = await firstOrders(orders)
    const since = performance.now()
    await pause(work.ms)
    const after = await orders()
    const each = after.map((count, key) => count - (before[key] ?? 0))
    const rate = (sum(each) / (performance.now() - since)) * 1000
    const note = `${rate.toFixed(0)} orders a second for ${work.keys} keys in one process, each of which needs ${aKey.toFixed(2)}`
    return [
      { what: 'keys that one worker serves at full quota', value: Math.floor(rate / aKey), note },
      {
        what: 'the slowest of its keys, to the mean',
        value: (Math.min(...each) * each.length) / sum(each),
        note,
      },
    ]
  })
}

/** Windows of every key that one process fills, each key by itself. */
async function quotas(work: Work): Promise<Figure[]> {
  // As many orders a second in all as so many keys may have for real, in windows that are over soon.
  const seconds = 15
  const calls = Math.ceil(seconds * aKey)
  return working(work, { quota: `${calls}/${seconds}`, rows: calls * 40 }, async (orders) => {
    await firstOrders(orders)
    // What each key has read before its first order, the quota counts too.
    await pause(seconds * 1000 * 2)
    const before = await orders()
    await pause(seconds * 1000)
    const after = await orders()
    const used = after.map((count, key) => (count - (before[key] ?? 0)) / calls)
    const note = `${work.keys} keys, each ${calls} in ${seconds} s`
    return [
      {
        what: 'quota that one worker uses, of all its keys',
        value: sum(used) / used.length,
        atLeast: 0.97,
        note,
      },
      { what: 'fullest window of a key, of what it holds', value: Math.max(...used), atMost: 1, note },
    ]
  })
}

/** One process for very many keys. */
export async function workerFigures(work: Work): Promise<Figure[]> {
  return [...(await capacity(work)), ...(await quotas(work))]
}
