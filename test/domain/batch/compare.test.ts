import { array, assert, constantFrom, property, record } from 'fast-check'
import { expect, test } from 'vitest'

import type { NewFileBatch, NewRow } from '../../../src/domain/batch/batch.ts'
import {
  addToPreview,
  type ComparedRow,
  emptyPreview,
  FileComparer,
} from '../../../src/domain/batch/compare.ts'
import {
  type Allowed,
  type Candidate,
  type KnownRelations,
  nothingAllowed,
  findPhoneSharer,
  findConflict,
} from '../../../src/domain/submission/conflicts.ts'
import { personKey } from '../../../src/domain/submission/identity.ts'
import type { Submission } from '../../../src/domain/submission/submission.ts'
import { ordinaryPeople } from './ordinary-people.ts'
import { batchRow, countsOf } from './rows.ts'

const batch: NewFileBatch = {
  id: 'b-1',
  addedAt: 0,
  baseUrl: 'https://api.example.com',
  userEmail: 'o@example.com',
  identity: 'file',
  name: 'people.csv',
  sha256: '',
  packageId: 7,
  path: undefined,
  resultsFile: undefined,
  reading: '{}',
  allowDuplicate: false,
}

const knownRelations: KnownRelations = {
  relatedIds: new Set([7]),
  predecessors: new Set(),
  isSameService: () => undefined,
  isReleased: () => false,
}

type Person = readonly [first: string, last: string, email: string, phone: string]

const createRows = (people: readonly Person[]): NewRow[] =>
  people.map(([first_name, last_name, email, phone], at) => ({
    row: at + 1,
    state: 'pending',
    packageId: 7,
    recipient: { first_name, last_name, email, phone },
    body: new Uint8Array(),
  }))

function compare(people: readonly Person[], allowed: Allowed = nothingAllowed): ComparedRow[] {
  return compareRows(createRows(people), allowed)
}

function compareRows(
  rows: readonly NewRow[],
  allowed: Allowed = nothingAllowed,
  known: readonly Candidate[] = [],
): ComparedRow[] {
  const comparer = new FileComparer(batch, rows, allowed, () => knownRelations)
  return rows.map((row) => comparer.compare(row, known))
}

function findStates(people: readonly Person[], allowed?: Allowed): string[] {
  return compare(people, allowed).map(({ row, conflict }) => conflict?.becomes ?? row.state)
}

test('of three rows with one e-mail the first is sent and the later ones are held', () => {
  const people = ['Ann', 'Bob', 'Cyd'].map((name, at): Person => [
    name,
    'Low',
    'a@x.example',
    `+6140000000${at}`,
  ])
  expect(findStates(people)).toEqual(['pending', 'held', 'held'])
})

test('a second row for the same person is a duplicate, whatever is allowed', () => {
  const ann: Person = ['Ann', 'Low', 'ann@x.example', '+61400000001']
  const allowed = { duplicate: true, similar: true, shared: [] }
  expect(findStates([ann, ['ANN', ' low', 'Ann@x.example', '+61 400 000 001']], allowed)).toEqual([
    'pending',
    'duplicate',
  ])
})

test('one --shared value releases 500 people with the e-mail of an agency, except a person whose full name is also equal', () => {
  const agency = Array.from({ length: 500 }, (_, at): Person => {
    return [`P${at}`, `Q${at}`, 'Office@Agency.example', `+6140${String(at).padStart(7, '0')}`]
  })
  const twin: Person = ['P7', 'Q7', 'office@agency.example', '+61499999999']
  const shared = { ...nothingAllowed, shared: ['office@agency.example'] }
  expect(findStates(agency).filter((state) => state === 'held')).toHaveLength(499)
  const released = findStates([...agency, twin], shared)
  expect(released.filter((state) => state === 'held')).toHaveLength(1)
  expect(released.at(-1)).toBe('held')
})

test('among 1,000 typical people, with families and colleagues, no row is held', () => {
  const seed = 20261122
  const people = ordinaryPeople(1000, seed)
  expect(people).toHaveLength(1000)
  expect(
    findStates(people).every((state) => state === 'pending'),
    `seed ${seed}`,
  ).toBe(true)
})

test('a shared e-mail does not release a person with the same full name, even if first and last name are swapped', () => {
  const people: Person[] = [
    ['Ann', 'Low', 'office@x.example', '+61400000001'],
    ['Bob', 'High', 'office@x.example', '+61400000002'],
    ['Low', 'Ann', 'office@x.example', '+61400000003'],
  ]
  const allowed = { ...nothingAllowed, shared: ['office@x.example'] }
  expect(findStates(people, allowed)).toEqual(['pending', 'pending', 'held'])
})

const annLow: Person = ['Ann', 'Low', 'ann@x.example', '+61400000001']

test('the conflict of a later row names the earlier row and the values that both share', () => {
  const people: Person[] = [
    annLow,
    ['Ann', 'Low', 'ann@x.example', '+61400000009'],
    ['Anne', 'Low', 'anne@x.example', '+61400000001'],
    ['Bob', 'High', 'bob@x.example', '+61400000002'],
    ['bob', 'high', 'bob@x.example', '+61400000002'],
  ]
  const results = compare(people).map(({ row, conflict }) => [
    row.row,
    conflict?.order.row,
    conflict?.reason,
    conflict?.shares,
  ])
  expect(results).toEqual([
    [1, undefined, undefined, undefined],
    [2, 1, 'similar', ['email', 'name']],
    [3, 1, 'similar', ['phone']],
    [4, undefined, undefined, undefined],
    [5, 4, 'same', []],
  ])
  expect(compare(people)[1]?.conflict?.order).toMatchObject({
    batchId: 'b-1',
    state: 'pending',
    attempts: 0,
  })
})

test('later rows are not compared with a row that is held', () => {
  const people: Person[] = [
    annLow,
    ['Bob', 'High', 'ann@x.example', '+61400000002'],
    ['Bob', 'High', 'bob@y.example', '+61400000002'],
  ]
  expect(findStates(people)).toEqual(['pending', 'held', 'pending'])
})

test('if several earlier rows have the same e-mail, all are compared, and the most similar one is shown', () => {
  const shared = { ...nothingAllowed, shared: ['office@x.example', '+61400000000'] }
  const people: Person[] = [
    ['Ann', 'Low', 'office@x.example', '+61400000001'],
    ['Bob', 'High', 'office@x.example', '+61400000002'],
    ['Bob', 'High', 'office@x.example', '+61400000003'],
  ]
  expect(compare(people, shared)[2]?.conflict).toMatchObject({
    order: { row: 2 },
    shares: ['email', 'name'],
  })
})

test('rows with the same phone are released if the phone is declared as shared, and held otherwise', () => {
  const pair: Person[] = [
    ['Ann', 'Low', 'ann@x.example', '+61400000000'],
    ['Ann', 'High', 'other@x.example', '+61400000000'],
  ]
  expect(findStates(pair)).toEqual(['pending', 'held'])
  const shared = { ...nothingAllowed, shared: ['61400000000'] }
  expect(findStates(pair, shared)).toEqual(['pending', 'pending'])
  // If the phone is declared as shared, `phoneSharer` is not set either.
  const bob: Person = ['Bob', 'Lee', 'bob@x.example', '+61400000000']
  expect(compare([...pair, bob])[2]?.phoneSharer).toMatchObject({ row: 1 })
  expect(compare([...pair, bob], shared)[2]?.phoneSharer).toBeUndefined()
  expect(findStates(pair, { ...nothingAllowed, shared: ['office@x.example'] })).toEqual(['pending', 'held'])
})

test('--allow-similar releases similar rows of the file, and the same person is still a duplicate', () => {
  const people: Person[] = [annLow, ['Anne', 'Low', 'ann@x.example', '+61400000002'], annLow]
  expect(findStates(people, { ...nothingAllowed, similar: true })).toEqual([
    'pending',
    'pending',
    'duplicate',
  ])
})

test('a phone that only an earlier row shares is reported and is not a conflict', () => {
  const couple: Person[] = [annLow, ['Bob', 'Low', 'bob@x.example', '+61400000001']]
  const [, bob] = compare(couple)
  expect(bob).toMatchObject({ conflict: undefined, phoneSharer: { row: 1 } })
  // The third person is similar to the first one. The second one, who has the same phone, is not similar to her.
  const anne: Person = ['Anne', 'High', 'anne@y.example', '+61400000001']
  expect(compare([...couple, anne])[2]?.conflict).toMatchObject({ reason: 'similar', order: { row: 1 } })
  const [, again] = compare([annLow, annLow])
  expect(again?.phoneSharer).toBeUndefined()
})

test('an invalid row is returned unchanged and does not conflict with later rows', () => {
  const invalid: NewRow = {
    row: 1,
    state: 'invalid',
    packageId: 7,
    person: { first_name: 'Ann', last_name: 'Low', email: 'ann@x.example', phone: '' },
    reason: 'is wrong',
    field: 'phone',
    matchesRow: undefined,
  }
  const [, second] = createRows([annLow, annLow])
  if (second === undefined) throw new Error('there are fewer than two rows')
  expect(compareRows([invalid, second])).toMatchObject([
    { row: invalid, identities: undefined, conflict: undefined },
    { row: second, conflict: undefined },
  ])
})

test('a row is held if an earlier order of the same person ended in ERROR', () => {
  const order = { ...batchRow({ batchId: 'b-0', state: 'accepted', requestStatus: 'ERROR' }), packageId: 7 }
  const [only] = compareRows(createRows([annLow]), nothingAllowed, [{ order, isSamePerson: true }])
  expect(only?.conflict).toMatchObject({ becomes: 'held', reason: 'ended_in_error' })
})

test('a preview counts the rows by their future state and lists the first people who would be ordered', () => {
  const preview = emptyPreview()
  const people = ['A', 'B', 'C', 'D', 'E', 'F', 'G'].map((name, at): Person => [
    name,
    'Low',
    `${name}@x.example`,
    `+6140000010${at}`,
  ])
  const rows = compare([...people, ['A', 'Low', 'a@x.example', '+61400000199'], people[1] ?? annLow])
  for (const row of rows) addToPreview(preview, row)
  const [first] = createRows([['H', 'Low', 'h@x.example', '+61400000100']])
  if (first?.state !== 'pending') throw new Error('the row is not pending')
  const phoneSharer = { ...batchRow({ row: 1 }), packageId: 7 }
  const other = { ...first, packageId: 8 }
  addToPreview(preview, { row: other, identities: undefined, conflict: undefined, phoneSharer })
  const invalid: NewRow = {
    ...first,
    state: 'invalid',
    person: first.recipient,
    reason: '',
    field: undefined,
    matchesRow: undefined,
  }
  addToPreview(preview, { row: invalid, identities: undefined, conflict: undefined })
  expect(preview.counts).toEqual(countsOf({ pending: 8, held: 1, duplicate: 1, invalid: 1 }))
  expect([...preview.packages]).toEqual([
    [7, 7],
    [8, 1],
  ])
  expect(preview.conflicts.map(({ row, conflict }) => [row.row, conflict.reason])).toEqual([
    [8, 'similar'],
    [9, 'same'],
  ])
  expect(preview.phoneSharers).toEqual([{ row: other, order: phoneSharer }])
  // The list has one person more than a screen names, so that the screen knows whether there are more.
  expect(preview.people.map(({ first_name }) => first_name)).toEqual(['A', 'B', 'C', 'D', 'E', 'F'])
})

test('if several earlier rows have the same e-mail, the row is compared with all of them and not only with the last', () => {
  const people: Person[] = [
    ['Ann', 'Low', 'office@x.example', '+61400000001'],
    ['Bob', 'High', 'office@x.example', '+61400000002'],
    ['Ann', 'Low', 'office@x.example', '+61400000003'],
  ]
  const similarAllowed = { ...nothingAllowed, similar: true }
  expect(findStates([people[0] ?? annLow, people[1] ?? annLow, people[0] ?? annLow], similarAllowed)).toEqual(
    ['pending', 'pending', 'duplicate'],
  )
  const desk = { ...nothingAllowed, shared: ['+61400000000'] }
  expect(findStates(people, desk)).toEqual(['pending', 'held', 'held'])
})

/** Implements section 4 of src/docs/ordering.md simply: compares each row with every earlier row that would be sent. */
function compareOneByOne(rows: readonly NewRow[]): unknown[] {
  const sent: { order: Submission; key: readonly string[] }[] = []
  return rows.map((row) => {
    if (row.state !== 'pending') return undefined
    const [, , email, phone] = personKey(row.recipient)
    const { baseUrl, id: batchId } = batch
    const comparedRow = { ...row, batchId, baseUrl, addedAt: 0, kind: 'file' } as const
    // Parts 2 and 3 of the key are the e-mail and the phone. A row that shares both is a candidate once.
    const candidates = [2, 3].flatMap((part) =>
      sent
        .filter(({ key }) => key[part] === [email, phone][part - 2] && (part === 2 || key[2] !== email))
        .map(({ order }) => ({ order, isSamePerson: false })),
    )
    const relations = { ...knownRelations, relatedIds: new Set([row.packageId]) }
    const conflict = findConflict(comparedRow, candidates, nothingAllowed, relations)
    if (conflict !== undefined)
      return [conflict.becomes, conflict.reason, conflict.shares, conflict.order.row, conflict.moreCount]
    const { recipient, packageId } = row
    const order = { ...batchRow({ batchId, row: row.row, recipient, baseUrl }), packageId, changedAt: 0 }
    sent.push({ order, key: personKey(row.recipient) })
    return ['pending', findPhoneSharer(comparedRow, candidates, relations)?.row]
  })
}

test('for rows with few different phones, the result is equal to a comparison of each row with all earlier rows', () => {
  const name = constantFrom(
    '',
    '-',
    'Al',
    'Ann',
    'Anne',
    'Anna',
    'Bob',
    'Rob',
    'Cyd',
    'Dora',
    'Nora',
    'Müller',
    'Muller',
  )
  const people = record({
    first: name,
    tail: constantFrom('', 'bert', 'ette', 'xyz', 'qqqqqq', 'a', 'wolf', 'line', 'nard', 'gard', 'mund'),
    last: name,
    email: constantFrom(...Array.from({ length: 300 }, (_, at) => `p${at}@x.example`)),
    phone: constantFrom('+61400000001', '+61 400 000 001', '+61400000002'),
    packageId: constantFrom(7, 7, 7, 8),
  })
  assert(
    property(array(people, { minLength: 40, maxLength: 90, size: 'max' }), (all) => {
      const rows = all.map(({ first, tail, last, email, phone, packageId }, at): NewRow => {
        const recipient = { first_name: `${first}${tail}`, last_name: last, email, phone }
        return { row: at + 1, state: 'pending', packageId, recipient, body: new Uint8Array() }
      })
      const comparer = new FileComparer(batch, rows, nothingAllowed, (packageId) => ({
        ...knownRelations,
        relatedIds: new Set([packageId]),
      }))
      const results = rows.map((row) => {
        const { conflict, phoneSharer } = comparer.compare(row, [])
        if (conflict === undefined) return ['pending', phoneSharer?.row]
        return [conflict.becomes, conflict.reason, conflict.shares, conflict.order.row, conflict.moreCount]
      })
      expect(results).toEqual(compareOneByOne(rows))
    }),
  )
})

test('1,500 people with one phone and different names are sent', () => {
  const people = Array.from({ length: 1500 }, (_, at): Person => [
    createDistinctName(at),
    'Low',
    `p${at}@x.example`,
    '+61400000001',
  ])
  const results = compare(people)
  expect(results.filter(({ conflict }) => conflict !== undefined)).toEqual([])
  expect(results.slice(1).every(({ phoneSharer }) => phoneSharer?.row === 1)).toBe(true)
})

/** Repeats each letter three times, so that two of these names differ in more than a third of their letters. */
function createDistinctName(at: number): string {
  const letters = [at % 26, Math.floor(at / 26) % 26, Math.floor(at / 676) % 26]
  return [...letters, letters.reduce((sum, each) => sum + each) % 26]
    .map((each) => String.fromCodePoint(97 + each).repeat(3))
    .join('')
}

test('if more names share a phone than can be compared, the remaining rows are held', () => {
  let seed = 20261123
  const randomLetter = (): string => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff
    return 'abcdefgh'[seed >>> 28] ?? ''
  }
  const createLongName = (): string => Array.from({ length: 999 }, randomLetter).join('')
  const people = Array.from({ length: 100 }, (_, at): Person => [
    createLongName(),
    'Low',
    `p${at}@x.example`,
    '+61400000001',
  ])
  const results = compare([...people, ['Bob', 'Lee', 'bob@x.example', '+61400000001']])
  const last = results.at(-1)?.conflict
  expect(last).toMatchObject({ becomes: 'held', reason: 'similar', shares: ['phone'] })
  expect(results[0]?.conflict).toBeUndefined()
})

test('names that are too long to compare count as similar, unless one is much longer', () => {
  const person = (first: string, at: number): Person => [first, 'Low', `p${at}@x.example`, '+61400000001']
  const people = ['a'.repeat(1001), 'b'.repeat(1001), 'c'.repeat(2000)].map(person)
  expect(findStates(people)).toEqual(['pending', 'held', 'pending'])
})
