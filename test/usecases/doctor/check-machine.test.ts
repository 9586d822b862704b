import { expect, test } from 'vitest'

import { type Check, checkMachine } from '../../../src/usecases/doctor/checks.ts'
import { InterruptedError, IoError, UnavailableError } from '../../../src/errors/kinds.ts'

const well = (name: string, after: string[] = []): Check => ({
  name,
  after,
  check: async () => ({ message: 'well' }),
})
const broken = (name: string, error: Error): Check => ({ name, check: () => Promise.reject(error) })

test('everything is looked at, and the first failure decides', async () => {
  const { findings, failure } = await checkMachine([
    well('one'),
    broken('two', new UnavailableError('away', { hint: 'Wait.' })),
    broken('three', new IoError('full')),
    well('four'),
  ])
  expect(findings.map(({ check, level, hint }) => [check, level, hint])).toEqual([
    ['one', 'ok', null],
    ['two', 'fail', 'Wait.'],
    ['three', 'fail', null],
    ['four', 'ok', null],
  ])
  expect(failure?.code).toBe('unavailable')
})

test('what stands on something that failed is not looked at, nor what stands on that', async () => {
  const { findings } = await checkMachine([
    broken('service', new UnavailableError('away')),
    well('key', ['service']),
    well('users', ['key']),
  ])
  expect(findings.map(({ level, message }) => [level, message])).toEqual([
    ['fail', 'away'],
    ['warn', 'not checked, because "service" failed'],
    ['warn', 'not checked, because "key" failed'],
  ])
})

test('a fault of the program and Ctrl-C end it', async () => {
  await expect(checkMachine([broken('one', new TypeError('bug'))])).rejects.toThrow('bug')
  await expect(checkMachine([broken('one', new InterruptedError('stop'))])).rejects.toThrow('stop')
})
