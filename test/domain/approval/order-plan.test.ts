import { expect, test } from 'vitest'

import {
  alreadyUsedError,
  isExpired,
  newOrderPlan,
  parseOrderPlan,
  parseUsedPlan,
  planFileText,
  type PlanOwner,
  requireApprovable,
} from '../../../src/domain/approval/order-plan.ts'

const now = Date.UTC(2026, 10, 20, 12)
const hour = 3_600_000
const code = 'BCDF-TVWX'
const owner: PlanOwner = {
  baseUrl: 'https://api.example.com',
  userEmail: 'olive@example.com',
  profile: 'main',
  account: '',
}
const what = { kind: 'order', body: '{"package_id":102}' } as const
const plan = newOrderPlan(owner, { code, now, what, title: 'package 102' })

test('a stored plan is read back unchanged; a plan file with any changed byte is refused', () => {
  const text = planFileText(plan)
  expect(parseOrderPlan(text, code)).toEqual(plan)
  const changed = [
    text.replace('102', '103'),
    text.replace('olive', 'other'),
    text.replace(/.$/, ''),
    text.replace('"title"', '"titel"'),
    JSON.stringify({ plan }),
    '',
    'null',
  ]
  for (const each of changed)
    expect(() => parseOrderPlan(each, code)).toThrow('has changed since it was made')
  expect(() => parseOrderPlan(text, 'XWVT-FDCB')).toThrow('plan XWVT-FDCB has changed')
})

test('a plan expires after 24 hours, or if the clock is more than ten minutes before its creation', () => {
  const isExpiredAfter = (ms: number): boolean => isExpired(plan, now + ms)
  expect([0, 23.99 * hour, 24 * hour, 48 * hour].map(isExpiredAfter)).toEqual([false, false, true, true])
  expect([-60_000, -11 * 60_000].map(isExpiredAfter)).toEqual([false, true])
  expect(() => requireApprovable(plan, owner, now + 25 * hour)).toThrow(`plan ${code} expired on 2026-11-21`)
})

test.each([
  [{ baseUrl: 'https://other.example.com' }, 'https://api.example.com, not https://other.example.com'],
  [{ userEmail: 'pia@example.com' }, 'olive@example.com, not pia@example.com'],
  [{ account: 'acme' }, 'the account "", not "acme"'],
  [{ profile: 'second' }, 'profile "main", not "second"'],
  [{ profile: undefined }, 'profile "main", not the environment’s own key'],
] as [Partial<PlanOwner>, string][])('a plan is refused for another owner: %j', (other, named) => {
  expect(() => requireApprovable(plan, { ...owner, ...other }, now)).toThrow(
    `plan ${code} was made for ${named}`,
  )
})

test('the case of the user’s e-mail is ignored; for another profile the hint names the profile of the plan', () => {
  expect(() => requireApprovable(plan, { ...owner, userEmail: 'Olive@Example.com' }, now)).not.toThrow()
  let hint: unknown
  try {
    requireApprovable(plan, { ...owner, profile: 'second' }, now)
  } catch (error) {
    hint = (error as { hint?: string }).hint
  }
  expect(hint).toBe(
    'Nothing was sent. Approve it as that profile with: refcheck approve BCDF-TVWX --profile main',
  )
})

test.each([
  [{ request_id: 'r', batch_id: null }, 'refcheck request get r'],
  [{ request_id: null, batch_id: 'b' }, 'refcheck batch status b'],
  [{ request_id: null, batch_id: null }, 'refcheck request list'],
])('the error for a used plan contains the command that shows its result: %j', (result, command) => {
  const used = { refcheck_used_plan: 1, code, used_at: new Date(now).toISOString(), ...result } as const
  expect(parseUsedPlan(JSON.stringify(used))).toEqual(used)
  expect(alreadyUsedError(used).hint).toBe(
    `Nothing was sent. A plan is used once. Show what came of it with: ${command}`,
  )
})

test('parseUsedPlan returns undefined for an unused plan and for invalid JSON', () => {
  expect(parseUsedPlan(planFileText(plan))).toBeUndefined()
  expect(parseUsedPlan('{')).toBeUndefined()
})
