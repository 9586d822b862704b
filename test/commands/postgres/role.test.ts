import { randomBytes, randomInt } from 'node:crypto'

import { expect, onTestFinished, test } from 'vitest'

import { createEmails, writePeopleFile } from '../../harness/batch-file.ts'
import type { Filter } from '../../harness/filters.ts'
import { createStore } from '../../harness/create-store.ts'
import { orderArguments } from '../../harness/people.ts'
import { queryDatabase, emptyDatabase } from '../../harness/postgres.ts'
import { SnapshotText, session } from '../../harness/session.ts'

const filters: Filter[] = [
  [/\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d\d:\d\d/g, 'DAY TIME'],
  [/postgres:\/\/\w+@\S+?(?=[";:,.]*(?:\s|$))/g, 'postgres://STORE'],
]

const rights = `
GRANT USAGE ON SCHEMA refcheck TO {};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA refcheck TO {};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA refcheck TO {}`

test('a database user without the right to change tables can use a store that its owner created', async () => {
  const owner = await emptyDatabase()
  const role = `user_${randomInt(1e9, 1e10)}`
  const password = randomBytes(8).toString('hex')
  await queryDatabase(owner, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
  onTestFinished(async () => {
    await queryDatabase(owner, `DROP OWNED BY ${role}; DROP ROLE ${role}`)
  })
  const url = owner.replace(/\/\/[^@]*@/, `//${role}@`)
  const { type, all, folder, listOrderedEmails } = await session({ filters })
  const exported = { PGPASSWORD: password }
  writePeopleFile(folder, createEmails(2))
  const secret = url.replace('@', `:${password}@`)
  const refused = await type(`config set store ${secret}`)
  expect(refused.stderr).toContain('store: passwords are refused in the settings')
  expect(refused.stderr + refused.stdout).not.toContain(password)
  expect(await all([`config set store ${url}`, 'config get store', 'store migrate'], { exported }))
    .toMatchInlineSnapshot(`
    $ refcheck config set store postgres://STORE
    store is postgres://STORE
    exit 0

    $ refcheck config get store
    postgres://STORE
    exit 0

    $ refcheck store migrate
    2> Error: cannot use the store "postgres://STORE": this user lacks a right
    2> Rights that ordering needs are named by refcheck doctor. Grant it, or let the owner run: refcheck store migrate
    exit 1
  `)
  await createStore(owner)
  await queryDatabase(owner, rights.replaceAll('{}', role))
  expect(
    await all(
      [
        'store migrate',
        'batch run people.csv --package 102 --yes --quiet',
        'store purge --email a1@example.com --yes',
        'store check',
        `store move ${url} mine.sqlite --yes`,
        'batch run people.csv --package 102 --yes --quiet',
      ],
      { exported },
    ),
  ).toMatchInlineSnapshot(`
    $ refcheck store migrate
    The store "postgres://STORE" already has the format of this version (1).
    exit 0

    $ refcheck batch run people.csv --package 102 --yes --quiet
    ✔ All 2 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0

    $ refcheck store purge --email a1@example.com --yes
    Removed personal data of 1 row and 0 events.
    Files that still show the person:
      input file    HOME/people.csv
      results file  HOME/people.results.csv
    2> Error: what was removed may still be read in the files of the store "postgres://STORE": only the owner of its tables may clean them
    2> The server cleans them later by itself (autovacuum). To clean them now, run VACUUM as the owner, or as the owner run: refcheck store purge --email a1@example.com --yes
    exit 10

    $ refcheck store check
    sound  postgres://STORE (by the attempt logs of this machine)
    exit 0

    $ refcheck store move postgres://STORE mine.sqlite --yes
    2> Error: cannot use the store "postgres://STORE": this user lacks a right
    2> Rights that ordering needs are named by refcheck doctor. Grant it, or let the owner run: refcheck store migrate
    exit 1

    $ refcheck batch run people.csv --package 102 --yes --quiet
    ✔ All 2 people in people.csv are ordered, on DAY TIME; nothing to do

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck report sync --output reports
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test('if a user cannot read the system identifier of the server, nothing is ordered, and doctor names the missing right', async () => {
  const owner = await emptyDatabase()
  const { type, all, folder, listOrderedEmails } = await session({ filters })
  const role = `user_${randomInt(1e9, 1e10)}`
  await queryDatabase(owner, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  onTestFinished(async () => {
    await queryDatabase(owner, `DROP OWNED BY ${role}; DROP ROLE ${role}`)
  })
  await createStore(owner)
  await queryDatabase(owner, rights.replaceAll('{}', role))
  await queryDatabase(owner, 'REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC')
  writePeopleFile(folder, createEmails(2))
  const exported = { REFCHECK_STORE: owner.replace(/\/\/[^@]*@/, `//${role}:secret@`) }
  expect(await all(['batch run people.csv --package 102 --yes'], { exported })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> Error: cannot use the store "postgres://STORE": this user lacks a right
    2> Rights that ordering needs are named by refcheck doctor. Grant it, or let the owner run: refcheck store migrate
    exit 1
  `)
  const doctor = await type('doctor', { exported })
  const [, store] = /^(fail {2}store .*?)(?=^warn)/ms.exec(doctor.text) ?? []
  expect(new SnapshotText(`${store}exit ${doctor.code}`)).toMatchInlineSnapshot(`
    fail  store         the database of the store "postgres://STORE" does not show this user its system identifier and timeline
                        Without them an older state of the database cannot be noticed, so nothing is ordered. As an administrator of the server run:
                        GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC;
    exit 1
  `)
  expect(listOrderedEmails()).toEqual([])
})

test('a row-level security policy that hides rows prevents orders, because earlier orders would not be found', async () => {
  const owner = await emptyDatabase()
  const role = `user_${randomInt(1e9, 1e10)}`
  const password = randomBytes(8).toString('hex')
  await queryDatabase(owner, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
  onTestFinished(async () => {
    await queryDatabase(owner, `DROP OWNED BY ${role}; DROP ROLE ${role}`)
  })
  const url = owner.replace(/\/\/[^@]*@/, `//${role}@`)
  const here = await session({ filters })
  const exported = { PGPASSWORD: password, REFCHECK_STORE: url }
  await createStore(owner)
  await queryDatabase(owner, rights.replaceAll('{}', role))
  expect((await here.type(orderArguments('Ann'), { exported })).code).toBe(0)
  await queryDatabase(
    owner,
    `ALTER TABLE refcheck.submissions ENABLE ROW LEVEL SECURITY;
    CREATE POLICY recent ON refcheck.submissions USING (state <> 'accepted') WITH CHECK (true)`,
  )
  expect(await here.type(orderArguments('Ann'), { exported })).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ann --last-name Example --email ann@example.com --phone +61412345678 --yes
    2> Error: cannot use the store "postgres://STORE": a row-level security policy hides rows of its tables
    2> Switch row-level security off on the tables of the schema refcheck: with hidden rows a person could be ordered twice.
    exit 1
  `)
  expect(here.listOrderedEmails()).toHaveLength(1)
})
