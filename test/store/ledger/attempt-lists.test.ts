import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { AttemptLists, type FoundList, type ListPlace } from '../../../src/store/ledger/attempt-lists.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'refcheck-lists-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const at = (name: string): string => join(root, name)
const key = 'a'.repeat(64)
const place: ListPlace = { store: '/data/ledger.sqlite', key }
const lists = (...names: string[]): AttemptLists => new AttemptLists(names.map(at))

function made(of: AttemptLists, id = 'one', content = ''): FoundList {
  const list = of.create(id, place, content)
  if (list === undefined) throw new Error('no list could be made')
  return list
}

test('the first folder that can be written is for new lists', () => {
  writeFileSync(at('file'), '')
  const found = made(lists('file', 'second', 'third'), 'one', 'line\n')
  expect(found).toMatchObject({ id: 'one', folder: at('second'), size: 5, place })
  expect(readFileSync(found.path, 'utf8')).toBe('line\n')
  expect(existsSync(at('third'))).toBe(false)
  expect(lists('file').create('one', place, '')).toBeUndefined()
})

// To give a folder away needs root.
test.each(process.getuid?.() === 0 ? [65534] : [])(
  'a folder of account %i is neither read nor written',
  (account) => {
    made(lists('theirs'))
    chownSync(at('theirs'), account, account)
    expect(lists('theirs').find('one', place.store)).toEqual([])
    expect(made(lists('theirs', 'own'), 'two').folder).toBe(at('own'))
  },
)

test('a list is found by its id, its place or its key, in folders that are there', () => {
  const of = lists('lists', 'missing')
  made(of)
  const ids = (...by: Parameters<AttemptLists['find']>): string[] => of.find(...by).map(({ id }) => id)
  expect(ids('one', '/elsewhere')).toEqual(['one'])
  expect(ids(undefined, place.store)).toEqual(['one'])
  expect(ids(undefined, '/elsewhere', undefined, key)).toEqual(['one'])
  expect(ids('two', '/elsewhere', undefined, 'b'.repeat(64))).toEqual([])
  expect(
    lists('missing')
      .find('one', '/elsewhere', at('lists'))
      .map(({ id }) => id),
  ).toEqual(['one'])
})

test('a link to a folder of one’s own is followed; one that leads nowhere, or to a file, holds no list', () => {
  made(lists('lists'))
  writeFileSync(at('file'), '')
  symlinkSync(at('lists'), at('link'))
  symlinkSync(at('missing'), at('dangling'))
  symlinkSync(at('file'), at('to-file'))
  symlinkSync(at('circle'), at('circle'))
  expect(lists('link').find('one', '')).toHaveLength(1)
  expect(lists('dangling', 'to-file').find('one', '')).toEqual([])
  expect(() => lists('circle').find('one', '')).toThrow(expect.objectContaining({ code: 'io' }))
})

test('what is no file of ours under the name of a list is none', () => {
  const of = lists('lists')
  const { path } = made(of)
  mkdirSync(at('lists/folder.list'))
  symlinkSync(path, at('lists/link.list'))
  writeFileSync(at('lists/notes.txt'), '')
  expect(of.find(undefined, place.store).map(({ id }) => id)).toEqual(['one'])
  expect(of.find('folder', '')).toEqual([])
})

test.each(['{', '{"store": 1, "key": "a"}', '{"store": "/a"}'])(
  'a list whose place is lost (%s) is found by its id alone',
  (text) => {
    const of = lists('lists')
    made(of)
    writeFileSync(at('lists/one.json'), text)
    expect(of.find('one', '/elsewhere')).toMatchObject([{ id: 'one', place: undefined }])
    expect(of.find(undefined, place.store)).toEqual([])
  },
)

test('the key of the store that stood in a place last', () => {
  const of = lists('lists')
  expect(of.keyOf(place.store)).toBeUndefined()
  const list = made(of)
  expect(of.keyOf(place.store)).toEqual(Buffer.from(key, 'hex'))
  of.rename(list, { ...place, key: 'no key' })
  expect(of.keyOf(place.store)).toBeUndefined()
})

test('who comes to a place that a store left begins again', () => {
  const of = lists('lists')
  of.rename(made(of), { ...place, movedTo: '/new' })
  made(of, 'two')
  of.welcome(place.store)
  expect(of.find(undefined, place.store).map((each) => each.place)).toEqual([place, place])
})

test('lines are appended, and none to a file that came in the place of the list', () => {
  const of = lists('lists')
  const list = made(of)
  of.append(list, 'a\n')
  of.append(list, 'b\n')
  of.flush(list)
  expect(readFileSync(list.path, 'utf8')).toBe('a\nb\n')
  rmSync(list.path)
  writeFileSync(at('another'), '')
  writeFileSync(list.path, '')
  expect(() => of.append(list, 'c\n')).toThrow('was replaced while it was in use')
  rmSync(list.path)
  expect(() => of.append(list, 'c\n')).toThrow(expect.objectContaining({ code: 'io' }))
  expect(() => of.flush(list)).toThrow(expect.objectContaining({ code: 'io' }))
  of.close()
  of.close()
})

test('a list is read from where it was left, and one that has gone is a failure', () => {
  const of = lists('lists')
  const list = made(of, 'one', 'a\nb\n')
  expect(of.read(list, 2).toString()).toBe('b\n')
  expect(of.read(list, 4).toString()).toBe('')
  // It was looked at before somebody cut it.
  writeFileSync(list.path, 'a\n')
  expect(of.read(list, 0).toString()).toBe('a\n')
  rmSync(list.path)
  expect(() => of.read(list, 0)).toThrow(expect.objectContaining({ code: 'io' }))
})

test('a line takes the place of another, whatever was appended since; one that is not there is passed over', () => {
  const of = lists('lists')
  const list = made(of, 'one', 'a\nb\n')
  appendFileSync(list.path, 'c\n')
  of.replace(list, [
    { old: 'x\n', new: 'y\n' },
    { old: 'b\n', new: 'B\n' },
  ])
  expect(readFileSync(list.path, 'utf8')).toBe('a\nB\nc\n')
  rmSync(list.path)
  expect(() => of.replace(list, [])).toThrow(expect.objectContaining({ code: 'io' }))
})

test('what is kept beside a list', () => {
  const of = lists('lists')
  const list = made(of)
  expect(of.noted(list)).toBeUndefined()
  of.note(list, 'seen')
  expect(of.noted(list)).toBe('seen')
  rmSync(at('lists/one.seen'))
  mkdirSync(at('lists/one.seen'))
  expect(() => of.noted(list)).toThrow(expect.objectContaining({ code: 'io' }))
  expect(() => of.note(list, 'x')).toThrow(expect.objectContaining({ code: 'io' }))
  rmSync(at('lists'), { recursive: true })
  expect(() => of.rename(list, place)).toThrow(expect.objectContaining({ code: 'io' }))
})
