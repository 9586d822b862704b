import { expect, test } from 'vitest'

import { ForbiddenError, UnauthenticatedError } from '../../src/errors/kinds.ts'
import { suite } from '../../src/conformance/suite.ts'
import { encodings } from '../harness/faults/encodings.ts'
import { onJson } from './defects/defect.ts'
import { listBrokenCases, createLab, listUntestedCases } from './lab.ts'

const withoutControl = { control: {}, receivePort: undefined }

test('without allowCreate, only empty bodies are posted', async () => {
  const postedBodies = new Set<string>()
  const { run, sandbox } = await createLab({
    createHandler: (inner) => async (request, connection) => {
      if (request.method === 'POST') postedBodies.add(await request.clone().text())
      return inner.fetch(request, connection)
    },
  })
  const report = await run({ ...withoutControl, allowCreate: false })
  expect(postedBodies).toEqual(new Set(['{}']))
  expect(sandbox.requests()).toEqual([])
  expect(listBrokenCases(report)).toEqual([])
  const unjudged = new Set(listUntestedCases(report).map(({ id }) => id))
  const creating = suite.filter(({ kind }) => kind === 'create').map(({ id }) => id)
  expect(creating.filter((id) => !unjudged.has(id))).toEqual([])
})

test('a case whose inputs were not given is not judged, and does not count as held', async () => {
  const { run, target } = await createLab()
  const { baseUrl, apiKey, userEmail } = target
  const report = await run({
    ...withoutControl,
    allowCreate: true,
    watchMs: 1,
    target: { baseUrl, apiKey, userEmail },
  })
  const reasons = new Map(listUntestedCases(report).map(({ id, reason }) => [id, reason]))
  expect(reasons.get('packages.by-role')).toBe(
    'a second user of the organisation is needed: --second-user EMAIL',
  )
  expect(reasons.get('reports.of-another-organisation')).toBe(
    'a key of another organisation is needed: --foreign-user EMAIL, and REFCHECK_FOREIGN_API_KEY',
  )
  const ids = [
    'throttle.minute',
    'webhook.signature',
    'standing.trial',
    'statuses.terminal',
    'roles.may-not-create',
  ]
  expect(ids.map((id) => reasons.get(id))).toMatchInlineSnapshot(`
    [
      "the quota may not be used up: add --use-up-quota",
      "events are not received: add --webhook-port PORT, or --control on a sandbox",
      "the plan of the organisation can only be changed on a sandbox, with --control",
      "no request finished: follow it for longer with --watch",
      "a user whose role may not create requests is needed: --no-create-user EMAIL",
    ]
  `)
  expect(report.counts.holds + report.counts.not_judged).toBe(report.counts.cases)
})

test('an organisation that may not order is reported as such', async () => {
  const { run, sandbox } = await createLab()
  sandbox.setCredits(0)
  const report = await run({ isSelected: ({ id }) => id === 'create.accepted' })
  expect(listUntestedCases(report)).toEqual([
    {
      id: 'create.accepted',
      reason: 'no order was accepted: got 403 ("organisation has no credits remaining")',
    },
  ])
})

test('if a service fails every order, the case that creates a request is broken', async () => {
  const { run, sandbox } = await createLab()
  sandbox.inject({
    on: 'POST /v1/requests',
    times: 1000,
    fault: { kind: 'status', status: 500, when: 'before' },
  })
  const report = await run({ ...withoutControl, isSelected: ({ id }) => id === 'create.accepted' })
  expect(listBrokenCases(report)).toEqual([
    {
      id: 'create.accepted',
      findings: ['POST /v1/requests: expected 201, got 500 ("internal server error")'],
    },
  ])
})

test('a connection that is cut breaks its case, and the run continues', async () => {
  const { run, sandbox } = await createLab()
  sandbox.inject({ on: 'GET /v1/packages', fault: { kind: 'cut', when: 'before' } })
  const report = await run({
    ...withoutControl,
    isSelected: ({ id }) => id === 'packages.list' || id === 'users.list',
  })
  expect(listBrokenCases(report)).toEqual([
    {
      id: 'packages.list',
      findings: [expect.stringMatching(/^the answer was incomplete: .*: the connection was cut$/) as string],
    },
  ])
  expect(report.counts).toEqual({ cases: 2, holds: 1, broken: 1, not_judged: 0, advised: 0 })
})

test('the suite does not start if the key or the user is refused', async () => {
  const { run, target, sandbox } = await createLab()
  const badKey = run({ ...withoutControl, target: { ...target, apiKey: 'x'.repeat(32) } })
  await expect(badKey).rejects.toThrow(UnauthenticatedError)
  const badUser = run({ ...withoutControl, target: { ...target, userEmail: sandbox.people.inactive } })
  await expect(badUser).rejects.toThrow(ForbiddenError)
})

test('a run ends at once when it is interrupted', async () => {
  const { run } = await createLab()
  const interrupt = new AbortController()
  const finishedIds: string[] = []
  const running = run({
    signal: interrupt.signal,
    onCase: ({ id }) => {
      finishedIds.push(id)
      if (finishedIds.length === 3) interrupt.abort(new Error('enough'))
    },
  })
  await expect(running).rejects.toThrow('enough')
  expect(finishedIds).toHaveLength(3)
})

test('no finding shows a key, a secret or a signed token', async () => {
  const { run, target } = await createLab({
    createHandler: (sandbox) => async (request, connection) => {
      const answer = await sandbox.fetch(request, connection)
      if (answer.headers.get('Content-Type') !== 'application/json') return new Response('none')
      const { apiKey, webhookSecret } = sandbox.credentials
      const reply = (await answer.json()) as { message: string }
      reply.message = `${'so '.repeat(20)}${apiKey} ${webhookSecret} ${request.url}`
      return Response.json(reply, { status: answer.status })
    },
  })
  const report = await run()
  const text = JSON.stringify(report)
  expect(report.counts.broken).toBeGreaterThan(20)
  expect(text).not.toContain(target.apiKey.slice(0, 8))
  expect(text).not.toContain(target.webhookSecret ?? 'no secret')
  const findings = report.cases.flatMap((each) => each.findings).join('\n')
  expect(findings).not.toMatch(/[?&]t=(?!\*\*\*|invalid\b)[^"\s]/)
})

test.each(Object.entries(encodings).filter(([, encode]) => encode('key') !== 'key'))(
  'no finding shows the first part of a key in an encoding that is longer than findings are: %s',
  async (_name, encode) => {
    const { run, target } = await createLab({
      createHandler: (sandbox) =>
        onJson(sandbox, ({ body }) => {
          body.message = `${'so '.repeat(20)}${encode(sandbox.credentials.apiKey)}`
        }),
    })
    const { cases } = await run({ isSelected: ({ id }) => id.startsWith('answers.') })
    const findings = cases.flatMap((each) => each.findings).join('\n')
    expect(findings).toContain('so so so')
    expect(findings).not.toContain(JSON.stringify(encode(target.apiKey.slice(0, 4))).slice(1, -1))
  },
)

test('if the service sends back a key that the suite altered, no finding shows the key', async () => {
  const { run, target } = await createLab({
    createHandler: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        reply.body.message = `the key ${request.headers.get('X-Service-API-Key')} is not known`
        if (reply.status === 401) reply.status = 403
      }),
  })
  const report = await run({ isSelected: ({ id }) => id.startsWith('authentication.') })
  const text = JSON.stringify(report)
  expect(text).toContain('the key [API key] is not known')
  expect(text.toLowerCase()).not.toContain(target.apiKey.slice(0, 8).toLowerCase())
})
