import { expect, test } from 'vitest'

import { parseStoreAddress } from '../../../src/domain/store/address.ts'

test.each([
  [':memory:', { kind: 'memory' }],
  ['orders.db', { kind: 'file', path: 'orders.db' }],
  ['C:\\orders.db', { kind: 'file', path: 'C:\\orders.db' }],
  ['C:\\Users\\a@b\\orders.db', { kind: 'file' }],
  ['/srv/hr@acme: 2026/orders.db', { kind: 'file' }],
  ['postgres/orders of 2026.db', { kind: 'file' }],
  ['postgres://u@localhost/db', { kind: 'postgres', server: { database: 'db' } }],
  ['PostgreSQL://u@localhost/db', { kind: 'postgres' }],
])('parseStoreAddress of "%s"', (text, address) => {
  expect(parseStoreAddress(text)).toMatchObject(address)
})

test.each(['mysql://u:hunter2@host', 'file:///x', 'postgres://[broken', 'postgres:db', 'a\0b', ' ', 'a\nb'])(
  '%j is not an address, and the error contains no password of it',
  (text) => {
    const address = parseStoreAddress(text)
    expect(address.kind).toBe('none')
    expect(JSON.stringify(address)).not.toContain('hunter2')
  },
)

test.each([
  '"postgres://u:hunter2@h:5432/db"',
  "'postgres://u:hunter2@h/db'",
  ' postgres://u:hunter2@h/db',
  'jdbc:postgresql://h/db?password=hunter2',
  'postgres//u:hunter2@h/db',
  'u:hunter2@h:5432/db',
  'host=h user=u password=hunter2',
  'psql "postgres://u:hunter2@h/db"',
  '"orders.db"',
  'orders.db ',
])('%j, a mistyped address, is not accepted as a file name', (text) => {
  const address = parseStoreAddress(text)
  expect(address.kind).toBe('none')
  expect(JSON.stringify(address)).not.toContain('hunter2')
})
