import { expect, test } from 'vitest'

import { storeAddress } from '../../../src/domain/store/address.ts'

test.each([
  [':memory:', { kind: 'memory' }],
  ['orders.db', { kind: 'file', path: 'orders.db' }],
  ['C:\\orders.db', { kind: 'file', path: 'C:\\orders.db' }],
  ['postgres://u@localhost/db', { kind: 'postgres', server: { database: 'db' } }],
  ['PostgreSQL://u@localhost/db', { kind: 'postgres' }],
])('%s', (text, address) => {
  expect(storeAddress(text)).toMatchObject(address)
})

test.each(['mysql://u:hunter2@host', 'file:///x', 'postgres://[broken', 'postgres:db', 'a\0b', ' ', 'a\nb'])(
  '%j is no address, and nothing behind the scheme is repeated',
  (text) => {
    const address = storeAddress(text)
    expect(address.kind).toBe('none')
    expect(JSON.stringify(address)).not.toContain('hunter2')
  },
)
