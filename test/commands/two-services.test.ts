import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { signatureHeader } from '../../src/contract/headers.ts'
import { sign, signingKey } from '../../src/contract/signature.ts'
import { parseFixture } from '../../src/sandbox/control/read-inputs.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { sessionWithOrders, listPdfs } from '../harness/orders.ts'
import { startListening } from '../harness/listening-session.ts'
import { orderArguments } from '../harness/people.ts'
import type { Session } from '../harness/session.ts'
import { twoServices } from '../harness/two-services.ts'

recordForFaultTable('services', { mustNotHappen: 'mixed' })

const hourMs = 3_600_000

/** Returns a signed event. It is valid for both services, because they have the same secret. */
function createDelivery({ sandbox }: Session, request_id: string, status: string, error_reason?: string) {
  const body = JSON.stringify({ event: 'request.updated', request_id, status, error_reason })
  return { body, signature: sign(Buffer.from(body), signingKey(sandbox.credentials.webhookSecret)) }
}

const createEventLine = (...event: Parameters<typeof createDelivery>): string =>
  JSON.stringify(createDelivery(...event))

const otherPackages = `
organisations:
  - name: Other
    users: [{ email: olive.owner@example.com, role: owner, first_name: Olive, last_name: Owner }]
    packages:
      - id: 102
        name: Other screen
        details: { background_checks: [{ check_name: Other check, partner_name: null }] }
`

/** Returns the first name that the manifest has for each file. Expects that the files exist and differ. */
function readFiledNames({ folder }: Session): string[] {
  const path = join(folder, 'reports')
  const records = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as {
    first_name: string | null
    file: string
    sha256: string
  }[]
  expect(records.map(({ file }) => file).sort()).toEqual(listPdfs(path))
  const withPerson = records.filter(({ first_name }) => first_name !== null)
  expect(new Set(withPerson.map(({ sha256 }) => sha256)).size).toBe(withPerson.length)
  return records.map(({ first_name }) => first_name ?? 'unknown')
}

test('if a restarted sandbox repeats the ids of checks, each report is filed under its own person', async () => {
  const here = await sessionWithOrders(['Ann'])
  const [annsCheck] = here.sandbox.requests().flatMap(({ checks }) => checks ?? [])
  await here.type('report sync --output reports')
  here.sandbox.reset()
  await here.type(orderArguments('Bob'))
  await here.clock.advance(hourMs)
  expect(here.sandbox.requests()[0]?.checks?.[0]?.id).toBe(annsCheck?.id)
  expect(await here.type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    stored  reports/Example-Bob_Identity-check_HASH.pdf  # kB
    2> In reports: 1 stored, 1 already there, 0 requests not finished
    exit 0
  `)
  expect(readFiledNames(here)).toEqual(['Ann', 'Bob'])
  expect((await here.type(`report download ${annsCheck?.id} --output reports`)).code).toBe(0)
  expect(readFiledNames(here)).toEqual(['Ann', 'Bob', 'unknown'])
})

test('reports of two services with the same ids are filed in one folder, each under its own person', async () => {
  const here = await twoServices()
  await here.type(orderArguments('Ann'))
  await here.typeAtOther(orderArguments('Bob'))
  await here.clock.advance(hourMs)
  expect(here.other.sandbox.requests()[0]?.request_id).toBe(here.sandbox.requests()[0]?.request_id)
  await here.type('report sync --output reports')
  expect(await here.typeAtOther('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    stored  reports/Example-Bob_Identity-check_HASH.pdf  # kB
    2> In reports: 1 stored, 0 already there, 0 requests not finished
    exit 0
  `)
  expect(readFiledNames(here)).toEqual(['Ann', 'Bob'])
  expect(await here.type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    2> In reports: 0 stored, 1 already there, 0 requests not finished
    exit 0
  `)
})

test('a report does not replace a file that the manifest lists for another person', async () => {
  const here = await sessionWithOrders(['Ann'])
  await here.type('report sync --output reports')
  const manifest = here.read('reports/manifest.json').replace('"Ann"', '"Bob"')
  here.write('reports/manifest.json', manifest)
  expect(await here.type(`report download --request ${here.ids[0]} --output reports --overwrite`))
    .toMatchInlineSnapshot(`
      $ refcheck report download --request REQUEST_1 --output reports --overwrite
      unavailable  Ann Example: "Example-Ann_Identity-check_HASH.pdf" is listed as a report of Bob Example
      2> Error: 1 report is unavailable
      2> It was left as it is. Ask the provider whose report it is, or use another folder with --output.
      exit 10
    `)
  expect(here.read('reports/manifest.json')).toBe(manifest)
})

describe.each(['SQLite', 'PostgreSQL'] as const)('two services on one %s store', (store) => {
  /** Orders Ann at one service and Bob at the other. Their requests have the same id. */
  async function orderAtBoth() {
    const here = await twoServices({ store })
    await here.type(orderArguments('Ann'))
    await here.typeAtOther(orderArguments('Bob'))
    const [request] = here.sandbox.requests()
    expect(here.other.sandbox.requests()[0]?.request_id).toBe(request?.request_id)
    const readStatuses = async () =>
      ((await here.type('request list --json')).json() as Record<string, unknown>[]).map(
        ({ recipient, status }) => [(recipient as { first_name: string }).first_name, status],
      )
    return { ...here, id: request?.request_id ?? '', readStatuses }
  }

  test('a read at one service does not change a request of the other', async () => {
    const here = await orderAtBoth()
    here.other.sandbox.advanceRequest(here.id)
    await here.typeAtOther(`request get ${here.id}`)
    expect(await here.readStatuses()).toEqual([
      ['Ann', 'RECEIVED'],
      ['Bob', 'IN_PROGRESS'],
    ])
    await here.clock.advance(hourMs)
    await here.type(`request wait ${here.id}`)
    expect(await here.readStatuses()).toEqual([
      ['Ann', 'COMPLETED'],
      ['Bob', 'IN_PROGRESS'],
    ])
    await here.typeAtOther('request list --refresh')
    expect(await here.readStatuses()).toEqual([
      ['Ann', 'COMPLETED'],
      ['Bob', 'COMPLETED'],
    ])
  })

  test('a batch of the other service is refused', async () => {
    const here = await orderAtBoth()
    const [, bob] = (await here.type('request list --json')).json() as { batch_id: string }[]
    expect(
      await here.all([
        `request wait --batch ${bob?.batch_id}`,
        `report download --batch ${bob?.batch_id} --output reports`,
      ]),
    ).toMatchInlineSnapshot(`
      $ refcheck request wait --batch BATCH_2
      2> Error: batch BATCH_2 is for http://127.0.0.1:PORT_1, and this profile is for http://127.0.0.1:PORT
      2> Nothing was sent. Run it again with the profile it was made with: --profile NAME
      exit 2

      $ refcheck report download --batch BATCH_2 --output reports
      2> Error: batch BATCH_2 is for http://127.0.0.1:PORT_1, and this profile is for http://127.0.0.1:PORT
      2> Nothing was sent. Run it again with the profile it was made with: --profile NAME
      exit 2
    `)
  })

  test('an event of one service does not change a request of the other, and is no duplicate of its event', async () => {
    const here = await orderAtBoth()
    here.write('events.ndjson', createEventLine(here, here.id, 'ERROR', 'the referee did not answer'))
    const imported = await here.typeAtOther('webhook events import events.ndjson --json')
    expect(imported.json()).toMatchObject({ added: 1 })
    expect(await here.type('request list --columns first_name,status,error_reason')).toMatchInlineSnapshot(`
      $ refcheck request list --columns first_name,status,error_reason
      FIRST NAME  STATUS    ERROR REASON
      Ann         RECEIVED  -
      Bob         ERROR     the referee did not answer
      exit 0
    `)
    here.write('events.ndjson', createEventLine(here, here.id, 'ERROR', 'cancelled by the provider'))
    expect((await here.type('webhook events import events.ndjson --json')).json()).toMatchObject({ added: 1 })
    expect((await here.type('request list --csv --columns first_name,status,error_reason')).stdout).toBe(
      'first_name,status,error_reason\nAnn,ERROR,cancelled by the provider\nBob,ERROR,the referee did not answer\n',
    )
  })

  test('an event of one service is stored even if the person with the same request id at the other service was purged', async () => {
    const here = await orderAtBoth()
    await here.type('store purge --email ann@example.com --yes')
    here.write('events.ndjson', createEventLine(here, here.id, 'ERROR', 'for Bob only'))
    await here.typeAtOther('webhook events import events.ndjson')
    const listed = (await here.typeAtOther('request list --json')).json() as Record<string, unknown>[]
    expect(listed.map(({ error_reason }) => error_reason)).toContain('for Bob only')
    const annsEvent = createEventLine(here, here.id, 'ERROR', 'for Ann only')
    here.write('events.ndjson', annsEvent)
    await here.type('webhook events import events.ndjson')
    expect((await here.type('request list --json')).stdout).not.toContain('for Ann only')
  })

  test('a receiver stores its events for the service of its profile', async () => {
    const here = await orderAtBoth()
    const receiver = await startListening({ type: here.typeAtOther }, ['--max-events', '1'])
    const { body, signature } = createDelivery(here, here.id, 'COMPLETED')
    await fetch(receiver.url, { method: 'POST', headers: { [signatureHeader]: signature }, body })
    expect((await receiver.ended).code).toBe(0)
    expect(await here.readStatuses()).toEqual([
      ['Ann', 'RECEIVED'],
      ['Bob', 'COMPLETED'],
    ])
  })

  test('an event without a known service changes the requests of both services', async () => {
    const here = await orderAtBoth()
    here.write('events.ndjson', createEventLine(here, here.id, 'PARTIAL'))
    await here.type('webhook events import events.ndjson', { exported: { REFCHECK_BASE_URL: '' } })
    expect((await here.readStatuses()).map(([, status]) => status)).toEqual(['PARTIAL', 'PARTIAL'])
  })

  test('a request that an event of one service names is not read at the other', async () => {
    const here = await orderAtBoth()
    const foreignId = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'
    here.write('events.ndjson', createEventLine(here, foreignId, 'PARTIAL'))
    await here.typeAtOther('webhook events import events.ndjson')
    const calls = here.listCalls().length
    await here.type('batch reconcile')
    expect(here.listCalls()).toHaveLength(calls)
    expect((await here.type('request get 3f2b8c1e')).code).toBe(5)
    expect(here.listCalls()).toHaveLength(calls)
  })

  test('an order with an unknown outcome is reconciled by its own event, although the other service has the same id', async () => {
    const here = await twoServices({ store })
    here.sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'cut', when: 'after' } })
    expect((await here.type(orderArguments('Ann'))).code).toBe(8)
    await here.typeAtOther(orderArguments('Bob'))
    const id = here.sandbox.requests()[0]?.request_id ?? ''
    here.write('events.ndjson', createEventLine(here, id, 'IN_PROGRESS'))
    await here.type('webhook events import events.ndjson')
    expect((await here.type('batch reconcile --json')).json()).toMatchObject({
      settled: [{ request_id: id }],
    })
  })
})

test('request list shows for each request the package name of its service', async () => {
  const here = await twoServices({}, { fixture: parseFixture(otherPackages) })
  await here.type(orderArguments('Ann'))
  await here.typeAtOther(orderArguments('Bob'))
  expect(await here.type('request list --columns first_name,package')).toMatchInlineSnapshot(`
    $ refcheck request list --columns first_name,package
    FIRST NAME  PACKAGE
    Ann         102 Identity check only
    Bob         102 Other screen
    exit 0
  `)
  await here.type('status --html status.html')
  const page = here.read('status.html')
  // The page shows only the organisation in use.
  expect(page).toContain('<dd>102 Identity check only</dd>')
  expect(page).not.toContain('Other screen')
})

test('two services at different paths of one gateway are read separately', async () => {
  const here = await twoServices()
  here.intercept((request, ask) => {
    const url = new URL(request.url)
    if (!url.pathname.startsWith('/other/')) return ask(request)
    url.pathname = url.pathname.replace('/other', '')
    return here.other.sandbox.fetch(new Request(url, request))
  })
  const atOther = { exported: { REFCHECK_BASE_URL: `${here.url}/other` } }
  await here.type(orderArguments('Ann'))
  await here.type(orderArguments('Bob'), atOther)
  await here.type(orderArguments('Cleo'), atOther)
  expect(here.other.sandbox.requests()).toHaveLength(2)
  const calls = here.listCalls().length
  expect(await here.type('request list --refresh --columns name,status')).toMatchInlineSnapshot(`
    $ refcheck request list --refresh --columns name,status
    NAME          STATUS
    Ann Example   RECEIVED
    Bob Example   RECEIVED
    Cleo Example  RECEIVED
    exit 0
  `)
  expect(await here.type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    2> In reports: 0 stored, 0 already there, 1 request not finished
    exit 0
  `)
  expect(here.listCalls()).toHaveLength(calls + 2)
})

test('the beginning of an id is searched only at the service in use', async () => {
  const here = await twoServices()
  await here.typeAtOther(orderArguments('Bob'))
  const id = here.other.sandbox.requests()[0]?.request_id ?? ''
  expect(await here.type(`request get ${id.slice(0, 8)}`)).toMatchInlineSnapshot(`
    $ refcheck request get ID_1…
    2> Error: request ID_1… is for http://127.0.0.1:PORT_1, and this profile is for http://127.0.0.1:PORT
    2> Choose the profile that it was ordered with: --profile NAME
    exit 2
  `)
  expect((await here.typeAtOther(`request get ${id.slice(0, 8)}`)).code).toBe(0)
})

test('status counts only the reports of the service in use', async () => {
  const here = await twoServices()
  await here.type(orderArguments('Ann'))
  await here.typeAtOther(orderArguments('Bob'))
  await here.clock.advance(hourMs)
  await here.type('config set output-dir reports')
  await here.type('report sync')
  await here.typeAtOther('request list --refresh')
  interface Answer {
    reports: { first_name: string; files: number }[]
    other_orders: { base_url: string; orders: number }[]
  }
  for (const [type, name, files, other] of [
    [here.type, 'Ann', 1, here.other.url],
    [here.typeAtOther, 'Bob', 0, here.url],
  ] as const) {
    const { reports, other_orders: others } = (await type('status --json')).json() as Answer
    expect(reports.map((each) => [each.first_name, each.files])).toEqual([[name, files]])
    expect(others.map((each) => [each.base_url, each.orders])).toEqual([[other, 1]])
  }
})

test('store purge --request-id removes the person of one service, and no person of another with the same id', async () => {
  const here = await twoServices()
  await here.type(orderArguments('Ann'))
  await here.typeAtOther(orderArguments('Bob'))
  await here.clock.advance(hourMs)
  const [id] = here.sandbox.requests().map(({ request_id }) => request_id)
  await here.type('report sync --output reports')
  await here.typeAtOther('report sync --output reports')
  const purge = ['store', 'purge', '--request-id', String(id), '--yes', '--delete-files']
  expect((await here.type(purge)).stdout).toContain('Removed personal data of 1 row')
  expect(readFiledNames(here)).toEqual(['Bob'])
  const names = (await here.typeAtOther('request list --json')).stdout
  expect(names).toContain('Bob')
  expect(names).not.toContain('Ann')
})
