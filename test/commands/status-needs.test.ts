import { expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

const terminal = { tty: true, exported: { NO_COLOR: '1' } }

test('status names the command for held rows, the reason why a batch halted, and the number of further people of a line', async () => {
  const here = await session()
  here.write(
    'people.csv',
    `first_name,last_name,email,phone
Lena,Vogt-Maier-Lindenberger,l1@example.com,+61400000001
Lenna,Vogt-Maier-Lindenberger,l2@example.com,+61400000001
Lenaa,Vogt-Maier-Lindenberger,l3@example.com,+61400000001
`,
  )
  await here.type('batch run people.csv --package 102 --yes --quiet')
  here.sandbox.setCredits(0)
  peopleFile(here.folder, emails(2), 'more.csv')
  await here.type('batch run more.csv --package 102 --yes --quiet')
  expect(await here.type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      more.csv                              halted  refcheck batch resume BATCH_2…
        organisation has no credits remaining
      Lenna Vogt-Maier-Lindenb… and 1 more  held    refcheck batch release BATCH_1…
    exit 0
  `)
  expect(await here.type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      more.csv                              halted  refcheck batch resume BATCH_2
        organisation has no credits remaining
      Lenna Vogt-Maier-Lindenb… and 1 more  held    refcheck batch release BATCH_1
    exit 0
  `)
})

test('a request that ended without a result stays counted in status and on pages after the user has looked at it', async () => {
  const here = await session()
  const { type, folder, clock, read } = here
  const people = ['a1+error@example.com', 'a2+declined@example.com']
  peopleFile(folder, people)
  await type('batch run people.csv --package 102 --yes --quiet')
  await clock.advance(30 * 24 * 60 * 60_000)
  await type('request list --refresh --quiet')
  await type(`request get ${people[0]}`, terminal)
  expect(await type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)
    Running    nothing
    Needs you
      Ana Row2  cancelled  refcheck request get REQUEST_2…
    Ended without a result: 1 ERROR → refcheck request list --status error
    exit 0
  `)
  await type(`request get ${people[1]}`, terminal)
  expect(await type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)
    Running    nothing
    Needs you  nothing
    Ended without a result: 1 ERROR → refcheck request list --status error
    Ended without a result: 1 CANCELLED → refcheck request list --status cancelled
    exit 0
  `)
  peopleFile(folder, [...people.slice(1), 'a3@example.com'], 'again.csv')
  await type('batch run again.csv --package 102 --yes --quiet')
  const [batch] = (await type('batch list --json')).json() as { batch_id: string }[]
  await type(`batch export ${batch?.batch_id} --output again.html`)
  const [section] = /<h2 id="attention">.*?<\/section>/s.exec(read('again.html')) ?? []
  expect(section?.replaceAll(/\s+/g, ' ')).toMatchInlineSnapshot(
    `"<h2 id="attention">Needs a person</h2> <ul class="todo"> <li> <p> <span class="pill warn">2 held</span> <strong><bdi>Ana Row1, Ana Row2</bdi></strong> <br /> <small >Not sent: it may repeat an earlier order, and waits for a decision. held: has the same phone and name as request 3559fe92-4725-49d8-a75f-9f302ffc85b0 (row 1 of batch 6a87f9cd-93dd-4860-aa0c-98ed3416abb9, ordered 2026-11-20 12:00 +00:00) held: has the same phone and name as request db9bafa7-f87b-476a-b678-0f77505c343b (row 2 of batch 6a87f9cd-93dd-4860-aa0c-98ed3416abb9, ordered 2026-11-20 12:00 +00:00) </small > </p> <code>refcheck batch release 32b544b7-6d1c-4c69-9bef-946ca2d5d362</code> </li> </ul> </section>"`,
  )
})
