import { expect, test } from 'vitest'

import { childEnvironment } from '../../src/host/child-environment.ts'
import { faultRow } from '../harness/faults/fault-row.ts'

faultRow('children', 'keys handed on')

test('a program that we start gets the environment without keys and passwords', () => {
  const env = {
    PATH: '/bin',
    REFCHECK_API_KEY: 'k',
    REFCHECK_WEBHOOK_SECRET: 's',
    PGPASSWORD: 'p',
    REFCHECK_STORE: 'postgres://hr:se:cr@et@db.example.com/refcheck',
  }
  expect(childEnvironment(env)).toEqual({
    PATH: '/bin',
    REFCHECK_STORE: 'postgres://hr@db.example.com/refcheck',
  })
})

test.each(['/var/lib/refcheck/ledger.sqlite', 'postgres://hr@db/refcheck', ':memory:'])(
  'the store %s stays',
  (store) => {
    expect(childEnvironment({ REFCHECK_STORE: store })).toEqual({ REFCHECK_STORE: store })
  },
)
