import { expect, test } from 'vitest'

import { bugReport } from '../../../src/domain/doctor/finding.ts'
import { IoError } from '../../../src/errors/kinds.ts'

const observed = {
  version: '0.1.0',
  machine: { node: '24.21.0', platform: 'linux', architecture: 'x64', release: '6.1' },
  isSet: (variable: string) => variable === 'REFCHECK_API_KEY',
  settings: ['package'],
  profiles: null,
  report: {
    findings: [{ check: 'store', level: 'fail' as const, message: '/home/ana is full', hint: 'ask Ana' }],
    failure: new IoError('/home/ana is full'),
  },
  store: undefined,
}

test('a bug report contains check and level of a finding and the code of a failure, and no messages or hints', () => {
  const report = bugReport(observed)
  expect(report).toMatchObject({
    environment: ['REFCHECK_API_KEY'],
    checks: [{ check: 'store', level: 'fail' }],
    failure: 'io',
    store: null,
  })
  expect(JSON.stringify(report)).not.toMatch(/ana/i)
})
