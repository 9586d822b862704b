import { randomUUID } from 'node:crypto'
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import type { Attempt, RowVersion } from '../../../../src/domain/submission/submission.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'
import { listLine, readList } from '../../../../src/domain/store/attempt-list.ts'
import { digest } from '../../../../src/store/ledger/listed-rows.ts'
import { begun, closed, copied, freshPlaces, goOn, listFolder, listPath, place, shut, tries } from './aged.ts'
import { addOne, newAttempt, personOf, someTime } from '../batches.ts'
import { fileBatch, orderRow, orderRows, rowsOf, statesOf } from '../files.ts'

freshPlaces()

describe('a store that has forgotten attempts', () => {
  /** The store as it was after one attempt of three. */
  async function putBack() {
    const { store, batchId } = await begun(1)
    await store.close()
    const back = copied()
    const again = await place.store()
    await goOn(again, batchId, 2)
    await again.close()
    back()
    return { store: await place.store(), batchId }
  }

  test('is closed for every runner at once, and nothing is sent', async () => {
    const { store, batchId } = await putBack()
    expect(await tries(store, batchId)).toEqual(shut('it did not know 2 attempts that were made with it'))
    // Another process finds it closed, without another look.
    const other = await place.store()
    expect(await tries(other, batchId)).toEqual(shut('it did not know 2 attempts'))
    const row = await other.batches.nextPending(batchId)
    if (row === undefined) throw new Error('no row is left')
    await expect(other.ledger.begin(row, newAttempt())).rejects.toMatchObject(closed('is closed'))
  })

  test('entries that it lacks are put back as unknown, by name', async () => {
    const { store, batchId } = await putBack()
    const found = await store.maintenance.closed()
    expect(found).toMatchObject({
      by: ['older'],
      untold: false,
      attempts: [expect.any(String), expect.any(String)],
    })
    expect(await statesOf(store, batchId)).toEqual(['sending', 'unknown', 'unknown', 'pending'])
    if (found === undefined) throw new Error('it is closed')
    expect(await store.maintenance.putBack(found)).toEqual(
      [2, 3].map(
        (row) =>
          `Ana Silva (person${row}@example.com): package 12, sent at 2026-11-21 09:30 +00:00, row ${row} of batch ${batchId}, unknown`,
      ),
    )
    expect(await store.ledger.list({ batchId, states: ['unknown'] })).toMatchObject([
      { row: 2, attempts: 1, attemptedAt: someTime + 10, userEmail: 'member@example.com' },
      { row: 3, attempts: 1 },
    ])
  })

  test('goes on once a person has accepted it, and those people are not ordered again', async () => {
    const { store, batchId } = await putBack()
    const list = listPath()
    expect(await store.maintenance.acceptOlder()).toEqual({ held: 0 })
    expect(await tries(store, batchId)).toEqual(['let in', 'let in', 'let in'])
    expect(await statesOf(store, batchId)).toEqual(['sending', 'unknown', 'unknown', 'pending'])
    expect(readdirSync(listFolder).filter((name) => name.endsWith('.list'))).toEqual([basename(list)])
    await goOn(store, batchId, 1)
    const again = fileBatch()
    await store.batches.add(again, orderRows(4))
    expect(await statesOf(store, again.id)).toEqual(Array(4).fill('duplicate'))
    // The next process knows that it was accepted.
    expect(await tries(await place.store(), batchId)).toEqual(['let in', 'let in', 'let in'])
    expect(await store.maintenance.acceptOlder()).toEqual({ held: 0 })
  })

  test('an attempt of a row that is accepted leaves it so; one of any other row makes it unknown', async () => {
    const { store, batchId } = await begun(2)
    const [one, two] = await rowsOf(store, batchId)
    if (one === undefined || two === undefined) throw new Error('no rows')
    const accepted = { to: 'accepted', at: someTime, requestId: batchId, requestStatus: 'RECEIVED' } as const
    await store.ledger.move(one, accepted)
    await store.ledger.move(two, { to: 'rejected', at: someTime, reason: 'no', field: 'recipient.email' })
    await store.waiting.cancelRow(batchId, 3, someTime, 'cancelled')
    const [listed] = readList(readFileSync(listPath(), 'utf8'), digest).attempts
    if (listed === undefined) throw new Error('nothing is listed')
    for (const row of [1, 2, 3])
      appendFileSync(listPath(), listLine({ ...listed, row, attemptId: randomUUID() }, digest))
    expect(await store.maintenance.closed()).toMatchObject({ by: ['older'] })
    expect(await rowsOf(store, batchId)).toMatchObject([
      { state: 'accepted', requestId: batchId, attempts: 2 },
      { state: 'unknown', attempts: 2, field: undefined, attemptedAt: listed.at },
      { state: 'unknown', attempts: 1 },
      { state: 'pending' },
    ])
  })

  test('the batch too: the file that they came from finds them, and who is similar is held', async () => {
    const first = await place.store()
    await addOne(first.ledger, 'somebody@example.com')
    await first.close()
    const back = copied()
    const { store, batchId } = await begun(2, await place.store())
    await store.close()
    back()
    const again = await place.store()
    const found = await again.maintenance.closed()
    expect(found?.attempts).toHaveLength(2)
    expect(found && (await again.maintenance.putBack(found))[0]).toMatch(
      /^a person whose name is lost: package 12, .* row 1 of batch/,
    )
    await again.maintenance.acceptOlder()
    const anne = {
      ...orderRow(5, 'person1@example.com'),
      recipient: { ...personOf('person1@example.com'), first_name: 'Anne' },
    }
    const rerun = fileBatch()
    await again.batches.add(rerun, [...orderRows(3), anne])
    expect(await rowsOf(again, rerun.id)).toMatchObject([
      { state: 'duplicate', matches: { batchId, row: 1, state: 'unknown' } },
      { state: 'duplicate', matches: { batchId, row: 2 } },
      { state: 'pending' },
      { state: 'held', heldFor: 'similar_unknown' },
    ])
    expect(await again.ledger.list({ batchId })).toMatchObject([
      {
        state: 'unknown',
        recipient: undefined,
        userEmail: 'member@example.com',
        baseUrl: 'http://127.0.0.1:4010',
        packageId: 12,
      },
      { state: 'unknown' },
    ])
  })

  test('a store that is as it was left is open', async () => {
    const { store, batchId } = await begun(2)
    await store.close()
    const again = await place.store()
    expect(await tries(again, batchId)).toEqual(['let in', 'let in', 'let in'])
    expect(await again.maintenance.closed()).toBeUndefined()
    expect(await again.maintenance.acceptOlder()).toEqual({ held: 0 })
  })
})

describe('where no list tells which are missing', () => {
  /** Nothing tells which attempts a list had that is gone. */
  async function withoutList() {
    const { store, batchId } = await begun(1)
    await store.close()
    for (const name of readdirSync(listFolder)) rmSync(join(listFolder, name))
    return { store: await place.store(), batchId }
  }

  test('a store with attempts and no list is closed', async () => {
    const { store, batchId } = await withoutList()
    expect(await tries(store, batchId)).toEqual(shut('the list of its attempts is missing'))
  })

  test('accepting it holds every pending row, and gives it a new list', async () => {
    const { store, batchId } = await withoutList()
    expect(await store.maintenance.acceptOlder()).toEqual({ held: 3 })
    expect(await rowsOf(store, batchId)).toMatchObject([
      { state: 'sending' },
      ...[2, 3, 4].map(() => ({
        state: 'held',
        heldFor: 'store_forgot',
        reason: 'the store had forgotten attempts',
      })),
    ])
    const [listed] = readList(readFileSync(listPath(), 'utf8'), digest).attempts
    const print = expect.stringMatching(/^[0-9a-f]{64}$/) as string
    expect(listed).toMatchObject({
      userEmail: 'member@example.com',
      row: 1,
      person: print,
      email: print,
      phone: print,
    })
    expect(await tries(store, batchId)).toEqual(['let in', 'let in', 'let in'])
    expect(await tries(await place.store(), batchId)).toEqual(['let in', 'let in', 'let in'])
  })

  test('no comparing lets those rows go, a person’s word does', async () => {
    const { store, batchId } = await withoutList()
    await store.maintenance.acceptOlder()
    expect(await store.waiting.lookAgain(batchId, someTime)).toBe(0)
    const by = { at: someTime, by: 'owner@example.com' }
    expect(
      await store.waiting.release(batchId, { kind: 'shared', value: 'x@example.com' }, by),
    ).toMatchObject({ rows: [] })
    expect(await store.waiting.release(batchId, { kind: 'rows', rows: [3] }, by)).toMatchObject({ rows: [3] })
    expect(await store.waiting.release(batchId, { kind: 'all' }, by)).toMatchObject({ rows: [2, 4] })
  })

  test('a list with a damaged line closes it', async () => {
    const { store, batchId } = await begun(2)
    await store.close()
    const text = readFileSync(listPath(), 'utf8')
    writeFileSync(listPath(), text.replace('member@', 'nobody@'))
    const damaged = await place.store()
    expect(await tries(damaged, batchId)).toEqual(shut('the list of its attempts is damaged'))
    await damaged.maintenance.acceptOlder()
    expect(await tries(damaged, batchId)).toEqual(['let in', 'let in', 'let in'])
  })

  test('a torn last line is an attempt whose POST has not begun', async () => {
    const { store, batchId } = await begun(2)
    await store.close()
    appendFileSync(listPath(), '\n0123456789abcdef ["half a line')
    const again = await place.store()
    expect(await tries(again, batchId)).toEqual(['let in', 'let in', 'let in'])
    await goOn(again, batchId, 1)
    expect(await again.maintenance.closed()).toBeUndefined()
  })

  test('a list that has become shorter, past what was read last, closes it', async () => {
    const { store, batchId } = await begun(2)
    // So long a list that what was known of it is kept.
    const line = readFileSync(listPath(), 'utf8').split('\n')[1] ?? ''
    appendFileSync(listPath(), `\n${line}`.repeat(400))
    await store.close()
    const again = await place.store()
    expect((await tries(again, batchId))[0]).toBe('let in')
    await again.close()
    writeFileSync(listPath(), `\n${line}`.repeat(2))
    expect(await tries(await place.store(), batchId)).toEqual(shut('the list of its attempts is damaged'))
  })
})

/** A line of a list, for an attempt that no store has. */
const lineOf = (email: string, at: number, row = 1): string => {
  const [person, byEmail, phone] = ['a', 'b', 'c'].map((each) => each.repeat(64)) as [string, string, string]
  const attempt = {
    attemptId: randomUUID(),
    batchId: randomUUID(),
    row,
    packageId: 12,
    person,
    email: byEmail,
    phone,
  }
  return listLine({ ...attempt, at, baseUrl: 'http://127.0.0.1:4010', userEmail: email }, digest)
}

test.each([
  ['by itself', (store: Store, row: RowVersion) => store.ledger.begin(row, newAttempt())],
  ['with its place in the quota', inQuota],
])('the first attempt of a process that took no hold is listed too: begun %s', async (_, begin) => {
  const { store, batchId } = await begun(1)
  await store.close()
  const other = await place.store()
  const row = await other.batches.nextPending(batchId)
  const attempt = row && (await begin(other, row))
  expect(readFileSync(listPath(), 'utf8')).toContain(attempt?.attemptId)
})

async function inQuota(store: Store, row: RowVersion): Promise<Attempt | undefined> {
  const room = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }
  return (await store.ledger.beginInQuota(row, newAttempt(), room)).attempt
}

test('a closed store in which more is found wrong says all of it, and names what is lacking as it was sent', async () => {
  const { store, batchId } = await begun(1)
  await store.close()
  const text = readFileSync(listPath(), 'utf8')
  const path = listPath()
  rmSync(path)
  const without = await place.store()
  expect(await tries(without, batchId)).toEqual(shut('the list of its attempts is missing'))
  writeFileSync(
    path,
    text + lineOf('late@example.com', someTime + 60_000, 7) + lineOf('early@example.com', someTime, 8),
  )
  const found = await without.maintenance.closed()
  expect(found?.by).toEqual(['unlisted', 'older'])
  const named = found === undefined ? [] : await without.maintenance.putBack(found)
  expect(named.map((each) => /row \d/.exec(each)?.[0])).toEqual(['row 8', 'row 7'])
  appendFileSync(path, lineOf('latest@example.com', someTime, 9))
  expect((await without.maintenance.closed())?.attempts).toEqual([
    ...(found?.attempts ?? []),
    expect.any(String),
  ])
})

test('of a store with another key that stood in its place a person decides once', async () => {
  const { store, batchId } = await begun(1)
  await store.close()
  const id = randomUUID()
  writeFileSync(join(listFolder, `${id}.json`), JSON.stringify({ store: place.path, key: 'f'.repeat(64) }))
  writeFileSync(join(listFolder, `${id}.list`), lineOf('late@example.com', someTime))
  const here = await place.store()
  expect(await tries(here, batchId)).toEqual(shut('another store stood in its place'))
  expect(await here.maintenance.acceptOlder()).toEqual({ held: 3 })
  expect(await tries(here, batchId)).toEqual(['let in', 'let in', 'let in'])
})
