import { expect, test, vi } from 'vitest'

import { sampleOf } from '../harness/share.ts'
import { isQuotaCase, listBrokenCases, listOuterImports, listUntestedCases } from './lab.ts'
import type { Behaviour } from './second/behaviour.ts'
import { createSecondLab, smallWindows } from './second-lab.ts'

// The tests run the whole suite, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 })

test('a second service that follows the document breaks no rule', async () => {
  const { run } = await createSecondLab()
  const report = await run({ isSelected: (each) => !isQuotaCase(each) })
  expect(listBrokenCases(report)).toEqual([])
  expect(listUntestedCases(report)).toEqual([
    { id: 'versioning.transport', reason: '--base-url is http: it takes a deployment on https' },
    {
      id: 'requests.created-at',
      reason: 'its time can only be compared where the clock is not moved: leave out --control',
    },
  ])
})

test('the second service breaks no rule of the quota', async () => {
  const { run } = await createSecondLab({ windows: smallWindows })
  const report = await run({ isSelected: isQuotaCase })
  expect(listBrokenCases(report)).toEqual([])
  expect(listUntestedCases(report)).toEqual([])
})

const allowedVariants: [string, RegExp, Partial<Behaviour>][] = [
  [
    'paths as JavaScript writes them',
    /^create/,
    { writePath: (path) => path.join('.').replaceAll(/\.(\d+)/g, '[$1]') },
  ],
  ['paths with dots and a root', /^create/, { writePath: (path) => ['$', ...path].join('.') }],
  [
    'the first of several faults, no additional fields',
    /^(create|users|packages)/,
    { reportedFault: 'first', hasExtraFields: false },
  ],
  ['check ids from the start of the check', /^(requests|statuses|reports)/, { hasIdBeforeStart: false }],
  ['every event twice', /^(webhook|statuses)/, { hasDuplicates: true }],
  ['failed deliveries are not retried', /^webhook/, { retrySeconds: [] }],
  ['failed deliveries are retried within seconds', /^webhook/, { retrySeconds: [2, 4] }],
  ['events one minute late', /^(webhook|statuses)/, { eventDelayMs: 61_000 }],
  [
    'other names of the checks',
    /^requests/,
    {
      changeReply(reply, { path }) {
        if (!path.startsWith('/v1/requests/') || Buffer.isBuffer(reply.body)) return
        const { checks = [] } = (reply.body.data ?? {}) as { checks?: Record<string, unknown>[] }
        for (const check of checks) if (check['type'] === 'background') check['check_name'] = 'In other words'
      },
    },
  ],
]

test.each(sampleOf(allowedVariants, 4))(
  'an allowed variant breaks no rule: %s',
  async (_name, topics, behaviour) => {
    const { run } = await createSecondLab({ behaviour })
    expect(listBrokenCases(await run({ isSelected: ({ id }) => topics.test(id) }))).toEqual([])
  },
)

const changeReads = (change: (data: { checks: Record<string, unknown>[] }) => void): Partial<Behaviour> => ({
  changeReply({ status, body }, { method, path }) {
    if (method !== 'GET' || !path.startsWith('/v1/requests/') || Buffer.isBuffer(body)) return
    if (status === 200) change(body.data as { checks: Record<string, unknown>[] })
  },
})

/** Behaviours that the document leaves open: name, case, change of the service and text of the advice. */
const advisedBehaviours: [string, string, Partial<Behaviour>, RegExp][] = [
  [
    'a redirect acknowledges an event',
    'webhook.again-after-refusal',
    { isAcknowledgement: (status) => status >= 200 && status < 400 },
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
    { ignoredFaults: /^no_such_field is not known/ },
    /with no_such_field: the unknown field was accepted$/,
  ],
  [
    'unknown fields of the recipient are ignored',
    'create.unknown-fields',
    { ignoredFaults: /^recipient\.no_such_field is not known/ },
    /with recipient\.no_such_field: the unknown field was accepted$/,
  ],
  [
    'a referee_id that is an integer, as the path takes it',
    'requests.shape',
    changeReads(({ checks }) => {
      for (const { references } of checks) {
        for (const each of (references ?? []) as Record<string, unknown>[]) each['referee_id'] = 5
      }
    }),
    /referee_id is an integer$/,
  ],
  [
    'more directives in Cache-Control',
    'answers.cache-headers',
    { changeReply: ({ headers }) => (headers['Cache-Control'] = 'no-store, max-age=0') },
    /^cache-control says more than no-store: no-store, max-age=0$/,
  ],
]

test.each(advisedBehaviours)(
  '%s: the case gives advice and no finding',
  async (_name, id, behaviour, advice) => {
    const { run } = await createSecondLab({ behaviour })
    const [report] = (await run({ isSelected: (each) => each.id === id })).cases
    expect(report?.findings).toEqual([])
    expect(report?.advice).toContainEqual(expect.stringMatching(advice))
  },
)

test.each<[string, Partial<Behaviour>]>([
  ['windows that begin with the first call', { windowKind: 'first-call' }],
])('the quota may have %s', async (_name, behaviour) => {
  const { run } = await createSecondLab({ behaviour, windows: smallWindows })
  expect(listBrokenCases(await run({ isSelected: isQuotaCase }))).toEqual([])
})

test('a window that cannot be used up in time is not judged', async () => {
  const { run } = await createSecondLab({
    windows: [
      { calls: 30, ms: 1 },
      { calls: 200, ms: 3_600_000 },
    ],
    speed: 600,
  })
  const report = await run({ isSelected: ({ id }) => id === 'throttle.minute' })
  expect(listBrokenCases(report)).toEqual([])
})

test('the second service imports nothing of the program', () => {
  expect(listOuterImports('second/')).toEqual([])
})
