import { expect, test } from 'vitest'

import { broken } from './lab.ts'
import { second } from './second-lab.ts'

/** Requests that take half an hour do so in three seconds. */
const speed = 600
const watchMs = 15_000
const followed = /^(create\.(accepted|readable)|requests|statuses|reports|roles)/
const events = /^webhook\.(every|only|request|content|signature|body|error|in-step)/

test('where time goes by itself it breaks no rule either', { timeout: 60_000 }, async () => {
  const { run } = await second({ speed })
  const report = await run({ watchMs, only: ({ id }) => followed.test(id) || events.test(id) })
  expect(broken(report)).toEqual([])
  const held = report.cases.filter(({ verdict }) => verdict === 'holds').map(({ id }) => id)
  expect(held).toEqual(expect.arrayContaining(['requests.created-at', 'statuses.partial', 'webhook.in-step']))
})

test('a created_at that no clock agrees with is told', { timeout: 60_000 }, async () => {
  const { run } = await second({
    speed,
    knobs: {
      answer(told, { method, path }) {
        if (method !== 'GET' || !path.startsWith('/v1/requests/') || Buffer.isBuffer(told.body)) return
        Object.assign(told.body.data ?? {}, { created_at: '2020-01-01T00:00:00Z' })
      },
    },
  })
  const report = await run({ watchMs, only: ({ id }) => id === 'requests.created-at' })
  expect(report.cases[0]?.advice).toEqual([expect.stringMatching(/^created_at is \d+ s away/) as string])
})
