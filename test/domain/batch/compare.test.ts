import { expect, test } from 'vitest'

import type { NewFileBatch, NewRow } from '../../../src/domain/batch/batch.ts'
import { comparedRows } from '../../../src/domain/batch/compare.ts'
import type { Allowed, KnownRelations } from '../../../src/domain/submission/match.ts'
import { nothingAllowed } from '../../../src/domain/submission/match.ts'
import { ordinaryPeople } from './ordinary-people.ts'

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

const kin: KnownRelations = {
  joined: new Set([7]),
  predecessors: new Set(),
  isSameService: () => undefined,
  released: () => false,
}

type Person = readonly [first: string, last: string, email: string, phone: string]

const rowsOf = (people: readonly Person[]): NewRow[] =>
  people.map(([first_name, last_name, email, phone], at) => ({
    row: at + 1,
    state: 'pending',
    packageId: 7,
    recipient: { first_name, last_name, email, phone },
    body: new Uint8Array(),
  }))

function states(people: readonly Person[], allowed: Allowed = nothingAllowed): string[] {
  const known = { candidates: () => [], kin: () => kin }
  return [...comparedRows(batch, rowsOf(people), allowed, known)].map(
    ({ row, stop }) => stop?.becomes ?? row.state,
  )
}

test('the first of three rows with one e-mail goes, the later ones are held', () => {
  const people = ['Ann', 'Bob', 'Cyd'].map((name, at): Person => [
    name,
    'Low',
    'a@x.example',
    `+6140000000${at}`,
  ])
  expect(states(people)).toEqual(['pending', 'held', 'held'])
})

test('the same person twice is a duplicate of the first, whatever is allowed', () => {
  const ann: Person = ['Ann', 'Low', 'ann@x.example', '+61400000001']
  const allowed = { duplicate: true, similar: true, shared: [] }
  expect(states([ann, ['ANN', ' low', 'Ann@x.example', '+61 400 000 001']], allowed)).toEqual([
    'pending',
    'duplicate',
  ])
})

test('500 people of one agency’s e-mail are let go by one shared value, but for whom the full name joins', () => {
  const agency = Array.from({ length: 500 }, (_, at): Person => {
    return [`P${at}`, `Q${at}`, 'Office@Agency.example', `+6140${String(at).padStart(7, '0')}`]
  })
  const twin: Person = ['P7', 'Q7', 'office@agency.example', '+61499999999']
  const shared = { ...nothingAllowed, shared: ['office@agency.example'] }
  expect(states(agency).filter((state) => state === 'held')).toHaveLength(499)
  const released = states([...agency, twin], shared)
  expect(released.filter((state) => state === 'held')).toHaveLength(1)
  expect(released.at(-1)).toBe('held')
})

test('of 1,000 ordinary people, families and colleagues among them, nobody is held', () => {
  const seed = 20261122
  const people = ordinaryPeople(1000, seed)
  expect(people).toHaveLength(1000)
  expect(
    states(people).every((state) => state === 'pending'),
    `seed ${seed}`,
  ).toBe(true)
})

test('a shared e-mail lets nobody go whom the full name joins, though the names are swapped', () => {
  const people: Person[] = [
    ['Ann', 'Low', 'office@x.example', '+61400000001'],
    ['Bob', 'High', 'office@x.example', '+61400000002'],
    ['Low', 'Ann', 'office@x.example', '+61400000003'],
  ]
  const allowed = { ...nothingAllowed, shared: ['office@x.example'] }
  expect(states(people, allowed)).toEqual(['pending', 'pending', 'held'])
})
