import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Submission } from '../../../src/domain/submission/submission.ts'
import { type CountingService, countingService } from './counting-service.ts'
import { type Orderer, startOrderer } from './orderer.ts'
import { sampleOf } from '../../harness/share.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('kill', 'kills with somebody twice or lost')

const email = 'ana.silva@example.com'
let folder: string
let service: CountingService
let survivor: Orderer

/** What the kills came to, printed at the end. */
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
  service = await countingService()
})
afterEach(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

async function submissions(): Promise<Submission[]> {
  const paths = { config: folder, data: folder }
  const options = { chosen: undefined, paths, cwd: folder, clock: systemClock, random: systemRandom }
  const store = await openStore(options)
  const found = await store.ledger.list({})
  await store.close()
  return found
}

/** What the next run of the same command comes to, with and without --allow-duplicate. */
async function again(allowDuplicate = false): Promise<string | undefined> {
  const report = await survivor.order({ folder, baseUrl: service.baseUrl, email, allowDuplicate })
  return report?.code ?? report?.requestId
}

/** Every call that a single order makes of its store and of the service, in order. */
const points: [point: string, sentBefore: boolean, state: Submission['state'] | undefined][] = [
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

describe.each(sampleOf(points, 7))('a process killed %s', (dieAt, sent, state) => {
  test('no person is ordered twice, and nothing is lost', async () => {
    const victim = await startOrderer()
    expect(await victim.order({ folder, baseUrl: service.baseUrl, email, dieAt })).toBeUndefined()
    expect(victim.process.signalCode ?? (await signalOf(victim))).toBe('SIGKILL')
    expect(service.requestsOf(email)).toHaveLength(sent ? 1 : 0)

    const next = await again()
    const [known] = service.requestsOf(email)
    const free = state === undefined || state === 'cancelled'
    expect(next).toBe(free ? known : 'duplicate')
    const rows = await submissions()
    figures.kills += 1
    figures.duplicates += Math.max(0, service.requestsOf(email).length - 1)
    const unknown = rows.filter((row) => row.state === 'unknown').length
    const noted = new Set(rows.map((row) => row.requestId))
    figures.unknown += unknown
    if (unknown === 0) figures.lost += service.requestsOf(email).filter((id) => !noted.has(id)).length
    expect(rows.map((row) => row.state)).toEqual(
      [state, ...(free ? ['accepted'] : [])].filter((each) => each !== undefined),
    )
    expect(rows.at(-1)?.requestId).toBe(state === 'unknown' ? undefined : known)
    expect(service.requestsOf(email)).toHaveLength(free || sent ? 1 : 0)
  })
})

async function signalOf(orderer: Orderer): Promise<string | null> {
  await new Promise((resolve) => orderer.process.once('exit', resolve))
  return orderer.process.signalCode
}

test('killed while the service has the order and has not answered: unknown, and it stays so', async () => {
  const victim = await startOrderer()
  service.beforeAnswer = async () => {
    service.beforeAnswer = undefined
    await victim.kill()
  }
  expect(await victim.order({ folder, baseUrl: service.baseUrl, email })).toBeUndefined()
  expect(await again()).toBe('duplicate')
  expect(await again(true)).toBe('duplicate')
  expect(service.requestsOf(email)).toHaveLength(1)
  expect(await submissions()).toMatchObject([{ state: 'unknown', attempts: 1 }])
})

test('an order in flight in a living process is not taken for dead by another one', async () => {
  const living = await startOrderer()
  const seen: (string | undefined)[] = []
  service.beforeAnswer = async () => {
    service.beforeAnswer = undefined
    seen.push(await again(), await again(true), (await submissions())[0]?.state)
  }
  const report = await living.order({ folder, baseUrl: service.baseUrl, email })
  await living.kill()
  expect(seen).toEqual(['duplicate', 'duplicate', 'sending'])
  expect(report?.requestId).toBe(service.requestsOf(email)[0])
  expect(await submissions()).toMatchObject([{ state: 'accepted' }])
})

test('killed while it finds what another one left behind: the next one finds it again', async () => {
  const first = await startOrderer()
  const second = await startOrderer()
  await first.order({ folder, baseUrl: service.baseUrl, email, dieAt: 'after createRequest' })
  const other = { folder, baseUrl: service.baseUrl, email: 'other@example.com' }
  await second.order({ ...other, dieAt: 'before recover' })
  expect((await submissions()).map(({ state }) => state)).toEqual(['sending'])
  expect((await survivor.order(other))?.requestId).toBe(service.requestsOf(other.email)[0])
  expect((await submissions()).map(({ state }) => state)).toEqual(['unknown', 'accepted'])
})
