import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { connectTo, serverOf } from './connect.ts'
import { Cluster } from '../../../harness/postgres-cluster.ts'
import { NoAnswerError } from '../../../../src/errors/kinds.ts'
import { requireDurable, type SessionSettings } from '../../../../src/store/ledger/postgres/connection.ts'

/** Enough time to start the PostgreSQL server twice. */
const longMs = 60_000

let cluster: Cluster
let url: string
beforeAll(async () => {
  cluster = await Cluster.start()
  url = cluster.url(await cluster.create())
}, longMs)
afterAll(() => cluster.stop())

const tlsFilePath = (name: string): string =>
  fileURLToPath(new URL(`../../../vectors/tls/${name}`, import.meta.url))
const readTlsFile = (name: string): string => readFileSync(tlsFilePath(name), 'utf8')
const verifiedUrl = (host: string, parameters = ''): string =>
  `${url.replace('127.0.0.1', host)}?sslmode=verify-full${parameters}`
const authorityParameter = `&sslrootcert=${encodeURIComponent(tlsFilePath('authority.pem'))}`

test(
  'with verify-full, a connection is refused unless the certificate is signed by the given authority and names the host',
  async () => {
    await cluster.offerTls(readTlsFile('service.pem'), readTlsFile('service.key'))
    const selectEncrypted = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
    for (const host of ['127.0.0.1', 'localhost'])
      expect(await connectTo(verifiedUrl(host, authorityParameter)).get(selectEncrypted)).toEqual({
        ssl: true,
      })
    await expect(connectTo(verifiedUrl('127.0.0.1')).get('SELECT 1')).rejects.toMatchObject({
      message: expect.stringMatching(/: the server’s certificate is not trusted \(\w+\)$/) as string,
      hint: expect.stringContaining('sslrootcert=FILE') as string,
    })
    await cluster.offerTls(readTlsFile('other.pem'), readTlsFile('other.key'))
    await expect(connectTo(verifiedUrl('127.0.0.1', authorityParameter)).get('SELECT 1')).rejects.toThrow(
      /: the server’s certificate is not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)$/,
    )
  },
  longMs,
)

test(
  'if the wait of a COMMIT for a synchronous standby is cancelled, the error is a NoAnswerError, although the server reports success',
  async () => {
    await connectTo(url).run('CREATE SCHEMA refcheck CREATE TABLE t (id int PRIMARY KEY)')
    await cluster.kill()
    await cluster.startAgain(['synchronous_standby_names=gone'])
    const database = connectTo(url)
    const { pid } = (await database.get('SELECT pg_backend_pid() AS pid')) as { pid: number }
    const transaction = database.transaction((sql) => sql.run('INSERT INTO t VALUES (1)'))
    const outcome = transaction.catch((error: unknown) => error)
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'SyncRep'`
    while ((await cluster.ask(cancel)).length === 0);
    expect(await outcome).toBeInstanceOf(NoAnswerError)
    // The row is stored nevertheless. A process without an answer finds it by reading the row again.
    expect(await database.get('SELECT count(*) AS n FROM t')).toEqual({ n: 1 })
  },
  longMs,
)

test(
  'a connection to a server with fsync off is refused',
  async () => {
    await cluster.kill()
    await cluster.startAgain(['fsync=off'])
    await expect(connectTo(url).get('SELECT 1')).rejects.toThrow(
      /: the server does not write to its disk at a commit \(fsync is off\)$/,
    )
  },
  longMs,
)

test.each<[description: string, changed: Partial<SessionSettings> | undefined, reason: string]>([
  ['that returns no settings', undefined, 'the server is older than PostgreSQL 14'],
  ['of version 13.12', { version: 130_012 }, 'the server is older than PostgreSQL 14'],
  [
    'with synchronous_commit=local',
    { synchronous_commit: 'local' },
    'synchronous_commit cannot be switched on',
  ],
  ['with the encoding SQL_ASCII', { encoding: 'SQL_ASCII' }, 'its encoding is SQL_ASCII'],
  ['with a read-only database', { read_only: true }, 'the database is read-only'],
])('a server %s is refused', (_description, changed, reason) => {
  const safe = { synchronous_commit: 'on', fsync: 'on', version: 140_000, encoding: 'UTF8', read_only: false }
  const server = serverOf('postgres://ledger@localhost/orders')
  expect(() => requireDurable(server, safe)).not.toThrow()
  expect(() => requireDurable(server, changed && { ...safe, ...changed })).toThrow(reason)
})
