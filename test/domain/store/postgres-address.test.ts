import { expect, test } from 'vitest'

import { passwordIn, type PostgresServer, parsePostgresServer } from '../../../src/domain/store/address.ts'

function readServer(url: string): PostgresServer {
  const result = parsePostgresServer(url)
  if ('why' in result) throw new Error(result.why)
  return result.server
}

function findRefusal(url: string): string {
  const result = parsePostgresServer(url)
  return 'why' in result ? result.why : 'accepted'
}

test('all parts of an address are parsed', () => {
  expect(
    readServer(
      'postgres://ledger:p%40ss%2F%3A@db.example.com:6432/orders?sslmode=verify-full&sslrootcert=/etc/ca.pem',
    ),
  ).toEqual({
    user: 'ledger',
    password: 'p@ss/:',
    host: 'db.example.com',
    port: 6432,
    database: 'orders',
    tls: 'verify-full',
    rootCertificate: '/etc/ca.pem',
    displayUrl: 'postgres://ledger@db.example.com:6432/orders',
  })
})

test.each([
  ['postgres://u@127.0.0.1/db', { port: 5432, tls: 'disable', password: undefined }],
  ['postgresql://u@localhost/db?sslmode=disable', { tls: 'disable' }],
  ['postgres://u@localhost/db?sslmode=verify-full', { tls: 'verify-full' }],
  ['postgres://u@[::1]:5433/db', { host: '::1', port: 5433, displayUrl: 'postgres://u@[::1]:5433/db' }],
  [
    'postgres://u@/db?host=/run/postgresql',
    { host: '/run/postgresql', displayUrl: 'postgres://u@/db?host=/run/postgresql' },
  ],
  ['postgres://u@localhost/db?password=hunter2', { password: 'hunter2' }],
  [
    'postgres://ren%C3%A9@localhost/db',
    { user: 'rené', displayUrl: 'postgres://ren%C3%A9@localhost:5432/db' },
  ],
])('the parts of the address %s', (url, parts) => {
  expect(readServer(url)).toMatchObject(parts)
})

test.each([
  [
    'no sslmode',
    'postgres://u@db.example.com/orders',
    'needs sslmode=verify-full, since the database is on another machine',
  ],
  ['plain text', 'postgres://u@db.example.com/orders?sslmode=disable', 'must be "verify-full", since'],
  [
    'no certificate checked',
    'postgres://u@db.example.com/orders?sslmode=require',
    'must be "verify-full", since',
  ],
  ['no host name checked', 'postgres://u@10.0.0.7/orders?sslmode=verify-ca', 'must be "verify-full", since'],
  ['misspelt', 'postgres://u@localhost/orders?sslmode=verify-ful', 'must be "verify-full", or "disable"'],
])('TLS: %s', (_, url, why) => {
  expect(findRefusal(url)).toContain(why)
})

test.each([
  'postgres://u:hunter2@secret@db/orders',
  'postgres://u:hunter2/secret@db/orders',
  'postgres://u:12/secret@db/orders',
  'postgres://u:12?secret=x@db/orders',
  'postgres://u:12?sslmode=secret@db/orders',
  'postgres://u:hunter2#secret@db/orders',
  'postgres://u:hunter2 secret@db/orders',
  'postgres://u:hunter2%zzsecret@db/orders',
  'postgres://u:hunter2%00secret@localhost/orders',
  'postgres://u:hunter2:secret@db/orders',
  'postgres://u:hunter2[secret@db/orders',
  'postgres://[secret',
  'postgres://secret,other/orders',
  'postgres://u@localhost:99999/secret',
  'postgres://localhost/secret',
  'postgres://secret@/orders',
  'postgres://secret@localhost',
  'postgres://u@localhost/db?secret=1',
  'postgres://u@localhost/db?sslmode=disable&sslmode=secret',
  'postgres://u@localhost/db?host=secret',
])('%s is refused, and the error contains no secret of it', (url) => {
  const why = findRefusal(url)
  expect(why).not.toBe('accepted')
  expect(why).not.toMatch(/secret|hunter2/)
})

const server = readServer('postgres://ledger@db.example.com/orders?sslmode=verify-full')

test.each([
  ['db.example.com:5432:orders:ledger:one', 'one'],
  ['# a comment\n\nother:5432:orders:ledger:no\n*:*:*:ledger:two', 'two'],
  [String.raw`*:*:*:*:a\:b\\c`, String.raw`a:b\c`],
  ['*:*:*:*:first\n*:*:*:*:second', 'first'],
  ['*:5433:*:*:no', undefined],
  ['*:*:*:*:', undefined],
  ['not a line', undefined],
  ['', undefined],
])('the password is read from the passfile %j', (passfile, password) => {
  expect(passwordIn(passfile, server)).toBe(password)
})

test('a socket is found as localhost in a passfile', () => {
  expect(passwordIn('localhost:*:*:*:one', readServer('postgres://u@/db?host=/run/postgresql'))).toBe('one')
})
