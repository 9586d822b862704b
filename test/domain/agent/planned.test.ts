import { expect, test } from 'vitest'

import { planForAgent, planOfRows, planTitle } from '../../../src/domain/agent/calls.ts'
import { newOrderPlan } from '../../../src/domain/approval/order-plan.ts'
import { parsePlan, requireUnchanged } from '../../../src/domain/batch/plan.ts'

const owner = {
  baseUrl: 'https://api.example.com',
  userEmail: 'o@example.com',
  profile: undefined,
  account: '',
}

test('the plan for an agent states that nothing was ordered, and contains the command for the approval', () => {
  const plan = newOrderPlan(owner, {
    code: 'BCDF-BCDF',
    now: 0,
    what: { kind: 'order', body: '{}' },
    title: '',
  })
  expect(planForAgent(plan, { packageId: 102, orders: 1, review: 'all' })).toEqual({
    ordered: false,
    code: 'BCDF-BCDF',
    approve_with: 'refcheck approve BCDF-BCDF',
    expires_at: '1970-01-02T00:00:00.000Z',
    base_url: 'https://api.example.com',
    user_email: 'o@example.com',
    package_id: 102,
    orders: 1,
    review: 'all',
  })
})

test('rows without a file become a stored plan that is valid for exactly these rows', () => {
  const plan = parsePlan(planOfRows('[{"a":1}]', 'https://api.example.com', 102), 'the plan')
  expect(plan).toMatchObject({ file: '-', base_url: 'https://api.example.com', package_id: 102 })
  expect(() =>
    requireUnchanged(plan, 'b713f6d2a989e907c58516a7c8bb487792c8785ddbf367b80dc774bf33b85a85', ''),
  ).not.toThrow()
  expect(() => requireUnchanged(plan, 'another', 'Plan again.')).toThrow('has changed since it was planned')
})

test.each([
  [1, { id: 102, name: 'Driver check' }, 'Priya Shah', '1 order of 102 Driver check (Priya Shah)'],
  [3, undefined, 'people.csv', '3 orders (people.csv)'],
  [2, { id: 102 }, undefined, '2 orders of package 102'],
])('%d of %o from %s: %s', (orders, ordered, source, title) => {
  expect(planTitle(orders, ordered, source)).toBe(title)
})
