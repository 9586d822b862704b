import { expect, test } from 'vitest'

import {
  checkStatuses,
  refereeStatuses,
  requestStatuses,
  statusRank,
  terminalStatuses,
} from '../../src/contract/statuses.ts'

test('the statuses are those of the API document, in its order', () => {
  expect(requestStatuses).toEqual(['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'ERROR', 'CANCELLED'])
  expect(checkStatuses).toEqual(['RECEIVED', 'IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'ERROR'])
  expect(refereeStatuses).toEqual(['IN_PROGRESS', 'COMPLETED', 'CANCELLED'])
  expect(requestStatuses.map((status) => statusRank[status])).toEqual([0, 1, 2, 3, 3, 3])
})

test('the terminal statuses are those with the highest rank', () => {
  const highestRank = Math.max(...Object.values(statusRank))
  expect(requestStatuses.filter((status) => statusRank[status] === highestRank)).toEqual(terminalStatuses)
})

test('the ranks of the statuses increase in the order of the document', () => {
  expect(requestStatuses.map((status) => statusRank[status])).toEqual(
    requestStatuses.map((status) => statusRank[status]).toSorted((a, b) => a - b),
  )
})
