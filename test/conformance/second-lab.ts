import type { ConformanceReport } from '../../src/conformance/case.ts'
import type { ConformanceOptions } from '../../src/conformance/run.ts'
import type { Control, Target } from '../../src/conformance/target.ts'
import { createHttp, runSuite } from './lab.ts'
import { closedTeam, keys, people, secret } from './second/data.ts'
import { SecondService, type SecondOptions } from './second/service.ts'

/** A small quota in the form that the second service reads. */
export const smallWindows = [
  { calls: 7, ms: 60_000 },
  { calls: 45, ms: 3_600_000 },
]

/** Starts the second service. Returns it with a target that has every input of the suite. */
export async function createSecondLab(options: SecondOptions = {}) {
  const service = new SecondService(options)
  await service.listen()
  const http = createHttp(() => service.close())
  const target: Target = {
    baseUrl: service.baseUrl,
    apiKey: keys.home,
    userEmail: people.owner,
    webhookSecret: secret,
    secondEmail: people.member,
    foreignUser: { apiKey: keys.abroad, userEmail: people.foreigner },
    recipients: {
      cancelled: 'declines@second.example.org',
      error: 'fails@second.example.org',
      mixed: 'mixed@second.example.org',
    },
    inactiveTeams: [closedTeam.id],
    noCreateEmail: people.analyst,
    inactiveEmail: people.gone,
    ...(options.windows !== undefined && {
      quota: options.windows.map(({ calls, ms }) => ({ calls, seconds: ms / 1000 })),
    }),
  }
  return {
    service,
    target,
    run: (runOptions: Partial<ConformanceOptions> = {}): Promise<ConformanceReport> =>
      runSuite({ http, target, control: createControl(service), ...runOptions }),
  }
}

function createControl(service: SecondService): Control {
  return {
    ...(service.speed === undefined && { advance: (ms: number) => service.advance(ms) }),
    async setWebhookUrl(url) {
      service.events.url = url
    },
    async setPlan(plan) {
      service.plan = plan
    },
    async deactivateUser(email) {
      for (const user of service.users) if (user.email === email) user.active = false
    },
    async revokeKey() {
      service.keys.shift()
    },
    async failNextUserList() {
      service.failingReads = 1
    },
  }
}
