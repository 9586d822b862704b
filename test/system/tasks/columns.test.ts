import { expect, test } from 'vitest'

import { startTerminal } from '../../harness/terminal-session.ts'

test('order for a file with other column names', async () => {
  const terminal = await startTerminal()
  const staff = 'First Name,Last Name,E-mail,Mobile,Department,Start date\n'
  terminal.write('new-hires.csv', `${staff}Anna,Müller,anna@example.com,+4915123456789,Sales,2026-12-01\n`)
  await terminal.type('refcheck batch run new-hires.csv --package 102', '(Y/n)')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck batch run new-hires.csv --package 102
    2> new-hires.csv is read so:
    2>   First Name              → first name  Anna
    2>   Last Name               → last name   Müller
    2>   E-mail                  → email       anna@example.com
    2>   Mobile                  → phone       +4915123456789
    2>   Department, Start date  → left out
    2> ? Are these right? (Y/n)
  `)
  await terminal.press('\r', '(y/N)')
  expect(terminal.keysPressed()).toBe(1)
  await terminal.press('y\r')
  expect(terminal.sandbox.requests()).toMatchObject([
    { recipient: { first_name: 'Anna', last_name: 'Müller' } },
  ])
  terminal.write('december.csv', `${staff}Ben,Low,ben@example.com,+61400000002,IT,\n`)
  terminal.transcript()
  await terminal.type('refcheck batch run december.csv --package 102 --dry-run')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck batch run december.csv --package 102 --dry-run
    2> Columns as agreed before: First Name → first name; Last Name → last name; E-mail
    2> → email; Mobile → phone; Department, Start date → left out
    2> To change this, add: --map 'First Name=FIELD' --save-mapping columns-44d5a4033e
    2> FIELD: first_name, last_name, email, phone, or of: refcheck schema show PACKAGE
    2> Dry run: nothing was sent.
    december.csv: 1 row
      1 order of 102 Identity check only
    Sending takes under a minute
    exit 0
    $
  `)
})
