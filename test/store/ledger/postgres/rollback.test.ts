import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { beginAttempt, addOne, newAttempt, someTime } from '../batches.ts'
import { fileBatch, orderRows, statesOf } from '../files.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'
import { queryDatabase } from '../../../harness/postgres.ts'
import { sharedStore } from '../../../harness/postgres-store.ts'
import type { Attempt } from '../../../../src/domain/submission/submission.ts'
import { openStore } from '../../../../src/store/ledger/open.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'

let machineA: TemporaryStores
let machineB: TemporaryStores
let url: string

beforeEach(async () => {
  machineA = createTemporaryStores(50, 'PostgreSQL')
  machineB = createTemporaryStores(50, 'PostgreSQL')
  url = await sharedStore()
})
afterEach(async () => {
  await machineA.remove()
  await machineB.remove()
})

const runSql = (text: string): Promise<Record<string, unknown>[]> =>
  queryDatabase(url, `SET search_path = refcheck; ${text}`)

/** Changes the database to its state before these attempts. */
async function loseAttempts(lost: readonly Attempt[]): Promise<void> {
  for (const { attemptId, batchId, row } of lost) {
    const where = `batch_id = '${batchId}' AND row_number = ${row}`
    await runSql(`UPDATE submissions SET state = 'pending', attempt_id = NULL, request_id = NULL WHERE ${where};
      DELETE FROM attempts WHERE id = '${attemptId}'`)
  }
  await runSql(`UPDATE accounts SET (head_number, head_attempt_id) = (
    SELECT coalesce(max(number), 0), (array_agg(id ORDER BY number DESC))[1] FROM attempts WHERE account = name)`)
}

/** Changes the database as a failover does: another timeline, without the attempts that only the old server had. */
async function failOver(lost: readonly Attempt[] = []): Promise<void> {
  await loseAttempts(lost)
  await runSql(`UPDATE meta SET value = convert_to(regexp_replace(convert_from(value, 'UTF8'), ' [0-9A-F]{8} ', ' 00000000 '), 'UTF8')
    WHERE name = 'epoch'`)
}

/** Changes the epoch as a restore with pg_restore does. */
const changeEpoch = (): Promise<unknown> =>
  runSql(`UPDATE meta SET value = value || convert_to('1', 'UTF8') WHERE name = 'epoch'`)

const unlimitedQuota = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }

async function beginOrder(store: Store, email: string): Promise<Attempt> {
  const row = await addOne(store.ledger, email, { kind: 'file' })
  const { attempt } = await store.ledger.beginInQuota(row, newAttempt(), unlimitedQuota)
  if (attempt === undefined) throw new Error('the attempt did not begin')
  return attempt
}

const listStates = async (store: Store): Promise<string[]> =>
  (await store.ledger.list({})).map(({ state, recipient }) => `${recipient?.email} ${state}`)

const closedError = (words: string) => ({
  code: 'io',
  message: expect.stringContaining(`is closed: ${words}`) as string,
})
const otherServerError = closedError('its database is on another server')
const logFolder = (machine: TemporaryStores): string => join(machine.folder, 'config', 'attempts')

test('after a failover every log has to report, and then a user has to confirm that no other machine sent', async () => {
  const [a, b] = [await machineA.openStore(), await machineB.openStore()]
  const row = await addOne(a.ledger, 'waits@example.com', { kind: 'file' })
  await beginOrder(a, 'a@example.com')
  const lostAttempt = await beginOrder(b, 'b@example.com')
  await failOver([lostAttempt])
  await expect(beginAttempt(a.ledger, row, newAttempt())).rejects.toMatchObject(otherServerError)
  const firstExamination = await a.rollbacks.examine()
  expect(firstExamination.reopenStep).toBe('reports')
  expect(firstExamination.unreported).toHaveLength(1)
  await expect(a.rollbacks.acceptOlder()).rejects.toMatchObject(otherServerError)
  expect(await listStates(a)).toEqual([
    'waits@example.com pending',
    'a@example.com sending',
    'b@example.com pending',
  ])
  expect(await b.rollbacks.examine()).toMatchObject({ reopenStep: 'confirmation', unreported: [] })
  expect(await listStates(a)).toEqual([
    'waits@example.com pending',
    'a@example.com sending',
    'b@example.com unknown',
  ])
  await expect(beginAttempt(a.ledger, row, newAttempt())).rejects.toMatchObject(otherServerError)
  expect(await a.rollbacks.acceptOlder()).toEqual({ held: 0 })
  expect(await beginAttempt(a.ledger, row, newAttempt())).toMatchObject({ state: 'sending' })
  // The other machine continues with the new generation.
  expect(await beginOrder(b, 'next@example.com')).toMatchObject({ state: 'sending' })
})

test('a machine whose first order the store lost reports when it returns, although the store also lost the registration of its log', async () => {
  const [a, b] = [await machineA.openStore(), await machineB.openStore()]
  await beginOrder(a, 'a@example.com')
  const lostAttempt = await beginOrder(b, 'b@example.com')
  await failOver([lostAttempt])
  await runSql(`DELETE FROM attempt_logs WHERE path LIKE '${machineB.folder}%'`)
  await a.rollbacks.examine()
  await a.rollbacks.acceptOlder()
  await beginOrder(b, 'next@example.com')
  expect(await listStates(b)).toEqual([
    'a@example.com sending',
    'b@example.com unknown',
    'next@example.com sending',
  ])
  expect(machineB.messages.join()).toContain('lacked 1 attempt sent from this machine')
})

test('the copy of the register in another log names a machine that the store lost', async () => {
  const b = await machineB.openStore()
  const lostAttempt = await beginOrder(b, 'b@example.com')
  const a = await machineA.openStore()
  await beginOrder(a, 'a@example.com')
  await failOver([lostAttempt])
  await runSql(`DELETE FROM attempt_logs WHERE path LIKE '${machineB.folder}%'`)
  expect((await a.rollbacks.examine()).reopenStep).toBe('reports')
})

test('a machine that does not return is excluded by its id, and the waiting rows are held', async () => {
  const [a, b] = [await machineA.openStore(), await machineB.openStore()]
  const row = await addOne(a.ledger, 'waits@example.com', { kind: 'file' })
  await beginOrder(a, 'a@example.com')
  await beginOrder(b, 'b@example.com')
  await failOver()
  await expect(beginAttempt(a.ledger, row, newAttempt())).rejects.toMatchObject(otherServerError)
  await expect(a.rollbacks.exclude(['no-such-host'])).rejects.toMatchObject({ code: 'usage' })
  const [missingLog] = (await a.rollbacks.examine()).unreported
  expect(await a.rollbacks.exclude([missingLog?.id ?? ''])).toEqual({ held: 1 })
  expect(await a.rollbacks.examine()).toMatchObject({ reopenStep: 'confirmation' })
  await a.rollbacks.acceptOlder()
  expect(await statesOf(a, row.batchId)).toEqual(['held'])
  // The exclusion ends when the machine sends again.
  await beginOrder(b, 'next@example.com')
  expect((await a.rollbacks.examine()).logs.map(({ isExcluded }) => isExcluded)).toEqual([false, false])
})

test('one process of a machine reports the attempts of all its processes', async () => {
  const first = await machineA.openStore()
  const lostAttempt = await beginOrder(first, 'lost@example.com')
  await first.close()
  await failOver([lostAttempt])
  const second = await machineA.openStore()
  expect(await second.rollbacks.examine()).toMatchObject({ reopenStep: 'confirmation' })
  await second.rollbacks.acceptOlder()
  await beginOrder(second, 'next@example.com')
  expect(await listStates(second)).toEqual(['lost@example.com unknown', 'next@example.com sending'])
})

test('the next claim detects a restored database, even if another machine has used the lost numbers since', async () => {
  const [a, b] = [await machineA.openStore(), await machineB.openStore()]
  await beginOrder(b, 'before@example.com')
  const lostAttempt = await beginOrder(a, 'lost@example.com')
  const row = await addOne(a.ledger, 'waits@example.com', { kind: 'file' })
  await loseAttempts([lostAttempt])
  await expect(beginAttempt(a.ledger, row, newAttempt())).rejects.toMatchObject(
    closedError('it lacked 1 attempt'),
  )
  await expect(beginOrder(b, 'next@example.com')).rejects.toMatchObject(closedError('it lacked 1 attempt'))
  await b.rollbacks.examine()
  await a.rollbacks.acceptOlder()
  expect(await listStates(a)).toEqual([
    'before@example.com sending',
    'lost@example.com unknown',
    'waits@example.com held',
    'next@example.com held',
  ])
})

test('a number that another machine has used since is no evidence: the ids of the attempts are compared', async () => {
  const [a, b] = [await machineA.openStore(), await machineB.openStore()]
  const rows = [
    await addOne(a.ledger, 'one@example.com', { kind: 'file' }),
    await addOne(a.ledger, 'two@example.com', { kind: 'file' }),
  ]
  const lostAttempt = await beginOrder(a, 'lost@example.com')
  await loseAttempts([lostAttempt])
  for (const name of ['x', 'y', 'z']) await beginOrder(b, `${name}@example.com`)
  await expect(beginAttempt(a.ledger, rows[0] as never, newAttempt())).rejects.toMatchObject(
    closedError('it lacked 1 attempt'),
  )
})

test('a machine that only reads notes the newest attempt that it read, and later detects that it was lost', async () => {
  const [a, b] = [await machineA.openStore(), await machineB.openStore()]
  await beginOrder(b, 'before@example.com')
  const lostAttempt = await beginOrder(a, 'lost@example.com')
  await b.batches.list()
  await loseAttempts([lostAttempt])
  // A third machine, whose log does not have the lost attempt, uses its number and the next one.
  const machineC = createTemporaryStores(50, 'PostgreSQL')
  try {
    const c = await machineC.openStore()
    for (const name of ['x', 'y']) await beginOrder(c, `${name}@example.com`)
    await b.batches.list()
    await expect(beginOrder(b, 'next@example.com')).rejects.toMatchObject(closedError('it lacks attempts'))
  } finally {
    await machineC.remove()
  }
})

test('a database from before two failovers has to be accepted once, whichever generations each machine read in between', async () => {
  const [a, b] = [await machineA.openStore(), await machineB.openStore()]
  await beginOrder(a, 'a@example.com')
  await beginOrder(b, 'b@example.com')
  await runSql(`CREATE TABLE before AS SELECT * FROM meta WHERE name = 'generation'`)
  const lostAttempts: Attempt[] = []
  for (const store of [b, a]) {
    await failOver()
    await a.rollbacks.examine()
    await b.rollbacks.examine()
    await store.rollbacks.acceptOlder()
    lostAttempts.push(await beginOrder(store, `${lostAttempts.length}@example.com`))
  }
  await loseAttempts(lostAttempts)
  await runSql(`UPDATE meta m SET value = b.value FROM before b WHERE b.name = m.name; DROP TABLE before;
    DELETE FROM meta WHERE name = 'former_generations'`)
  await expect(beginOrder(a, 'c@example.com')).rejects.toMatchObject(
    closedError('it is an older copy of the store'),
  )
  await b.rollbacks.examine()
  await a.rollbacks.acceptOlder()
  expect(await beginOrder(a, 'd@example.com')).toMatchObject({ state: 'sending' })
  expect(await beginOrder(b, 'e@example.com')).toMatchObject({ state: 'sending' })
})

test('if the log is removed, a read before the next claim does not hide that it is missing', async () => {
  const store = await machineA.openStore()
  await beginOrder(store, 'a@example.com')
  const row = await addOne(store.ledger, 'b@example.com', { kind: 'file' })
  rmSync(logFolder(machineA), { recursive: true })
  mkdirSync(logFolder(machineA))
  await store.batches.list()
  await expect(beginAttempt(store.ledger, row, newAttempt())).rejects.toMatchObject(
    closedError('the log of its attempts is missing'),
  )
})

test.each([['the loser'], ['the owner']])(
  'a request that was moved to another row still belongs to that row after a failover, also if %s reports first',
  async (firstReporter) => {
    const [a, b] = [await machineA.openStore(), await machineB.openStore()]
    const requestId = randomUUID()
    const accepted = { to: 'accepted', at: someTime, requestId, requestStatus: 'RECEIVED' } as const
    const loser = await beginOrder(a, 'loser@example.com')
    await a.ledger.move(loser, accepted)
    const owner = await beginOrder(b, 'owner@example.com')
    const decision = { by: 'refcheck', why: 'a read showed another person' }
    const loss = { to: 'unknown', at: someTime, reason: 'mixed up', decision } as const
    expect(await b.ledger.moveRequest({ ...loser, state: 'accepted' }, loss, owner, accepted)).toBe(true)
    await runSql('DELETE FROM decisions; DELETE FROM request_rows')
    await failOver([loser, owner])
    for (const store of firstReporter === 'the loser' ? [a, b] : [b, a]) await store.rollbacks.examine()
    expect(await listStates(a)).toEqual(['loser@example.com unknown', 'owner@example.com accepted'])
    expect(await a.ledger.list({ requestId })).toMatchObject([{ batchId: owner.batchId }])
  },
)

test('a restored database is closed until every machine has reported', async () => {
  const store = await machineA.openStore()
  await beginOrder(store, 'a@example.com')
  await changeEpoch()
  await expect(beginOrder(store, 'b@example.com')).rejects.toMatchObject(
    closedError('a backup of it was restored'),
  )
  expect((await store.rollbacks.examine()).reopenStep).toBe('confirmation')
})

test('a restore that only a user reports closes the store for all machines', async () => {
  const [a, b] = [await machineA.openStore(), await machineB.openStore()]
  const lost = await beginOrder(b, 'lost@example.com')
  await beginOrder(a, 'a@example.com')
  await loseAttempts([lost])
  await a.rollbacks.closeAsRestored()
  await expect(beginOrder(b, 'next@example.com')).rejects.toMatchObject(
    closedError('a backup of it was restored'),
  )
  expect(await a.rollbacks.examine()).toMatchObject({ reopenStep: 'confirmation' })
  expect(await listStates(a)).toContain('lost@example.com unknown')
})

test('a log that was copied from another machine is evidence, but no report of that machine', async () => {
  const a = await machineA.openStore()
  const lost = await beginOrder(a, 'lost@example.com')
  const { cpSync } = await import('node:fs')
  cpSync(logFolder(machineA), logFolder(machineB), { recursive: true })
  const b = await machineB.openStore()
  await beginOrder(b, 'b@example.com')
  expect(readdirSync(logFolder(machineB))).toHaveLength(2)
  await failOver([lost])
  const examination = await b.rollbacks.examine()
  expect(examination.reopenStep).toBe('reports')
  expect(await listStates(b)).toContain('lost@example.com unknown')
})

test('in a new session of the server, the log is checked as when the store is opened', async () => {
  const store = await machineA.openStore()
  const row = await addOne(store.ledger, 'a@example.com', { kind: 'file' })
  await beginOrder(store, 'b@example.com')
  renameSync(logFolder(machineA), `${logFolder(machineA)}.gone`)
  mkdirSync(logFolder(machineA))
  await queryDatabase(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  )
  await expect(
    beginAttempt(store.ledger, row, newAttempt()).catch(() => beginAttempt(store.ledger, row, newAttempt())),
  ).rejects.toMatchObject(closedError('the log of its attempts is missing'))
})

test('if no log can be written, nothing is sent until a user allows it', async () => {
  mkdirSync(join(machineA.folder, 'config'))
  writeFileSync(logFolder(machineA), 'no folder')
  await runSql(`DELETE FROM meta WHERE name = 'without_log'`)
  const storeWithoutLog = await machineA.openStore()
  await expect(beginOrder(storeWithoutLog, 'bob@example.com')).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('cannot keep the attempt log') as string,
  })
  await storeWithoutLog.rollbacks.allowWithoutLog()
  expect((await beginOrder(storeWithoutLog, 'cy@example.com')).state).toBe('sending')
  expect((await beginOrder(storeWithoutLog, 'di@example.com')).state).toBe('sending')
})

test('a log in memory is refused, because it ends with its container or at a restart', async () => {
  await runSql(`DELETE FROM meta WHERE name = 'without_log'`)
  const folder = mkdtempSync('/dev/shm/refcheck-log-')
  try {
    const { options } = machineA
    const store = await openStore({
      ...options,
      paths: { ...options.paths, config: folder },
      chosenAddress: url,
    })
    await expect(beginOrder(store, 'ann@example.com')).rejects.toMatchObject({
      code: 'io',
      message: expect.stringMatching(/ ends with its container or at a restart$/) as string,
      hint: expect.stringContaining('refcheck store check --without-list') as string,
    })
    await store.rollbacks.allowWithoutLog()
    expect((await beginOrder(store, 'bob@example.com')).state).toBe('sending')
    await store.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('several processes of one machine that send at once do not close the store', async () => {
  const stores = [await machineA.openStore(), await machineA.openStore(), await machineA.openStore()]
  await Promise.all(
    stores.map(async (store, index) => {
      for (let number = 0; number < 8; number += 1) await beginOrder(store, `p${index}-${number}@example.com`)
    }),
  )
  expect((await stores[0]?.rollbacks.examine())?.closing).toBeUndefined()
})

test('the attempts of each account are numbered separately', async () => {
  const store = await machineA.openStore()
  for (const account of ['acme', 'zeta']) {
    await store.accounts.add(account, 0)
    const batch = fileBatch({ account })
    await store.batches.add(batch, orderRows(2))
    const rows = [await store.batches.findNextPending(batch.id)]
    for (const row of rows) if (row !== undefined) await beginAttempt(store.ledger, row, newAttempt())
  }
  expect(await queryDatabase(url, 'SELECT account, number FROM refcheck.attempts ORDER BY account')).toEqual([
    { account: 'acme', number: '1' },
    { account: 'zeta', number: '1' },
  ])
})

test('a store without its fingerprint key is refused as damaged', async () => {
  const rename = (from: string, to: string) => runSql(`UPDATE meta SET name = '${to}' WHERE name = '${from}'`)
  await rename('fingerprint_key', 'gone')
  await expect(machineA.openStore()).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('the key of its fingerprints is missing') as string,
  })
  await rename('gone', 'fingerprint_key')
})
