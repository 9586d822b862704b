import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { createEmails, writePeopleFile } from '../../harness/batch-file.ts'
import { createStore } from '../../harness/create-store.ts'
import { Cluster } from '../../harness/postgres-cluster.ts'
import { world } from '../../harness/world.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('machines', { mustNotHappen: 'outages with a person ordered twice' })

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.start(['max_connections=20'])
}, 120_000)
afterAll(() => cluster.stop())

interface Outage {
  begin: (database: string) => Promise<void>
  end: (database: string) => Promise<void>
}

const endOtherSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()`

/** Connections that use all slots of the server, including that of the program, whose connection is ended. */
const connections: Client[] = []
async function useAllConnections(): Promise<void> {
  for (let slots: number | undefined; ;) {
    const client = new Client({ connectionString: cluster.url('postgres') })
    client.on('error', () => undefined)
    try {
      await client.connect()
      connections.push(client)
    } catch {
      const ended = await connections[0]?.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'refcheck'`,
      )
      const endedCount = ended?.rowCount ?? 0
      // A closed connection frees its slot a moment later.
      slots ??= connections.length + endedCount
      if (endedCount === 0 && connections.length >= slots) return
    }
  }
}

/** SQL that makes each attempt and each outcome fail as on a server whose disk is full. */
const makeDiskFull = `
CREATE FUNCTION refcheck.full() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_a BEFORE INSERT ON refcheck.attempts EXECUTE FUNCTION refcheck.full();
CREATE TRIGGER full_s BEFORE UPDATE ON refcheck.submissions EXECUTE FUNCTION refcheck.full()`

const outages: [what: string, message: RegExp, outage: Outage][] = [
  [
    'that is killed as in a power cut, and started again',
    /: (?:connection refused|the connection broke|the server .*)\.$/m,
    { begin: () => cluster.kill(), end: () => cluster.startAgain() },
  ],
  [
    'that is read-only for a while',
    /: (?:the database is read-only|the server is shutting down|the connection broke)\.$/m,
    {
      begin: async (database) => {
        await cluster.ask(`ALTER DATABASE ${database} SET default_transaction_read_only = on`)
        await cluster.ask(`${endOtherSessions} AND datname = '${database}'`)
      },
      end: async (database) => {
        await cluster.ask(`ALTER DATABASE ${database} SET default_transaction_read_only = off`)
      },
    },
  ],
  [
    'that accepts no more connections',
    /: the server takes no more connections\.$/m,
    {
      begin: useAllConnections,
      end: async () => {
        for (const client of connections.splice(0)) await client.end()
      },
    },
  ],
  [
    'whose disk is full',
    /: no space is left on the disk of the server\.$/m,
    {
      begin: async (database) => {
        await cluster.ask(makeDiskFull, database)
      },
      end: async (database) => {
        await cluster.ask('DROP FUNCTION refcheck.full CASCADE', database)
      },
    },
  ],
]

test.each(outages)(
  'a run waits for a database %s while an order is in flight, and each person is ordered once',
  async (_what, message, { begin, end }) => {
    const database = await cluster.create()
    const env = { REFCHECK_STORE: cluster.url(database) }
    const { run, folder, sandbox, intercept } = await world({ clock: systemClock })
    await createStore(env.REFCHECK_STORE)
    writePeopleFile(folder, createEmails(4))
    let posts = 0
    let outage: Promise<void> | undefined
    let ended: Promise<void> | undefined
    intercept(async (request, ask) => {
      const answer = await ask(request)
      if (request.method !== 'POST' || (posts += 1) !== 2) return answer
      outage = begin(database)
      await outage
      return answer
    })
    const outcome = await run(['batch', 'run', 'people.csv', '--package', '102', '--yes'], {
      env,
      onWrite(_stream, text) {
        // The program can lose its connection before the server has ended.
        if (text.includes('Waiting for the store')) ended = outage?.then(() => end(database))
      },
    })
    await ended
    expect(outcome.stderr).toMatch(message)
    expect(outcome.stderr.match(/Waiting for the store/g)).toHaveLength(1)
    expect(outcome.stderr).toMatch(/The store "\S+" can be used again\.\n/)
    expect(outcome).toMatchObject({ code: 0 })
    expect(sandbox.requests().map(({ recipient }) => recipient.email)).toEqual(createEmails(4))
    const rows = await cluster.ask(
      'SELECT state, count(*)::int AS n FROM refcheck.submissions GROUP BY 1',
      database,
    )
    expect(rows).toEqual([{ state: 'accepted', n: 4 }])
  },
  60_000,
)

test('a run with a slow database waits for it, and orders each person once', async () => {
  const database = await cluster.create()
  const env = { REFCHECK_STORE: cluster.url(database) }
  const { run, folder, sandbox } = await world({ clock: systemClock })
  await createStore(env.REFCHECK_STORE)
  await cluster.ask(
    `CREATE FUNCTION refcheck.slow() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(0.2); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON refcheck.attempts DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION refcheck.slow();
    CREATE TRIGGER slow AFTER UPDATE ON refcheck.submissions EXECUTE FUNCTION refcheck.slow()`,
    database,
  )
  writePeopleFile(folder, createEmails(3))
  const outcome = await run(['batch', 'run', 'people.csv', '--package', '102', '--yes', '--quiet'], { env })
  expect(outcome).toMatchObject({ code: 0, stderr: '' })
  expect(sandbox.requests().map(({ recipient }) => recipient.email)).toEqual(createEmails(3))
}, 60_000)
