import { cpSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, expect } from 'vitest'

import { type LogEntry, type LogRecord, parseLog } from '../../../../src/domain/store/attempt-log.ts'
import { digest } from '../../../../src/store/ledger/attempt-log.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'
import { beginAttempt, newAttempt, someTime } from '../batches.ts'
import { fileBatch, orderRows } from '../files.ts'
import { type Scratch, scratch } from '../scratch.ts'

/** The store of the current test, its data folder and the folder of its attempt logs. */
export let setup: Scratch
let data: string
export let logFolder: string

/** Creates a new folder for each test of a file. */
export function freshFolders(): void {
  beforeEach(() => {
    setup = scratch()
    data = join(setup.folder, 'data')
    logFolder = join(setup.folder, 'config', 'attempts')
  })
  afterEach(() => setup.end())
}

/** Adds a batch of four people, and begins its first `count` rows. */
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

/** Copies the data folder. Returns a function that restores the copy. */
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

/** Tries to acquire an existing batch, add a file and acquire a single order. Returns each error message, or "let in". */
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

/** Reads the records of the attempt log from the disk. */
export const records = (): LogRecord[] => parseLog(readFileSync(logPath()), digest).records
export const entries = (): LogEntry[] => records().filter((record) => record.kind === 'entry')

/** The result of `tries` for a store that is open. */
export const letIn: unknown[] = Array(3).fill('let in')

export const accepted = (requestId: string) =>
  ({ to: 'accepted', at: someTime, requestId, requestStatus: 'RECEIVED' }) as const
