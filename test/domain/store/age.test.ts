import { expect, test } from 'vitest'

import {
  type AgeFacts,
  closedBecause,
  type ComparedList,
  judgeAge,
  runsMissing,
  noListPossible,
  storeClosed,
} from '../../../src/domain/store/age.ts'
import type { ListedAttempt } from '../../../src/domain/store/attempt-list.ts'
import { findingsOf, unsound } from '../../../src/domain/store/check.ts'

const attempt = (attemptId: string, at: number): ListedAttempt => ({
  attemptId,
  batchId: 'b',
  row: at,
  packageId: 102,
  person: 'p',
  email: '',
  phone: '',
  at,
  baseUrl: 'http://127.0.0.1',
  userEmail: 'o@example.com',
})

const list = (more: Partial<ComparedList> = {}): ComparedList => ({
  own: true,
  sameKey: true,
  harmed: false,
  moved: false,
  lacking: [],
  ...more,
})

const facts = (more: Partial<AgeFacts> = {}): AgeFacts => ({
  isBackup: false,
  hasAttempts: true,
  mayBeUnlisted: false,
  missingRuns: 0,
  lists: [list()],
  ...more,
})

test('a store that knows its whole list is open', () => {
  expect(judgeAge(facts())).toEqual({ by: [], lacking: [], untold: false })
  expect(judgeAge(facts({ hasAttempts: false, lists: [] })).by).toEqual([])
  expect(judgeAge(facts({ mayBeUnlisted: true, lists: [] })).by).toEqual([])
})

test('what it lacks comes back oldest first, and once though two lists name it', () => {
  const two = [attempt('late', 2), attempt('early', 1)]
  const judged = judgeAge(facts({ lists: [list({ lacking: two }), list({ own: false, lacking: two })] }))
  expect(judged).toMatchObject({ by: ['older'], untold: false })
  expect(judged.lacking.map(({ attemptId }) => attemptId)).toEqual(['early', 'late'])
})

test.each<[string, Partial<AgeFacts>, string[], boolean]>([
  ['a backup whose list is there', { isBackup: true }, ['backup'], false],
  ['a backup without a list', { isBackup: true, hasAttempts: false, lists: [] }, ['backup'], true],
  ['attempts and no list', { lists: [] }, ['unlisted'], true],
  [
    'a list of another store in its place, known',
    { lists: [list(), list({ own: false, sameKey: false })] },
    [],
    false,
  ],
  [
    'a list of another store in its place, not known',
    { lists: [list(), list({ own: false, sameKey: false, lacking: [attempt('a', 1)] })] },
    ['replaced'],
    true,
  ],
  ['its own list with another key', { lists: [list({ sameKey: false })] }, ['key'], true],
  ['a list that is shorter than it was', { lists: [list({ harmed: true })] }, ['list'], true],
  ['a harmed list of another store', { lists: [list(), list({ own: false, harmed: true })] }, [], false],
  ['runs of 0.1.0 that it does not know', { missingRuns: 1 }, ['runs'], true],
])('%s', (_, more, by, untold) => {
  expect(judgeAge(facts(more))).toEqual({ by, lacking: [], untold })
})

test('what another key made fingerprints of is not put back', () => {
  const lists = [list(), list({ own: false, sameKey: false, lacking: [attempt('a', 1)] })]
  expect(judgeAge(facts({ lists })).lacking).toEqual([])
})

test('a closed store says why, and what to do', () => {
  const closed = {
    at: 0,
    by: ['older', 'backup'] as ('older' | 'backup')[],
    attempts: ['a', 'b'],
    untold: false,
  }
  expect(closedBecause(closed)).toEqual([
    'it did not know 2 attempts that were made with it',
    'it is a backup of another store',
  ])
  expect(closedBecause({ ...closed, attempts: ['a'] })[0]).toBe(
    'it did not know 1 attempt that was made with it',
  )
  const move = { id: 'm', to: '/new', isDone: true }
  expect(closedBecause({ ...closed, move })).toEqual(['it was moved to "/new"'])
  expect(closedBecause({ ...closed, move: { ...move, isDone: false } })).toEqual([
    'it is being moved to "/new"',
  ])
  expect(storeClosed('/d/s', closed).message).toBe(
    'the store "/d/s" is closed: it did not know 2 attempts that were made with it',
  )
  expect(storeClosed('/d/s', closed).hint).toContain('refcheck store check')
  expect(noListPossible('/d/s', ['/a', '/b']).message).toContain('neither "/a" nor "/b" can be written')
})

test('a check names what was put back, and tells what accepting does', () => {
  const closed = { at: 0, by: ['unlisted' as const], attempts: [], untold: true }
  expect(findingsOf(['torn'], closed, ['Ann'])).toEqual([
    'the list of its attempts is missing',
    'Ann',
    'torn',
  ])
  expect(findingsOf([], undefined, [])).toEqual([])
  expect(unsound('/d/s', [], undefined)).toBeUndefined()
  expect(unsound('/d/s', ['torn'], closed)?.message).toBe('the store "/d/s" is damaged: torn')
  expect(unsound('/d/s', [], closed)?.hint).toContain('all waiting rows are held')
  expect(unsound('/d/s', [], { ...closed, untold: false })?.hint).toContain('are recorded as unknown')
})

test.each([
  { known: 3, begun: 3, missing: 0 },
  { known: 4, begun: 3, missing: 0 },
  { known: 1, begun: 3, missing: 2 },
])('a store that knows $known of $begun runs misses $missing', ({ known, begun, missing }) => {
  expect(runsMissing(known, begun)).toBe(missing)
})

test('one attempt that is lacking closes a store', () => {
  const one = judgeAge(facts({ lists: [list({ lacking: [attempt('a', 1)] })] }))
  expect(one.by).toEqual(['older'])
  expect(one.lacking).toHaveLength(1)
})

test('an older store whose attempts nobody counted still says that it is older', () => {
  expect(closedBecause({ at: 0, by: ['older'], attempts: [], untold: false })).toEqual([
    'it does not know all attempts that were made with it',
  ])
})
