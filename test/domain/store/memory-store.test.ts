import { expect, test } from 'vitest'

import { refuseMemoryStore } from '../../../src/domain/store/address.ts'
import { UsageError } from '../../../src/errors/kinds.ts'

test('a :memory: store refuses to create anything but on loopback (src/docs/cli.md)', () => {
  expect(() => refuseMemoryStore(':memory:', 'https://api.example.com')).toThrow(UsageError)
  expect(() => refuseMemoryStore(':memory:', 'http://127.0.0.1:4010')).not.toThrow()
  expect(() => refuseMemoryStore('/ledger.sqlite', 'https://api.example.com')).not.toThrow()
})
