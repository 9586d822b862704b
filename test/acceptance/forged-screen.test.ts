import { expect, test } from 'vitest'

import { startTerminal } from '../harness/terminal-session.ts'

test('a name of 950 characters cannot draw a false plan on a screen of 80x24: the person who is ordered remains visible', async () => {
  const terminal = await startTerminal()
  const blank = '\u00A0'
  const forgedRows = [
    'Recipient  First name  Ana',
    'Recipient  Last name   Lee',
    'Recipient  Email       ana@example.com',
  ]
  const forgedText = forgedRows.map((row) => row.padEnd(57, blank)).join('')
  terminal.write('name.txt', `Ana${blank.repeat(54)}${forgedText}`.padEnd(949, blank) + 'x')
  const personFlags = '--last-name Example --email mallory@example.com --phone +61412345678'
  await terminal.type(
    `refcheck request create --package 102 --first-name "$(cat name.txt)" ${personFlags}`,
    'correct?',
  )
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name "$(cat name.txt)" --last-na
    me Example --email mallory@example.com --phone +61412345678

    2> Package 102: Identity check only

    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Ana Recipient First name Ana Recipient Last name Lee
    2>                        Recipient Email ana@example.com x
    2> Recipient  Last name   Example
    2> Recipient  Email       mallory@example.com
    2> Recipient  Phone       +61412345678

    2> ? Is everything correct?
    2> ❯ Yes, go on
    2>   Change an answer
    2>   Leave for now, and keep the answers
    2>   Cancel, and delete the answers

    2> ↑↓ navigate • ⏎ select
  `)
  await terminal.press('\r', '(y/N)')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name "$(cat name.txt)" --last-na
    me Example --email mallory@example.com --phone +61412345678

    2> Package 102: Identity check only

    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Ana Recipient First name Ana Recipient Last name Lee
    2>                        Recipient Email ana@example.com x
    2> Recipient  Last name   Example
    2> Recipient  Email       mallory@example.com
    2> Recipient  Phone       +61412345678

    2> ✔ Is everything correct? Yes, go on
    2> ? Order 102 Identity check only for Ana Recipient First name Ana Recipient Last
    2> name Lee Recipient Email ana@example.com x Example (mallory@example.com) at
    2> 127.0.0.1:PORT as olive.owner@example.com? (y/N)
  `)
  await terminal.press('n\r', 'correct?')
  expect(terminal.sandbox.requests()).toEqual([])
})
