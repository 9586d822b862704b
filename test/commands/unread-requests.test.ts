import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { storeEvent } from '../harness/change-store.ts'
import { createUnknownRow } from '../harness/unknown-row.ts'
import { orderElsewhere } from '../harness/lost-data.ts'
import { type Session, session } from '../harness/session.ts'

const person = (row: number): string =>
  `--first-name Ana --last-name Row${row} --email a${row}@example.com --phone +6140000000${row}`

/** Orders the people of these rows with another program, and stores the event about each request. */
async function orderWithEvents(here: Session, rows: readonly number[]): Promise<void> {
  for (const row of rows) await storeEvent(here, await orderElsewhere(here, row))
}

/** Only batch runs read the requests that events name, so that a single order was made a second time. */
test('request create refuses a person whose order by another program a stored event names', async () => {
  const here = await session()
  await here.type('store check')
  await orderWithEvents(here, [1])
  expect(await here.type(`request create --package 102 ${person(1)} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --yes
    2> Error: request REQUEST_1, which was not ordered with this store, is for this person: package 102, on 2026-11-20 12:00 +00:00
    2> Nothing was sent. See who ordered it: refcheck request get REQUEST_1
    2> To order it all the same, add --allow-duplicate.
    exit 2
  `)
  expect(here.listOrderedEmails()).toHaveLength(1)
})

const isRead = ({ method, url }: Request): boolean => method === 'GET' && url.includes('/v1/requests/')

test('a run warns about requests of other programs that it could not read, and status lists them, and then the second orders', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  await here.type('store check')
  await orderWithEvents(here, [1, 2])
  here.intercept((request, ask) =>
    isRead(request) ? Promise.resolve(new Response('{}', { status: 500 })) : ask(request),
  )
  const run = await here.type('batch run people.csv --package 102 --yes --json')
  expect(run.stderr).toContain('2 requests that webhook events name')
  const { batch_id: id, unread } = run.json() as { batch_id: string; unread: number }
  const retry = await here.type(`batch retry ${id} --json`)
  const order = await here.type(`request create --package 102 ${person(3)} --yes --json`)
  const status = await here.type('status --json')
  expect([
    unread,
    ...[retry, order, status].map((step) => (step.json() as { unread: number }).unread),
  ]).toEqual([2, 2, 2, 2])
  expect(await here.type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    3 orders   read again: refcheck request list --refresh
    Needs you
      2 requests that this store did not record  not read yet  refcheck batch reconcile
    exit 0
  `)
  here.intercept(undefined)
  expect(await here.all(['batch reconcile', 'status'])).toMatchInlineSnapshot(`
    $ refcheck batch reconcile
    possible second order: request REQUEST_1, created 2026-11-20 12:00 +00:00, is for the same person and package as request REQUEST_3 (row 1 of batch BATCH_1), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge REQUEST_1
    possible second order: request REQUEST_2, created 2026-11-20 12:00 +00:00, is for the same person and package as request REQUEST_4 (row 2 of batch BATCH_1), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge REQUEST_2
    exit 0

    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    3 orders   read again: refcheck request list --refresh
    Needs you
      Ana Row1 and 1 more  perhaps ordered twice  refcheck batch reconcile
    exit 0
  `)
  expect((await here.type('status --json')).json()).not.toHaveProperty('unread')
})

/** Only a request for the same spelling and package was reported, although the opposite sequence held the order. */
test.each(['SQLite', 'PostgreSQL'] as const)(
  'a later request of another program for another spelling of an ordered person is a possible second order (%s)',
  async (store) => {
    const here = await session({ store })
    const { type, all, write } = here
    const ana = { env: { REFCHECK_ACCOUNT: 'acme' } }
    await type(`request create --package 102 ${person(1)} --yes`, ana)
    const otherPhone = person(1).replace('+61400000001', '+61400000009')
    const elsewhere = { env: { REFCHECK_STORE: ':memory:' } }
    await type(`request create --package 102 ${otherPhone} --yes`, elsewhere)
    const requestId = here.sandbox.requests()[1]?.request_id ?? ''
    const event = { event: 'request.updated', request_id: requestId, status: 'PARTIAL' }
    write('events.ndjson', `${JSON.stringify(event)}\n`)
    expect(await all(['batch reconcile --events events.ndjson', 'batch reconcile --json', 'status'], ana))
      .toMatchInlineSnapshot(`
        $ REFCHECK_ACCOUNT=acme refcheck batch reconcile --events events.ndjson
        possible second order: request REQUEST_2, created 2026-11-20 12:00 +00:00, is for somebody with the same e-mail as request REQUEST_1 (row 1 of batch BATCH_1), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge REQUEST_2
        exit 0

        $ REFCHECK_ACCOUNT=acme refcheck batch reconcile --json
        {
          "settled": [],
          "ambiguous": [],
          "open": [],
          "reads": 0,
          "unread": 0,
          "second_orders": [
            {
              "request_id": "REQUEST_2",
              "created_at": "2026-11-20T12:00:00.000Z",
              "package_id": 102,
              "shares": [
                "email"
              ],
              "order": {
                "request_id": "REQUEST_1",
                "batch_id": "BATCH_1",
                "row": 1,
                "package_id": 102
              }
            }
          ]
        }
        exit 0

        $ REFCHECK_ACCOUNT=acme refcheck status
        127.0.0.1:PORT (olive.owner@example.com)   read just now
        Running    1 order   read again: refcheck request list --refresh
        Needs you
          Ana Row1  perhaps ordered twice  refcheck batch reconcile
        exit 0
      `)
    await type('store accounts add beta')
    const beta = { env: { REFCHECK_ACCOUNT: 'beta' } }
    await type(`request create --package 102 ${otherPhone} --yes --allow-duplicate`, beta)
    expect((await type('status', ana)).stdout).toContain('Ana Row1  perhaps ordered twice')
    expect((await type('status', beta)).stdout).toContain('Ana Row1  perhaps ordered twice')
    await type(`batch reconcile --acknowledge ${requestId}`)
    expect((await type('status', ana)).stdout).toContain('Needs you  nothing')
  },
)

const notFound = (): Promise<Response> =>
  Promise.resolve(
    Response.json(
      { data: null, status_message: 'client_error', message: 'resource not found' },
      { status: 404 },
    ),
  )

test('request create refuses a person whose order by another program has a status that no document names', async () => {
  const here = await session()
  await here.type('store check')
  await storeEvent(here, await orderElsewhere(here, 1), {
    status: 'ON_HOLD',
    oddity: 'unknown status "ON_HOLD"',
  })
  expect((await here.type(`request create --package 102 ${person(1)} --yes`)).code).toBe(2)
  expect(here.listOrderedEmails()).toHaveLength(1)
})

/** Two organisations may use one store, with the same user in both: one of them cannot read requests of the other. */
test('a request that the key of another organisation did not find is read with the own key', async () => {
  const here = await session()
  await here.type('store check')
  await orderWithEvents(here, [1])
  const [ownKey, otherKey] = [here.env['REFCHECK_API_KEY'] ?? '', 'k'.repeat(32)]
  here.intercept((request, ask) => {
    if (request.headers.get('X-Service-API-Key') !== otherKey) return ask(request)
    if (isRead(request)) return notFound()
    const headers = new Headers(request.headers)
    headers.set('X-Service-API-Key', ownKey)
    return ask(new Request(request, { headers }))
  })
  const other = { env: { REFCHECK_API_KEY: otherKey } }
  expect((await here.type(`request create --package 102 ${person(2)} --yes`, other)).code).toBe(0)
  expect((await here.type(`request create --package 102 ${person(1)} --yes`)).code).toBe(2)
  expect(here.listOrderedEmails()).toHaveLength(2)
})

/** A 404 of a server that lags behind the event made the request unread for ever. */
test('a request that was not found right after its event is counted as unread, and is read again', async () => {
  const here = await session()
  await here.type('store check')
  await storeEvent(here, await orderElsewhere(here, 1), { receivedAt: here.clock.now() })
  here.intercept((request, ask) => (isRead(request) ? notFound() : ask(request)))
  const order = await here.type(`request create --package 102 ${person(2)} --yes`)
  expect(order).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Row2 --email a2@example.com --phone +61400000002 --yes
    2> Warning: 1 request that webhook events name was not ordered with this store and not read yet, so that its person can be ordered a second time. Read it (at most 30 in an hour) with: refcheck batch reconcile
    created  REQUEST_2                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_2
    exit 0
  `)
  here.intercept(undefined)
  expect(await here.type(`request create --package 102 ${person(1)} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --yes
    2> Error: request REQUEST_1, which was not ordered with this store, is for this person: package 102, on 2026-11-20 12:00 +00:00
    2> Nothing was sent. See who ordered it: refcheck request get REQUEST_1
    2> To order it all the same, add --allow-duplicate.
    exit 2
  `)
  expect(here.listOrderedEmails()).toHaveLength(2)
})

test('a results file next to the input that cannot be read stops a new file before anything is sent', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  await here.type('batch run people.csv --package 102 --yes')
  here.write('people.results.csv', here.read('people.results.csv').slice(0, -40))
  const exported = { REFCHECK_STORE: 'other.sqlite' }
  expect(await here.type('batch run people.csv --package 102 --yes', { exported })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> Error: people.results.csv could not be read, so orders that it may name cannot be compared: HOME/people.results.csv: line 3 has 16 cells, and the header has 17
    2> Nothing was sent. Repair people.results.csv, or move it away if it has nothing to do with people.csv.
    2> To order without it, add: --ignore-results
    exit 2
  `)
  expect(here.listOrderedEmails()).toHaveLength(2)
  const run = await here.type('batch run people.csv --package 102 --yes --ignore-results', { exported })
  expect(run.code).toBe(0)
})

/** The results file is written at the end of a run, so that a colleague ordered everybody at the same time. */
test('an empty results file, and one with a higher number or another format, count before a new file is sent', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  await here.type('batch run people.csv --package 102 --yes')
  const results = here.read('people.results.csv')
  const exported = { REFCHECK_STORE: 'other.sqlite' }
  const run = 'batch run people.csv --package 102 --yes'
  here.write('people.results.csv', '')
  expect(await here.type(run, { exported })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> Error: people.results.csv could not be read, so orders that it may name cannot be compared: it is empty, as long as another run orders the people of this file
    2> Nothing was sent. Wait until that run has ended. If no store has a batch of people.csv (refcheck batch list), delete people.results.csv.
    2> To order without it, add: --ignore-results
    exit 2
  `)
  rmSync(join(here.folder, 'people.results.csv'))
  here.write('people.results-2.csv', results)
  expect((await here.type(`${run} --dry-run`, { exported })).stdout).toContain(
    '2 people in people.csv are ordered',
  )
  rmSync(join(here.folder, 'people.results-2.csv'))
  const [{ batch_id: id } = { batch_id: '' }] = (await here.type('batch list --json')).json() as {
    batch_id: string
  }[]
  await here.type(`batch export ${id} --output people.results.xlsx`)
  expect((await here.type(`${run} --dry-run`, { exported })).stdout).toContain(
    '2 people in people.csv are ordered',
  )
  expect(here.listOrderedEmails()).toHaveLength(2)
})

test('a results file is found in another spelling, and neither a redirected output nor a folder that is gone stops a run', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  const run = 'batch run people.csv --package 102 --yes'
  await here.type(`${run} --max 1`)
  const exported = { REFCHECK_STORE: 'other.sqlite' }
  renameSync(join(here.folder, 'people.results.csv'), join(here.folder, 'People.Results (1).csv'))
  here.write('people.results.json', '')
  expect((await here.type(`${run} --dry-run`, { exported })).stdout).toContain(
    'by line 2 of People.Results (1).csv',
  )
  mkdirSync(join(here.folder, 'moved'))
  renameSync(join(here.folder, 'people.csv'), join(here.folder, 'moved', 'people.csv'))
  expect((await here.type('batch run moved/people.csv --package 102 --yes')).code).toBe(0)
  expect(here.listOrderedEmails()).toEqual(createEmails(2))
})

test('a batch whose folder was renamed is resumed', async () => {
  const here = await session()
  mkdirSync(join(here.folder, 'a'))
  writePeopleFile(join(here.folder, 'a'), createEmails(2))
  const started = await here.type('batch run a/people.csv --package 102 --yes --max 1 --json')
  const { batch_id: id } = started.json() as { batch_id: string }
  renameSync(join(here.folder, 'a'), join(here.folder, 'b'))
  expect((await here.type(`batch resume ${id} --yes`)).code).toBe(0)
  expect(here.listOrderedEmails()).toEqual(createEmails(2))
})

/** The event of an own request whose outcome is unknown matches no row until it is reconciled. */
test('status does not call an own request whose outcome is unknown one of other programs', async () => {
  const here = await session()
  await createUnknownRow(here)
  await storeEvent(here, here.sandbox.requests()[1]?.request_id ?? '')
  expect(await here.type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      Ana Row2                                  perhaps ordered  refcheck batch reconcile BATCH_1
      1 request that this store did not record  not read yet     refcheck batch reconcile
    exit 0
  `)
})
