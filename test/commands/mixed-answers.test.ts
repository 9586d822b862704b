import { existsSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { sessionWithOrders, listPdfs } from '../harness/orders.ts'
import type { Filter } from '../harness/filters.ts'
import { orderArguments } from '../harness/people.ts'
import { queryDatabase } from '../harness/postgres.ts'
import { type Session, session } from '../harness/session.ts'
import type { Interceptor } from '../harness/world.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('mixed', { mustNotHappen: 'filed under a wrong name' })
/* Simulates a cache or proxy that answers a read with another request, check or package, or gives two orders one id. */

/** Returns an interceptor that changes the path of each call. */
const changePath =
  (change: (path: string) => string): Interceptor =>
  (request, ask) => {
    const url = new URL(request.url)
    url.pathname = change(url.pathname)
    return ask(new Request(url, request))
  }

/** Returns an interceptor that changes the text of each JSON answer to a read. */
const rewriteAnswers =
  (change: (text: string) => string): Interceptor =>
  async (request, ask) => {
    const answer = await ask(request)
    if (request.method !== 'GET' || !answer.headers.get('content-type')?.includes('json')) return answer
    const headers = new Headers(answer.headers)
    headers.delete('content-length')
    return new Response(change(await answer.text()), { status: answer.status, headers })
  }

const DIGEST: Filter = [/\bx[0-9a-f]{32}\b/g, 'DIGEST']

describe('a read of a request that returns another request', () => {
  test('request get exits with 7, and shows nothing of the other request', async () => {
    const { all, type, intercept, ids } = await sessionWithOrders(['Ana', 'Ben'])
    const [ana = '', ben = ''] = ids
    intercept(changePath((path) => path.replace(ana, ben)))
    expect(await all([`request get ${ana}`, `request get ${ana} --json`])).toMatchInlineSnapshot(`
      $ refcheck request get REQUEST_1
      2> Error: the answer is about another request, not about request REQUEST_1
      2> None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.
      exit 7

      $ refcheck request get REQUEST_1 --json
      {
        "error": {
          "code": "unavailable",
          "message": "the answer is about another request, not about request REQUEST_1",
          "hint": "None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.",
          "status": 200
        }
      }
      2> Error: the answer is about another request, not about request REQUEST_1
      exit 7
    `)
    intercept(changePath((path) => path.replace(ben, ana)))
    expect(await type(`request get ${ben}`)).toMatchInlineSnapshot(`
      $ refcheck request get REQUEST_2
      2> Error: the answer is about another request, not about request REQUEST_2
      2> None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.
      exit 7
    `)
  })
  test('an id in capital letters is the same request, and the answer is accepted', async () => {
    const { type, intercept, ids } = await sessionWithOrders(['Ana'])
    const [id = ''] = ids
    intercept(rewriteAnswers((text) => text.replaceAll(id, id.toUpperCase())))
    const shown = await type(`request get ${id.toUpperCase()} --json`)
    expect([shown.code, shown.json()]).toMatchObject([0, { request_id: id, status: 'COMPLETED' }])
  })

  test('request wait and request list --refresh store nothing of the other request', async () => {
    const { all, intercept, ids } = await sessionWithOrders(['Ana+declined', 'Ben'])
    const [ana = '', ben = ''] = ids
    intercept(changePath((path) => path.replace(ana, ben)))
    expect(await all([`request wait ${ana}`, 'request list --refresh', 'request list']))
      .toMatchInlineSnapshot(`
        $ refcheck request wait REQUEST_1
        2> Error: the answer is about another request, not about request REQUEST_1
        2> None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.
        exit 7

        $ refcheck request list --refresh
        2> Warning: REQUEST_1 could not be read: the answer is about another request, not about request REQUEST_1
        REQUEST ID                            STATUS    ORDERED AT  NAME         PACKAGE
        REQUEST_1                             RECEIVED  2026-11-20  Ana Example  102 Identity check only
        REQUEST_2                             RECEIVED  2026-11-20  Ben Example  102 Identity check only
        2> Error: the answer is about another request, not about request REQUEST_1
        2> None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.
        exit 7

        $ refcheck request list
        REQUEST ID                            STATUS    ORDERED AT  NAME         PACKAGE
        REQUEST_1                             RECEIVED  2026-11-20  Ana Example  102 Identity check only
        REQUEST_2                             RECEIVED  2026-11-20  Ben Example  102 Identity check only
        exit 0
      `)
  })

  test('report download and report sync file nothing under a wrong name, and download the right report later', async () => {
    const { type, intercept, ids, reports } = await sessionWithOrders(['Ana', 'Ben'])
    const [ana = '', ben = ''] = ids
    intercept(changePath((path) => path.replace(ana, ben)))
    expect(await type(`report download --request ${ana} --output reports`)).toMatchInlineSnapshot(`
      $ refcheck report download --request REQUEST_1 --output reports
      2> Error: the answer is about another request, not about request REQUEST_1
      2> None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.
      exit 7
    `)
    expect(existsSync(reports) ? listPdfs(reports) : []).toEqual([])
    expect(await type('report sync --output reports')).toMatchInlineSnapshot(`
      $ refcheck report sync --output reports
      stored  reports/Example-Ben_Identity-check_HASH.pdf  # kB
      unavailable  request REQUEST_1: the answer is about another request, not about request REQUEST_1
      2> In reports: 1 stored, 0 already there, 0 requests not finished
      2> Error: 1 report is unavailable
      2> None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.
      exit 10
    `)
    expect(listPdfs(reports)).toEqual([expect.stringMatching(/^Example-Ben_/)])
    intercept(undefined)
    expect(await type('report sync --output reports')).toMatchInlineSnapshot(`
      $ refcheck report sync --output reports
      stored  reports/Example-Ana_Identity-check_HASH.pdf  # kB
      2> In reports: 1 stored, 1 already there, 0 requests not finished
      exit 0
    `)
    expect(listPdfs(reports)).toEqual([
      expect.stringMatching(/^Example-Ana_/),
      expect.stringMatching(/^Example-Ben_/),
    ])
  })
})

test('a report URL of another check is not filed under this person', async () => {
  const { type, intercept, sandbox, ids, reports } = await sessionWithOrders(['Ana', 'Ben'])
  const [ownId = '', otherId = ''] = sandbox.requests().map(({ checks }) => checks[0]?.id ?? '')
  intercept(rewriteAnswers((text) => text.replaceAll(`/v1/reports/${ownId}`, `/v1/reports/${otherId}`)))
  expect(await type(`report download --request ${ids[0]} --output reports`)).toMatchInlineSnapshot(`
    $ refcheck report download --request REQUEST_1 --output reports
    unavailable  Ana Example: Identity check: its report URL is for another check or referee than CHECK_1
    2> Error: 1 report is unavailable
    2> Nothing was filed. Run it again later; if it stays so, ask the provider’s support.
    exit 10
  `)
  expect(existsSync(reports) ? listPdfs(reports) : []).toEqual([])
})

describe('if a read of a package returns another package, nothing is ordered, and nothing of that package is shown', () => {
  test('request create, which reads the schema of the package', async () => {
    const { type, intercept, sandbox } = await session()
    intercept(changePath((path) => path.replace('/v1/packages/102/schema', '/v1/packages/101/schema')))
    expect(await type(orderArguments('Ana'))).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ana --last-name Example --email ana@example.com --phone +61412345678 --yes
      2> Error: the answer is about another package, not about package 102
      2> None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.
      exit 7
    `)
    expect(sandbox.requests()).toEqual([])
  })

  test('packages list --id', async () => {
    const { type, intercept } = await session()
    intercept((request, ask) => ask(new Request(request.url.replace('id=102', 'id=101'), request)))
    expect(await type('packages list --id 102')).toMatchInlineSnapshot(`
      $ refcheck packages list --id 102
      2> Error: the answer is about another package, not about package 102
      2> None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.
      exit 7
    `)
  })
})

describe('one request id for two orders does not count as two orders', () => {
  /** Carries out the second create, but answers it with the answer to the first one. */
  function repeatFirstAnswer(change = (text: string): string => text): Interceptor {
    let first: string | undefined
    return async (request, ask) => {
      const answer = await ask(request)
      if (request.method !== 'POST' || answer.status !== 201) return answer
      const again = first
      first ??= await answer.clone().text()
      if (again === undefined) return answer
      return new Response(change(again), { status: 201, headers: { 'content-type': 'application/json' } })
    }
  }

  test.each([
    ['in the same case', undefined],
    ['in capitals', (text: string) => text.replace(/[0-9a-f-]{36}/, (id) => id.toUpperCase())],
  ])('%s: the row is unknown, the batch halts, and nothing else is sent', async (_spelling, change) => {
    const { type, cat, folder, intercept, sandbox } = await session({ filters: [DIGEST] })
    writePeopleFile(folder, createEmails(4))
    intercept(repeatFirstAnswer(change))
    expect(await type('batch run people.csv --package 102 --yes')).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes
      2>
      2> people.csv: 4 rows
      2>   4 orders of 102 Identity check only
      2> Sending takes under a minute
      2>
      2> Ana Row2 unknown: the service answered with request REQUEST_1, which is the order of row 1 of batch BATCH_1 already
      1 of 4 people in people.csv is ordered; 2 pending, 1 unknown

      batch  BATCH_1
      people.csv, 102 Identity check only

      1  accepted
      2  pending
      1  unknown
      4  rows

      halted  2026-11-20 12:00 +00:00  the service answered with request REQUEST_1, which is the order of row 1 of batch BATCH_1 already
      A cache or proxy between here and the service may mix up answers: check the base URL and the proxy before anything else is sent.

      results  HOME/people.results.csv
      2> Error: 1 row may or may not have been ordered, 2 not sent yet; halted: the service answered with request REQUEST_1, which is the order of row 1 of batch BATCH_1 already
      2> Settle it with: refcheck batch reconcile BATCH_1
      2> Then continue with: refcheck batch resume BATCH_1
      exit 8
    `)
    expect(sandbox.requests()).toHaveLength(2)
    expect(cat('people.results.csv')).toMatchInlineSnapshot(`
      $ cat people.results.csv
      first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
      Ana,Row1,a1@example.com,+61400000001,accepted,REQUEST_1,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,1,DIGEST,DIGEST,DIGEST
      Ana,Row2,a2@example.com,+61400000002,unknown,,,"the service answered with request REQUEST_1, which is the order of row 1 of batch BATCH_1 already",,,http://localhost:PORT,102,BATCH_1,2,DIGEST,DIGEST,DIGEST
      Ana,Row3,a3@example.com,+61400000003,pending,,,,,,http://localhost:PORT,102,BATCH_1,3,DIGEST,DIGEST,DIGEST
      Ana,Row4,a4@example.com,+61400000004,pending,,,,,,http://localhost:PORT,102,BATCH_1,4,DIGEST,DIGEST,DIGEST
    `)
  })

  test('request create: exit 8, and the second person is not reported as ordered', async () => {
    const { all, intercept } = await session()
    intercept(repeatFirstAnswer())
    expect(await all([orderArguments('Ana'), orderArguments('Ben'), 'request list'])).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ana --last-name Example --email ana@example.com --phone +61412345678 --yes
      created  REQUEST_1                             RECEIVED
      2> Follow it with: refcheck request wait REQUEST_1
      exit 0

      $ refcheck request create --package 102 --first-name Ben --last-name Example --email ben@example.com --phone +61412345678 --yes
      2> Error: package 102 may or may not have been ordered for "ben@example.com": the service answered with request REQUEST_1, which is the order of row 1 of batch BATCH_1 already
      2> It may have been ordered, so it is not sent again. Settle it with: refcheck batch reconcile BATCH_2
      exit 8

      $ refcheck request list
      REQUEST ID                            STATUS    ORDERED AT  NAME         PACKAGE
      REQUEST_1                             RECEIVED  2026-11-20  Ana Example  102 Identity check only
      -                                     unknown   -           Ben Example  102 Identity check only
      exit 0
    `)
  })
})

describe.each(['SQLite', 'PostgreSQL'] as const)(
  '%s: two rows in flight at the same time, both answered with one id',
  (store) => {
    /** Starts two runs with one order in flight each, and answers both with the request of two.csv, `answeredFirst` first. */
    async function answerBoth(answeredFirst: 'one.csv' | 'two.csv', meanwhile?: (_: Session) => unknown) {
      const here = await session({ store })
      writePeopleFile(here.folder, ['ann@example.com'], 'one.csv')
      writePeopleFile(here.folder, ['ben@example.com', 'cy@example.com'], 'two.csv')
      const inFlight = { 'ann@example.com': pause(), 'ben@example.com': pause() }
      let answerForBen = ''
      here.intercept(async (request, ask) => {
        if (request.method !== 'POST') return ask(request)
        const text = await request.clone().text()
        const answer = await ask(request)
        const email = Object.keys(inFlight).find((each) => text.includes(each))
        if (email === undefined) return answer
        const body = await answer.text()
        if (email === 'ben@example.com') answerForBen = body
        const { arrived, released } = inFlight[email as keyof typeof inFlight]
        arrived.resolve()
        await released.promise
        return new Response(answerForBen, { status: 201, headers: { 'content-type': 'application/json' } })
      })
      const { 'ann@example.com': ann, 'ben@example.com': ben } = inFlight
      const annsRun = here.type('batch run one.csv --package 102 --yes')
      await ann.arrived.promise
      const runs = { 'one.csv': annsRun, 'two.csv': here.type('batch run two.csv --package 102 --yes') }
      await ben.arrived.promise
      const later = answeredFirst === 'one.csv' ? 'two.csv' : 'one.csv'
      const pauses = { 'one.csv': ann, 'two.csv': ben }
      pauses[answeredFirst].released.resolve()
      const first = await runs[answeredFirst]
      await meanwhile?.(here)
      pauses[later].released.resolve()
      return { here, first, second: await runs[later] }
    }

    const pause = () => ({ arrived: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() })

    /** Returns the e-mail and state of each row, and whether the row has the id of the request that its person has. */
    async function readRows({ type, sandbox }: Session) {
      const batches = (await type('batch list --json')).json() as { batch_id: string }[]
      const rows: { email: string; state: string; request_id: string | null }[] = []
      for (const { batch_id } of batches)
        rows.push(...((await type(`batch rows ${batch_id} --json`)).json() as typeof rows))
      const ids = new Map(sandbox.requests().map((each) => [each.recipient.email, each.request_id]))
      return rows
        .toSorted((one, other) => one.email.localeCompare(other.email))
        .map(({ email, state, request_id }) => [email, state, request_id === (ids.get(email) ?? null)])
    }

    const reconcileAll = async (here: Session) => {
      here.intercept(undefined)
      // PostgreSQL sets times from the machine's clock, but the service uses the clock of the session.
      if (store === 'PostgreSQL') {
        const at = here.clock.now()
        await queryDatabase(
          here.env['REFCHECK_STORE'] ?? '',
          `UPDATE refcheck.attempts SET began_at = ${at}, ended_at = ${at}; UPDATE refcheck.submissions SET changed_at = ${at}`,
        )
      }
      const lines = here.sandbox
        .requests()
        .map(({ request_id }) => JSON.stringify({ request_id, event: 'request.updated', status: 'RECEIVED' }))
      here.write('events.ndjson', lines.join('\n'))
      await here.type('batch reconcile --events events.ndjson')
      return readRows(here)
    }

    test('if the other row records the id first, the request is read once and its person’s row gets the id; the batch halts', async () => {
      const { here, first, second } = await answerBoth('one.csv')
      expect(first.code).toBe(0)
      expect(second).toMatchInlineSnapshot(`
        $ refcheck batch run two.csv --package 102 --yes
        2>
        2> two.csv: 2 rows
        2>   2 orders of 102 Identity check only
        2>   1 row has the name of a person ordered before with another e-mail and phone: it is sent
        2>     Ana Row1 (line 2): ordered 2026-11-20 12:00 +00:00
        2>   To leave one of them out, remove its line from the file first
        2> Sending takes under a minute
        2>
        1 of 2 people in two.csv is ordered; 1 pending

        batch  BATCH_2
        two.csv, 102 Identity check only

        1  accepted
        1  pending
        2  rows

        halted  2026-11-20 12:00 +00:00  the service answered with request REQUEST_2 for row 1 of batch BATCH_1 as well, and the request is for row 1 of batch BATCH_2

        results  HOME/two.results.csv
        2> Error: halted: the service answered with request REQUEST_2 for row 1 of batch BATCH_1 as well, and the request is for row 1 of batch BATCH_2; 1 accepted so far, 1 not sent yet
        2> A cache or proxy between here and the service may mix up answers: check the base URL and the proxy before anything else is sent.
        2> Settle that row with: refcheck batch reconcile BATCH_1
        2> Then resume with: refcheck batch resume BATCH_2
        exit 7
      `)
      expect(here.listCalls().filter((call) => call.startsWith('GET /v1/requests/'))).toHaveLength(1)
      expect(here.listOrderedEmails().sort()).toEqual(['ann@example.com', 'ben@example.com'])
      expect(await readRows(here)).toEqual([
        ['ann@example.com', 'unknown', false],
        ['ben@example.com', 'accepted', true],
        ['cy@example.com', 'pending', true],
      ])
      expect((await reconcileAll(here)).slice(0, 2)).toEqual([
        ['ann@example.com', 'accepted', true],
        ['ben@example.com', 'accepted', true],
      ])
    })

    test.each(store === 'PostgreSQL' ? [store] : [])(
      '%s: the person’s row also gets the id if it was marked as unknown because its process was suspended',
      async () => {
        const unknown = `UPDATE refcheck.submissions SET state = 'unknown' WHERE email = 'ben@example.com'`
        const markAsUnknown = ({ env }: Session) => queryDatabase(env['REFCHECK_STORE'] ?? '', unknown)
        const { here, second } = await answerBoth('one.csv', markAsUnknown)
        expect([second.code, (await readRows(here))[1]]).toEqual([7, ['ben@example.com', 'accepted', true]])
      },
    )

    test('if the person’s row records the id first, the other row is unknown, and is reconciled by its own event', async () => {
      const { here, second } = await answerBoth('two.csv')
      expect(second.code).toBe(8)
      expect((await readRows(here)).slice(0, 2)).toEqual([
        ['ann@example.com', 'unknown', false],
        ['ben@example.com', 'accepted', true],
      ])
      expect(here.listCalls().filter((call) => call.startsWith('GET /v1/requests/'))).toHaveLength(1)
      expect((await reconcileAll(here)).slice(0, 2)).toEqual([
        ['ann@example.com', 'accepted', true],
        ['ben@example.com', 'accepted', true],
      ])
    })
  },
)
