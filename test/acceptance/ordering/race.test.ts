import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { type CountingService, startCountingService } from './counting-service.ts'
import { type Orderer, startOrderer } from './orderer.ts'
import { sampleOf } from '../../harness/share.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

const faultRow = recordForFaultTable('two-runners', { mustNotHappen: 'races with two orders' })

const rounds = 20
const storeCount = sampleOf(Array.from({ length: 100 }), 40).length
let folder: string
let service: CountingService
let orderers: Orderer[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-race-'))
  service = await startCountingService()
  orderers = await Promise.all([startOrderer(), startOrderer()])
})
afterAll(async () => {
  for (const orderer of orderers) await orderer.kill()
  await service.close()
  rmSync(folder, { recursive: true })
})

/** Orders the same person with both processes at the same time. Returns both outcomes, sorted. */
async function orderAtSameTime(store: string, email: string): Promise<(string | undefined)[]> {
  mkdirSync(store, { recursive: true })
  const command = { folder: store, baseUrl: service.baseUrl, email }
  const reports = await Promise.all(orderers.map((orderer) => orderer.order(command)))
  return reports.map((report) => report?.code ?? 'ordered').toSorted()
}

test(`of two processes that order the same person with a store that does not exist yet, exactly one orders: ${rounds} rounds`, async () => {
  faultRow.countCases(rounds)
  for (let round = 1; round <= rounds; round += 1) {
    const email = `new-${round}@example.com`
    const outcomes = await orderAtSameTime(join(folder, String(round)), email)
    expect([round, ...outcomes]).toEqual([round, 'duplicate', 'ordered'])
    expect(service.listRequestIds(email)).toHaveLength(1)
  }
})

test(`of two processes that order the same person with a store that has orders, exactly one orders: ${rounds} rounds`, async () => {
  faultRow.countCases(rounds)
  for (let round = 1; round <= rounds; round += 1) {
    const email = `known-${round}@example.com`
    const outcomes = await orderAtSameTime(join(folder, 'one'), email)
    expect([round, ...outcomes]).toEqual([round, 'duplicate', 'ordered'])
    expect(service.listRequestIds(email)).toHaveLength(1)
  }
})

test(`three processes create the same store at the same time, ${storeCount} times, and all can use it`, async () => {
  const program = new URL('opening-process.ts', import.meta.url).pathname
  const start = Date.now() + 1_000
  const args = [program, folder, String(start), String(storeCount), '20']
  const processes = [1, 2, 3].map(() => promisify(execFile)(process.execPath, args))
  await expect(Promise.all(processes)).resolves.toHaveLength(3)
})

test('two processes order two people in parallel', async () => {
  const store = join(folder, 'one')
  const reports = await Promise.all(
    orderers.map((orderer, index) =>
      orderer.order({ folder: store, baseUrl: service.baseUrl, email: `side-${index}@example.com` }),
    ),
  )
  expect(reports.map((report) => report?.requestId)).toEqual([
    service.listRequestIds('side-0@example.com')[0],
    service.listRequestIds('side-1@example.com')[0],
  ])
})
