import { expect, test } from 'vitest'

import { type Check, checkMachine } from '../../../src/usecases/doctor/checks.ts'
import { InterruptedError, IoError, UnavailableError } from '../../../src/errors/kinds.ts'

const createPassingCheck = (name: string, after: string[] = []): Check => ({
  name,
  dependsOn: after,
  check: async () => ({ message: 'well' }),
})
const createFailingCheck = (name: string, error: Error): Check => ({
  name,
  check: () => Promise.reject(error),
})

test('all checks run, and the error is that of the first failure', async () => {
  const { findings, failure } = await checkMachine([
    createPassingCheck('one'),
    createFailingCheck('two', new UnavailableError('away', { hint: 'Wait.' })),
    createFailingCheck('three', new IoError('full')),
    createPassingCheck('four'),
  ])
  expect(findings.map(({ check, level, hint }) => [check, level, hint])).toEqual([
    ['one', 'ok', null],
    ['two', 'fail', 'Wait.'],
    ['three', 'fail', null],
    ['four', 'ok', null],
  ])
  expect(failure?.code).toBe('unavailable')
})

test('a check is skipped if one that it depends on failed or was skipped', async () => {
  const { findings } = await checkMachine([
    createFailingCheck('service', new UnavailableError('away')),
    createPassingCheck('key', ['service']),
    createPassingCheck('users', ['key']),
  ])
  expect(findings.map(({ level, message }) => [level, message])).toEqual([
    ['fail', 'away'],
    ['warn', 'not checked, because "service" failed'],
    ['warn', 'not checked, because "key" failed'],
  ])
})

test('unexpected errors and Ctrl-C are thrown', async () => {
  await expect(checkMachine([createFailingCheck('one', new TypeError('bug'))])).rejects.toThrow('bug')
  await expect(checkMachine([createFailingCheck('one', new InterruptedError('stop'))])).rejects.toThrow(
    'stop',
  )
})
