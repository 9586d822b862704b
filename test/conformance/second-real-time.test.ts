import { createServer, type AddressInfo } from 'node:net'

import { expect, test } from 'vitest'

import type { ConformanceReport } from '../../src/conformance/case.ts'
import { refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'
import { listBrokenCases } from './lab.ts'
import { keys, people, secret } from './second/data.ts'
import { createSecondLab } from './second-lab.ts'

/** With this speed, requests that take half an hour take three seconds. */
const speed = 600
const watchMs = 15_000
const requestCases = /^(create\.(accepted|readable)|requests|statuses|reports|roles)/
const eventCases = /^webhook\.(every|only|request|content|signature|body|error|in-step)/

test('a service whose clock runs by itself breaks no rule', { timeout: 60_000 }, async () => {
  const { run } = await createSecondLab({ speed })
  const report = await run({ watchMs, isSelected: ({ id }) => requestCases.test(id) || eventCases.test(id) })
  expect(listBrokenCases(report)).toEqual([])
  const heldIds = report.cases.filter(({ verdict }) => verdict === 'holds').map(({ id }) => id)
  expect(heldIds).toEqual(
    expect.arrayContaining(['requests.created-at', 'statuses.partial', 'webhook.in-step']),
  )
})

test('a created_at that no clock agrees with is reported', { timeout: 60_000 }, async () => {
  const { run } = await createSecondLab({
    speed,
    behaviour: {
      changeReply(reply, { method, path }) {
        if (method !== 'GET' || !path.startsWith('/v1/requests/') || Buffer.isBuffer(reply.body)) return
        Object.assign(reply.body.data ?? {}, { created_at: '2020-01-01T00:00:00Z' })
      },
    },
  })
  const report = await run({ watchMs, isSelected: ({ id }) => id === 'requests.created-at' })
  expect(report.cases[0]?.advice).toEqual([expect.stringMatching(/^created_at is \d+ s away/) as string])
})

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Runs the command with accounts of the service and a webhook to this process, but without control of the service. */
async function runCommand() {
  const { service } = await createSecondLab({ speed })
  const port = await findFreePort()
  service.events.url = `http://127.0.0.1:${port}/`
  const users = ['--second-user', people.member, '--no-create-user', people.analyst]
  const otherUsers = ['--inactive-user', people.gone, '--foreign-user', people.foreigner]
  const recipients = Object.entries({ cancelled: 'declines', error: 'fails', mixed: 'mixed' }).flatMap(
    ([end, name]) => [`--recipient-${end}`, `${name}@second.example.org`],
  )
  const flags = ['--allow-create', '--webhook-port', `${port}`, '--watch', '15s', '--json']
  const { code, json } = await refcheck(
    ['sandbox', 'conformance', ...users, ...otherUsers, ...recipients, ...flags],
    {
      env: {
        ...emptyEnv(temporaryFolder()),
        REFCHECK_BASE_URL: service.baseUrl,
        REFCHECK_API_KEY: keys.home,
        REFCHECK_USER_EMAIL: people.owner,
        REFCHECK_WEBHOOK_SECRET: secret,
        REFCHECK_FOREIGN_API_KEY: keys.abroad,
      },
    },
  )
  return { code, report: json() as ConformanceReport }
}

test(
  'from the command line, in real time, no rule is broken, and each case that is not judged has a reason',
  { timeout: 300_000 },
  async () => {
    const { code, report } = await runCommand()
    expect(listBrokenCases(report)).toEqual([])
    expect(code).toBe(0)
    const unjudged = report.cases.filter(({ verdict }) => verdict === 'not_judged')
    expect(Object.fromEntries(unjudged.map(({ id, reason }) => [id, reason]))).toMatchInlineSnapshot(`
      {
        "answers.retry-after": "no call was throttled: add --use-up-quota",
        "reports.token-life": "it takes an hour, unless it runs on a sandbox with --control, whose clock can be moved",
        "standing.credits": "the plan of the organisation can only be changed on a sandbox, with --control",
        "standing.inactive-user": "a user can only be deactivated on a sandbox, with --control",
        "standing.internal-error": "an internal error can only be caused on a sandbox, with --control",
        "standing.revoked-key": "the key can only be revoked on a sandbox, with --control",
        "standing.subscription": "the plan of the organisation can only be changed on a sandbox, with --control",
        "standing.trial": "the plan of the organisation can only be changed on a sandbox, with --control",
        "throttle.all-endpoints-together": "the quota may not be used up: add --use-up-quota",
        "throttle.all-users-together": "the quota may not be used up: add --use-up-quota",
        "throttle.every-endpoint": "the quota may not be used up: add --use-up-quota",
        "throttle.fixed-window": "the quota may not be used up: add --use-up-quota",
        "throttle.hour": "the quota may not be used up: add --use-up-quota",
        "throttle.minute": "the quota may not be used up: add --use-up-quota",
        "throttle.minute-retry-after": "the quota may not be used up: add --use-up-quota",
        "throttle.per-key": "the quota may not be used up: add --use-up-quota",
        "throttle.ping-exempt": "the quota may not be used up: add --use-up-quota",
        "throttle.token-exempt": "the quota may not be used up: add --use-up-quota",
        "throttle.whole-seconds": "the quota may not be used up: add --use-up-quota",
        "users.active-teams": "teams that are no longer active are only known of a sandbox, with --control",
        "versioning.transport": "--base-url is http: it takes a deployment on https",
        "webhook.again-after-silence": "no failed delivery was seen to be retried: watch for longer with --watch",
      }
    `)
  },
)
