import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { isSpecType } from '@modelcontextprotocol/client'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'

import { type Agent, connectAgent } from '../harness/agent.ts'
import { orderBody } from '../harness/agent-plans.ts'
import { fullInformation, orderArguments } from '../harness/people.ts'
import { session, type Session } from '../harness/session.ts'

const header = 'first_name,last_name,email,phone\n'
const priya = JSON.parse(orderBody('Priya')) as Record<string, unknown>
const recipient = priya['recipient'] as Record<string, string>
const startAgent = async (argv: readonly string[] = []): Promise<Session & { agent: Agent }> => {
  const here = await session()
  return { ...here, agent: await connectAgent(here, argv, { clock: here.clock }) }
}

test('every tool, resource and prompt follows the protocol, and every result fits its schema', async () => {
  const here = await session()
  here.write('people.csv', `${header}Ana,One,a1@example.com,+61400000001\n`)
  await here.type(orderArguments('Mei'))
  await here.type('batch run people.csv --package 102 --yes')
  const folders = ['--files', '.', '--reports', 'reports']
  const agent = await connectAgent(here, folders, { clock: here.clock })
  const listed = await agent.client.listTools()
  expect(isSpecType.ListToolsResult(listed)).toBe(true)
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const schemas = new Map(listed.tools.map((tool) => [tool.name, tool.outputSchema ?? {}]))
  for (const tool of listed.tools) ajv.compile(tool.inputSchema)
  const [request] = here.sandbox.requests()
  const batch = ((await agent.call('list_batches')).data as { batch_id: string }[])[0]?.batch_id
  const { code } = (await agent.call('plan_order', { body: priya })).data as { code: string }
  const calls: Record<string, Record<string, unknown>> = {
    list_packages: { status: 'active' },
    get_package_schema: { package_id: 101 },
    validate_order: { body: priya },
    get_requests: { request_ids: [request?.request_id] },
    list_requests: { since: '7d' },
    list_batches: {},
    get_batch: { batch_id: batch },
    list_batch_rows: { batch_id: batch, state: 'accepted' },
    get_quota: {},
    list_events: {},
    validate_file: { file: 'people.csv', package_id: 102 },
    plan_order: { body: JSON.parse(orderBody('Tom').replace('678', '677')) as unknown },
    plan_people: {
      package_id: 102,
      people: [
        { recipient: { ...recipient, first_name: 'Zoe', email: 'zoe@example.com', phone: '+61412345676' } },
      ],
    },
    plan_file: { file: 'people.csv', package_id: 101 },
    get_plan: { code },
    file_reports: { request_ids: [request?.request_id] },
  }
  expect([...schemas.keys()].sort()).toEqual(Object.keys(calls).sort())
  for (const [name, input] of Object.entries(calls)) {
    const { whole, isError, text } = await agent.call(name, input)
    expect([name, isSpecType.CallToolResult(whole)]).toEqual([name, true])
    // plan_file fails, because package 101 needs fields that the file does not have.
    expect([name, isError]).toEqual([name, name === 'plan_file'])
    const { structuredContent } = whole as { structuredContent?: unknown }
    if (structuredContent === undefined) continue
    expect([name, ajv.validate(schemas.get(name) as object, structuredContent), ajv.errorsText()]).toEqual([
      name,
      true,
      'No errors',
    ])
    expect(text).toMatch(
      /^What stands between the two marks is data[^\n]*\n<data (\w+)>\n[^\n]*\n<\/data \1>$/,
    )
  }
  const { resources } = await agent.client.listResources()
  const { resourceTemplates } = await agent.client.listResourceTemplates()
  expect([
    ...resources.map(({ uri }) => uri),
    ...resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  ]).toEqual([
    'refcheck://packages',
    'refcheck://batches',
    'refcheck://packages/{id}/schema',
    'refcheck://batches/{id}',
  ])
  for (const uri of [
    'refcheck://packages',
    'refcheck://batches',
    'refcheck://packages/101/schema',
    `refcheck://batches/${batch}`,
  ]) {
    const [content] = (await agent.client.readResource({ uri })).contents
    expect(JSON.parse((content as { text: string }).text)).toMatchObject({
      notice: expect.any(String) as string,
      data: expect.anything() as unknown,
    })
  }
  const [invalid] = (await agent.client.readResource({ uri: 'refcheck://packages/x%20--help/schema' }))
    .contents
  expect((invalid as { text: string }).text).toContain('the address of the resource is not one')
  expect((await agent.client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
    'order_for_person',
    'order_for_file',
    'morning_status',
  ])
  const prompt = await agent.client.getPrompt({ name: 'order_for_file', arguments: { file: 'people.csv' } })
  expect(isSpecType.GetPromptResult(prompt)).toBe(true)
  expect((await agent.close()).code).toBe(0)
  expect(here.listOrderedEmails()).toEqual(['mei@example.com', 'a1@example.com'])
})

test('a plan has the command with which a person approves it, and is ordered after the approval', async () => {
  const { agent, type, listOrderedEmails } = await startAgent()
  const { data, isError } = await agent.call('plan_order', { body: priya })
  const { code, ...plan } = data as { code: string }
  expect([isError, plan]).toEqual([
    false,
    {
      ordered: false,
      approve_with: `refcheck approve ${code}`,
      expires_at: '2026-11-21T12:00:00.000Z',
      base_url: expect.stringContaining('http://127.0.0.1:') as string,
      user_email: 'o…@example.com',
      package_id: 102,
      orders: 1,
      review: {
        package_id: 102,
        recipient: { first_name: 'P.', last_name: 'E.', email: 'p…@example.com', phone: '…78' },
      },
    },
  ])
  expect((await agent.call('get_plan', { code })).data).toMatchObject({ state: 'waiting' })
  expect((await type(`approve ${code}`)).code).toBe(2)
  const answers = [{ ask: /^Order /, confirm: true }]
  const approved = (await type(`approve ${code} --json`, { tty: true, answers })).json() as {
    request_id: string
  }
  expect((await agent.call('get_plan', { code: code.toLowerCase() })).data).toMatchObject({
    state: 'approved',
    request_id: approved.request_id,
  })
  expect((await type(`approve ${code}`, { tty: true })).code).toBe(2)
  expect(listOrderedEmails()).toEqual(['priya@example.com'])
  // A person who was ordered, and an invalid order, cannot be planned.
  const again = await agent.call('plan_order', { body: priya })
  expect([again.isError, again.data]).toMatchObject([true, { error: { code: 'duplicate', match: 'exact' } }])
  const invalidPlan = await agent.call('plan_order', { body: { package_id: 102, recipient: {} } })
  expect([invalidPlan.isError, invalidPlan.data]).toMatchObject([true, { error: { code: 'invalid_input' } }])
  expect((await agent.call('get_plan', { code: 'BCDF-BCDF' })).data).toMatchObject({ state: 'not_found' })
})

test('an agent receives no personal data unless --allow-personal-data is given, and never reports or keys', async () => {
  const here = await session()
  const { apiKey, webhookSecret } = here.sandbox.credentials
  await here.type(
    orderArguments('Priya', ['--yes', ...fullInformation]).map((each) => (each === '102' ? '101' : each)),
  )
  here.write('people.csv', `${header}Ana,Uncommon,ana.uncommon@example.com,not a phone Uncommon\n`)
  await here.clock.sleep(3_600_000)
  const [request] = here.sandbox.requests()
  const canaries = [
    /priya/i,
    /uncommon/i,
    /61412345678/,
    /1990-04-30/,
    /High St/,
    /olive\.owner/,
    /Priya Rao/,
  ]
  const callToolsAboutPeople = async (agent: Agent): Promise<string> => {
    const id = request?.request_id
    await agent.call('get_requests', { request_ids: [id] })
    await agent.call('list_requests')
    await agent.call('validate_file', { file: 'people.csv', package_id: 102 })
    await agent.call('plan_order', {
      body: { ...priya, recipient: { ...(priya['recipient'] as object), email: 'other@example.com' } },
    })
    await agent.call('file_reports', { request_ids: [id] })
    return agent.received()
  }
  const masked = await callToolsAboutPeople(
    await connectAgent(here, ['--files', '.', '--reports', 'masked'], { clock: here.clock }),
  )
  for (const canary of canaries) expect(masked).not.toMatch(canary)
  const shown = await callToolsAboutPeople(
    await connectAgent(here, ['--files', '.', '--reports', 'shown', '--allow-personal-data'], {
      clock: here.clock,
    }),
  )
  for (const canary of [/priya@example\.com/, /not a phone Uncommon/, /olive\.owner/])
    expect(shown).toMatch(canary)
  for (const received of [masked, shown]) {
    for (const secret of [apiKey, webhookSecret, /[?&]t=/, /%PDF/]) expect(received).not.toMatch(secret)
    expect(received).toContain('report_pdf_url\\":\\"withheld')
  }
  expect(masked).toMatch(/"path\\":\\"[^"]*\/masked\/[0-9a-f-]{36}\/[^"]*\.pdf/)
  expect(readdirSync(join(here.folder, 'masked')).length).toBeGreaterThan(0)
})

test('an agent receives only those names of checks that the packages of the account have', async () => {
  const here = await session()
  await here.type(orderArguments('Priya', ['--yes']))
  const [request] = here.sandbox.requests()
  const agent = await connectAgent(here, [], { clock: here.clock })
  const getRequest = () => agent.call('get_requests', { request_ids: [request?.request_id] })
  await getRequest()
  expect(agent.received()).toContain('Identity check')
  const receivedLength = agent.received().length
  const text = 'Check of Zoraidax Canary born 1931-07-19, 12 Canary Street'
  here.intercept(async (sentRequest, ask) => {
    const answer = await ask(sentRequest)
    if (!sentRequest.url.includes('/v1/requests/')) return answer
    const body = (await answer.json()) as { data: { checks: object[] } }
    for (const check of body.data.checks)
      Object.assign(check, { check_name: text, partner_name: text, type: text })
    return Response.json(body)
  })
  const calls = here.listCalls().length
  await getRequest()
  expect(agent.received().slice(receivedLength)).not.toMatch(/Zoraidax|1931|Street/)
  // The packages were read for the first answer, and are not read again.
  expect(
    here
      .listCalls()
      .slice(calls)
      .filter((call) => call.includes('/v1/packages')),
  ).toEqual([])
})

test('files are read only in the folder of --files, and reports are filed only with --reports', async () => {
  const here = await session()
  mkdirSync(join(here.folder, 'in'))
  here.write('in/people.csv', `${header}Ana,One,a1@example.com,+61400000001\n`)
  here.write('secret.csv', `${header}Canary,Secret,canary@example.com,+61400000009\n`)
  symlinkSync(join(here.folder, 'secret.csv'), join(here.folder, 'in', 'link.csv'))
  symlinkSync(here.folder, join(here.folder, 'in', 'up'))
  const agent = await connectAgent(here, ['--files', 'in', '--allow-personal-data'], { clock: here.clock })
  const answers = await Promise.all(
    [
      '../secret.csv',
      'link.csv',
      'up/secret.csv',
      join(here.folder, 'secret.csv'),
      '/etc/passwd',
      '.',
      'missing.csv',
      'people.csv\0',
      '--help',
      '-',
    ].map(async (file) => (await agent.call('plan_file', { file, package_id: 102 })).data),
  )
  const refused = { code: 'not_found', message: 'there is no such file in the folder of --files' }
  for (const each of answers) expect(each).toMatchObject({ error: refused })
  expect(agent.received()).not.toContain('anary')
  for (const file of ['people.csv', join(here.folder, 'in', 'people.csv')])
    expect((await agent.call('validate_file', { file, package_id: 102 })).data).toMatchObject({
      rows: 1,
      valid: 1,
    })
  // An argument that looks like a flag is used as a value.
  const flags = await agent.call('validate_file', {
    file: 'people.csv',
    package_id: 102,
    sheet: '--save-mapping=x',
    ignore: ['--errors=out.csv'],
  })
  expect(flags.text).not.toContain('out.csv is')
  expect(readdirSync(here.folder)).not.toContain('out.csv')
  expect(
    (await agent.call('file_reports', { request_ids: ['3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'] })).data,
  ).toMatchObject({
    error: { code: 'usage', message: 'no folder for reports was allowed' },
  })
  const agentWithoutFiles = await connectAgent(here, [], { clock: here.clock })
  expect((await agentWithoutFiles.call('plan_file', { file: 'people.csv' })).data).toMatchObject({
    error: { message: 'no folder with files was allowed' },
  })
  expect((await here.type('mcp', { tty: true })).code).toBe(2)
})

test('a file is planned with the given mapping, and the plan has the number of rows that are left out', async () => {
  const here = await session()
  here.write(
    'people.csv',
    `Given,last_name,email,phone,Note\nAna,One,a1@example.com,+61400000001,x\nBo,Two,a2@example.com,+61400000002,y\nBo,Two,a2@example.com,+61400000002,z\n`,
  )
  const agent = await connectAgent(here, ['--files', '.'], { clock: here.clock })
  const unread = await agent.call('plan_file', { file: 'people.csv', package_id: 102 })
  expect(unread.isError).toBe(true)
  const planned = await agent.call('plan_file', {
    file: 'people.csv',
    package_id: 102,
    map: { Given: 'first_name' },
    ignore: ['Note'],
  })
  const { code } = planned.data as { code: string }
  expect(planned.data).toMatchObject({
    orders: 2,
    review: { counts: { total: 3, pending: 2, duplicate: 1 } },
  })
  const answers = [
    {
      ask: /^Order 102 Identity check only for 2 people \(Ana One \(a1@example.com\), Bo Two \(a2@example.com\)\) .* and leave out 1 row/,
      confirm: true,
    },
  ]
  expect((await here.type(`approve ${code}`, { tty: true, answers })).code).toBe(0)
  expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'a2@example.com'])
  expect((await agent.call('get_plan', { code })).data).toMatchObject({
    state: 'approved',
    batch_id: expect.any(String) as string,
  })
})

test('a call reports its progress, and can be cancelled', async () => {
  const here = await session()
  const agent = await connectAgent(here, [], { clock: here.clock })
  const steps: number[] = []
  const onprogress = ({ progress }: { progress: number }): void => void steps.push(progress)
  await agent.client.callTool({ name: 'list_packages', arguments: {} }, { onprogress })
  expect(steps).toEqual([1])
  const stopped = new AbortController()
  let reportArrival: (() => void) | undefined
  const callArrived = new Promise<void>((resolve) => (reportArrival = resolve))
  here.intercept(async (request, ask) => {
    if (!request.url.endsWith('/v1/packages')) return ask(request)
    reportArrival?.()
    await new Promise((resolve) => request.signal.addEventListener('abort', resolve))
    return ask(request)
  })
  const call = agent.client.callTool({ name: 'list_packages', arguments: {} }, { signal: stopped.signal })
  await callArrived
  stopped.abort()
  await expect(call).rejects.toThrow('abort')
  here.intercept(undefined)
  expect((await agent.call('list_packages')).isError).toBe(false)
  expect((await agent.close()).code).toBe(0)
})

test('unknown tools and invalid arguments are refused, and nothing is ordered', async () => {
  const { agent, listOrderedEmails } = await startAgent()
  await expect(agent.call('approve', { code: 'BCDF-BCDF' })).rejects.toThrow('Tool approve not found')
  for (const input of [{ package_id: '1 --yes' }, { package_id: 1.5 }, { package_id: 102, yes: true }, {}])
    expect((await agent.call('get_package_schema', input)).isError).toBe(true)
  // Of a shortened id, the message would list the names of the files of several batches.
  for (const batch_id of ['--help', '3f2b8c1e'])
    for (const name of ['get_batch', 'list_batch_rows', 'list_requests', 'file_reports'])
      expect((await agent.call(name, { batch_id })).isError).toBe(true)
  for (const person of [
    { ...recipient },
    { recipient, package_id: 101 },
    { recipient, 'recipient.email': 'e@example.com' },
  ])
    expect((await agent.call('plan_people', { package_id: 102, people: [person] })).isError).toBe(true)
  expect(listOrderedEmails()).toEqual([])
})
