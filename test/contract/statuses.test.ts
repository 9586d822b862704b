import { expect, test } from 'vitest'

import { requestStatuses, statusRank, terminalStatuses } from '../../src/contract/statuses.ts'

test('the terminal statuses are those that none is further on than', () => {
  const furthest = Math.max(...Object.values(statusRank))
  expect(requestStatuses.filter((status) => statusRank[status] === furthest)).toEqual(terminalStatuses)
})

test('a request goes on in the order of the document', () => {
  expect(requestStatuses.map((status) => statusRank[status])).toEqual(
    requestStatuses.map((status) => statusRank[status]).toSorted((a, b) => a - b),
  )
})
