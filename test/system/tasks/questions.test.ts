import { expect, test } from 'vitest'

import { startTerminal } from '../../harness/terminal-session.ts'
import { keys } from '../../harness/terminal.ts'

const header = 'first_name,last_name,email,phone'
const run = 'refcheck batch run people.csv --package 102 --yes --quiet'

test('decide whether a held row is another person', async () => {
  const terminal = await startTerminal()
  terminal.write(
    'people.csv',
    `${header}\nAnna,Müller,anna.mueller@example.com,+491512345678\nAnna,Mueller,anna.m@example.com,+491512345678\n`,
  )
  await terminal.type(run, 'Is this one person?')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --quiet

    2> Anna Mueller (line 3) of people.csv is held (1 of 1)
    2>   new      Anna Mueller  anna.m@example.com
    2>   ordered  Anna Müller  anna.mueller@example.com, YYYY-MM-DD HH:MM +00:00
    2>   same     phone +491512345678

    2> ? Is this one person?
    2> ❯ Decide later
    2>   Two people: order Anna Mueller (anna.m@example.com)
    2>   The same person: leave out

    2> ↑↓ navigate • ⏎ select
  `)
  await terminal.press(`${keys.down}\r`)
  expect(terminal.keysPressed()).toBe(2)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --quiet

    2> Anna Mueller (line 3) of people.csv is held (1 of 1)
    2>   new      Anna Mueller  anna.m@example.com
    2>   ordered  Anna Müller  anna.mueller@example.com, YYYY-MM-DD HH:MM +00:00
    2>   same     phone +491512345678

    2> ✔ Is this one person? Two people: order Anna Mueller (anna.m@example.com)
    ✔ All 2 people in people.csv are ordered

    batch  ID_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch ID_1
    exit 0
    $
  `)
  expect(terminal.sandbox.requests()).toHaveLength(2)
})

test('reconcile orders with an unknown outcome', async () => {
  const terminal = await startTerminal()
  terminal.write(
    'people.csv',
    `${header}\nMei,Ito,mei+cut-after@example.com,+61400000001\nJo,Ray,jo+cut-before@example.com,+61400000002\n`,
  )
  await terminal.type(run)
  terminal.transcript()
  await terminal.type('refcheck batch reconcile', 'They have it')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    people.csv, 102 Identity check only

    2  unknown
    2  rows

    results  HOME/people.results.csv
    2> Error: 2 rows may or may not have been ordered
    2> Settle them with: refcheck batch reconcile ID_1
    exit 8
    $ refcheck batch reconcile

    2> Mei Ito (line 2) of people.csv may have been ordered (1 of 2)
    2> No event names this person. That proves nothing: ask the provider.
    2> Ordering again is possible from YYYY-MM-DD HH:MM +00:00, if no event arrives.

    2> ? Does the provider have a request for Mei Ito (mei+cut-after@example.com), 102
    2> Identity check only, sent YYYY-MM-DD HH:MM +00:00?
    2> ❯ I do not know yet
    2>   They have it
    2>   They do not have it: order it
    2>   Nobody knows: never send it

    2> Nothing is done.
    2> ↑↓ navigate • ⏎ select
  `)
  await terminal.press(`${keys.down}\r`, 'Id of their request')
  // Pasting the id is not counted, and Enter is the third key.
  await terminal.type(terminal.sandbox.requests()[0]?.request_id ?? '', /for Jo Ray[\s\S]+They have it/)
  expect(terminal.keysPressed() + 1).toBe(3)
  await terminal.press(`${keys.down}${keys.down}${keys.down}\r`)
  expect(terminal.keysPressed()).toBe(4)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck batch reconcile

    2> Mei Ito (line 2) of people.csv may have been ordered (1 of 2)
    2> No event names this person. That proves nothing: ask the provider.
    2> Ordering again is possible from YYYY-MM-DD HH:MM +00:00, if no event arrives.

    2> ✔ Does the provider have a request for Mei Ito (mei+cut-after@example.com), 102
    2> Identity check only, sent YYYY-MM-DD HH:MM +00:00? They have it
    2> ✔ Id of their request: REQUEST_1

    2> Mei Ito (line 2) is ordered: request REQUEST_1


    2> Jo Ray (line 3) of people.csv may have been ordered (2 of 2)
    2> No event names this person. That proves nothing: ask the provider.
    2> Ordering again is possible from YYYY-MM-DD HH:MM +00:00, if no event arrives.

    2> ✔ Does the provider have a request for Jo Ray (jo+cut-before@example.com), 102
    2> Identity check only, sent YYYY-MM-DD HH:MM +00:00? Nobody knows: never send it

    2> Jo Ray (line 3) will not be sent again.

    Nothing is left to settle.
    exit 0
    $
  `)
  expect(terminal.sandbox.requests()).toHaveLength(1)
})
