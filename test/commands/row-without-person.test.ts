import { describe, expect, test } from 'vitest'

import { writePeopleFile } from '../harness/batch-file.ts'
import { changeStore } from '../harness/change-store.ts'
import { copyDataFolder } from '../harness/lost-data.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { orderArguments } from '../harness/people.ts'
import { moveOrdersToPast } from '../harness/postgres-store.ts'
import { type Session, session } from '../harness/session.ts'

const minute = 60_000

describe.each(['SQLite', 'PostgreSQL'] as const)('an unknown row without its person, on %s', (store) => {
  /** Runs a batch whose second row is unknown and has only its fingerprints, 16 minutes after it was sent. */
  async function createRowWithoutPerson(): Promise<{ here: Session; id: string }> {
    // PostgreSQL sets times from the machine's clock, so the session's clock starts near it.
    const now = Date.now() - 16 * minute
    const here = await session(
      store === 'SQLite' ? {} : { store, clock: new ManualClock({ auto: true, now }) },
    )
    writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'])
    const outcome = await here.type('batch run people.csv --package 102 --yes --json --max 1')
    here.sandbox.inject({ on: 'POST *', fault: { kind: 'cut', when: 'before' }, times: 1 })
    expect((await here.type('batch run people.csv --package 102 --yes')).code).toBe(8)
    const removePerson =
      'UPDATE submissions SET first_name = NULL, last_name = NULL, email = NULL, phone = NULL, body = NULL WHERE row_number = 2'
    await changeStore(here, store, removePerson)
    if (store === 'PostgreSQL') await moveOrdersToPast(16 * minute, here.env['REFCHECK_STORE'])
    await here.clock.advance(16 * minute)
    return { here, id: (outcome.json() as { batch_id: string }).batch_id }
  }

  const order =
    'request create --package 102 --first-name Ana --last-name Row2 --email a2@example.com --phone +61400000002 --yes'

  test('is closed with the person’s e-mail, after which the person can be ordered', async () => {
    const { here, id } = await createRowWithoutPerson()
    expect((await here.type(order)).code).toBe(2)
    const close = `batch reconcile ${id} --row 2 --confirm-email`
    expect(await here.all([`${close} a1@example.com`, `${close} A2@example.com`, `batch rows ${id}`]))
      .toMatchInlineSnapshot(`
        $ refcheck batch reconcile BATCH_1 --row 2 --confirm-email a1@example.com
        2> Error: this is not the e-mail of line 3
        2> Nothing was done. See the e-mail with: refcheck batch rows BATCH_1 --state unknown
        exit 2

        $ refcheck batch reconcile BATCH_1 --row 2 --confirm-email A2@example.com
        line 3 is cancelled

        batch  BATCH_1
        people.csv, 102 Identity check only

        1  accepted
        1  cancelled
        2  rows

        results  HOME/people.results.csv
        exit 0

        $ refcheck batch rows BATCH_1
        ROW  LINE  STATE      EMAIL           OUTCOME
        1    2     accepted   a1@example.com  REQUEST_1
        2    3     cancelled  -               the provider has no such request
        exit 0
      `)
    expect(here.listOrderedEmails()).toEqual(['a1@example.com'])
    expect((await here.type(order)).code).toBe(0)
    expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'a2@example.com'])
  })

  test('has its person again once the request that the provider has is recorded', async () => {
    const { here, id } = await createRowWithoutPerson()
    const elsewhere = { env: { REFCHECK_STORE: ':memory:' } }
    const { request_id: requestId } = (await here.type(`${order} --json`, elsewhere)).json() as {
      request_id: string
    }
    await here.type(`batch reconcile ${id} --row 2 --request-id ${requestId}`, {
      answers: [{ ask: /differs|Record/, confirm: true }],
    })
    expect((await here.type('request list --json')).stdout).toContain('a2@example.com')
  })

  test('can be closed but not ordered, as the message without a terminal states', async () => {
    const { here, id } = await createRowWithoutPerson()
    expect(await here.all([`batch reconcile ${id} --row 2`, `batch reconcile ${id}`])).toMatchInlineSnapshot(`
      $ refcheck batch reconcile BATCH_1 --row 2
      2> Error: what the provider said of line 3 is missing
      2> Ask the provider whether they have a request for this person, and record the answer.
      2> They have it: refcheck batch reconcile BATCH_1 --row 2 --request-id UUID
      2> They do not have it, close the row (nothing is sent; the person can then be ordered): refcheck batch reconcile BATCH_1 --row 2 --confirm-email EMAIL
      2> Nobody knows, never send it (the same order stays refused): refcheck batch reconcile BATCH_1 --row 2 --drop
      exit 2

      $ refcheck batch reconcile BATCH_1
      row 2 of batch BATCH_1: no request for this person was found (a missing event proves nothing)
      2> Error: 1 order is still not settled: no proof was found
      2> Ask the provider whether they have a request for this person, and record the answer.
      2> They have it: refcheck batch reconcile BATCH_1 --row 2 --request-id UUID
      2> They do not have it, close the row (nothing is sent; the person can then be ordered): refcheck batch reconcile BATCH_1 --row 2 --confirm-email EMAIL
      2> Nobody knows, never send it (the same order stays refused): refcheck batch reconcile BATCH_1 --row 2 --drop
      exit 8
    `)
  })

  test('is closed on a terminal, where the question states that nothing is sent', async () => {
    const { here, id } = await createRowWithoutPerson()
    const answers = [
      { ask: /have a request for/, choose: /close the row/ },
      { ask: /e-mail of line 3/, type: 'a2@example.com' },
    ]
    expect(await here.type(`batch reconcile ${id} --row 2`, { answers })).toMatchInlineSnapshot(`
      $ refcheck batch reconcile BATCH_1 --row 2
      ? Does the provider have a request for the person of this row (removed from this store), 102 Identity check only, sent 2026-11-20 12:00 +00:00?: They do not have it: close the row
      ? Type the e-mail of line 3’s recipient to close the row: a2@example.com
      line 3 is cancelled

      batch  BATCH_1
      people.csv, 102 Identity check only

      1  accepted
      1  cancelled
      2  rows

      results  HOME/people.results.csv
      exit 0
    `)
    expect(here.listOrderedEmails()).toEqual(['a1@example.com'])
  })
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a read of its request adds the person to a recovered row, unless the person was removed, on %s',
  async (store) => {
    const here = await session({ store })
    for (const name of ['Ana', 'Ben']) await here.type(orderArguments(name))
    const erase = `UPDATE submissions SET first_name = NULL, last_name = NULL, email = NULL, phone = NULL, body = NULL,
      name_print = NULL, fingerprint = person_print`
    await changeStore(here, store, erase)
    const lost = `UPDATE submissions SET reason = 'lost' WHERE request_id = '${here.sandbox.requests()[0]?.request_id}'`
    await changeStore(here, store, lost)
    await here.type('request list --refresh')
    const names = await here.type('request list --json')
    expect(names.json()).toMatchObject([
      { recipient: { first_name: 'Ana', email: 'ana@example.com' }, reason: null },
      { recipient: null, reason: null },
    ])
    expect((await here.type('store check')).code).toBe(0)
    expect((await here.type(orderArguments('Ana'))).code).toBe(2)
    expect(here.listOrderedEmails()).toHaveLength(2)
  },
)

test('if two orders are answered with a third person’s request, neither has its id after an older store is restored', async () => {
  const here = await session()
  await here.type(orderArguments('Cy'), { env: { REFCHECK_STORE: ':memory:' } })
  const requestOfCy = here.sandbox.requests()[0]
  await here.type(orderArguments('Dee'))
  const restore = copyDataFolder(here)
  here.intercept(async (request, ask) => {
    const answer = await ask(request)
    if (request.method !== 'POST') return answer
    const text = (await answer.text()).replaceAll(/"[0-9a-f-]{36}"/g, `"${requestOfCy?.request_id}"`)
    return new Response(text, { status: answer.status, headers: { 'content-type': 'application/json' } })
  })
  const ordered = [await here.type(orderArguments('Ana')), await here.type(orderArguments('Ben'))]
  expect(ordered.map(({ code }) => code)).toEqual([0, 8])
  here.intercept(undefined)
  restore()
  expect(await here.type(orderArguments('Eve'))).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Eve --last-name Example --email eve@example.com --phone +61412345678 --yes
    2> Error: the store "HOME/data/ledger.sqlite" is closed: it lacked 2 attempts that were made with it
    2> Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check
    exit 1
  `)
  // The ids of the batches decide the sequence of the orders.
  const opened = await here.type('store check --accept-older --yes')
  expect(opened.stdout).toMatch(
    /^accepted {2}it lacked 2 attempts .*\nBrought back .*: 2 orders\n(?: {2}a person whose name is lost: .*, unknown\n){2}sound /,
  )
  expect(await here.all(['request list', orderArguments('Ana')])).toMatchInlineSnapshot(`
    $ refcheck request list
    REQUEST ID                            STATUS    ORDERED AT  NAME                 PACKAGE
    REQUEST_2                             RECEIVED  2026-11-20  Dee Example          102 Identity check only
    -                                     unknown   -           unknown (recovered)  102 Identity check only
    -                                     unknown   -           unknown (recovered)  102 Identity check only
    exit 0

    $ refcheck request create --package 102 --first-name Ana --last-name Example --email ana@example.com --phone +61412345678 --yes
    2> Error: package 102 was sent for this person on 2026-11-20 12:00 +00:00 with an unknown outcome
    2> It may have been ordered, so it is not sent again. --allow-duplicate does not override this. Settle it with: refcheck batch reconcile BATCH_1
    exit 2
  `)
  expect(here.listOrderedEmails().sort()).toEqual(
    ['ana', 'ben', 'cy', 'dee'].map((name) => `${name}@example.com`),
  )
})
