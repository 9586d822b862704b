import { expect, test } from 'vitest'

import { orderArguments } from '../harness/people.ts'
import { type Session, session } from '../harness/session.ts'
import { createUnknownRow } from '../harness/unknown-row.ts'

const minute = 60_000

async function orderFor({ type }: Session, first: string): Promise<void> {
  expect((await type(orderArguments(first, ['--yes', '--quiet']))).code).toBe(0)
}

test('on a terminal a name or an e-mail selects the request of that person; if several requests fit, they are listed', async () => {
  const here = await session()
  await orderFor(here, 'Priya')
  await here.type(orderArguments('Zoe').map((word) => (word === 'Zoe' ? 'Zoë' : word)))
  await orderFor(here, 'Abbe')
  const readFirstName = async (words: string): Promise<string> =>
    (await here.type(`request get ${words} --jq .recipient.first_name`, { tty: true })).stdout.trim()
  expect(await readFirstName('priya')).toBe('Priya')
  expect(await readFirstName('PRIYA@example.com')).toBe('Priya')
  expect(await readFirstName('zoe')).toBe('Zoë')
  // A name may also be the beginning of an id.
  expect(await readFirstName('abbe')).toBe('Abbe')
  expect((await here.type(['request', 'get', 'Zoë Example', '--quiet'], { tty: true })).code).toBe(0)
  expect((await here.type('request wait priya --for completed --quiet', { tty: true })).code).toBe(0)
  await here.clock.advance(60 * minute)
  expect((await here.type('report download --request priya --output reports', { tty: true })).code).toBe(0)
  // stdin is a pipe here, so the command cannot ask a question.
  const screen = { tty: { stdout: true, stderr: true }, env: { NO_COLOR: '1' } }
  expect(await here.all(['request get example', 'request get pri', 'request get pri@example.com'], screen))
    .toMatchInlineSnapshot(`
      $ NO_COLOR=1 refcheck request get example
      2> 3 orders of this store are for "example":
      2>   Abbe Example, abbe@example.com, RECEIVED, ordered 2026-11-20 12:00, 102
      2>     Identity check only
      2>     refcheck request get REQUEST_3
      2>   Zoë Example, zoe@example.com, RECEIVED, ordered 2026-11-20 12:00, 102 Identity
      2>     check only
      2>     refcheck request get REQUEST_2
      2>   Priya Example, priya@example.com, COMPLETED, ordered 2026-11-20 12:00, 102
      2>     Identity check only
      2>     refcheck request get REQUEST_1
      exit 2

      $ NO_COLOR=1 refcheck request get pri
      2> Error: no request of this store is for "pri"
      2> List the requests with: refcheck request list
      exit 5

      $ NO_COLOR=1 refcheck request get pri@example.com
      2> Error: no request of this store is for "pri@example.com"
      2> List the requests with: refcheck request list
      exit 5
    `)
  expect(await here.all(['request get priya', 'report download --request priya --output reports']))
    .toMatchInlineSnapshot(`
    $ refcheck request get priya
    2> Error: REQUEST_ID: "priya" is not a request id
    2> Give at least the first 4 characters of the id. List the requests with: refcheck request list
    exit 2

    $ refcheck report download --request priya --output reports
    2> Error: --request: "priya" is not a request id
    2> Give at least the first 4 characters of the id. List the requests with: refcheck request list
    exit 2
  `)
})

test('request wait without an id offers the unfinished requests on a terminal, with the names of their packages', async () => {
  const here = await session()
  const screen = { tty: true, env: { NO_COLOR: '1' } }
  expect(await here.type('request wait', { ...screen, answers: [] })).toMatchInlineSnapshot(`
    $ NO_COLOR=1 refcheck request wait
    2> Nothing is running. List the requests with: refcheck request list
    exit 2
  `)
  await orderFor(here, 'Priya')
  await here.type('packages list --quiet')
  // There is no question for a single unfinished request.
  expect((await here.type('request wait --for completed --quiet', { ...screen, answers: [] })).code).toBe(0)
  await orderFor(here, 'Mei')
  await orderFor(here, 'Chi')
  expect(
    await here.type('request wait --quiet', {
      ...screen,
      answers: [
        {
          ask: 'Wait for which request?',
          offered: [
            'All 2',
            'Chi Example (chi@example.com), 102 Identity check only, RECEIVED',
            'Mei Example (mei@example.com), 102 Identity check only, RECEIVED',
          ],
          choose: /^Mei/,
        },
      ],
    }),
  ).toMatchInlineSnapshot(`
    $ NO_COLOR=1 refcheck request wait --quiet
    ? Wait for which request?: Mei Example (mei@example.com), 102 Identity check only, RECEIVED
    Mei Example  COMPLETED
      request    REQUEST_2
      package    102 Identity check only
      recipient  mei@example.com, +61412345678
      created    2026-11-20 12:29 +00:00 by olive.owner@example.com

    CHECK                    STATUS     REPORT  ID
    Identity check (Facet    COMPLETED  ready   CHECK_2
    Identity)

    Reports: refcheck report download --request REQUEST_2…
    exit 0
  `)
  await orderFor(here, 'Ana')
  const waitForAll = await here.type('request wait --quiet', {
    ...screen,
    answers: [{ ask: 'Wait for which request?', choose: 'All 2' }],
  })
  expect(waitForAll.code).toBe(0)
  expect(waitForAll.stdout.match(/(Chi|Ana) Example +COMPLETED/g)).toHaveLength(2)
})

test('request get with a name reports an order with an unknown outcome, also next to another request for the name', async () => {
  const here = await session()
  here.intercept(async (request, ask) => {
    if (request.method !== 'POST') return ask(request)
    await ask(request)
    return new Response('bad gateway', { status: 502 })
  })
  await here.type(orderArguments('Dora'))
  here.intercept(async (request, ask) => ask(request))
  const screen = { tty: true, env: { NO_COLOR: '1' } }
  expect(await here.type('request get dora', screen)).toMatchInlineSnapshot(`
    $ NO_COLOR=1 refcheck request get dora
    2> Error: Dora Example (dora@example.com) is perhaps ordered: the outcome is
    2> unknown
    2> Find out with: refcheck batch reconcile BATCH_1
    exit 5
  `)
  await here.type(
    orderArguments('Dora')
      .map((word) => word.replace('Example', 'Reis').replace('dora@', 'reis@'))
      .map((word) => (word === '+61412345678' ? '+61412345679' : word)),
  )
  const withoutInput = { ...screen, tty: { stdout: true, stderr: true } }
  expect(await here.type('request get dora', withoutInput)).toMatchInlineSnapshot(`
    $ NO_COLOR=1 refcheck request get dora
    2> 2 orders of this store are for "dora":
    2>   Dora Reis, reis@example.com, RECEIVED, ordered 2026-11-20 12:00, 102 Identity
    2>     check only
    2>     refcheck request get REQUEST_2
    2>   Dora Example, dora@example.com, perhaps ordered 2026-11-20 12:00, 102 Identity
    2>     check only
    2>     refcheck batch reconcile BATCH_1
    exit 2
  `)
  const offered = [
    'Dora Reis, reis@example.com, RECEIVED, ordered 2026-11-20 12:00, 102 Identity check only',
    'Dora Example, dora@example.com, perhaps ordered 2026-11-20 12:00, 102 Identity check only',
  ]
  const ask = 'Which order for "dora"?'
  expect(await here.type('request get dora', { ...screen, answers: [{ ask, offered, choose: /Reis/ }] }))
    .toMatchInlineSnapshot(`
      $ NO_COLOR=1 refcheck request get dora
      ? Which order for "dora"?: Dora Reis, reis@example.com, RECEIVED, ordered 2026-11-20 12:00, 102 Identity check only
      Dora Reis  RECEIVED
        request    REQUEST_2
        package    102 Identity check only
        recipient  reis@example.com, +61412345679
        created    2026-11-20 12:00 +00:00 by olive.owner@example.com

      CHECK                            STATUS    REPORT   ID
      Identity check (Facet Identity)  RECEIVED  not yet  -
      exit 0
    `)
  expect(await here.type('request get dora', { ...screen, answers: [{ ask, choose: /Example/ }] }))
    .toMatchInlineSnapshot(`
      $ NO_COLOR=1 refcheck request get dora
      ? Which order for "dora"?: Dora Example, dora@example.com, perhaps ordered 2026-11-20 12:00, 102 Identity check only
      2> Error: Dora Example (dora@example.com) is perhaps ordered: the outcome is
      2> unknown
      2> Find out with: refcheck batch reconcile BATCH_1
      exit 5
    `)
})

test('request get finds a person whose order was dropped, and each command that concerns her names her row', async () => {
  const here = await session()
  const batchId = await createUnknownRow(here)
  await here.type(`batch reconcile ${batchId} --row 2 --drop`)
  const screen = { tty: true, env: { NO_COLOR: '1' } }
  expect(await here.all(['request get row2', `batch reconcile ${batchId}`], { ...screen, answers: [] }))
    .toMatchInlineSnapshot(`
    $ NO_COLOR=1 refcheck request get row2
    2> Error: Ana Row2 (a2+cut-after@example.com) is perhaps ordered: package 102, sent
    2> 2026-11-20 12:00 +00:00, the outcome is unknown and the order was dropped
    2> It is never sent again. To decide again:
    2>   refcheck batch reconcile BATCH_1 --row 2
    exit 5

    $ NO_COLOR=1 refcheck batch reconcile BATCH_1
    Nothing to settle.
    Ana Row2 (a2+cut-after@example.com) may have been ordered, and was dropped. To
    decide again:
      refcheck batch reconcile BATCH_1 --row 2
    exit 0
  `)
})

test('if only one order has the exact name, it is shown, even if other names contain that name', async () => {
  const here = await session()
  await orderFor(here, 'Ana')
  await here.type(
    orderArguments('Ana')
      .map((word) => word.replace(/^Ana$/, 'Ana Rosa').replace('ana@', 'rosa@'))
      .map((word) => (word === '+61412345678' ? '+61412345679' : word)),
  )
  const shown = await here.type(['request', 'get', 'ana example', '--jq', '.recipient.email'], { tty: true })
  expect(shown.stdout).toContain('ana@example.com')
})

test('request get on a terminal names the next step of a request that ended', async () => {
  const here = await session()
  const { type, sandbox, clock } = here
  await type(orderArguments('Priya'))
  sandbox.inject({ scenario: 'error' })
  await type(orderArguments('Chi'))
  await clock.advance(86_400_000)
  expect(await type('request get priya', { tty: true })).toMatchInlineSnapshot(`
    $ refcheck request get priya
    ␛[1mPriya Example␛[22m  ␛[32mCOMPLETED␛[39m
      request    REQUEST_1
      package    102 Identity check only
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    ␛[1mCHECK␛[22m                    ␛[1mSTATUS␛[22m     ␛[1mREPORT␛[22m  ␛[1mID␛[22m
    Identity check (Facet    ␛[32mCOMPLETED␛[39m  ␛[32mready␛[39m   CHECK_1
    Identity)

    Reports: refcheck report download --request REQUEST_1…
    exit 0
  `)
  expect(await type('request get chi', { tty: true })).toMatchInlineSnapshot(`
    $ refcheck request get chi
    ␛[1mChi Example␛[22m  ␛[31mERROR␛[39m
      request    REQUEST_2
      package    102 Identity check only
      recipient  chi@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com
      reason     none is known here; ask the provider, with the id above

    ␛[1mCHECK␛[22m                            ␛[1mSTATUS␛[22m  ␛[1mREPORT␛[22m  ␛[1mID␛[22m
    Identity check (Facet Identity)  ␛[31mERROR␛[39m   ␛[2mnone␛[22m    -

    To order again:
      refcheck request create --package 102 --first-name Chi --last-name Example \\
        --email chi@example.com --phone +61412345678 --allow-duplicate
    2> Looked at: "refcheck status" does not list Chi Example any more.
    2> Find such requests with: refcheck request list --status error
    exit 0
  `)
})

test('status --done accepts a name on a terminal', async () => {
  const here = await session()
  here.sandbox.inject({ scenario: 'error' })
  await orderFor(here, 'Carl')
  await here.clock.advance(60 * minute)
  await here.type('request list --refresh --quiet')
  expect((await here.type('status --jq .attention[].first_name')).stdout).toBe('Carl\n')
  expect(await here.type('status --done carl')).toMatchInlineSnapshot(`
    $ refcheck status --done carl
    2> Error: --done: "carl" is not a request id
    2> Give at least the first 4 characters of the id. List the requests with: refcheck request list
    exit 2
  `)
  expect((await here.type('status --done carl --jq .attention', { tty: true })).stdout).toMatch(/^.*\[\]/)
})

test('request list refuses a name, and names the command that shows the order of one person', async () => {
  const { all } = await session()
  expect(await all(['request list priya', 'request list --status dropped'])).toMatchInlineSnapshot(`
    $ refcheck request list priya
    2> Error: unexpected argument "priya"
    2> One person's order: refcheck request get priya
    2> Show its help with: refcheck request list --help
    exit 2

    $ refcheck request list --status dropped
    No requests match. Only requests ordered with this store are listed.
    exit 0
  `)
})

test('request create --allow-duplicate names the earlier order in its question, and prints a command with the flag', async () => {
  const here = await session()
  await orderFor(here, 'Ana')
  await here.clock.advance(60 * minute)
  await here.type('request list --refresh --quiet')
  const again = orderArguments('Ana', ['--allow-duplicate'])
  expect(await here.type([...again, '--dry-run'])).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Example --email ana@example.com --phone +61412345678 --allow-duplicate --dry-run
    2> Ana Example was already ordered on 2026-11-20 12:00 +00:00 (package 102, last read COMPLETED).
    2> Dry run: nothing was sent.
    {
      "package_id": 102,
      "recipient": {
        "first_name": "Ana",
        "last_name": "Example",
        "email": "ana@example.com",
        "phone": "+61412345678"
      }
    }
    exit 0
  `)
  const answers = [
    { ask: 'Is everything correct?', choose: /^Yes/ },
    { ask: /already ordered.* Order 102/, confirm: true },
  ]
  expect(await here.type(again, { answers })).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Example --email ana@example.com --phone +61412345678 --allow-duplicate
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Ana
    2> Recipient  Last name   Example
    2> Recipient  Email       ana@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Yes, go on
    ? Ana Example was already ordered on 2026-11-20 12:00 +00:00 (package 102, last read COMPLETED). Order 102 Identity check only for Ana Example (ana@example.com) at 127.0.0.1:PORT as olive.owner@example.com? yes
    created  REQUEST_2                             RECEIVED
    2> The same order as one command:
    2>   refcheck request create --package 102 --first-name Ana --last-name Example --email ana@example.com --phone +61412345678 --allow-duplicate --yes
    2> Follow it with: refcheck request wait REQUEST_2
    exit 0
  `)
  expect(here.listOrderedEmails()).toHaveLength(2)
})

test('the name of a person whose row was rejected leads to that row', async () => {
  const here = await session()
  here.write('people.csv', 'first_name,last_name,email,phone\nUna,Low,una@example.com,+61400000001\n')
  here.sandbox.inject({
    on: 'POST /v1/requests',
    fault: { kind: 'status', status: 400, when: 'before', message: 'email: is not accepted' },
  })
  await here.type('batch run people.csv --package 102 --yes')
  const found = await here.type('request get una', { tty: true })
  expect(found.stderr).toContain('The row of Una Low (una@example.com) is rejected')
})
