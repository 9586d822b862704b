import { expect, test } from 'vitest'

import {
  type ExaminedLogs,
  listFindings,
  formatNextStep,
  unsoundStoreError,
} from '../../../src/domain/store/closing.ts'

const open: ExaminedLogs = { closing: undefined, unreported: [], step: 'nothing', recovered: [], logs: [] }
const log = {
  id: 'l',
  host: 'hr-2',
  machine: 'm',
  path: '/l.log',
  lastAttemptAt: 0,
  reportedFor: undefined,
  isExcluded: false,
}
const closed: ExaminedLogs = {
  ...open,
  closing: { id: 'c', at: 0, reasons: ['backup'], recovered: [] },
  step: 'acceptance',
}

test('a sound store has no findings, and fails nothing', () => {
  expect(listFindings([], open)).toEqual([])
  expect(unsoundStoreError('/l', [], open)).toBeUndefined()
})

test('why it is closed comes first, then what was recovered, who has not reported, and the damage', () => {
  const found = listFindings(['a page is torn'], { ...closed, recovered: ['row 2'], unreported: [log] })
  expect(found).toEqual([
    'it is a backup that is used as a store',
    'row 2',
    'hr-2 (no order) has not compared its attempt log with the store',
    'a page is torn',
  ])
})

test('damage comes before being closed, since nothing is to be ordered with it', () => {
  expect(unsoundStoreError('/l', ['a page is torn'], closed)?.message).toMatch(/"\/l".*a page is torn/)
  const error = unsoundStoreError('/l', [], closed)
  expect(error).toMatchObject({ code: 'io' })
  expect(error?.hint).toContain('refcheck store check --accept-older')
})

test('accepting is not offered while a machine has not reported: it is named', () => {
  const hint = unsoundStoreError('/l', [], { ...closed, step: 'reports', unreported: [log] })?.hint
  expect(hint).toContain('not reported: hr-2 (no order)')
  expect(hint).not.toContain('--accept-older')
})

test('where all have reported, the question is another one than where attempts may be lost', () => {
  expect(formatNextStep('confirmation', [])).toContain('If no other machine ordered with the store')
  expect(formatNextStep('acceptance', [])).toContain('All waiting rows are held')
})
