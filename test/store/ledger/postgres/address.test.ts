import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { clientOptions, withPassword } from '../../../../src/store/ledger/postgres/connection.ts'
import { temporaryFolder } from '../../../harness/world.ts'
import { serverOf } from './connect.ts'

const bare = serverOf('postgres://ledger@localhost/orders')
const line = 'localhost:5432:orders:ledger:from-the-file\n'

function home(mode = 0o600): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.pgpass'), line, { mode })
  return folder
}

test('the URL, then PGPASSWORD, then the passfile', async () => {
  const HOME = home()
  const PGPASSWORD = 'from-the-variable'
  const full = serverOf('postgres://ledger:from-the-url@localhost/orders')
  expect(await withPassword(full, { HOME, PGPASSWORD })).toMatchObject({ password: 'from-the-url' })
  expect(await withPassword(bare, { HOME, PGPASSWORD })).toMatchObject({ password: PGPASSWORD })
  expect(await withPassword(bare, { HOME })).toMatchObject({ password: 'from-the-file' })
  const PGPASSFILE = join(HOME, '.pgpass')
  expect(await withPassword(bare, { HOME: '/nowhere', PGPASSFILE })).toMatchObject({
    password: 'from-the-file',
  })
  expect(await withPassword(bare, { HOME: '/nowhere' })).toMatchObject({ password: undefined })
})

test('a passfile that others may read is not used, and that is said', async () => {
  const HOME = home(0o644)
  const messages: string[] = []
  expect(await withPassword(bare, { HOME }, (message) => messages.push(message))).toEqual(bare)
  expect(messages).toEqual([
    `The passfile "${HOME}/.pgpass" can be read by other users and is not used; fix it with: chmod 600 ${HOME}/.pgpass`,
  ])
})

test('who is typing waits no longer than the given time for a connection, and for each answer', async () => {
  expect(await clientOptions(bare, 300)).toMatchObject({ connectionTimeoutMillis: 300, query_timeout: 300 })
  expect(await clientOptions(bare)).toMatchObject({ connectionTimeoutMillis: 10_000, query_timeout: 60_000 })
})

test('where no passfile can be there is no password, and one that cannot be read is a failure', async () => {
  const HOME = home()
  const PGPASSFILE = join(HOME, '.pgpass', 'below')
  expect(await withPassword(bare, { HOME, PGPASSFILE })).toEqual(bare)
  const folder = join(HOME, 'folder')
  mkdirSync(folder)
  chmodSync(folder, 0o700)
  await expect(withPassword(bare, { HOME, PGPASSFILE: folder })).rejects.toMatchObject({ code: 'io' })
})
