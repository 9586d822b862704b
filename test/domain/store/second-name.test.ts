import { expect, test } from 'vitest'

import { isListedMount, requireOneName } from '../../../src/domain/store/address.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

// The tests of this file are the row `second-name` of the fault table (test/resilience/rows.ts).
recordForFaultTable('second-name', { mustNotHappen: 'taken' })

test('a store with one name that is not a mount point is accepted', () => {
  expect(() => requireOneName('/d/s', { linkCount: 1, isMount: false })).not.toThrow()
})

test('a store with two names, or that is a mount point, is refused', () => {
  expect(() => requireOneName('/d/s', { linkCount: 2, isMount: false })).toThrow(
    'cannot use the store "/d/s": the file has 2 names (hard links)',
  )
  expect(() => requireOneName('/d/s', { linkCount: 1, isMount: true })).toThrow(
    'the file is mounted by itself',
  )
})

test('mount points are read from mountinfo, with its escaped spaces', () => {
  const mountinfo = [
    '22 1 0:20 / /proc rw,relatime shared:5 - proc proc rw',
    '98 1 8:1 /home/ann/ledger.sqlite /data/my\\040store/ledger.sqlite rw - ext4 /dev/sda1 rw',
    '',
  ].join('\n')
  expect(isListedMount('/data/my store/ledger.sqlite', mountinfo)).toBe(true)
  expect(isListedMount('/data/my store', mountinfo)).toBe(false)
  expect(isListedMount('', mountinfo)).toBe(false)
})
