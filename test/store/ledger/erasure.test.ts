import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginOne, someTime } from './batches.ts'
import { fileBatch, invalidRow, orderRows, rowsOf } from './files.ts'
import { connectTo } from './postgres/connect.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import { sharedStore } from '../../harness/postgres-store.ts'
import type { NewRow } from '../../../src/domain/batch/batch.ts'
import { InternalError } from '../../../src/errors/kinds.ts'
import { all, type Engine, type Query, type Work } from '../../../src/store/ledger/engine.ts'
import { metaText } from '../../../src/store/ledger/engine.ts'
import { StoreKey } from '../../../src/store/ledger/fingerprints.ts'
import { Maintenance, type Upkeep } from '../../../src/store/ledger/maintenance.ts'
import { postgresEngine } from '../../../src/store/ledger/postgres/connection.ts'
import { sqliteUpkeep } from '../../../src/store/ledger/sqlite/store.ts'
import { RollbackDetection } from '../../../src/store/ledger/rollback-detection.ts'
import { Database, sqliteEngine } from '../../../src/store/ledger/sqlite/engine.ts'

/** Returns the engine with some of its methods replaced. */
const withMethods = (engine: Engine, changes: Partial<Engine>): Engine => ({
  location: engine.location,
  session: () => engine.session(),
  allowsSeveralRunners: engine.allowsSeveralRunners,
  run: (work) => engine.run(work),
  transaction: (work, lock) => engine.transaction(work, lock),
  snapshot: (work) => engine.snapshot(work),
  exclusively: (work) => engine.exclusively(work),
  ...changes,
})

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  beforeEach(() => {
    setup = createTemporaryStores(2_000, backend)
  })
  afterEach(() => setup.remove())

  async function openEngine(): Promise<Engine> {
    if (backend === 'PostgreSQL') return postgresEngine(connectTo(await sharedStore()))
    return sqliteEngine(new Database(setup.path, 2_000))
  }

  /** Returns the fingerprints in the attempt logs of this machine. */
  function readLoggedFingerprints(): string[] {
    const folder = join(setup.folder, 'config', 'attempts')
    const logs = readdirSync(folder).filter((name) => name.endsWith('.log'))
    const text = logs.map((name) => readFileSync(join(folder, name), 'utf8')).join('')
    return (text.replaceAll(/"key":"[0-9a-f]{64}"/g, '').match(/"[0-9a-f]{64}"/g) ?? []).filter(
      (print) => print !== `"${'0'.repeat(64)}"`,
    )
  }

  test('if a process dies before the fingerprints are removed from the attempt log, the next process removes them', async () => {
    const store = await setup.openStore()
    const attempt = await beginOne(store.ledger, 'ann@example.com')
    await store.ledger.move(attempt, {
      to: 'accepted',
      at: someTime,
      requestId: attempt.attemptId,
      requestStatus: 'COMPLETED',
    })
    expect(readLoggedFingerprints()).toHaveLength(3)
    const engine = await openEngine()
    const dyingParts = {
      location: '',
      key: { fingerprint: (identity: string) => identity },
      rollbacks: {
        idsOnThisMachine: (ids: readonly string[]) => Promise.resolve([...ids]),
        removeFingerprints: () => {
          throw new InternalError('killed')
        },
      },
      upkeep: { scrub: () => Promise.resolve(undefined) } as unknown as Upkeep,
    }
    const options = { dryRun: false, completely: true }
    await expect(
      new Maintenance({ ...dyingParts, engine }).purge({ email: 'ann@example.com' }, options),
    ).rejects.toThrow('killed')
    expect(readLoggedFingerprints()).toHaveLength(3)
    await store.close()
    await setup.openStore()
    expect(readLoggedFingerprints()).toEqual([])
  })

  test('a purge by e-mail also removes an invalid row with the same name and phone, whose e-mail is mistyped', async () => {
    const store = await setup.openStore()
    const { batchId } = await beginOne(store.ledger, 'ann@example.com')
    const [row] = await store.ledger.list({ batchId })
    const { first_name = '', phone = '' } = row?.recipient ?? {}
    const batch = fileBatch()
    const mistyped = (number: number, changes: object): NewRow =>
      ({
        ...invalidRow(number),
        person: { ...row?.recipient, email: 'ann at example', ...changes },
      }) as NewRow
    const namesake = { phone: `${phone}9` }
    const rows = [
      mistyped(1, { first_name: first_name.toUpperCase() }),
      mistyped(2, { last_name: 'Other' }),
      mistyped(3, namesake),
    ]
    await store.batches.add(batch, rows)
    await store.maintenance.purge({ email: 'ann@example.com' }, { dryRun: false, completely: false })
    const unnamed = { first_name: undefined, last_name: undefined, email: undefined, phone: undefined }
    const people = (await rowsOf(store, batch.id)).map(({ person }) => person)
    expect(people).toMatchObject([unnamed, { last_name: 'Other' }, namesake])
  })

  test('if a process dies before older versions of rows are removed, the next process removes them', async () => {
    const store = await setup.openStore()
    const attempt = await beginOne(store.ledger, 'ann@example.com')
    await store.ledger.move(attempt, { to: 'rejected', at: someTime, reason: 'no' })
    const engine = await openEngine()
    const parts = {
      location: '',
      key: { fingerprint: (identity: string) => identity },
      rollbacks: { idsOnThisMachine: () => Promise.resolve([]), removeFingerprints: () => Promise.resolve() },
      upkeep: {
        scrub: () => {
          throw new InternalError('killed')
        },
      } as unknown as Upkeep,
    }
    const readUnscrubbed = () => engine.run(metaText('unscrubbed'))
    const options = { dryRun: false, completely: false }
    await expect(
      new Maintenance({ ...parts, engine }).purge({ email: 'ann@example.com' }, options),
    ).rejects.toThrow('killed')
    expect(await readUnscrubbed()).toBe('1')
    await store.close()
    await setup.openStore()
    expect(await readUnscrubbed()).toBeUndefined()
  })

  test('a person who was removed is found again by the fingerprint of the e-mail, and removed completely', async () => {
    const store = await setup.openStore()
    const attempt = await beginOne(store.ledger, 'ann@example.com')
    await store.ledger.move(attempt, { to: 'rejected', at: someTime, reason: 'no' })
    const { maintenance } = store
    const person = { email: 'Ann@example.com' }
    await maintenance.purge(person, { dryRun: false, completely: false })
    expect(await maintenance.purge(person, { dryRun: false, completely: false })).toMatchObject({ rows: 0 })
    expect(readLoggedFingerprints()).toHaveLength(3)
    expect(await maintenance.purge(person, { dryRun: false, completely: true })).toMatchObject({ rows: 1 })
    expect(readLoggedFingerprints()).toEqual([])
    expect(await maintenance.purge(person, { dryRun: false, completely: true })).toMatchObject({ rows: 0 })
  })

  test('a purge that fails does not change the attempt log', async () => {
    const store = await setup.openStore()
    const attempt = await beginOne(store.ledger, 'ann@example.com')
    await store.ledger.move(attempt, { to: 'rejected', at: someTime, reason: 'no' })
    const engine = await openEngine()
    let removed = 0
    const parts = {
      location: '',
      key: { fingerprint: (identity: string) => identity },
      rollbacks: {
        idsOnThisMachine: (ids: readonly string[]) => Promise.resolve([...ids]),
        removeFingerprints: () => {
          removed += 1
          return Promise.resolve()
        },
      },
      upkeep: { scrub: () => Promise.resolve(undefined) } as unknown as Upkeep,
    }
    const failing = withMethods(engine, {
      transaction: (work) =>
        engine.transaction(function* () {
          yield* work()
          throw new InternalError('the disk is full')
        }),
    })
    const options = { dryRun: false, completely: true }
    await expect(
      new Maintenance({ ...parts, engine: failing }).purge({ email: 'ann@example.com' }, options),
    ).rejects.toThrow('is full')
    expect(removed).toBe(0)
    const rows = await engine.run(all<{ email: string }>('SELECT email FROM submissions'))
    expect(rows).toMatchObject([{ email: 'ann@example.com' }])
  })
})

test('the check of a store reads at most 2,000 rows at a time into memory', async () => {
  const setup = createTemporaryStores()
  try {
    const store = await setup.openStore()
    await store.batches.add(fileBatch(), orderRows(2_500))
    const database = new Database(setup.path, 50)
    let maxRows = 0
    const runWork = <T>(work: Work<T>): T => {
      let step = work.next()
      while (step.done !== true) {
        const [query] = step.value.queries
        const { kind, sql, values } = query as Query & { kind: 'all' | 'get' | 'run' }
        const found: unknown = database[kind](sql, values)
        if (Array.isArray(found)) maxRows = Math.max(maxRows, found.length)
        step = work.next([found])
      }
      return step.value
    }
    const engine = sqliteEngine(database)
    const key = new StoreKey(database.location)
    await engine.run(key.loadKey())
    const countingEngine = withMethods(engine, { snapshot: (work) => Promise.resolve(runWork(work())) })
    const { clock, random } = setup.options
    const rollbacks = new RollbackDetection({
      engine,
      key,
      files: undefined,
      runner: { beganAt: 0 },
      clock,
      random,
    })
    const maintenance = new Maintenance({
      engine: countingEngine,
      key,
      rollbacks,
      upkeep: sqliteUpkeep(database),
      location: setup.folder,
    })
    expect(await maintenance.check()).toEqual([])
    expect(maxRows).toBe(2_000)
    database.close()
  } finally {
    await setup.remove()
  }
})
