import {
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { batchRun, ordered } from '../harness/batch-session.ts'
import { orderOf } from '../harness/people.ts'
import { type World, world } from '../harness/world.ts'

const rows = 40
const wide = [{ calls: 10_000, seconds: 60 }]

/** A file of 40 people in a world that lets them all through at once. */
async function fileOf40(): Promise<World> {
  const place = await world({ quota: wide })
  peopleFile(place.folder, emails(rows))
  return { ...place, run: (argv, more) => place.run(argv, { env: { REFCHECK_QUOTA: '10000/60' }, ...more }) }
}

/** Does something beside a run, once the service has that many requests. */
async function runAndMeanwhile(
  place: World,
  count: number,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  let done: Promise<unknown> | undefined
  const stop = place.sandbox.log.subscribe((entry) => {
    if (entry.kind === 'call' && entry.method === 'POST' && place.sandbox.requests().length >= count)
      done ??= meanwhile()
  })
  expect((await place.run(batchRun('people.csv'))).code).toBe(0)
  stop()
  expect(done).toBeDefined()
  await done
}

/** Persons the service was asked to check more than once, by their requests. */
function twice(place: World): string[] {
  const seen = new Set<string>()
  return ordered(place).filter((email) => seen.size === seen.add(email).size)
}

const storeOf = ({ folder }: World): string => join(folder, 'data', 'ledger.sqlite')

function removeStore(place: World): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(storeOf(place) + suffix, { force: true })
}

/** Orders nothing, says so; goes on once accepted. Answers who was ordered twice. */
async function seenThrough(place: World): Promise<string[]> {
  const before = ordered(place).length
  // It would tell whom it is about by itself.
  rmSync(join(place.folder, 'people.results.csv'), { force: true })
  for (const argv of [batchRun('people.csv'), orderOf('New', ['--yes', '--json'])]) {
    const refused = await place.run(argv)
    expect([refused.code, refused.json()]).toMatchObject([
      1,
      { error: { code: 'io', message: expect.stringContaining('is closed: ') as string } },
    ])
  }
  expect(ordered(place)).toHaveLength(before)
  const check = await place.run(['store', 'check', '--json'])
  expect([check.code, check.json()]).toMatchObject([1, { sound: false }])
  expect((await place.run(['store', 'check', '--accept-older', '--yes'])).code).toBe(0)
  // The rows that came back are unknown, or stand in the way of the file's own.
  expect((await place.run(batchRun('people.csv'))).code).toBe(8)
  expect((await place.run(orderOf('New', ['--yes', '--json']))).code).toBe(0)
  expect(ordered(place)).toHaveLength(rows + 1)
  return twice(place)
}

test('a backup made at order 16 of a running batch and put back: those ordered since are unknown, nobody twice', async () => {
  const place = await fileOf40()
  await runAndMeanwhile(place, 16, () => place.run(['store', 'backup', 'copy.sqlite']))
  removeStore(place)
  copyFileSync(join(place.folder, 'copy.sqlite'), storeOf(place))
  expect(await seenThrough(place)).toEqual([])
})

describe.each([1, 16, 39])('at order %i of 40', (moment) => {
  test('the store’s files copied under the run and put back: those ordered since are unknown, nobody twice', async () => {
    const place = await fileOf40()
    const copy = join(place.folder, 'copy')
    await runAndMeanwhile(place, moment, async () =>
      cpSync(join(place.folder, 'data'), copy, { recursive: true }),
    )
    removeStore(place)
    for (const suffix of ['', '-wal'])
      copyFileSync(join(copy, `ledger.sqlite${suffix}`), storeOf(place) + suffix)
    expect(await seenThrough(place)).toEqual([])
  })

  test('a data folder copied between two runs and restored: nobody twice', async () => {
    const place = await fileOf40()
    await place.run(batchRun('people.csv', ['--max', String(moment)]))
    const data = join(place.folder, 'data')
    cpSync(data, `${data}.copy`, { recursive: true })
    await place.run(batchRun('people.csv'))
    rmSync(data, { recursive: true })
    renameSync(`${data}.copy`, data)
    expect(await seenThrough(place)).toEqual([])
  })
})

test('a data folder restored from before the first order: nobody twice', async () => {
  const place = await fileOf40()
  await place.run(['batch', 'list'])
  const data = join(place.folder, 'data')
  cpSync(data, `${data}.copy`, { recursive: true })
  await place.run(batchRun('people.csv'))
  rmSync(data, { recursive: true })
  renameSync(`${data}.copy`, data)
  expect(await seenThrough(place)).toEqual([])
})

test('a data folder that is lost: a new store knows the people of the old one', async () => {
  const place = await fileOf40()
  await place.run(batchRun('people.csv'))
  rmSync(join(place.folder, 'data'), { recursive: true })
  expect(await seenThrough(place)).toEqual([])
})

test('a check names who came back, where the store still knows the name', async () => {
  const place = await fileOf40()
  await place.run(batchRun('people.csv', ['--max', '1']))
  const data = join(place.folder, 'data')
  cpSync(data, `${data}.copy`, { recursive: true })
  await place.run(batchRun('people.csv', ['--max', '2']))
  rmSync(data, { recursive: true })
  renameSync(`${data}.copy`, data)
  const { code, stdout } = await place.run(['store', 'check'])
  const masked = stdout.replaceAll(/[0-9a-f]{8}-[-0-9a-f]+/g, 'ID').replaceAll(/\d{4}-\d\d-[^,]+:00/g, 'TIME')
  expect([code, masked]).toEqual([
    1,
    [
      'wrong  it did not know 2 attempts that were made with it',
      'wrong  Ana Row2 (a2@example.com): package 102, sent at TIME, row 2 of batch ID, unknown',
      'wrong  Ana Row3 (a3@example.com): package 102, sent at TIME, row 3 of batch ID, unknown',
      '',
    ].join('\n'),
  ])
})

test('a backup sends nothing when it is opened as a store, and never closes the store that it was made from', async () => {
  const place = await fileOf40()
  await place.run(batchRun('people.csv', ['--max', '5']))
  await place.run(['store', 'backup', 'copy.sqlite'])
  const copy = { env: { REFCHECK_STORE: join(place.folder, 'copy.sqlite'), REFCHECK_QUOTA: '10000/60' } }
  const refused = await place.run(batchRun('people.csv'), copy)
  expect([refused.code, refused.json()]).toMatchObject([
    1,
    { error: { message: expect.stringContaining('it is a backup of another store') as string } },
  ])
  expect((await place.run(['store', 'check'], copy)).code).toBe(1)
  expect((await place.run(batchRun('people.csv', ['--max', '5']))).code).toBe(10)
  expect((await place.run(['store', 'check', '--accept-older', '--yes'], copy)).code).toBe(0)
  await place.run(batchRun('people.csv', ['--max', '30']), copy)
  expect((await place.run(['store', 'check'])).code).toBe(0)
  expect(twice(place)).toEqual([])
})

describe('a store with attempts and no list', () => {
  const lists = (place: World): string => join(place.folder, 'config', 'attempts')

  test('is closed, and goes on once a person has accepted it', async () => {
    const place = await fileOf40()
    await place.run(batchRun('people.csv', ['--max', '5']))
    rmSync(lists(place), { recursive: true })
    const refused = await place.run(batchRun('people.csv'))
    expect([refused.code, refused.json()]).toMatchObject([
      1,
      { error: { message: expect.stringContaining('the list of its attempts is missing') as string } },
    ])
    expect(ordered(place)).toHaveLength(5)
    expect((await place.run(['store', 'check', '--accept-older', '--yes'])).code).toBe(0)
    expect(readdirSync(lists(place))).toHaveLength(2)
  })

  test('that 0.1.0 made is given one', async () => {
    const place = await fileOf40()
    await place.run(batchRun('people.csv', ['--max', '5']))
    rmSync(lists(place), { recursive: true })
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(storeOf(place))
    database.exec("DELETE FROM meta WHERE name <> 'fingerprint_key'")
    database.close()
    const copy = join(place.folder, 'of-0.1.0.sqlite')
    copyFileSync(storeOf(place), copy)
    expect((await place.run(batchRun('people.csv'))).code).toBe(0)
    copyFileSync(copy, storeOf(place))
    expect(await seenThrough(place)).toEqual([])
  })
})

test('settings that cannot be written: the list stands beside the store, and tells as well', async () => {
  const place = await fileOf40()
  mkdirSync(join(place.folder, 'config'))
  // A folder cannot be made where a file is, whoever runs this.
  copyFileSync(join(place.folder, 'people.csv'), join(place.folder, 'config', 'attempts'))
  await runAndMeanwhile(place, 16, () => place.run(['store', 'backup', 'copy.sqlite']))
  expect(readdirSync(`${storeOf(place)}.attempts`)).toHaveLength(2)
  removeStore(place)
  copyFileSync(join(place.folder, 'copy.sqlite'), storeOf(place))
  expect(await seenThrough(place)).toEqual([])
})

test('no place to list attempts in: nothing is sent, unless a person allows that', async () => {
  const place = await fileOf40()
  mkdirSync(join(place.folder, 'config'))
  mkdirSync(join(place.folder, 'data'))
  copyFileSync(join(place.folder, 'people.csv'), join(place.folder, 'config', 'attempts'))
  copyFileSync(join(place.folder, 'people.csv'), `${storeOf(place)}.attempts`)
  const refused = await place.run(batchRun('people.csv'))
  expect([refused.code, refused.json()]).toMatchObject([
    1,
    { error: { hint: expect.stringContaining('refcheck store check --without-list') as string } },
  ])
  expect(ordered(place)).toEqual([])
  expect((await place.run(['store', 'check', '--without-list'])).code).toBe(0)
  expect((await place.run(batchRun('people.csv', ['--max', '5']))).code).toBe(10)
  unlinkSync(join(place.folder, 'config', 'attempts'))
  expect((await place.run(batchRun('people.csv'))).code).toBe(0)
  expect(readdirSync(join(place.folder, 'config', 'attempts'))).toHaveLength(2)
})

test('a store that is moved keeps its list, and its old place is free for another', async () => {
  const place = await fileOf40()
  await place.run(batchRun('people.csv', ['--max', '5']))
  const moved = join(place.folder, 'moved.sqlite')
  const there = { env: { REFCHECK_STORE: moved, REFCHECK_QUOTA: '10000/60' } }
  renameSync(storeOf(place), moved)
  expect((await place.run(batchRun('people.csv', ['--max', '5']), there)).code).toBe(10)
  expect((await place.run(orderOf('New', ['--yes', '--json']))).code).toBe(0)
})

test('a store with a second name (hard link) is refused by either name', async () => {
  const place = await fileOf40()
  await place.run(batchRun('people.csv', ['--max', '5']))
  const second = join(place.folder, 'second.sqlite')
  linkSync(storeOf(place), second)
  for (const env of [{}, { REFCHECK_STORE: second }]) {
    const refused = await place.run(batchRun('people.csv'), { env })
    expect([refused.code, refused.json()]).toMatchObject([
      1,
      { error: { message: expect.stringContaining('the file has 2 names (hard links)') as string } },
    ])
  }
  expect(ordered(place)).toHaveLength(5)
})

test('a store replaced under a run is noticed before the next order', async () => {
  const place = await fileOf40()
  let swapped = false
  place.sandbox.log.subscribe((entry) => {
    if (swapped || entry.kind !== 'call' || place.sandbox.requests().length < 10) return
    swapped = true
    copyFileSync(storeOf(place), `${storeOf(place)}.new`)
    renameSync(`${storeOf(place)}.new`, storeOf(place))
  })
  const outcome = await place.run(batchRun('people.csv'))
  expect([outcome.code, outcome.json()]).toMatchObject([
    1,
    { error: { message: expect.stringContaining('was replaced while it was in use') as string } },
  ])
  expect(ordered(place).length).toBeLessThanOrEqual(11)
})
