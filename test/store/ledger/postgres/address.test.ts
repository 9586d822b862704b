import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { clientOptions, withPassword } from '../../../../src/store/ledger/postgres/connection.ts'
import { temporaryFolder } from '../../../harness/world.ts'
import { serverOf } from './connect.ts'

const withoutPassword = serverOf('postgres://ledger@localhost/orders')
const passfileLine = 'localhost:5432:orders:ledger:from-the-file\n'

function createHome(mode = 0o600): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.pgpass'), passfileLine, { mode })
  return folder
}

test('the password is read from the URL, then from PGPASSWORD, then from the passfile', async () => {
  const HOME = createHome()
  const PGPASSWORD = 'from-the-variable'
  const passwordInUrl = serverOf('postgres://ledger:from-the-url@localhost/orders')
  expect(await withPassword(passwordInUrl, { HOME, PGPASSWORD })).toMatchObject({ password: 'from-the-url' })
  expect(await withPassword(withoutPassword, { HOME, PGPASSWORD })).toMatchObject({ password: PGPASSWORD })
  expect(await withPassword(withoutPassword, { HOME })).toMatchObject({ password: 'from-the-file' })
  const PGPASSFILE = join(HOME, '.pgpass')
  expect(await withPassword(withoutPassword, { HOME: '/nowhere', PGPASSFILE })).toMatchObject({
    password: 'from-the-file',
  })
  expect(await withPassword(withoutPassword, { HOME: '/nowhere' })).toMatchObject({ password: undefined })
})

test('a passfile that other users may read is not used, and a message reports it', async () => {
  const HOME = createHome(0o644)
  const messages: string[] = []
  expect(await withPassword(withoutPassword, { HOME }, (message) => messages.push(message))).toEqual(
    withoutPassword,
  )
  expect(messages).toEqual([
    `The passfile "${HOME}/.pgpass" can be read by other users and is not used; fix it with: chmod 600 ${HOME}/.pgpass`,
  ])
})

test('a given time limits the wait for a connection, and for each answer', async () => {
  expect(await clientOptions(withoutPassword, 300)).toMatchObject({
    connectionTimeoutMillis: 300,
    query_timeout: 300,
  })
  expect(await clientOptions(withoutPassword)).toMatchObject({
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
  })
})

test('an impossible path of a passfile gives no password, and a passfile that cannot be read is an error', async () => {
  const HOME = createHome()
  const PGPASSFILE = join(HOME, '.pgpass', 'below')
  expect(await withPassword(withoutPassword, { HOME, PGPASSFILE })).toEqual(withoutPassword)
  const folder = join(HOME, 'folder')
  mkdirSync(folder)
  chmodSync(folder, 0o700)
  await expect(withPassword(withoutPassword, { HOME, PGPASSFILE: folder })).rejects.toMatchObject({
    code: 'io',
  })
})
