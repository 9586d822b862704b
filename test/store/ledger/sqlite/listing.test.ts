import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { begun, closed, freshPlaces, goOn, listFolder, listPath, place, shut, tries } from './aged.ts'
import { newAttempt, someTime } from '../batches.ts'
import { fileBatch, rowsOf, statesOf } from '../files.ts'

freshPlaces()

describe('between the commit and the POST', () => {
  test('each attempt is listed once, with whose it is and the keyed fingerprints', async () => {
    const { store, batchId } = await begun(1)
    const [row] = await rowsOf(store, batchId)
    const text = readFileSync(listPath(), 'utf8')
    expect(text.match(/\t/g)).toHaveLength(1)
    const fields = JSON.parse(text.slice(text.indexOf('['), -1)) as unknown[]
    const print = expect.stringMatching(/^[0-9a-f]{64}$/) as string
    expect(fields).toEqual([
      row?.attemptId,
      batchId,
      1,
      12,
      print,
      print,
      print,
      someTime + 10,
      'http://127.0.0.1:4010',
      'member@example.com',
    ])
    expect(new Set(fields.slice(4, 7)).size).toBe(3)
  })

  test('what cannot be listed is not sent', async () => {
    const { store, batchId } = await begun(1)
    const hold = await store.batches.hold(batchId)
    const row = await store.batches.nextPending(batchId)
    rmSync(listPath())
    if (row === undefined) throw new Error('no row is left')
    await expect(store.ledger.begin(row, newAttempt())).rejects.toMatchObject({ code: 'io' })
    await hold?.release()
    expect(await statesOf(store, batchId)).toEqual(['sending', 'pending', 'pending', 'pending'])
  })

  test('a store that was replaced while in use sends nothing more', async () => {
    const { store, batchId } = await begun(1)
    const row = await store.batches.nextPending(batchId)
    const copy = readFileSync(place.path)
    rmSync(place.path)
    writeFileSync(place.path, copy)
    if (row === undefined) throw new Error('no row is left')
    await expect(store.ledger.begin(row, newAttempt())).rejects.toMatchObject(
      closed('was replaced while it was in use'),
    )
  })

  test('a store that another process has closed meanwhile begins nothing', async () => {
    const { store, batchId } = await begun(1)
    const other = await place.store()
    appendFileSync(listPath(), readFileSync(listPath(), 'utf8').replace('member@', 'nobody@'))
    await other.maintenance.closed()
    const [one, two] = await rowsOf(store, batchId)
    if (one === undefined || two === undefined) throw new Error('no rows')
    const room = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }
    await expect(store.ledger.begin(two, newAttempt())).rejects.toMatchObject(closed('is closed'))
    await expect(store.ledger.beginInQuota(two, newAttempt(), room)).rejects.toMatchObject(
      closed('is closed'),
    )
    // The outcome of the order before it is kept all the same.
    const accepted = { to: 'accepted', at: someTime, requestId: batchId, requestStatus: 'RECEIVED' } as const
    expect(await store.ledger.moveAndBegin(one, accepted, two, newAttempt(), room)).toMatchObject({
      moved: true,
      attempt: undefined,
    })
    expect(await statesOf(store, batchId)).toEqual(['accepted', 'pending', 'pending', 'pending'])
  })
})

describe('a backup', () => {
  test('sends nothing when it is opened as a store, until it is accepted; the other one goes on', async () => {
    const { store, batchId } = await begun(1)
    const path = join(place.folder, 'backup.sqlite')
    await store.maintenance.backup(path)
    const backup = await place.store(path)
    expect(await tries(backup, batchId)).toEqual(shut('it is a backup of another store'))
    expect(await tries(store, batchId)).toEqual(['let in', 'let in', 'let in'])
    expect(await backup.maintenance.acceptOlder()).toMatchObject({ held: 0 })
    expect(await tries(backup, batchId)).toEqual(['let in', 'let in', 'let in'])
    expect(readdirSync(listFolder).filter((name) => name.endsWith('.list'))).toHaveLength(2)
  })
})

describe('the place of the list', () => {
  test('a store that is moved takes its list along', async () => {
    const { store, batchId } = await begun(1)
    await store.close()
    const moved = join(place.folder, 'moved')
    renameSync(join(place.folder, 'data'), moved)
    const path = join(moved, 'ledger.sqlite')
    const there = await place.store(path)
    await goOn(there, batchId, 1)
    const id = readdirSync(listFolder).find((name) => name.endsWith('.json'))
    expect(JSON.parse(readFileSync(join(listFolder, id ?? ''), 'utf8'))).toMatchObject({ store: path })
  })

  test('is remembered where somebody took the list elsewhere, and the store away from there', async () => {
    const { store, batchId } = await begun(1)
    await store.close()
    const elsewhere = `${place.path}.attempts`
    renameSync(listFolder, elsewhere)
    const known = await place.store()
    await goOn(known, batchId, 1)
    await known.close()
    const path = join(place.folder, 'moved.sqlite')
    renameSync(place.path, path)
    const there = await place.store(path)
    expect(await tries(there, batchId)).toEqual(['let in', 'let in', 'let in'])
    expect(readdirSync(elsewhere).filter((name) => name.endsWith('.list'))).toHaveLength(1)
  })

  test('has the key of a new store from its first moment, and a store that is lost leaves what it knew', async () => {
    await (await place.store()).close()
    expect(readFileSync(listPath(), 'utf8')).toBe('')
    expect(basename(listPath(), '.list')).toMatch(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/)
    const { store } = await begun(1)
    await store.close()
    const before = readFileSync(listPath(), 'utf8')
    expect(before).toContain('member@example.com')
    rmSync(join(place.folder, 'data'), { recursive: true })
    const fresh = await place.store()
    expect(readFileSync(listPath(), 'utf8')).toBe(before)
    expect(await tries(fresh, fileBatch().id)).toEqual(shut('it did not know 1 attempt'))
  })

  test('beside the store, where the settings cannot be written; nowhere: refused unless a person allows it', async () => {
    mkdirSync(join(place.folder, 'config'))
    writeFileSync(listFolder, 'no folder')
    const { store, batchId } = await begun(1)
    expect(existsSync(`${place.path}.attempts`)).toBe(true)
    await store.close()
    const former = readdirSync(`${place.path}.attempts`)
    rmSync(`${place.path}.attempts`, { recursive: true })
    writeFileSync(`${place.path}.attempts`, 'no folder')
    const again = await place.store()
    expect(await tries(again, batchId)).toEqual(shut('the list of its attempts is missing'))
    await expect(again.maintenance.acceptOlder()).rejects.toMatchObject(closed('cannot list the attempts'))
    await again.maintenance.allowUnlisted()
    expect(await again.maintenance.acceptOlder()).toEqual({ held: 3 })
    expect(await tries(again, batchId)).toEqual(['let in', 'let in', 'let in'])
    // A place that can be written again is used again.
    rmSync(listFolder)
    const third = await place.store()
    expect(await tries(third, batchId)).toEqual(['let in', 'let in', 'let in'])
    expect(readFileSync(listPath(), 'utf8')).toContain('member@example.com')
    // It is another store than the one whose list nobody has any more.
    expect(former).not.toContain(basename(listPath()))
    // What was allowed held for as long as there was no place.
    await third.close()
    rmSync(listPath())
    expect(await tries(await place.store(), batchId)).toEqual(shut('the list of its attempts is missing'))
  })
})

test('what is removed of a person completely is in no list', async () => {
  const { store, batchId } = await begun(2)
  const [one] = await rowsOf(store, batchId)
  if (one === undefined) throw new Error('no row')
  await store.ledger.move(one, {
    to: 'accepted',
    at: someTime,
    requestId: batchId,
    requestStatus: 'COMPLETED',
  })
  const prints = () => readFileSync(listPath(), 'utf8').match(/"[0-9a-f]{64}"/g) ?? []
  const before = prints()
  await store.maintenance.purge({ email: 'person1@example.com' }, { dryRun: false, completely: false })
  expect(prints()).toEqual(before)
  await store.maintenance.purge({ requestId: batchId }, { dryRun: false, completely: true })
  expect(prints()).toEqual([...Array(3).fill(`"${'0'.repeat(64)}"`), ...before.slice(3)])
  await store.close()
  expect(await tries(await place.store(), batchId)).toEqual(['let in', 'let in', 'let in'])
})

test('runs that 0.1.0 counted beside the store, and the store does not know of, close it', async () => {
  const { store, batchId } = await begun(1)
  mkdirSync(`${place.path}.locks`, { recursive: true })
  writeFileSync(join(`${place.path}.locks`, 'runs'), '7\n')
  expect((await tries(store, batchId))[0]).toContain('it does not know all runs that were made with it')
  expect(await store.maintenance.acceptOlder()).toEqual({ held: 3 })
  expect((await tries(store, batchId))[0]).toBe('let in')
})
