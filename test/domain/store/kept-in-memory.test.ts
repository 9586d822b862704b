import { expect, test } from 'vitest'

import { refuseForgetting } from '../../../src/domain/store/kept-in-memory.ts'
import { UsageError } from '../../../src/errors/kinds.ts'

test('a :memory: store refuses to create anything but on loopback (src/docs/cli.md)', () => {
  expect(() => refuseForgetting(':memory:', 'https://api.example.com')).toThrow(UsageError)
  expect(() => refuseForgetting(':memory:', 'http://127.0.0.1:4010')).not.toThrow()
  expect(() => refuseForgetting('/ledger.sqlite', 'https://api.example.com')).not.toThrow()
})
