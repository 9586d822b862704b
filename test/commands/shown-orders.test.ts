import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { queryDatabase } from '../harness/postgres.ts'
import { session } from '../harness/session.ts'

/** Both engines of the store have to print the same messages. */
const stores = ['SQLite', 'PostgreSQL'] as const

const header = 'first_name,last_name,email,phone'
const createOrderLine = (first: string, email: string, phone: string): string =>
  `request create --package 102 --first-name ${first} --last-name Low --email ${email} --phone ${phone} --yes`

test.each(stores)('a release applies only to the order that is shown with the row (%s)', async (store) => {
  const { type, all, folder, listOrderedEmails } = await session({ store })
  const createOfficeRow = (name: string, phone: string): string => `${name},Low,office@example.com,${phone}`
  const rows = [createOfficeRow('Ann', '+61400000911'), createOfficeRow('Bob', '+61400000912')]
  writeFileSync(join(folder, 'people.csv'), `${header}\n${rows.join('\n')}\n`)
  const first = await type('batch run people.csv --package 102 --yes --json')
  const { batch_id } = first.json() as { batch_id: string }
  await type(`batch release ${batch_id} --row 2`)
  await type(`batch resume ${batch_id} --yes`)
  expect(listOrderedEmails()).toHaveLength(2)
  // Ann again, with a corrected phone. The first release applies only to the shown order, so Bob’s order still holds the row.
  writeFileSync(join(folder, 'more.csv'), `${header}\n${createOfficeRow('Ann', '+61400000919')}\n`)
  const held = (await type('batch run more.csv --package 102 --yes --json')).json() as { batch_id: string }
  const release = `batch release ${held.batch_id} --row 1`
  expect(await all([`batch rows ${held.batch_id}`, release, release])).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_2
    ROW  LINE  STATE  EMAIL               OUTCOME
    1    2     held   office@example.com  held: has the same e-mail and name as Ann Low (office@example.com), ordered 2026-11-20 12:00 +00:00
    2> Ann Low (line 2) is another person: refcheck batch release BATCH_2 --row 1
    2> Ann Low (line 2) is the same person: refcheck batch cancel BATCH_2 --row 1
    exit 0

    $ refcheck batch release BATCH_2 --row 1
    2> Error: row 1 stays held because of another order: it is similar
    2> See that order, and release the row again if these are two people: refcheck batch rows BATCH_2 --state held
    exit 2

    $ refcheck batch release BATCH_2 --row 1
    2> Released 1 row: Ann Low (line 2). Order with: refcheck batch resume BATCH_2
    batch  BATCH_2
    more.csv, 102 Identity check only

    1  pending
    1  row

    results  HOME/more.results.csv
    exit 0
  `)
})

/** Sets all orders to the same time, because the latest one is shown first, and PostgreSQL uses its own clock. */
async function setSameTime(url: string): Promise<void> {
  await queryDatabase(
    url,
    `UPDATE refcheck.submissions SET changed_at = (SELECT min(changed_at) FROM refcheck.submissions);
     UPDATE refcheck.attempts SET began_at = (SELECT min(began_at) FROM refcheck.attempts),
       ended_at = (SELECT min(ended_at) FROM refcheck.attempts)`,
  )
}

test.each(stores)(
  'request create has one question for each order of a similar person (%s)',
  async (store) => {
    const { type, folder, listOrderedEmails, env } = await session({ store })
    const rows = ['Ann', 'Bob'].map((name, at) => `${name},Low,office@example.com,+6140000091${at}`)
    writeFileSync(join(folder, 'people.csv'), `${header}\n${rows.join('\n')}\n`)
    await type('batch run people.csv --package 102 --yes --shared office@example.com')
    expect(listOrderedEmails()).toHaveLength(2)
    if (store === 'PostgreSQL') await setSameTime(env['REFCHECK_STORE'] ?? '')
    const line = createOrderLine('Cyd', 'office@example.com', '+61400000913')
    const yes = { ask: /Order anyway/, confirm: true }
    const no = { ask: /Order anyway/, confirm: false }
    expect(await type(line, { answers: [yes, no] })).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Cyd --last-name Low --email office@example.com --phone +61400000913 --yes
      ? Somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for Ann Low (office@example.com) has the same e-mail. Order anyway? yes
      ? Somebody similar was ordered: package 102 (request REQUEST_2, 2026-11-20 12:00 +00:00) for Bob Low (office@example.com) has the same e-mail. Order anyway? no
      2> Nothing was ordered.
      exit 2
    `)
    expect(listOrderedEmails()).toHaveLength(2)
    expect(await type(line, { answers: [yes, yes] })).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Cyd --last-name Low --email office@example.com --phone +61400000913 --yes
    ? Somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for Ann Low (office@example.com) has the same e-mail. Order anyway? yes
    ? Somebody similar was ordered: package 102 (request REQUEST_2, 2026-11-20 12:00 +00:00) for Bob Low (office@example.com) has the same e-mail. Order anyway? yes
    created  REQUEST_3                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_3
    exit 0
  `)
    expect(listOrderedEmails()).toHaveLength(3)
  },
)

test('request create says in its review that the person is held in a batch', async () => {
  const { type, write } = await session()
  const kai = 'Kai,Kurz,kai@example.com,+61400000001\nKay,Kurz,kay@example.com,+61400000001'
  write('hi.csv', `first_name,last_name,email,phone\n${kai}\n`)
  await type('batch run hi.csv --package 102 --yes --json')
  const kay =
    'request create --package 102 --first-name Kay --last-name Kurz --email kay@example.com --phone +61400000001'
  const no = {
    ask: /^Kay Kurz is held in a batch and waits for a decision: .* Somebody similar was ordered: /,
    confirm: false,
  }
  const toReview = { ask: 'Is everything correct?', choose: 'Yes, go on' }
  const leave = { ask: 'Is everything correct?', choose: 'Leave for now, and keep the answers' }
  expect(await type(kay, { answers: [toReview, no, leave] })).toMatchObject({ code: 130 })
  expect(await type(`${kay} --yes`, { answers: [no] })).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Kay --last-name Kurz --email kay@example.com --phone +61400000001 --yes
    ? Kay Kurz is held in a batch and waits for a decision: refcheck batch release BATCH_1…. Somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for Kai Kurz (kai@example.com) has the same phone. Order anyway? no
    2> Nothing was ordered.
    exit 2
  `)
})
