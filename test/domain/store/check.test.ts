import { expect, test } from 'vitest'

import {
  type ExaminedLogs,
  listFindings,
  formatNextStep,
  findStoreError,
} from '../../../src/domain/store/closing.ts'

const openStore: ExaminedLogs = {
  closing: undefined,
  unreported: [],
  reopenStep: 'nothing',
  recovered: [],
  logs: [],
}
const log = {
  id: 'l',
  host: 'hr-2',
  machine: 'm',
  path: '/l.log',
  lastAttemptAt: 0,
  reportedFor: undefined,
  isExcluded: false,
}
const closedStore: ExaminedLogs = {
  ...openStore,
  closing: { id: 'c', at: 0, reasons: ['backup'], recovered: [] },
  reopenStep: 'acceptance',
}

test('a sound store has no findings and no error', () => {
  expect(listFindings([], openStore)).toEqual([])
  expect(findStoreError('/l', [], openStore)).toBeUndefined()
})

test('the findings are the reasons for closing, then recovered rows, unreported machines and damage', () => {
  const found = listFindings(['a page is torn'], { ...closedStore, recovered: ['row 2'], unreported: [log] })
  expect(found).toEqual([
    'it is a backup that is used as a store',
    'row 2',
    'hr-2 (no order) has not compared its attempt log with the store',
    'a page is torn',
  ])
})

test('the error is about damage before it is about the closing', () => {
  expect(findStoreError('/l', ['a page is torn'], closedStore)?.message).toMatch(/"\/l".*a page is torn/)
  const error = findStoreError('/l', [], closedStore)
  expect(error).toMatchObject({ code: 'io' })
  expect(error?.hint).toContain('refcheck store check --accept-older')
})

test('while a machine has not reported, the hint names it and has no --accept-older', () => {
  const hint = findStoreError('/l', [], { ...closedStore, reopenStep: 'reports', unreported: [log] })?.hint
  expect(hint).toContain('not reported: hr-2 (no order)')
  expect(hint).not.toContain('--accept-older')
})

test('confirmation and acceptance have different texts', () => {
  expect(formatNextStep('confirmation', [])).toContain('If no other machine ordered with the store')
  expect(formatNextStep('acceptance', [])).toContain('All waiting rows are held')
})
