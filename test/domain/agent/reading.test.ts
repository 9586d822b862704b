import { expect, test } from 'vitest'

import { requireReadOnly } from '../../../src/domain/agent/calls.ts'

test.each([
  ['packages', 'list', '--json'],
  ['request', 'create', '--file', '-', '--dry-run', '--json'],
  ['batch', 'run', '-', '--dry-run'],
  ['batch', 'plan', '/f.csv'],
])('an agent may run %s %s', (...argv) => {
  expect(() => requireReadOnly(argv)).not.toThrow()
})

test.each([
  ['request', 'create', '--file', '-', '--yes'],
  ['batch', 'run', '-', '--yes'],
  ['batch', 'resume', 'x', '--dry-run'],
  ['batch', 'retry', 'x'],
  ['batch', 'release', 'x', '--all'],
  ['batch', 'queue', '-', '--dry-run'],
  ['approve', 'BCDF-BCDF'],
  ['worker'],
  ['api', 'GET', '/v1/users'],
  ['config', 'get', 'package'],
  ['webhook', 'events', 'show', '1'],
  ['store', 'purge', '--yes'],
  [],
])('an agent may not run %s %s', (...argv) => {
  expect(() => requireReadOnly(argv)).toThrow('may not run')
})
