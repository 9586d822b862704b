import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { expect, test } from 'vitest'

import { orderOf } from '../harness/people.ts'
import { session } from '../harness/session.ts'

/** 0.1.0 kept ids of requests as they came, and its lookups of statuses and events missed those in capitals. */
test('an id that an earlier format kept in capitals is found when it is read again', async () => {
  const { type, folder, sandbox } = await session()
  await type(orderOf('Ana'))
  const [request] = sandbox.requests()
  const id = request?.request_id ?? ''
  const database = new DatabaseSync(join(folder, 'data', 'ledger.sqlite'))
  database.exec('UPDATE submissions SET request_id = upper(request_id)')
  database.exec('ALTER TABLE submissions DROP COLUMN witnesses; ALTER TABLE submissions DROP COLUMN checks')
  database.exec('DROP INDEX batches_queued; ALTER TABLE batches DROP COLUMN queued_at')
  database.exec('PRAGMA user_version = 7')
  database.close()
  await type(`request wait ${id}`)
  await type('request list --refresh')
  expect((await type('request list --json')).json()).toMatchObject([{ request_id: id, status: 'COMPLETED' }])
})
