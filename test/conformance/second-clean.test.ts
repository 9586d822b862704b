import { readdirSync, readFileSync } from 'node:fs'

import { expect, test, vi } from 'vitest'

import { sampleOf } from '../harness/share.ts'
import { broken, casesNotTested } from './lab.ts'
import type { Knobs } from './second/knobs.ts'
import { second, tightWindows } from './second-lab.ts'

// The whole suite is asked, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 })

const ofQuota = ({ id }: { id: string }): boolean =>
  id.startsWith('throttle.') || id === 'answers.retry-after'

test('a second service that keeps to the document breaks no rule', async () => {
  const { run } = await second()
  const report = await run({ only: (each) => !ofQuota(each) })
  expect(broken(report)).toEqual([])
  expect(casesNotTested(report)).toEqual([
    { id: 'versioning.transport', reason: '--base-url is http: it takes a deployment on https' },
    {
      id: 'requests.created-at',
      reason: 'its time can only be compared where the clock is not moved: leave out --control',
    },
  ])
})

test('nor the rules of the quota', async () => {
  const { run } = await second({ windows: tightWindows })
  const report = await run({ only: ofQuota })
  expect(broken(report)).toEqual([])
  expect(casesNotTested(report)).toEqual([])
})

const ways: [string, RegExp, Partial<Knobs>][] = [
  [
    'paths as JavaScript writes them',
    /^create/,
    { writePath: (path) => path.join('.').replaceAll(/\.(\d+)/g, '[$1]') },
  ],
  ['paths with dots and a root', /^create/, { writePath: (path) => ['$', ...path].join('.') }],
  [
    'the first of several faults, no field besides',
    /^(create|users|packages)/,
    { reportedFault: 'first', extras: false },
  ],
  ['ids when a check begins', /^(requests|statuses|reports)/, { idFromStart: false }],
  ['every event twice', /^(webhook|statuses)/, { duplicates: true }],
  ['failed deliveries are not retried', /^webhook/, { retries: [] }],
  ['retried within seconds', /^webhook/, { retries: [2, 4] }],
  ['events one minute late', /^(webhook|statuses)/, { lateMs: 61_000 }],
  [
    'names in other words',
    /^requests/,
    {
      answer(reply, { path }) {
        if (!path.startsWith('/v1/requests/') || Buffer.isBuffer(reply.body)) return
        const { checks = [] } = (reply.body.data ?? {}) as { checks?: Record<string, unknown>[] }
        for (const check of checks) if (check['type'] === 'background') check['check_name'] = 'In other words'
      },
    },
  ],
]

test.each(sampleOf(ways, 4))('it may do otherwise: %s', async (_name, topics, knobs) => {
  const { run } = await second({ knobs })
  expect(broken(await run({ only: ({ id }) => topics.test(id) }))).toEqual([])
})

const ofReads = (change: (data: { checks: Record<string, unknown>[] }) => void): Partial<Knobs> => ({
  answer({ status, body }, { method, path }) {
    if (method !== 'GET' || !path.startsWith('/v1/requests/') || Buffer.isBuffer(body)) return
    if (status === 200) change(body.data as { checks: Record<string, unknown>[] })
  },
})

/** What the document leaves open: it is advice, in these words. */
const advised: [string, string, Partial<Knobs>, RegExp][] = [
  [
    'a redirect acknowledges an event',
    'webhook.again-after-refusal',
    { acknowledges: (status) => status >= 200 && status < 400 },
    /^an event that was answered with 302 was never redelivered/,
  ],
  [
    'redirects of a receiver are followed',
    'webhook.again-after-refusal',
    { followsRedirects: true },
    /^an event that was answered with 302 was never redelivered/,
  ],
  [
    'a late 200 acknowledges an event',
    'webhook.again-after-silence',
    { acknowledgementMs: 600_000 },
    /^an event that was answered with 200 after 12 s was never redelivered/,
  ],
  [
    'unknown fields of the body are ignored',
    'create.unknown-fields',
    { forgive: /^no_such_field is not known/ },
    /with no_such_field: the unknown field was accepted$/,
  ],
  [
    'unknown fields of the recipient are ignored',
    'create.unknown-fields',
    { forgive: /^recipient\.no_such_field is not known/ },
    /with recipient\.no_such_field: the unknown field was accepted$/,
  ],
  [
    'a referee_id that is an integer, as the path takes it',
    'requests.shape',
    ofReads(({ checks }) => {
      for (const { references } of checks) {
        for (const each of (references ?? []) as Record<string, unknown>[]) each['referee_id'] = 5
      }
    }),
    /referee_id is an integer$/,
  ],
  [
    'more directives in Cache-Control',
    'answers.cache-headers',
    { answer: ({ headers }) => (headers['Cache-Control'] = 'no-store, max-age=0') },
    /^cache-control says more than no-store: no-store, max-age=0$/,
  ],
]

test.each(advised)('%s: advice, and no finding', async (_name, id, knobs, words) => {
  const { run } = await second({ knobs })
  const [report] = (await run({ only: (each) => each.id === id })).cases
  expect(report?.findings).toEqual([])
  expect(report?.advice).toContainEqual(expect.stringMatching(words))
})

test.each<[string, Partial<Knobs>]>([['windows that begin with the first call', { window: 'first-call' }]])(
  'or %s',
  async (_name, knobs) => {
    const { run } = await second({ knobs, windows: tightWindows })
    expect(broken(await run({ only: ofQuota }))).toEqual([])
  },
)

test('a window that cannot be used up in time is not judged', async () => {
  const { run } = await second({
    windows: [
      { calls: 30, ms: 1 },
      { calls: 200, ms: 3_600_000 },
    ],
    speed: 600,
  })
  const report = await run({ only: ({ id }) => id === 'throttle.minute' })
  expect(broken(report)).toEqual([])
})

test('it imports nothing of the program', () => {
  const folder = new URL('second/', import.meta.url)
  const imports = readdirSync(folder).flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/from '([^']+)'/g)].map(([, from]) => from),
  )
  expect([...new Set(imports)].filter((from) => from?.startsWith('..'))).toEqual([])
})
