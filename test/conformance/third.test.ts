import { expect, test, vi } from 'vitest'

import type { ConformanceReport } from '../../src/conformance/case.ts'
import type { ConformanceOptions } from '../../src/conformance/run.ts'
import { sampleOf } from '../harness/share.ts'
import {
  createHttp,
  isQuotaCase,
  listBrokenCases,
  listOuterImports,
  listUntestedCases,
  runSuite,
  selectCases,
} from './lab.ts'
import { largeQuota, smallQuota } from './quotas.ts'
import { emails, keys, secret } from './third/data.ts'
import { defects } from './third/defects.ts'
import { type Defect, ThirdService } from './third/service.ts'

// The tests run the whole suite, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 })

/**
 * Runs the suite on the third service, another implementation of the API document (third/service.ts), with all options
 * that allow further cases to be tested.
 */
async function runOnThird(
  isSelected: NonNullable<ConformanceOptions['isSelected']>,
  defect?: Defect,
  quota = largeQuota,
): Promise<ConformanceReport> {
  const service = new ThirdService(quota, defect)
  await service.open()
  return runSuite({
    http: createHttp(() => service.close()),
    target: {
      baseUrl: service.baseUrl,
      apiKey: keys.home,
      userEmail: emails.owner,
      webhookSecret: secret,
      secondEmail: emails.member,
      foreignUser: { apiKey: keys.far, userEmail: emails.foreigner },
      recipients: {
        cancelled: 'declines@third.example.org',
        error: 'fails@third.example.org',
        mixed: 'mixed@third.example.org',
      },
      inactiveTeams: ['00000000-0000-4000-8000-000000000000'],
      noCreateEmail: emails.analyst,
      inactiveEmail: emails.gone,
      ...(quota === smallQuota && { quota }),
    },
    control: {
      advance: (ms) => service.advance(ms),
      async setWebhookUrl(url) {
        service.webhookUrl = url
      },
      async setPlan(plan) {
        service.plan = plan
      },
      async deactivateUser(email) {
        for (const user of service.users) if (user.email === email) user.active = false
      },
      async revokeKey() {
        service.isKeyRevoked = true
      },
      async failNextUserList() {
        service.failingReads = 1
      },
    },
    isSelected,
  })
}

test('the third service, which behaves differently wherever the API document leaves a choice, breaks no rule', async () => {
  const report = await runOnThird((each) => !isQuotaCase(each))
  expect(listBrokenCases(report)).toEqual([])
  expect(listUntestedCases(report).map(({ id }) => id)).toEqual([
    'versioning.transport',
    'requests.created-at',
  ])
  const advisedIds = report.cases.filter(({ advice }) => advice.length > 0).map(({ id }) => id)
  expect(advisedIds).toEqual(
    expect.arrayContaining([
      'create.unknown-fields',
      'requests.shape',
      'schema.shape',
      'webhook.again-after-refusal',
      'webhook.again-after-silence',
      'answers.cache-headers',
    ]),
  )
})

test('the third service breaks no rule of the quota', async () => {
  const report = await runOnThird(isQuotaCase, undefined, smallQuota)
  expect(listBrokenCases(report)).toEqual([])
  expect(listUntestedCases(report)).toEqual([])
})

test.each(sampleOf(defects, 8))('$name: $caughtBy', async (defect) => {
  const { caughtBy } = defect
  const quota = isQuotaCase({ id: caughtBy }) ? smallQuota : largeQuota
  const report = await runOnThird(selectCases(defect), defect, quota)
  expect(listBrokenCases(report).map(({ id }) => id)).toContain(caughtBy)
})

test('the third service imports no code of the program', () => {
  expect(listOuterImports('third/')).toEqual([])
})
