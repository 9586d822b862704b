import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openOrderPlans } from '../../../src/store/plans/order-plans.ts'
import { addPlan, findWaitingPlans } from '../../../src/usecases/approval/plans.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { temporaryFolder } from '../../harness/world.ts'

const owner = {
  baseUrl: 'https://api.example.com',
  userEmail: 'o@example.com',
  profile: undefined,
  account: '',
}
const what = { kind: 'order', body: '{}' } as const

test('at most fifty plans can wait, and expired plans do not count', async () => {
  const clock = new ManualClock({ auto: true })
  const data = join(temporaryFolder(), 'data')
  const plans = openOrderPlans({
    paths: { config: data, data },
    random: systemRandom,
  })
  const ports = { plans, clock, random: systemRandom, owner }
  for (let at = 0; at < 50; at += 1) await addPlan(ports, what, 'one')
  await expect(addPlan(ports, what, 'one')).rejects.toThrow('50 plans wait for approval already')
  await clock.sleep(24 * 3_600_000)
  await addPlan(ports, what, 'one')
  expect(await findWaitingPlans(ports)).toHaveLength(1)
})

test('a plan code that is in use is replaced by another one', async () => {
  const data = join(temporaryFolder(), 'data')
  const plans = openOrderPlans({
    paths: { config: data, data },
    random: systemRandom,
  })
  const codeBytes = [1, 1, 2].map((byte) => Buffer.alloc(8, byte))
  const random = { ...systemRandom, bytes: (count: number) => codeBytes.shift() ?? systemRandom.bytes(count) }
  const ports = { plans, clock: new ManualClock(), random: systemRandom, owner }
  const codes = [
    await addPlan({ ...ports, random }, what, 'a'),
    await addPlan({ ...ports, random }, what, 'b'),
  ]
  expect(codes.map(({ code }) => code)).toEqual(['CCCC-CCCC', 'DDDD-DDDD'])
})
