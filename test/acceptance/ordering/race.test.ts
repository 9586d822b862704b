import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { type CountingService, countingService } from './counting-service.ts'
import { type Orderer, startOrderer } from './orderer.ts'
import { sampleOf } from '../../harness/share.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

const fault = recordForFaultTable('two-runners', 'races with two orders')

const rounds = 20
const stores = sampleOf(Array.from({ length: 100 }), 40).length
let folder: string
let service: CountingService
let orderers: Orderer[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-race-'))
  service = await countingService()
  orderers = await Promise.all([startOrderer(), startOrderer()])
})
afterAll(async () => {
  for (const orderer of orderers) await orderer.kill()
  await service.close()
  rmSync(folder, { recursive: true })
})

/** Both processes order the same person at the same moment. */
async function race(store: string, email: string): Promise<(string | undefined)[]> {
  mkdirSync(store, { recursive: true })
  const command = { folder: store, baseUrl: service.baseUrl, email }
  const reports = await Promise.all(orderers.map((orderer) => orderer.order(command)))
  return reports.map((report) => report?.code ?? 'ordered').toSorted()
}

test(`of two processes that order one person on a store not made yet, one does: ${rounds} rounds`, async () => {
  fault.countCases(rounds)
  for (let round = 1; round <= rounds; round += 1) {
    const email = `new-${round}@example.com`
    const ends = await race(join(folder, String(round)), email)
    expect([round, ...ends]).toEqual([round, 'duplicate', 'ordered'])
    expect(service.requestsOf(email)).toHaveLength(1)
  }
})

test(`and on one that has orders already: ${rounds} rounds`, async () => {
  fault.countCases(rounds)
  for (let round = 1; round <= rounds; round += 1) {
    const email = `known-${round}@example.com`
    const ends = await race(join(folder, 'one'), email)
    expect([round, ...ends]).toEqual([round, 'duplicate', 'ordered'])
    expect(service.requestsOf(email)).toHaveLength(1)
  }
})

test(`three processes make one store at the same moment, ${stores} times, and all can use it`, async () => {
  const program = new URL('opening-process.ts', import.meta.url).pathname
  const start = Date.now() + 1_000
  const args = [program, folder, String(start), String(stores), '20']
  const ends = [1, 2, 3].map(() => promisify(execFile)(process.execPath, args))
  await expect(Promise.all(ends)).resolves.toHaveLength(3)
})

test('two people are ordered side by side', async () => {
  const store = join(folder, 'one')
  const reports = await Promise.all(
    orderers.map((orderer, index) =>
      orderer.order({ folder: store, baseUrl: service.baseUrl, email: `side-${index}@example.com` }),
    ),
  )
  expect(reports.map((report) => report?.requestId)).toEqual([
    service.requestsOf('side-0@example.com')[0],
    service.requestsOf('side-1@example.com')[0],
  ])
})
