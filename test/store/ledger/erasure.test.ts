import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginOne, someTime } from './batches.ts'
import { fileBatch, orderRows } from './files.ts'
import { connectTo } from './postgres/connect.ts'
import { backends, scratch, type Scratch } from './scratch.ts'
import { sharedStore } from '../../harness/postgres-store.ts'
import { InternalError } from '../../../src/errors/kinds.ts'
import { all, type Engine, type Query, type Work } from '../../../src/store/ledger/engine.ts'
import { metaText } from '../../../src/store/ledger/engine.ts'
import { StoreKey } from '../../../src/store/ledger/fingerprints.ts'
import { Maintenance, type Upkeep } from '../../../src/store/ledger/maintenance.ts'
import { postgresEngine } from '../../../src/store/ledger/postgres/connection.ts'
import { sqliteUpkeep } from '../../../src/store/ledger/sqlite/store.ts'
import { RollbackDetection } from '../../../src/store/ledger/rollback-detection.ts'
import { Database, sqliteEngine } from '../../../src/store/ledger/sqlite/engine.ts'

/** An engine with other methods in the place of its own. */
const changed = (engine: Engine, changes: Partial<Engine>): Engine => ({
  location: engine.location,
  session: () => engine.session(),
  isShared: engine.isShared,
  run: (work) => engine.run(work),
  transaction: (work, lock) => engine.transaction(work, lock),
  snapshot: (work) => engine.snapshot(work),
  exclusively: (work) => engine.exclusively(work),
  ...changes,
})

describe.each(backends)('%s', (backend) => {
  let setup: Scratch
  beforeEach(() => {
    setup = scratch(2_000, backend)
  })
  afterEach(() => setup.end())

  async function engineOf(): Promise<Engine> {
    if (backend === 'PostgreSQL') return postgresEngine(connectTo(await sharedStore()))
    return sqliteEngine(new Database(setup.path, 2_000))
  }

  /** Fingerprints that the attempt logs of this machine hold. */
  function loggedPrints(): string[] {
    const folder = join(setup.folder, 'config', 'attempts')
    const logs = readdirSync(folder).filter((name) => name.endsWith('.log'))
    const text = logs.map((name) => readFileSync(join(folder, name), 'utf8')).join('')
    return (text.replaceAll(/"key":"[0-9a-f]{64}"/g, '').match(/"[0-9a-f]{64}"/g) ?? []).filter(
      (print) => print !== `"${'0'.repeat(64)}"`,
    )
  }

  test('a process dies before the fingerprints are removed from the attempt log: the next one removes them', async () => {
    const store = await setup.store()
    const sent = await beginOne(store.ledger, 'ann@example.com')
    await store.ledger.move(sent, {
      to: 'accepted',
      at: someTime,
      requestId: sent.attemptId,
      requestStatus: 'COMPLETED',
    })
    expect(loggedPrints()).toHaveLength(3)
    const engine = await engineOf()
    const dying = {
      location: '',
      key: { fingerprint: (identity: string) => identity },
      rollbacks: {
        idsHere: (ids: readonly string[]) => Promise.resolve([...ids]),
        removeFingerprints: () => {
          throw new InternalError('killed')
        },
      },
      upkeep: { scrub: () => Promise.resolve(undefined) } as unknown as Upkeep,
    }
    const options = { dryRun: false, completely: true }
    await expect(
      new Maintenance({ ...dying, engine }).purge({ email: 'ann@example.com' }, options),
    ).rejects.toThrow('killed')
    expect(loggedPrints()).toHaveLength(3)
    await store.close()
    await setup.store()
    expect(loggedPrints()).toEqual([])
  })

  test('a process dies before older versions of rows are removed: the next one removes them', async () => {
    const store = await setup.store()
    const sent = await beginOne(store.ledger, 'ann@example.com')
    await store.ledger.move(sent, { to: 'rejected', at: someTime, reason: 'no' })
    const engine = await engineOf()
    const parts = {
      location: '',
      key: { fingerprint: (identity: string) => identity },
      rollbacks: { idsHere: () => Promise.resolve([]), removeFingerprints: () => Promise.resolve() },
      upkeep: {
        scrub: () => {
          throw new InternalError('killed')
        },
      } as unknown as Upkeep,
    }
    const unscrubbed = () => engine.run(metaText('unscrubbed'))
    const options = { dryRun: false, completely: false }
    await expect(
      new Maintenance({ ...parts, engine }).purge({ email: 'ann@example.com' }, options),
    ).rejects.toThrow('killed')
    expect(await unscrubbed()).toBe('1')
    await store.close()
    await setup.store()
    expect(await unscrubbed()).toBeUndefined()
  })

  test('a person who was removed is found again by the fingerprint of the e-mail, and removed completely', async () => {
    const store = await setup.store()
    const sent = await beginOne(store.ledger, 'ann@example.com')
    await store.ledger.move(sent, { to: 'rejected', at: someTime, reason: 'no' })
    const { maintenance } = store
    const who = { email: 'Ann@example.com' }
    await maintenance.purge(who, { dryRun: false, completely: false })
    expect(await maintenance.purge(who, { dryRun: false, completely: false })).toMatchObject({ rows: 0 })
    expect(loggedPrints()).toHaveLength(3)
    expect(await maintenance.purge(who, { dryRun: false, completely: true })).toMatchObject({ rows: 1 })
    expect(loggedPrints()).toEqual([])
    expect(await maintenance.purge(who, { dryRun: false, completely: true })).toMatchObject({ rows: 0 })
  })

  test('a purge that fails leaves the attempt log as it was', async () => {
    const store = await setup.store()
    const sent = await beginOne(store.ledger, 'ann@example.com')
    await store.ledger.move(sent, { to: 'rejected', at: someTime, reason: 'no' })
    const engine = await engineOf()
    let removed = 0
    const parts = {
      location: '',
      key: { fingerprint: (identity: string) => identity },
      rollbacks: {
        idsHere: (ids: readonly string[]) => Promise.resolve([...ids]),
        removeFingerprints: () => {
          removed += 1
          return Promise.resolve()
        },
      },
      upkeep: { scrub: () => Promise.resolve(undefined) } as unknown as Upkeep,
    }
    const failing = changed(engine, {
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

test('the check of a store holds 2,000 rows in memory at the most', async () => {
  const setup = scratch()
  try {
    const store = await setup.store()
    await store.batches.add(fileBatch(), orderRows(2_500))
    const database = new Database(setup.path, 50)
    let maxRows = 0
    const answer = <T>(work: Work<T>): T => {
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
    const counted = changed(engine, { snapshot: (work) => Promise.resolve(answer(work())) })
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
      engine: counted,
      key,
      rollbacks,
      upkeep: sqliteUpkeep(database),
      location: setup.folder,
    })
    expect(await maintenance.check()).toEqual([])
    expect(maxRows).toBe(2_000)
    database.close()
  } finally {
    await setup.end()
  }
})
