import { expect, test } from 'vitest'

import { checksText, countChecks } from '../../../src/domain/request/listed-request.ts'

const backgroundCheck = (status: string) => ({ type: 'background', status })
const referenceCheck = (status: string) => ({ type: 'reference', status })

test('checks are stored as counts by type and status, in any order of the checks', () => {
  const stored = checksText([
    referenceCheck('COMPLETED'),
    backgroundCheck('ERROR'),
    backgroundCheck('COMPLETED'),
    backgroundCheck('ERROR'),
  ])
  expect(stored).toBe('{"background":{"COMPLETED":1,"ERROR":2},"reference":{"COMPLETED":1}}')
  expect(
    checksText([
      backgroundCheck('ERROR'),
      backgroundCheck('COMPLETED'),
      backgroundCheck('ERROR'),
      referenceCheck('COMPLETED'),
    ]),
  ).toBe(stored)
  expect(checksText([])).toBe('{}')
})

test('the checks of several requests are added; requests with unknown checks are not counted', () => {
  const orders = [
    { checks: checksText([backgroundCheck('COMPLETED'), referenceCheck('IN_PROGRESS')]) },
    { checks: checksText([referenceCheck('IN_PROGRESS'), backgroundCheck('COMPLETED')]) },
    { checks: checksText([backgroundCheck('ERROR')]) },
    { checks: checksText([]) },
    { checks: undefined },
  ]
  expect(JSON.parse(JSON.stringify(countChecks(orders)))).toEqual({
    requests: 4,
    by_type: { background: { COMPLETED: 2, ERROR: 1 }, reference: { IN_PROGRESS: 2 } },
  })
})

test('a type named __proto__ is counted like any other', () => {
  const text = checksText([{ type: '__proto__', status: 'constructor' }])
  const { by_type: counts } = countChecks([{ checks: text }])
  expect(Object.entries(counts).map(([type, statuses]) => [type, Object.entries(statuses)])).toEqual([
    ['__proto__', [['constructor', 1]]],
  ])
})
