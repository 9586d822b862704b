import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

const header = 'first_name,last_name,email,phone'
const ann = 'Ann,Low,ann@example.com,+61400000901'
const single = (first: string, email: string, phone: string): string =>
  `request create --package 102 --first-name ${first} --last-name Low --email ${email} --phone ${phone} --yes`

test('a replaced package: resume sends nothing under it, and whoever it was ordered for is held under the successor', async () => {
  const { type, folder, sandbox, ordered } = await session()
  peopleFile(folder, emails(3))
  const { batch_id } = (await type('batch run people.csv --package 102 --yes --json --max 1')).json() as {
    batch_id: string
  }
  const successor = sandbox.replacePackage(102)
  const resumed = await type(`batch resume ${batch_id} --yes`)
  expect([resumed.code, ordered()]).toEqual([5, emails(1)])
  expect(resumed.stdout).toMatch(/2 {2}pending/)
  expect(resumed.stderr).toContain(`refcheck batch move ${batch_id} --package ${successor}`)
  const moved = await type(`batch move ${batch_id} --package ${successor}`)
  expect([moved.code, moved.stderr]).toEqual([
    2,
    expect.stringMatching(/2 rows do not fit package .*consent/),
  ])
  const fixed = emails(3).map((email, at) => `Ana,Row${at + 1},${email},+6140000000${at + 1},email`)
  writeFileSync(join(folder, 'fixed.csv'), `${header},consent.consent_method\n${fixed.join('\n')}\n`)
  const again = await type(`batch run fixed.csv --package ${successor} --yes`)
  expect(again.stderr).toContain('was ordered under the package that this one replaces')
  expect(ordered().toSorted()).toEqual(emails(3))
})

test('a replaced package: a single order under the successor names what was ordered before', async () => {
  const { type, sandbox, ordered } = await session()
  await type(single('Ann', 'ann@example.com', '+61400000901'))
  const successor = sandbox.replacePackage(102)
  const line = single('Ann', 'ann@example.com', '+61400000901').replace('102', String(successor))
  const refused = await type(`${line} --field consent.consent_method=email`)
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('package 102, which this package seems to replace'),
  ])
  expect(ordered()).toHaveLength(1)
})

test.each([
  ['a corrected phone', single('Ann', 'ann@example.com', '+61400000902')],
  ['Ann and Anne', single('Anne', 'ann@example.com', '+61400000901')],
  ['a new e-mail with the same phone', single('Ann', 'ann.low@example.com', '+61400000901')],
])('%s: not ordered again without a word, and --allow-similar says so', async (_what, line) => {
  const { type, folder, ordered } = await session()
  writeFileSync(join(folder, 'people.csv'), `${header}\n${ann}\n`)
  await type('batch run people.csv --package 102 --yes')
  const refused = await type(`${line} --json`)
  expect([refused.code, refused.json()]).toMatchObject([
    2,
    { error: { code: 'duplicate', match: 'similar', row: 1 } },
  ])
  expect(ordered()).toHaveLength(1)
  const no = await type(line, { answers: [{ ask: /Order all the same/, confirm: false }] })
  expect([no.code, ordered().length]).toEqual([2, 1])
  expect((await type(`${line} --allow-similar`)).code).toBe(0)
  expect(ordered()).toHaveLength(2)
})

test('three rows of one file with one e-mail: the first goes, the others are held until somebody says so', async () => {
  const { type, folder, ordered } = await session()
  const rows = ['Ann', 'Bob', 'Cyd'].map((name, at) => `${name},Low,office@example.com,+6140000091${at}`)
  writeFileSync(join(folder, 'people.csv'), `${header}\n${rows.join('\n')}\n`)
  const held = await type('batch run people.csv --package 102 --yes --json')
  const { batch_id, counts } = held.json() as { batch_id: string; counts: Record<string, number> }
  expect([held.code, counts]).toMatchObject([10, { accepted: 1, held: 2 }])
  expect(ordered()).toHaveLength(1)
  // Run again it holds them still, whatever is said of the file's own duplicates.
  expect((await type('batch run people.csv --package 102 --yes')).code).toBe(10)
  expect((await type(`batch release ${batch_id} --row 2`)).code).toBe(0)
  expect((await type(`batch cancel ${batch_id} --row 3`)).code).toBe(0)
  const rowsNow = (await type(`batch rows ${batch_id} --json`)).json() as { state: string }[]
  expect(rowsNow.map(({ state }) => state)).toEqual(['accepted', 'pending', 'cancelled'])
  await type(`batch resume ${batch_id} --yes`)
  expect(ordered()).toHaveLength(2)
})

test('people of a halted file, fixed and run again: told to wait in that batch, and never believed ordered', async () => {
  const { type, folder, sandbox, ordered } = await session()
  peopleFile(folder, emails(3))
  sandbox.setCredits(0)
  const { batch_id } = (await type('batch run people.csv --package 102 --yes --json')).json() as {
    batch_id: string
  }
  sandbox.setCredits(null)
  peopleFile(folder, [...emails(3)], 'again.csv')
  writeFileSync(join(folder, 'again.csv'), `${header}\nAna,Row1,a1@example.com,+61400000001\n`)
  const waits = await type('batch run again.csv --package 102 --yes')
  expect([waits.code, waits.stderr]).toEqual([
    10,
    expect.stringContaining(`refcheck batch resume ${batch_id}`),
  ])
  expect(waits.stderr).not.toContain('every row was ordered before')
  expect(ordered()).toEqual([])
})

test('a duplicate of a row that was never ordered is looked at again, and ordered', async () => {
  const { type, folder, sandbox, ordered } = await session()
  peopleFile(folder, emails(2))
  sandbox.setCredits(0)
  const { batch_id } = (await type('batch run people.csv --package 102 --yes --json')).json() as {
    batch_id: string
  }
  sandbox.setCredits(null)
  const more = ['a1', 'a2', 'a3'].map(
    (name, at) => `Ana,Row${at + 1},${name}@example.com,+6140000000${at + 1}`,
  )
  writeFileSync(join(folder, 'more.csv'), `${header}\n${more.join('\n')}\n`)
  expect((await type('batch run more.csv --package 102 --yes')).code).toBe(10)
  expect(ordered()).toEqual(['a3@example.com'])
  await type(`batch cancel ${batch_id} --yes`)
  expect((await type('batch run more.csv --package 102 --yes')).code).toBe(0)
  expect(ordered().toSorted()).toEqual(emails(3))
})

test('whoever is under one account is not seen by another, and by everybody without one', async () => {
  const { type, folder, ordered } = await session()
  writeFileSync(join(folder, 'people.csv'), `${header}\n${ann}\n`)
  const run = 'batch run people.csv --package 102 --yes'
  expect((await type(run, { env: { REFCHECK_ACCOUNT: 'acme' } })).code).toBe(0)
  expect((await type(run, { env: { REFCHECK_ACCOUNT: 'other' } })).code).toBe(0)
  expect((await type(run)).code).toBe(2)
  expect(ordered()).toHaveLength(2)
})

test('a release covers the order that a row is listed with, and no other that nobody was shown', async () => {
  const { type, folder, ordered } = await session()
  const office = (name: string, phone: string): string => `${name},Low,office@example.com,${phone}`
  const rows = [office('Ann', '+61400000911'), office('Bob', '+61400000912')]
  writeFileSync(join(folder, 'people.csv'), `${header}\n${rows.join('\n')}\n`)
  const first = await type('batch run people.csv --package 102 --yes --json')
  const { batch_id } = first.json() as { batch_id: string }
  await type(`batch release ${batch_id} --row 2`)
  await type(`batch resume ${batch_id} --yes`)
  expect(ordered()).toHaveLength(2)
  // Ann again, with a corrected phone: the most alike is shown, and she is not ordered for having been held for Bob.
  writeFileSync(join(folder, 'more.csv'), `${header}\n${office('Ann', '+61400000919')}\n`)
  const held = (await type('batch run more.csv --package 102 --yes --json')).json() as { batch_id: string }
  const [row] = (await type(`batch rows ${held.batch_id} --json`)).json() as { matches: object }[]
  expect(row?.matches).toMatchObject({ batch_id, row: 1 })
  const released = await type(`batch release ${held.batch_id} --row 1`)
  expect([released.code, released.stderr]).toEqual([
    2,
    expect.stringContaining('row 1 stays held, for another order too: it is similar'),
  ])
  expect((await type(`batch release ${held.batch_id} --row 1`)).code).toBe(0)
})

test('a single order is asked about each order that somebody similar has, one by one', async () => {
  const { type, folder, ordered } = await session()
  const rows = ['Ann', 'Bob'].map((name, at) => `${name},Low,office@example.com,+6140000091${at}`)
  writeFileSync(join(folder, 'people.csv'), `${header}\n${rows.join('\n')}\n`)
  await type('batch run people.csv --package 102 --yes --shared office@example.com')
  expect(ordered()).toHaveLength(2)
  const line = single('Cyd', 'office@example.com', '+61400000913')
  const yes = { ask: /Order all the same/, confirm: true }
  const no = { ask: /Order all the same/, confirm: false }
  expect((await type(line, { answers: [yes, no] })).code).toBe(2)
  expect(ordered()).toHaveLength(2)
  expect((await type(line, { answers: [yes, yes] })).code).toBe(0)
  expect(ordered()).toHaveLength(3)
})

test('a replaced package: somebody similar under the one that is gone is held too, and --allow-similar passes the same person', async () => {
  const { type, sandbox, ordered } = await session()
  await type(single('Ann', 'ann@example.com', '+61400000901'))
  const successor = sandbox.replacePackage(102)
  const under = (line: string): string =>
    `${line.replace('102', String(successor))} --field consent.consent_method=email`
  const similar = await type(under(single('Anne', 'ann@example.com', '+61400000901')))
  expect([similar.code, ordered()]).toEqual([2, ['ann@example.com']])
  expect(similar.stderr).toContain('somebody similar was ordered: package 102')
  const same = under(single('Ann', 'ann@example.com', '+61400000901'))
  expect((await type(same)).code).toBe(2)
  expect((await type(`${same} --allow-similar`)).code).toBe(0)
  expect(ordered()).toHaveLength(2)
})
