import { expect, test, vi } from 'vitest'

import { type Choices, ruleTable } from '../../src/sandbox/service/rules.ts'
import { controlPath as suitesControlPath } from '../../src/conformance/sandbox-control.ts'
import { controlPath } from '../../src/sandbox/control/client.ts'
import { isQuotaCase, listBrokenCases, createLab, listUntestedCases } from './lab.ts'
import { smallQuota } from './quotas.ts'

// The tests run the whole suite, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 })

test('the sandbox follows every rule that can be tested over HTTP', async () => {
  const { run } = await createLab()
  const report = await run()
  expect(listBrokenCases(report)).toEqual([])
  expect(listUntestedCases(report).filter(({ id }) => !id.startsWith('throttle.'))).toEqual([
    { id: 'versioning.transport', reason: '--base-url is http: it takes a deployment on https' },
    {
      id: 'requests.created-at',
      reason: 'its time can only be compared where the clock is not moved: leave out --control',
    },
    { id: 'answers.retry-after', reason: 'no call was throttled: add --use-up-quota' },
  ])
})

test('the sandbox follows the rules of the quota', async () => {
  const { run } = await createLab({ quota: smallQuota })
  const report = await run({ isSelected: isQuotaCase })
  expect(listBrokenCases(report)).toEqual([])
  expect(listUntestedCases(report)).toEqual([])
})

/** Returns, for each rule that the document leaves open, the choice at this position, or the last choice. */
function selectChoices(position: number): Partial<Choices> {
  const chosen = Object.entries(ruleTable).map(([name, { choices }]) => [
    name,
    choices[Math.min(position, choices.length - 1)],
  ])
  return Object.fromEntries(chosen) as Partial<Choices>
}

test.each([1, 2])(
  'the sandbox follows the rules with other choices where the document leaves them open: choice %i',
  async (position) => {
    const rules: Partial<Choices> = {
      ...selectChoices(position),
      'webhook-retries': 'quick',
      'leaving-received': 'step-by-step',
      'repeated-events': 'never',
    }
    const largeQuotaReport = await (await createLab({ rules })).run()
    const smallQuotaReport = await (
      await createLab({ rules, quota: smallQuota })
    ).run({ isSelected: isQuotaCase })
    expect([...listBrokenCases(largeQuotaReport), ...listBrokenCases(smallQuotaReport)]).toEqual([])
    expect(
      listUntestedCases(largeQuotaReport)
        .filter(({ id }) => !isQuotaCase({ id }))
        .map(({ id }) => id),
    ).toEqual(['versioning.transport', 'requests.created-at', 'roles.may-not-create'])
  },
)

test('if requests end at once, the cases of intermediate statuses are not judged', async () => {
  const { run } = await createLab({ rules: { 'leaving-received': 'at-once' } })
  const report = await run({ isSelected: ({ id }) => /^(statuses|webhook)/.test(id) })
  expect(listBrokenCases(report)).toEqual([])
  expect(listUntestedCases(report).map(({ id }) => id)).toEqual(['statuses.in-progress', 'statuses.partial'])
})

test('events that are repeated although they were acknowledged are allowed', async () => {
  const { run } = await createLab({ rules: { 'repeated-events': 'sometimes' } })
  const report = await run({ isSelected: ({ id }) => id.startsWith('webhook.') })
  expect(listBrokenCases(report)).toEqual([])
  expect(listUntestedCases(report)).toEqual([
    {
      id: 'webhook.only-changes',
      reason: 'acknowledged events may be redelivered here at any time, which is allowed',
    },
  ])
})

test('"Failed deliveries may be retried": a service that never retries gets advice, and breaks no rule', async () => {
  const { run } = await createLab({ rules: { 'webhook-retries': 'never' } })
  const report = await run({ isSelected: ({ id }) => id.startsWith('webhook.again') })
  expect(listBrokenCases(report)).toEqual([])
  expect(report.cases.flatMap(({ advice }) => advice)).toEqual([
    'an event that was answered with 500 was not redelivered within a week: "Failed deliveries may be retried", but "Delivery is at least once"',
  ])
})

test('a request that never begins breaks no rule', async () => {
  const { run, target } = await createLab()
  const report = await run({
    target: { ...target, recipients: { cancelled: 'conformance+stuck@example.com' } },
    isSelected: ({ id }) => /^(statuses|webhook\.(every|only|body))/.test(id),
  })
  expect(listBrokenCases(report)).toEqual([])
})

test('the suite and the sandbox use the same path for the control of a sandbox', () => {
  expect(suitesControlPath).toBe(controlPath)
})
