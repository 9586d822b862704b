import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Submission } from '../../../src/domain/submission/submission.ts'
import { type CountingService, startCountingService } from './counting-service.ts'
import { type Orderer, startOrderer } from './orderer.ts'
import { sampleOf } from '../../harness/share.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('kill', { mustNotHappen: 'kills with a second or lost order' })

const email = 'ana.silva@example.com'
let folder: string
let service: CountingService
/** A process that makes the orders without a kill. */
let survivor: Orderer

/** Totals of all kills, printed at the end. */
const figures = { kills: 0, duplicates: 0, lost: 0, unknown: 0 }

beforeAll(async () => {
  survivor = await startOrderer()
})
afterAll(async () => {
  await survivor.kill()
  const { kills, duplicates, lost, unknown } = figures
  console.info(`${kills} kills: ${duplicates} duplicates, ${lost} lost, ${unknown} unknown`)
})
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-kill-'))
  service = await startCountingService()
})
afterEach(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

async function readSubmissions(): Promise<Submission[]> {
  const paths = { config: folder, data: folder }
  const options = { chosenAddress: undefined, paths, cwd: folder, clock: systemClock, random: systemRandom }
  const store = await openStore(options)
  const submissions = await store.ledger.list({})
  await store.close()
  return submissions
}

/** Orders the person again, without a kill. Returns the error code, or the request id if the person was ordered. */
async function orderAgain(allowDuplicate = false): Promise<string | undefined> {
  const report = await survivor.order({ folder, baseUrl: service.baseUrl, email, allowDuplicate })
  return report?.code ?? report?.requestId
}

/** The points before and after every call that a single order makes of its store and of the service, in sequence. */
const killPoints: [point: string, isSentBefore: boolean, state: Submission['state'] | undefined][] = [
  ['before acquire', false, undefined],
  ['after acquire', false, undefined],
  ['before recover', false, undefined],
  ['after recover', false, undefined],
  ['before add', false, undefined],
  ['after add', false, 'cancelled'],
  ['before beginInQuota', false, 'cancelled'],
  ['after beginInQuota', false, 'unknown'],
  ['before createRequest', false, 'unknown'],
  ['after createRequest', true, 'unknown'],
  ['before move', true, 'unknown'],
  ['after move', true, 'accepted'],
  ['before release', true, 'accepted'],
  ['after release', true, 'accepted'],
]

describe.each(sampleOf(killPoints, 7))('a process killed %s', (killAt, isSent, state) => {
  test('no person is ordered twice, and nothing is lost', async () => {
    const killedOrderer = await startOrderer()
    expect(await killedOrderer.order({ folder, baseUrl: service.baseUrl, email, killAt })).toBeUndefined()
    expect(killedOrderer.process.signalCode ?? (await waitForSignal(killedOrderer))).toBe('SIGKILL')
    expect(service.listRequestIds(email)).toHaveLength(isSent ? 1 : 0)

    const secondOutcome = await orderAgain()
    const [requestId] = service.listRequestIds(email)
    const canOrderAgain = state === undefined || state === 'cancelled'
    expect(secondOutcome).toBe(canOrderAgain ? requestId : 'duplicate')
    const rows = await readSubmissions()
    figures.kills += 1
    figures.duplicates += Math.max(0, service.listRequestIds(email).length - 1)
    const unknown = rows.filter((row) => row.state === 'unknown').length
    const recordedIds = new Set(rows.map((row) => row.requestId))
    figures.unknown += unknown
    if (unknown === 0)
      figures.lost += service.listRequestIds(email).filter((id) => !recordedIds.has(id)).length
    expect(rows.map((row) => row.state)).toEqual(
      [state, ...(canOrderAgain ? ['accepted'] : [])].filter((each) => each !== undefined),
    )
    expect(rows.at(-1)?.requestId).toBe(state === 'unknown' ? undefined : requestId)
    expect(service.listRequestIds(email)).toHaveLength(canOrderAgain || isSent ? 1 : 0)
  })
})

async function waitForSignal(orderer: Orderer): Promise<string | null> {
  await new Promise((resolve) => orderer.process.once('exit', resolve))
  return orderer.process.signalCode
}

test('if a process is killed after the service accepted the order and before it answered, the outcome stays unknown', async () => {
  const killedOrderer = await startOrderer()
  service.beforeAnswer = async () => {
    service.beforeAnswer = undefined
    await killedOrderer.kill()
  }
  expect(await killedOrderer.order({ folder, baseUrl: service.baseUrl, email })).toBeUndefined()
  expect(await orderAgain()).toBe('duplicate')
  expect(await orderAgain(true)).toBe('duplicate')
  expect(service.listRequestIds(email)).toHaveLength(1)
  expect(await readSubmissions()).toMatchObject([{ state: 'unknown', attempts: 1 }])
})

test('an order in flight in a running process is not treated as unknown by another process', async () => {
  const runningOrderer = await startOrderer()
  const duringFlight: (string | undefined)[] = []
  service.beforeAnswer = async () => {
    service.beforeAnswer = undefined
    duringFlight.push(await orderAgain(), await orderAgain(true), (await readSubmissions())[0]?.state)
  }
  const report = await runningOrderer.order({ folder, baseUrl: service.baseUrl, email })
  await runningOrderer.kill()
  expect(duringFlight).toEqual(['duplicate', 'duplicate', 'sending'])
  expect(report?.requestId).toBe(service.listRequestIds(email)[0])
  expect(await readSubmissions()).toMatchObject([{ state: 'accepted' }])
})

test('if a process is killed before it recovers the row of a killed process, the next process recovers that row', async () => {
  const firstOrderer = await startOrderer()
  const secondOrderer = await startOrderer()
  await firstOrderer.order({ folder, baseUrl: service.baseUrl, email, killAt: 'after createRequest' })
  const otherOrder = { folder, baseUrl: service.baseUrl, email: 'other@example.com' }
  await secondOrderer.order({ ...otherOrder, killAt: 'before recover' })
  expect((await readSubmissions()).map(({ state }) => state)).toEqual(['sending'])
  expect((await survivor.order(otherOrder))?.requestId).toBe(service.listRequestIds(otherOrder.email)[0])
  expect((await readSubmissions()).map(({ state }) => state)).toEqual(['unknown', 'accepted'])
})
