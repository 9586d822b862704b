import { cpSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, expect } from 'vitest'

import { type LogEntry, type LogRecord, parseLog } from '../../../../src/domain/store/attempt-log.ts'
import { digest } from '../../../../src/store/ledger/attempt-log.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'
import { beginAttempt, newAttempt, someTime } from '../batches.ts'
import { fileBatch, orderRows } from '../files.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'

/** The store of the current test, its data folder and the folder of its attempt logs. */
export let setup: TemporaryStores
let data: string
export let logFolder: string

/** Creates a new folder for each test of a file. */
export function useFreshFolders(): void {
  beforeEach(() => {
    setup = createTemporaryStores()
    data = join(setup.folder, 'data')
    logFolder = join(setup.folder, 'config', 'attempts')
  })
  afterEach(() => setup.remove())
}

/** Adds a batch of four people, and begins its first `count` rows. */
export async function beginRows(count: number, store?: Store): Promise<{ store: Store; batchId: string }> {
  const openedStore = store ?? (await setup.openStore())
  const { id: batchId, ...batch } = fileBatch()
  await openedStore.batches.add({ id: batchId, ...batch }, orderRows(4))
  await beginNextRows(openedStore, batchId, count)
  return { store: openedStore, batchId }
}

/** Begins the next `count` pending rows of a batch. */
export async function beginNextRows(store: Store, batchId: string, count: number): Promise<void> {
  const lease = await store.batches.acquire(batchId)
  for (let remaining = count; remaining > 0; remaining -= 1) {
    const row = await store.batches.findNextPending(batchId)
    if (row === undefined || (await beginAttempt(store.ledger, row, newAttempt())) === undefined)
      throw new Error('the attempt did not begin')
  }
  await lease?.release()
}

/** Copies the data folder. Returns a function that restores the copy. */
export function copyDataFolder(): () => void {
  const copy = `${data}.copy`
  cpSync(data, copy, { recursive: true })
  return () => {
    rmSync(data, { recursive: true })
    renameSync(copy, data)
  }
}

export const listLogNames = () => readdirSync(logFolder).filter((name) => name.endsWith('.log'))
export const findLogPath = () => join(logFolder, listLogNames()[0] ?? '')
export const ioErrorWith = (words: string) => ({
  code: 'io',
  message: expect.stringContaining(words) as string,
})

/** Tries to acquire an existing batch, add a file and acquire a single order. Returns each error message, or "allowed". */
export async function tryToOrder(store: Store, batchId: string): Promise<unknown[]> {
  return Promise.all(
    [
      () => store.batches.acquire(batchId).then((lease) => lease?.release()),
      () => store.batches.add(fileBatch(), orderRows(1, 70)),
      () => store.ledger.acquire({ id: fileBatch().id, kind: 'single' }),
    ].map((operation) =>
      operation().then(
        () => 'allowed',
        (error: { message: string }) => error.message,
      ),
    ),
  )
}

/** Returns the result of `tryToOrder` for a store that refuses each order with a message that contains `words`. */
export const refusedWith = (words: string) => Array(3).fill(expect.stringContaining(words))

/** Reads the records of the attempt log from the disk. */
export const readRecords = (): LogRecord[] => parseLog(readFileSync(findLogPath()), digest).records
export const readEntries = (): LogEntry[] => readRecords().filter((record) => record.kind === 'entry')

/** The result of `tryToOrder` for a store that accepts orders. */
export const allAllowed: unknown[] = Array(3).fill('allowed')

export const acceptedOutcome = (requestId: string) =>
  ({ to: 'accepted', at: someTime, requestId, requestStatus: 'RECEIVED' }) as const
