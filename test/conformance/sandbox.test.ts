import { expect, test, vi } from 'vitest'

import { type Choices, ruleTable } from '../../src/sandbox/service/rules.ts'
import { controlPath as suitesControlPath } from '../../src/conformance/sandbox-control.ts'
import { controlPath } from '../../src/sandbox/control/client.ts'
import { broken, lab, casesNotTested } from './lab.ts'
import { smallQuota } from './quotas.ts'

// The whole suite is asked, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 })

const ofQuota = ({ id }: { id: string }): boolean =>
  id.startsWith('throttle.') || id === 'answers.retry-after'

test('the sandbox keeps every rule that can be seen over HTTP', async () => {
  const { run } = await lab()
  const report = await run()
  expect(broken(report)).toEqual([])
  expect(casesNotTested(report).filter(({ id }) => !id.startsWith('throttle.'))).toEqual([
    { id: 'versioning.transport', reason: '--base-url is http: it takes a deployment on https' },
    {
      id: 'requests.created-at',
      reason: 'its time can only be compared where the clock is not moved: leave out --control',
    },
    { id: 'answers.retry-after', reason: 'no call was throttled: add --use-up-quota' },
  ])
})

test('the sandbox keeps the rules of the quota', async () => {
  const { run } = await lab({ quota: smallQuota })
  const report = await run({ only: ofQuota })
  expect(broken(report)).toEqual([])
  expect(casesNotTested(report)).toEqual([])
})

/** Of each rule that the document leaves open, the choice at this position, or its last. */
function choicesAt(position: number): Partial<Choices> {
  const chosen = Object.entries(ruleTable).map(([name, { choices }]) => [
    name,
    choices[Math.min(position, choices.length - 1)],
  ])
  return Object.fromEntries(chosen) as Partial<Choices>
}

test.each([1, 2])(
  'and whatever it chooses where the document leaves it open: choice %i',
  async (position) => {
    const rules: Partial<Choices> = {
      ...choicesAt(position),
      'webhook-retries': 'quick',
      'leaving-received': 'step-by-step',
      'repeated-events': 'never',
    }
    const roomyRun = await (await lab({ rules })).run()
    const tightRun = await (await lab({ rules, quota: smallQuota })).run({ only: ofQuota })
    expect([...broken(roomyRun), ...broken(tightRun)]).toEqual([])
    expect(
      casesNotTested(roomyRun)
        .filter(({ id }) => !ofQuota({ id }))
        .map(({ id }) => id),
    ).toEqual(['versioning.transport', 'requests.created-at', 'roles.may-not-create'])
  },
)

test('a request that is over at once leaves nothing to see on the way', async () => {
  const { run } = await lab({ rules: { 'leaving-received': 'at-once' } })
  const report = await run({ only: ({ id }) => /^(statuses|webhook)/.test(id) })
  expect(broken(report)).toEqual([])
  expect(casesNotTested(report).map(({ id }) => id)).toEqual(['statuses.in-progress', 'statuses.partial'])
})

test('events that are repeated although they were acknowledged are allowed', async () => {
  const { run } = await lab({ rules: { 'repeated-events': 'sometimes' } })
  const report = await run({ only: ({ id }) => id.startsWith('webhook.') })
  expect(broken(report)).toEqual([])
  expect(casesNotTested(report)).toEqual([
    {
      id: 'webhook.only-changes',
      reason: 'acknowledged events may be redelivered here at any time, which is allowed',
    },
  ])
})

test('"Failed deliveries may be retried": for one that never retries it is advice what else the document says', async () => {
  const { run } = await lab({ rules: { 'webhook-retries': 'never' } })
  const report = await run({ only: ({ id }) => id.startsWith('webhook.again') })
  expect(broken(report)).toEqual([])
  expect(report.cases.flatMap(({ advice }) => advice)).toEqual([
    'an event that was answered with 500 was not redelivered within a week: "Failed deliveries may be retried", but "Delivery is at least once"',
  ])
})

test('a request that never begins breaks no rule', async () => {
  const { run, target } = await lab()
  const report = await run({
    target: { ...target, recipients: { cancelled: 'conformance+stuck@example.com' } },
    only: ({ id }) => /^(statuses|webhook\.(every|only|body))/.test(id),
  })
  expect(broken(report)).toEqual([])
})

test('the suite and the sandbox mean one position by the control of a sandbox', () => {
  expect(suitesControlPath).toBe(controlPath)
})
