import { afterAll, beforeAll, expect, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { emails, peopleFile } from '../../harness/batch-file.ts'
import { Cluster } from '../../harness/postgres-cluster.ts'
import { world } from '../../harness/world.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.start()
}, 120_000)
afterAll(() => cluster.stop())

interface Outage {
  begin: (database: string) => Promise<void>
  end: (database: string) => Promise<void>
}

const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()`

const outages: [what: string, why: RegExp, outage: Outage][] = [
  [
    'killed as in a power cut, and started again',
    /: (?:connection refused|the connection broke|the server .*)\.$/m,
    { begin: () => cluster.kill(), end: () => cluster.again() },
  ],
  [
    'read-only for a while',
    /: (?:the database is read-only|the server is shutting down|the connection broke)\.$/m,
    {
      begin: async (database) => {
        await cluster.ask(`ALTER DATABASE ${database} SET default_transaction_read_only = on`)
        await cluster.ask(`${others} AND datname = '${database}'`)
      },
      end: async (database) => {
        await cluster.ask(`ALTER DATABASE ${database} SET default_transaction_read_only = off`)
      },
    },
  ],
]

test.each(outages)(
  'a database %s while an order is in flight: it is waited for, and nobody is lost or ordered twice',
  async (_, why, { begin, end }) => {
    const database = await cluster.create()
    const env = { REFCHECK_STORE: cluster.url(database) }
    const { run, folder, sandbox, intercept } = await world({ clock: systemClock })
    await run(['store', 'migrate'], { env })
    peopleFile(folder, emails(4))
    let posts = 0
    let ended: Promise<void> | undefined
    intercept(async (request, ask) => {
      const answer = await ask(request)
      if (request.method !== 'POST' || (posts += 1) !== 2) return answer
      await begin(database)
      return answer
    })
    const done = await run(['batch', 'run', 'people.csv', '--package', '102', '--yes'], {
      env,
      onWrite(_stream, text) {
        if (text.includes('Waiting for the store')) ended = end(database)
      },
    })
    await ended
    expect(done.stderr).toMatch(why)
    expect(done.stderr.match(/Waiting for the store/g)).toHaveLength(1)
    expect(done.stderr).toMatch(/The store "\S+" can be used again\.\n/)
    expect(done).toMatchObject({ code: 0 })
    expect(sandbox.requests().map(({ recipient }) => recipient.email)).toEqual(emails(4))
    const rows = await cluster.ask(
      'SELECT state, count(*)::int AS n FROM refcheck.submissions GROUP BY 1',
      database,
    )
    expect(rows).toEqual([{ state: 'accepted', n: 4 }])
  },
  60_000,
)
