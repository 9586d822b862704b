import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { parseSnapshot } from '../../../src/sandbox/service/schemas.ts'
import { type RuleName, ruleTable } from '../../../src/sandbox/service/rules.ts'
import {
  fullOrder,
  hour,
  jane,
  minute,
  refusal,
  simpleOrder,
  createSandboxClient,
} from '../sandbox-client.ts'

const orderInError = { ...fullOrder, recipient: { ...jane, email: 'jane+error@example.com' } }

test('each rule is listed with its sentence of the API document, its choices and the current choice', () => {
  const { sandbox } = createSandboxClient({ rules: { 'body-limit': 'none' } })
  const rules = sandbox.rules()
  expect(rules.map(({ name }) => name)).toEqual(Object.keys(ruleTable))
  expect(rules.find(({ name }) => name === 'body-limit')).toEqual({
    name: 'body-limit',
    section: 'Limits',
    sentence: 'Maximum lengths of text fields and maximum request body size: not shown',
    open: 'How large the body of a request may be.',
    choices: ['1 MiB', '64 KiB', 'none'],
    current: 'none',
  })
})

test('a rule is switched while the sandbox runs, and an unknown one is refused', async () => {
  const { sandbox, get } = createSandboxClient()
  expect((await get('/v1/packages/106/schema')).status).toBe(404)
  sandbox.setRule('disabled-package-schema', '200')
  expect((await get('/v1/packages/106/schema')).status).toBe(200)
  expect(() => sandbox.setRule('weather', 'fine')).toThrow('no rule named "weather"')
  expect(() => sandbox.setRule('body-limit', '2 MiB')).toThrow('the rule "body-limit" has no choice "2 MiB"')
  expect(() => sandbox.setRule('constructor', 'x')).toThrow('no rule named "constructor"')
})

test('`seeded` draws the choice of each rule from the seed', () => {
  const drawChoices = (seed: number) =>
    createSandboxClient({ rules: 'seeded', seed })
      .sandbox.rules()
      .map(({ current }) => current)
  expect(drawChoices(1)).toEqual(drawChoices(1))
  const drawnChoices = new Set(
    Array.from({ length: 40 }, (_, seed) =>
      drawChoices(seed).map((choice, rule) => `${rule} ${choice}`),
    ).flat(),
  )
  const allChoices = Object.values(ruleTable).flatMap(({ choices }, rule) =>
    choices.map((choice) => `${rule} ${choice}`),
  )
  expect([...drawnChoices].sort()).toEqual([...allChoices].sort())
})

test('quota-window-start: clock lets windows begin at full minutes', async () => {
  const { get, clock } = createSandboxClient({
    rules: { 'quota-window-start': 'clock' },
    quota: [{ calls: 1, seconds: 60 }],
  })
  await clock.advance(45_000)
  await get('/v1/users')
  expect((await get('/v1/users')).headers.get('Retry-After')).toBe('15')
  await clock.advance(15_000)
  expect((await get('/v1/users')).status).toBe(200)
})

test('refused-calls-count: yes counts calls that the minute refuses against the hour', async () => {
  const quota = [
    { calls: 1, seconds: 60 },
    { calls: 4, seconds: 3600 },
  ]
  const statuses: Record<string, (string | null)[]> = {}
  for (const choice of ['no', 'yes'] as const) {
    const { get, clock } = createSandboxClient({ rules: { 'refused-calls-count': choice }, quota })
    statuses[choice] = []
    for (let call = 0; call < 5; call += 1) {
      statuses[choice].push((await get('/v1/users')).headers.get('Retry-After'))
      if (call === 3) await clock.advance(minute)
    }
  }
  expect(statuses).toEqual({ no: [null, '60', '60', '60', null], yes: [null, '60', '60', '60', '3540'] })
})

test('hidden-package-schema: 403 answers 403 for a package that is not available to the role', async () => {
  const { get, authHeaders } = createSandboxClient({ rules: { 'hidden-package-schema': '403' } })
  const answer = await get('/v1/packages/104/schema', authHeaders('max.member@example.com'))
  expect(answer.status).toBe(403)
  expect(answer.envelope()).toEqual(refusal('the role of the user does not permit this action'))
  expect((await get('/v1/packages/999/schema')).status).toBe(404)
})

test('support-creates: yes lets the role support create', async () => {
  const { post, authHeaders } = createSandboxClient({ rules: { 'support-creates': 'yes' } })
  const headers = { ...authHeaders('sam.support@example.com'), 'Content-Type': 'application/json' }
  expect((await post(simpleOrder, headers)).status).toBe(201)
})

test('error-checks: none leaves a request in ERROR without checks', async () => {
  const { order, read, clock } = createSandboxClient({ rules: { 'error-checks': 'none' } })
  const id = await order(orderInError)
  await clock.advance(hour)
  expect(await read(id)).toMatchObject({ status: 'ERROR', checks: [] })
})

test('error-from: RECEIVED turns a request to ERROR without IN_PROGRESS', async () => {
  const { order, read, clock } = createSandboxClient({ rules: { 'error-from': 'RECEIVED' } })
  const id = await order(orderInError)
  const statuses = new Set<string>()
  for (let step = 0; step < 20; step += 1) {
    statuses.add((await read(id)).status)
    await clock.advance(minute / 2)
  }
  expect([...statuses]).toEqual(['RECEIVED', 'ERROR'])
})

test('leaving-received: at-once goes from RECEIVED to COMPLETED', async () => {
  const { order, read, clock } = createSandboxClient({ rules: { 'leaving-received': 'at-once' }, quota: [] })
  const id = await order(fullOrder)
  const statuses = new Set<string>()
  for (let step = 0; step <= 60; step += 1) {
    statuses.add((await read(id)).status)
    await clock.advance(minute)
  }
  expect([...statuses]).toEqual(['RECEIVED', 'COMPLETED'])
})

test('report-ready: later leaves a COMPLETED check without report for minutes', async () => {
  const { order, read, clock } = createSandboxClient({ rules: { 'report-ready': 'later' }, quota: [] })
  const id = await order()
  let readsWithoutReport = 0
  for (let step = 0; step <= 60; step += 1) {
    const [check] = (await read(id)).checks
    if (check?.status === 'COMPLETED' && check.report_pdf_url === null) readsWithoutReport += 1
    await clock.advance(minute)
  }
  expect(readsWithoutReport).toBe(4)
  expect((await read(id)).checks[0]?.report_pdf_url).not.toBeNull()
})

test.each([
  ['milliseconds', '2026-03-02T09:00:00.000Z'],
  ['seconds', '2026-03-02T09:00:00Z'],
  ['offset', '2026-03-02T09:00:00.000+00:00'],
] as const)('created-at-form: %s makes created_at %s', async (form, text) => {
  const { order, read } = createSandboxClient({ rules: { 'created-at-form': form } })
  expect((await read(await order())).created_at).toBe(text)
})

test('referee-id-form: uuid makes the id of a referee a UUID', async () => {
  const { order, read, clock, get } = createSandboxClient({ rules: { 'referee-id-form': 'uuid' } })
  const id = await order(fullOrder)
  await clock.advance(hour)
  const referee = (await read(id)).checks[0]?.references?.[0]
  expect(referee?.referee_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  expect((await get(referee?.report_pdf_url ?? '', {})).status).toBe(200)
})

test('text-limit: 255 refuses longer text fields', async () => {
  const { post } = createSandboxClient({ rules: { 'text-limit': '255' } })
  const orderWithLongName = { ...simpleOrder, recipient: { ...jane, last_name: 'x'.repeat(256) } }
  expect((await post(orderWithLongName)).envelope()).toEqual(
    refusal('recipient.last_name: must be at most 255 characters'),
  )
})

test('body-limit: 64 KiB refuses larger bodies, with or without Content-Length', async () => {
  const { sandbox, authHeaders } = createSandboxClient({ rules: { 'body-limit': '64 KiB' } })
  const headers = { ...authHeaders(), 'Content-Type': 'application/json' }
  const body = new Blob(['x'.repeat(70_000)])
  for (const [sentBody, lengthHeader] of [
    ['x'.repeat(70_000), { 'Content-Length': '70000' }],
    [body.stream(), {}],
  ] as const) {
    const init = {
      method: 'POST',
      headers: { ...headers, ...lengthHeader },
      body: sentBody,
      duplex: 'half' as const,
    }
    const answer = await sandbox.fetch(new Request('http://127.0.0.1:1/v1/requests', init))
    expect(await answer.json()).toEqual(refusal('body: must not be larger than 64 KiB'))
  }
})

test.each(['quick', 'never'] as const)(
  'webhook-retries: %s sets the pauses between the attempts',
  async (choice) => {
    const times: number[] = []
    const client = createSandboxClient({
      rules: { 'webhook-retries': choice },
      webhookUrl: 'https://hooks.example.com/in',
      deliver: () => {
        times.push(client.clock.now())
        return Promise.resolve(500)
      },
    })
    await client.order({ ...simpleOrder, recipient: { ...jane, email: 'jane+stalled@example.com' } })
    await client.clock.advance(24 * hour)
    const pauses = times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / 1000)
    expect(pauses).toEqual(choice === 'quick' ? [1, 2, 4] : [])
  },
)

test('repeated-events: sometimes sends some acknowledged events a second time', async () => {
  let deliveryCount = 0
  const client = createSandboxClient({
    rules: { 'repeated-events': 'sometimes' },
    webhookUrl: 'https://hooks.example.com/in',
    deliver: () => {
      deliveryCount += 1
      return Promise.resolve(200)
    },
  })
  for (let count = 0; count < 20; count += 1) await client.order()
  await client.clock.advance(hour)
  expect(deliveryCount).toBeGreaterThan(40)
  expect(deliveryCount).toBeLessThan(80)
})

test.each([
  ['code', /^[A-Z_]+$/],
  ['lines', /\n/],
] as const)('error-reason-form: %s sets the form of error_reason', async (form, pattern) => {
  const reasons: unknown[] = []
  const client = createSandboxClient({
    rules: { 'error-reason-form': form },
    webhookUrl: 'https://hooks.example.com/in',
    deliver: (_url, _headers, body) => {
      reasons.push((JSON.parse(Buffer.from(body).toString()) as { error_reason?: string }).error_reason)
      return Promise.resolve(200)
    },
  })
  await client.order(orderInError)
  await client.clock.advance(hour)
  expect(reasons).toEqual([undefined, expect.stringMatching(pattern)])
})

const orderFor = (part: object) => ({ ...simpleOrder, recipient: { ...jane, ...part } })

/** Sends a body with each choice of a rule. Returns, for each, the message of a 400 or another status. */
async function tryEachChoice(name: RuleName, body: unknown, type = 'application/json') {
  const results: unknown[] = []
  for (const choice of ruleTable[name].choices) {
    const { post, authHeaders } = createSandboxClient({ rules: { [name]: choice } })
    const answer = await post(body, { ...authHeaders(), 'Content-Type': type })
    results.push(answer.status === 400 ? answer.envelope().message : answer.status)
  }
  return results
}

test.each<[RuleName, unknown, string]>([
  ['blank-text', orderFor({ first_name: ' ' }), 'recipient.first_name: must not be empty'],
  [
    'control-characters',
    orderFor({ last_name: 'Do\0e' }),
    'recipient.last_name: must not hold control characters',
  ],
  [
    'null-values',
    { ...simpleOrder, additional_information: null },
    'additional_information: must be an array',
  ],
  ['email-form', orderFor({ email: 'zoë@büro.example' }), 'recipient.email: must be a valid email address'],
])('%s: %j is refused by default, and accepted with the other choice', async (name, body, message) => {
  expect(await tryEachChoice(name, body)).toEqual([message, 201])
})

test('null-values: null is refused or ignored in an optional field, and always refused in a required field', async () => {
  const withNull = (field: string) => {
    const [reference, police, credit] = fullOrder.additional_information
    const fields = { ...police?.fields, [field]: null }
    return { ...fullOrder, additional_information: [reference, { code: 'ncc_acic', fields }, credit] }
  }
  const path = 'additional_information[1].fields'
  expect(await tryEachChoice('null-values', withNull('licence_number'))).toEqual([
    `${path}.licence_number: must be a string`,
    201,
  ])
  const required = `${path}.date_of_birth: must be a string`
  expect(await tryEachChoice('null-values', withNull('date_of_birth'))).toEqual([required, required])
})

test('blank-text: an empty required field of a check is refused or accepted', async () => {
  const [reference, ...otherChecks] = fullOrder.additional_information
  const blank = { ...reference, fields: { position_title: '' } }
  const body = { ...fullOrder, additional_information: [blank, ...otherChecks] }
  const message = 'additional_information[0].fields.position_title: must not be empty'
  expect(await tryEachChoice('blank-text', body)).toEqual([message, 201])
})

test('email-form: international still refuses invalid addresses', async () => {
  const { post } = createSandboxClient({ rules: { 'email-form': 'international' } })
  for (const email of ['zoë', 'zo ë@büro.example', 'zoë@büro', '@büro.example']) {
    expect((await post(orderFor({ email }))).status).toBe(400)
  }
})

test('content-type: a JSON type of a vendor is refused or accepted', async () => {
  expect(
    await tryEachChoice('content-type', simpleOrder, 'application/vnd.acme+json; charset=utf-8'),
  ).toEqual(['Content-Type: must be application/json', 201])
  expect(await tryEachChoice('content-type', simpleOrder, 'text/vnd.acme+json')).not.toContain(201)
})

test('repeated-parameters: two valid values are refused, or the first is used; an invalid value is always refused', async () => {
  const ids = async (choice: 'refused' | 'first', query: string) => {
    const { get } = createSandboxClient({ rules: { 'repeated-parameters': choice } })
    const answer = await get(`/v1/packages?${query}`)
    if (answer.status !== 200) return [answer.status, answer.envelope().message]
    return (answer.envelope().data as { packages: { id: number }[] }).packages.map(({ id }) => id)
  }
  for (const choice of ['refused', 'first'] as const) {
    const statusRefusal = [400, 'status: must be one of active, inactive, disabled']
    expect(await ids(choice, 'status=active&status=bogus')).toEqual(statusRefusal)
    expect(await ids(choice, 'id=101&id=x')).toEqual([400, 'id: must be an integer'])
  }
  expect(await ids('refused', 'status=inactive&status=active')).toEqual([400, 'status: must be given once'])
  expect(await ids('first', 'status=inactive&status=active')).toEqual([105])
})

test('repeated-parameters: two tokens are refused, or accepted if both are valid', async () => {
  const statuses: Record<string, number[]> = {}
  for (const choice of ['refused', 'first'] as const) {
    const { order, read, clock, get } = createSandboxClient({ rules: { 'repeated-parameters': choice } })
    const id = await order()
    await clock.advance(hour)
    const url = (await read(id)).checks[0]?.report_pdf_url ?? ''
    const { searchParams } = new URL((await read(id)).checks[0]?.report_pdf_url ?? '')
    statuses[choice] = []
    for (const second of [searchParams.get('t'), 'wrong']) {
      statuses[choice].push((await get(`${url}&t=${second}`, {})).status)
    }
  }
  expect(statuses).toEqual({ refused: [401, 401], first: [200, 401] })
})

test('id-case: an id in capital letters is accepted everywhere, or nowhere', async () => {
  const statuses: Record<string, number[]> = {}
  for (const choice of ['ignored', 'exact'] as const) {
    const { order, read, clock, get } = createSandboxClient({ rules: { 'id-case': choice } })
    const id = await order(fullOrder)
    await clock.advance(hour)
    const { checks } = await read(id)
    const [reference, police] = checks
    const capital = (text: string | null | undefined): string => (text ?? '').toUpperCase()
    const url = new URL(police?.report_pdf_url ?? '')
    const paths = [
      `/v1/requests/${capital(id)}`,
      `/v1/reports/${capital(police?.id)}`,
      `/v1/reports/${capital(reference?.id)}/referees/${reference?.references?.[0]?.referee_id}`,
    ]
    statuses[choice] = []
    for (const path of paths) statuses[choice].push((await get(path)).status)
    statuses[choice].push((await get(`/v1/reports/${capital(police?.id)}${url.search}`, {})).status)
  }
  expect(statuses).toEqual({ ignored: [200, 200, 200, 200], exact: [404, 404, 404, 401] })
})

test('a rule that is missing in data of an earlier version has its default choice', async () => {
  const { sandbox } = createSandboxClient({ rules: { 'support-creates': 'yes' } })
  const snapshot = sandbox.snapshot()
  const { 'id-case': _removed, ...olderRules } = snapshot.settings.rules
  const olderSnapshot = { ...snapshot, settings: { ...snapshot.settings, rules: olderRules } }
  const restoredClient = createSandboxClient()
  restoredClient.sandbox.restore(parseSnapshot(JSON.parse(JSON.stringify(olderSnapshot))))
  const current = (name: string) => restoredClient.sandbox.rules().find((rule) => rule.name === name)?.current
  expect([current('support-creates'), current('id-case')]).toEqual(['yes', 'ignored'])
})

test('the sentences of these rules occur in the API document', () => {
  const text = readFileSync(new URL('../../vectors/service-api-v1.txt', import.meta.url), 'utf8')
  const normalise = (value: string): string => value.replaceAll(/[`|]/g, ' ').replaceAll(/\s+/g, ' ').trim()
  const ruleNames = [
    'blank-text',
    'control-characters',
    'null-values',
    'email-form',
    'content-type',
    'repeated-parameters',
    'id-case',
  ] as const
  const missing = ruleNames.filter((name) => !normalise(text).includes(normalise(ruleTable[name].sentence)))
  expect(missing).toEqual([])
})

test('each rule is used in a test of this file or of events.test.ts', () => {
  const tests = ['rules', 'events'].map((name) =>
    readFileSync(new URL(`./${name}.test.ts`, import.meta.url), 'utf8'),
  )
  const isUsed = (name: string): boolean => tests.some((text) => new RegExp(`'${name}'[:,]\\s`).test(text))
  const unusedRules = Object.keys(ruleTable).filter(
    (name) => !isUsed(name) && name !== 'disabled-package-schema',
  )
  expect(unusedRules).toEqual([])
})
