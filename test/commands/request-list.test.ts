import { expect, test } from 'vitest'

import { createRequestFor } from '../harness/orders.ts'
import { orderArguments } from '../harness/people.ts'
import { session } from '../harness/session.ts'

test('request list shows the orders of the store, filters them, and reads them again with --refresh', async () => {
  const here = await session()
  expect(await here.type('request list')).toMatchInlineSnapshot(`
    $ refcheck request list
    No requests match. Only requests ordered with this store are listed.
    exit 0
  `)
  const id = await createRequestFor(here, 'Priya')
  await createRequestFor(here, 'Mei')
  expect(await here.type('request list')).toMatchInlineSnapshot(`
    $ refcheck request list
    REQUEST ID                            STATUS    ORDERED AT  NAME           PACKAGE
    REQUEST_1                             RECEIVED  2026-11-20  Priya Example  102 Identity check only
    REQUEST_2                             RECEIVED  2026-11-20  Mei Example    102 Identity check only
    exit 0
  `)
  expect(
    await here.all([
      'request list --csv --columns request_id,status,email',
      'request list --email PRIYA@example.com --columns email,status',
      'request list --since 1d --columns email,status',
      'request list --since 2999-01-01',
      'request list --status completed',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck request list --csv --columns request_id,status,email
    request_id,status,email
    REQUEST_1,RECEIVED,priya@example.com
    REQUEST_2,RECEIVED,mei@example.com
    exit 0

    $ refcheck request list --email PRIYA@example.com --columns email,status
    EMAIL              STATUS
    priya@example.com  RECEIVED
    exit 0

    $ refcheck request list --since 1d --columns email,status
    EMAIL              STATUS
    priya@example.com  RECEIVED
    mei@example.com    RECEIVED
    exit 0

    $ refcheck request list --since 2999-01-01
    No requests match. Only requests ordered with this store are listed.
    exit 0

    $ refcheck request list --status completed
    No requests match. Only requests ordered with this store are listed.
    exit 0
  `)
  await here.type(`request wait ${id}`)
  expect(await here.type('request list --status completed --refresh --columns email,status'))
    .toMatchInlineSnapshot(`
    $ refcheck request list --status completed --refresh --columns email,status
    EMAIL              STATUS
    priya@example.com  COMPLETED
    exit 0
  `)
})

test('an unknown status and invalid dates are refused', async () => {
  const { all } = await session()
  const dates = ['2026-02-30', 'yesterday', '2026-13-01', '1e3']
  expect(
    await all(['request list --status complete', ...dates.map((date) => `request list --since ${date}`)]),
  ).toMatchInlineSnapshot(`
    $ refcheck request list --status complete
    2> Error: --status: unknown status "complete"
    2> Statuses: received, in_progress, partial, completed, error, cancelled, unknown, dropped, sending
    exit 2

    $ refcheck request list --since 2026-02-30
    2> Error: --since: "2026-02-30" is not a date
    2> Give a date such as 2026-11-01 or 2026-11-01T09:30:00Z, or how long ago: 7d or 12h.
    exit 2

    $ refcheck request list --since yesterday
    2> Error: --since: "yesterday" is not a date
    2> Give a date such as 2026-11-01 or 2026-11-01T09:30:00Z, or how long ago: 7d or 12h.
    exit 2

    $ refcheck request list --since 2026-13-01
    2> Error: --since: "2026-13-01" is not a date
    2> Give a date such as 2026-11-01 or 2026-11-01T09:30:00Z, or how long ago: 7d or 12h.
    exit 2

    $ refcheck request list --since 1e3
    2> Error: --since: "1e3" is not a date
    2> Give a date such as 2026-11-01 or 2026-11-01T09:30:00Z, or how long ago: 7d or 12h.
    exit 2
  `)
})

test('--refresh shows its progress on a terminal until the list is printed', async () => {
  const { type } = await session()
  await type(orderArguments('Ana'))
  const { stderr } = await type('request list --refresh', { tty: true })
  expect(stderr).toContain('[--------------------]  0 of 1 request read')
  expect(stderr.endsWith('\r\u001B[2K')).toBe(true)
})

test('request list on a terminal shows when the statuses of unfinished requests were read', async () => {
  const here = await session()
  await here.type(orderArguments('Ana'))
  await here.clock.advance(600_000)
  await here.type(orderArguments('Ben'))
  const terminal = { tty: true, exported: { NO_COLOR: '1' } }
  expect(await here.type('request list', terminal)).toMatchInlineSnapshot(`
    $ refcheck request list
    REQUEST ID  STATUS    ORDERED AT  NAME         PACKAGE
    REQUEST_1…    RECEIVED  2026-11-20  Ana Example  102 Identity check only
    REQUEST_2…    RECEIVED  2026-11-20  Ben Example  102 Identity check only
    2> 2 not finished, last read 2026-11-20 12:00 +00:00 or later
    2> Read again with: refcheck request list --refresh
    exit 0
  `)
  await here.clock.advance(3_600_000)
  await here.type('request list --refresh')
  expect((await here.type('request list', terminal)).stderr).toBe('')
})
