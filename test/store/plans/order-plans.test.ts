import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { newOrderPlan } from '../../../src/domain/approval/order-plan.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { type OrderPlans, openOrderPlans } from '../../../src/store/plans/order-plans.ts'
import { temporaryFolder } from '../../harness/world.ts'

const now = Date.UTC(2026, 10, 20, 12)
const hour = 3_600_000

function setUp() {
  const data = join(temporaryFolder(), 'data')
  const open = () => openOrderPlans({ paths: { config: data, data }, random: systemRandom })
  return { folder: join(data, 'plans'), plans: open(), other: open() }
}

const planOf = (code: string, madeAt = now) =>
  newOrderPlan(
    { baseUrl: 'https://api.example.com', userEmail: 'o@example.com', profile: undefined, account: '' },
    { code, now: madeAt, what: { kind: 'order', body: '{"name":"Priya"}' }, title: 'one' },
  )

test('a plan is private, only one of several concurrent claims succeeds, and a claimed plan contains no personal data', async () => {
  const { folder, plans, other } = setUp()
  expect(await plans.listWaiting()).toEqual([])
  expect(await plans.add(planOf('BCDF-BCDF'))).toBe(true)
  expect(await plans.add(planOf('BCDF-BCDF'))).toBe(false)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, 'BCDF-BCDF.json')).mode & 0o777).toBe(0o600)
  expect(await other.listWaiting()).toEqual(['BCDF-BCDF'])
  expect(await other.find('BCDF-BCDF')).toEqual(planOf('BCDF-BCDF'))

  const claims = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => (index % 2 ? plans : other).claim('BCDF-BCDF', now)),
  )
  expect(claims.filter((each) => each !== undefined)).toHaveLength(1)
  expect(readdirSync(folder)).toEqual(['BCDF-BCDF.used'])
  expect(readFileSync(join(folder, 'BCDF-BCDF.used'), 'utf8')).not.toContain('Priya')
  expect(await plans.find('BCDF-BCDF')).toMatchObject({
    used_at: '2026-11-20T12:00:00.000Z',
    request_id: null,
  })
  expect(await plans.add(planOf('BCDF-BCDF'))).toBe(false)
  expect(await plans.claim('BCDF-BCDF', now)).toBeUndefined()
})

test('a plan whose claim was interrupted counts as used', async () => {
  const { folder, plans } = setUp()
  await plans.add(planOf('BCDF-BCDF'))
  const text = readFileSync(join(folder, 'BCDF-BCDF.json'), 'utf8')
  rmSync(join(folder, 'BCDF-BCDF.json'))
  writeFileSync(join(folder, 'BCDF-BCDF.used'), text)
  expect(await plans.find('BCDF-BCDF')).toMatchObject({ used_at: '2026-11-20T12:00:00.000Z' })
})

test('expired plans are removed, and no other file is', async () => {
  const { folder, plans } = setUp()
  for (const [code, madeAt] of [
    ['BCDF-BCDF', now - 49 * hour],
    ['BCDF-BCDG', now - 47 * hour],
    ['BCDF-BCDH', now],
  ] as const)
    await plans.add(planOf(code, madeAt))
  await plans.claim('BCDF-BCDH', now - 200 * hour)
  writeFileSync(join(folder, 'notes.txt'), 'mine')
  await plans.removeExpired(now)
  expect(readdirSync(folder)).toEqual(['BCDF-BCDG.json', 'notes.txt'])
})

test('a link, a folder or a changed file with the name of a plan is refused', async () => {
  const { folder, plans } = setUp()
  await plans.add(planOf('BCDF-BCDF'))
  const text = readFileSync(join(folder, 'BCDF-BCDF.json'), 'utf8')
  symlinkSync(join(folder, 'BCDF-BCDF.json'), join(folder, 'BCDF-BCDG.json'))
  mkdirSync(join(folder, 'BCDF-BCDH.json'))
  writeFileSync(join(folder, 'BCDF-BCDJ.json'), text, { mode: 0o600 })
  await expect(plans.find('BCDF-BCDG')).rejects.toThrow('symbolic link')
  await expect(plans.find('BCDF-BCDH')).rejects.toThrow('not a regular file')
  await expect(plans.find('BCDF-BCDJ')).rejects.toThrow('has changed since it was made')
})

test('a claimed plan without a time has the first moment of 1970 as its time of use', async () => {
  const { folder, plans } = setUp()
  await plans.add(planOf('BCDF-BCDF'))
  writeFileSync(join(folder, 'BCDF-BCDG.used'), '{}', { mode: 0o600 })
  expect(await plans.find('BCDF-BCDG')).toMatchObject({ used_at: '1970-01-01T00:00:00.000Z' })
  // A folder with the name of a plan is not removed.
  mkdirSync(join(folder, 'BCDF-BCDH.json'))
  await plans.removeExpired(now)
  expect(await plans.listWaiting()).toEqual(['BCDF-BCDF', 'BCDF-BCDH'])
})

test.each<[string, (plans: OrderPlans) => Promise<unknown>]>([
  ['listing', (plans) => plans.listWaiting()],
  ['adding', (plans) => plans.add(planOf('BCDF-BCDF'))],
  ['claiming', (plans) => plans.claim('BCDF-BCDF', now)],
])('if the path of the folder is a file, %s throws IoError', async (_what, operation) => {
  const { folder, plans } = setUp()
  mkdirSync(join(folder, '..'), { mode: 0o700 })
  writeFileSync(folder, '')
  await expect(operation(plans)).rejects.toMatchObject({ code: 'io' })
})

test('a plan cannot be added if a folder has its name', async () => {
  const { folder, plans } = setUp()
  await plans.add(planOf('BCDF-BCDF'))
  mkdirSync(join(folder, 'BCDF-BCDG.json'))
  await expect(plans.add(planOf('BCDF-BCDG'))).rejects.toThrow('it is a folder')
})

test('a folder that is a symbolic link is not followed', async () => {
  const { folder, plans } = setUp()
  const target = join(folder, '..', '..', 'elsewhere')
  mkdirSync(target, { recursive: true, mode: 0o700 })
  mkdirSync(join(folder, '..'), { mode: 0o700, recursive: true })
  symlinkSync(target, folder)
  await expect(plans.add(planOf('BCDF-BCDF'))).rejects.toMatchObject({
    code: 'io',
    message: `cannot use the folder "${folder}": it is a symbolic link`,
  })
  expect(readdirSync(target)).toEqual([])
})
