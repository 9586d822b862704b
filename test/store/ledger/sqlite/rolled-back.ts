import { cpSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, expect } from 'vitest'

import { type LogEntry, type LogRecord, parseLog } from '../../../../src/domain/store/attempt-log.ts'
import { digest } from '../../../../src/store/ledger/attempt-log.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'
import { beginAttempt, newAttempt, someTime } from '../batches.ts'
import { fileBatch, orderRows } from '../files.ts'
import { type Scratch, scratch } from '../scratch.ts'

/** Where a test's store, its data and its attempt logs are. */
export let setup: Scratch
let data: string
export let logFolder: string

/** Gives each test of a file a folder of its own. */
export function freshFolders(): void {
  beforeEach(() => {
    setup = scratch()
    data = join(setup.folder, 'data')
    logFolder = join(setup.folder, 'config', 'attempts')
  })
  afterEach(() => setup.end())
}

/** Takes a file of four people in, and begins the first so many rows. */
export async function beginRows(count: number, store?: Store): Promise<{ store: Store; batchId: string }> {
  const here = store ?? (await setup.store())
  const { id: batchId, ...batch } = fileBatch()
  await here.batches.add({ id: batchId, ...batch }, orderRows(4))
  await goOn(here, batchId, count)
  return { store: here, batchId }
}

export async function goOn(store: Store, batchId: string, count: number): Promise<void> {
  const lease = await store.batches.acquire(batchId)
  for (let left = count; left > 0; left -= 1) {
    const row = await store.batches.findNextPending(batchId)
    if (row === undefined || (await beginAttempt(store.ledger, row, newAttempt())) === undefined)
      throw new Error('not begun')
  }
  await lease?.release()
}

/** A copy of the data folder, to be restored. */
export function copied(): () => void {
  const copy = `${data}.copy`
  cpSync(data, copy, { recursive: true })
  return () => {
    rmSync(data, { recursive: true })
    renameSync(copy, data)
  }
}

export const logNames = () => readdirSync(logFolder).filter((name) => name.endsWith('.log'))
export const logPath = () => join(logFolder, logNames()[0] ?? '')
export const closed = (words: string) => ({ code: 'io', message: expect.stringContaining(words) as string })

/** Whether a process that is about to order is let in: to a batch that is there, and with a file or a person who is new. */
export async function tries(store: Store, batchId: string): Promise<unknown[]> {
  return Promise.all(
    [
      () => store.batches.acquire(batchId).then((lease) => lease?.release()),
      () => store.batches.add(fileBatch(), orderRows(1, 70)),
      () => store.ledger.acquire({ id: fileBatch().id, kind: 'single' }),
    ].map((job) =>
      job().then(
        () => 'let in',
        (error: { message: string }) => error.message,
      ),
    ),
  )
}

export const shut = (words: string) => Array(3).fill(expect.stringContaining(words))

/** Lines of the attempt log, as it is on the disk. */
export const records = (): LogRecord[] => parseLog(readFileSync(logPath()), digest).records
export const entries = (): LogEntry[] => records().filter((record) => record.kind === 'entry')

/** What `tries` answers for a store that is open. */
export const letIn: unknown[] = Array(3).fill('let in')

export const accepted = (requestId: string) =>
  ({ to: 'accepted', at: someTime, requestId, requestStatus: 'RECEIVED' }) as const
