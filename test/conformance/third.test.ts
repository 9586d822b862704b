import { readdirSync, readFileSync } from 'node:fs'

import { expect, onTestFinished, test, vi } from 'vitest'

import type { ConformanceReport } from '../../src/conformance/case.ts'
import { type ConformanceOptions, runConformance } from '../../src/conformance/run.ts'
import { systemClock } from '../../src/host/clock.ts'
import { HttpClient } from '../../src/http/client.ts'
import { sampleOf } from '../harness/share.ts'
import { broken, casesNotTested } from './lab.ts'
import { largeQuota, smallQuota } from './quotas.ts'
import { emails, keys, secret } from './third/data.ts'
import { defects } from './third/defects.ts'
import { type Defect, ThirdService } from './third/service.ts'

// The whole suite is asked, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 })

const ofQuota = ({ id }: { id: string }): boolean =>
  id.startsWith('throttle.') || id === 'answers.retry-after'

/** Runs the suite on the lenient service, with everything the suite can be given. */
async function checked(
  only: NonNullable<ConformanceOptions['only']>,
  defect?: Defect,
  quota = largeQuota,
): Promise<ConformanceReport> {
  const service = new ThirdService(quota, defect)
  await service.open()
  const http = new HttpClient({ clock: systemClock, env: {}, userAgent: 'refcheck-test' })
  onTestFinished(async () => {
    await http.close()
    service.close()
  })
  return runConformance({
    http,
    clock: systemClock,
    target: {
      baseUrl: service.base,
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
      async pointWebhook(url) {
        service.hook = url
      },
      async setPlan(plan) {
        service.plan = plan
      },
      async deactivateUser(email) {
        for (const user of service.users) if (user.email === email) user.active = false
      },
      async revokeKey() {
        service.revoked = true
      },
      async failNextUsers() {
        service.fails = 1
      },
    },
    allowCreate: true,
    receivePort: 0,
    only,
  })
}

test('a service that takes every liberty of the document breaks no rule', async () => {
  const report = await checked((each) => !ofQuota(each))
  expect(broken(report)).toEqual([])
  expect(casesNotTested(report).map(({ id }) => id)).toEqual(['versioning.transport', 'requests.created-at'])
  const advised = report.cases.filter(({ advice }) => advice.length > 0).map(({ id }) => id)
  expect(advised).toEqual(
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

test('nor the rules of the quota', async () => {
  const report = await checked(ofQuota, undefined, smallQuota)
  expect(broken(report)).toEqual([])
  expect(casesNotTested(report)).toEqual([])
})

test.each(sampleOf(defects, 8))('$name: $by', async (defect) => {
  const { by } = defect
  const report = await checked(
    ({ id }) => id === by || (by === 'answers.retry-after' && id === 'throttle.minute'),
    defect,
    ofQuota({ id: by }) ? smallQuota : largeQuota,
  )
  expect(broken(report).map(({ id }) => id)).toContain(by)
})

test('it imports nothing of the program', () => {
  const folder = new URL('third/', import.meta.url)
  const imports = readdirSync(folder).flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/from '([^']+)'/g)].map(([, from]) => from),
  )
  expect([...new Set(imports)].filter((from) => from?.startsWith('..'))).toEqual([])
})
