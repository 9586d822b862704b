import { expect, test } from 'vitest'

import {
  type Closing,
  closingClauses,
  findLogsByName,
  type LogReport,
  mergeRegisters,
  findReopenStep,
  storeClosedError,
  findUnreportedLogs,
  addLossReason,
} from '../../../src/domain/store/closing.ts'

const closing: Closing = { id: 'c2', at: 0, reasons: ['server'], recovered: [] }

const createLog = (id: string, facts: Partial<LogReport> = {}): LogReport => ({
  id,
  host: `hr-${id}`,
  machine: `m-${id}`,
  path: `/${id}.log`,
  lastAttemptAt: 1_700_000_000_000,
  reportedFor: undefined,
  isExcluded: false,
  ...facts,
})

test('every registered log that is not excluded has to report for this closing, even if it was last used long ago', () => {
  const logs = [
    createLog('1', { reportedFor: 'c2' }),
    createLog('2', { reportedFor: 'c1' }),
    createLog('3', { lastAttemptAt: 0 }),
    createLog('4', { isExcluded: true }),
  ]
  expect(findUnreportedLogs(closing, logs).map(({ id }) => id)).toEqual(['2', '3'])
})

test.each([
  ['a log has not reported', [createLog('1')], {}, true, 'reports'],
  ['all logs have reported, and each commit waits for a second server', [], {}, true, 'nothing'],
  ['all logs have reported, and commits do not wait', [], {}, false, 'confirmation'],
  ['a backup was restored', [], { reasons: ['restored'] }, true, 'confirmation'],
  ['attempts were lost for another reason', [], { reasons: ['server', 'log_missing'] }, true, 'acceptance'],
] as const)('the reopen step of a closed store if %s', (_, logs, facts, isReplicated, step) => {
  const found = { ...closing, ...facts, reasons: [...('reasons' in facts ? facts.reasons : closing.reasons)] }
  expect(findReopenStep(found, logs, { isReplicated })).toBe(step)
})

test('missing attempts add the reason "older" to a closing, so that reopening needs acceptance', () => {
  expect(addLossReason(closing)).toEqual(closing)
  expect(addLossReason({ ...closing, missing: [] }).reasons).toEqual(['server'])
  const lost = addLossReason({ ...closing, missing: ['a1'] })
  expect(lost.reasons).toEqual(['server', 'older'])
  expect(findReopenStep(lost, [], { isReplicated: true })).toBe('acceptance')
})

test('merging registers adds missing logs and takes the later time of each log', () => {
  const [one, two] = [createLog('1'), createLog('2')]
  const later = { ...one, lastAttemptAt: one.lastAttemptAt + 1 }
  expect(mergeRegisters([one], [two, later, two])).toEqual([later, two])
  expect(mergeRegisters([later], [one])).toEqual([later])
})

test('logs are found by host, machine or log id', () => {
  const logs = [createLog('1'), createLog('2', { host: 'hr-1' }), createLog('3')]
  expect(findLogsByName(logs, 'hr-1').map(({ id }) => id)).toEqual(['1', '2'])
  expect(findLogsByName(logs, 'm-2').map(({ id }) => id)).toEqual(['2'])
  expect(findLogsByName(logs, '3').map(({ id }) => id)).toEqual(['3'])
  expect(findLogsByName(logs, 'hr')).toEqual([])
})

test('each reason for closing becomes a clause', () => {
  expect(closingClauses({ ...closing, reasons: ['server', 'log_damaged'] })).toEqual([
    'its database is on another server than before',
    'the log of its attempts is damaged',
  ])
  expect(closingClauses({ ...closing, reasons: ['older'], recovered: ['a'] })).toEqual([
    'it lacked 1 attempt that was made with it',
  ])
  expect(closingClauses({ ...closing, reasons: ['older'], recovered: ['a', 'b'] })).toEqual([
    'it lacked 2 attempts that were made with it',
  ])
  expect(closingClauses({ ...closing, move: { id: 'm', to: '/new', isDone: true } })).toEqual([
    'it was moved to "/new"',
  ])
})

test('the error for a closed store names the machines that have not reported', () => {
  expect(storeClosedError('/ledger.sqlite', closing, [])).toMatchObject({
    message: 'the store "/ledger.sqlite" is closed: its database is on another server than before',
    hint: expect.stringContaining('refcheck store check') as string,
  })
  const missing = [createLog('1'), createLog('2', { lastAttemptAt: 0 })]
  expect(storeClosedError('postgres://db/hr', closing, missing).hint).toMatch(
    /with: refcheck store check \(not reported: hr-1 \(last order 2023-11-1\d \d\d:13 [+-]\d\d:\d\d\), hr-2 \(no order\)\)$/,
  )
  const move = { id: 'm', to: '/new', isDone: true }
  expect(storeClosedError('/old', { ...closing, move }, missing).message).toBe(
    'the store "/old" was moved to "/new"',
  )
})
