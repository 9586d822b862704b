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
