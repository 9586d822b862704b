import { randomInt } from 'node:crypto'
import { Socket } from 'node:net'

import { Client } from 'pg'
import { beforeAll, onTestFinished } from 'vitest'

import { createDatabaseSql } from './postgres-cluster.ts'
import { hasSharedServer, sharedServer } from './shared-postgres.ts'

// Benchmarks and simulations import this module without vitest.
if (process.env['VITEST'] !== undefined) {
  /** The first test file that needs the server starts it, which is slow on a busy machine. */
  beforeAll(async () => {
    // The run of test/system has no shared server; its tests use other functions of this module.
    if (hasSharedServer()) await sharedServer()
  }, 120_000)
}

/**
 * Creates an empty database on the shared server, removed with the test. Returns its URL with the password.
 */
export async function emptyDatabase(): Promise<string> {
  const url = await createTestDatabase()
  onTestFinished(() => dropDatabase(url))
  return url
}

/** Runs SQL as the owner of a database, without the store's code. */
export async function queryDatabase(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

/** Open connections by URL, because a new one has empty caches. They do not prevent the end of the process. */
const openConnections = new Map<string, Promise<Client>>()

/** Runs SQL as `queryDatabase` does, on a connection that stays open for the queries before each test. */
export async function queryOnOpenConnection(url: string, sql: string): Promise<void> {
  const existing = openConnections.get(url)
  const connecting = existing ?? openConnection(url)
  openConnections.set(url, connecting)
  try {
    const client = await connecting
    await client.query(sql)
  } catch (error) {
    openConnections.delete(url)
    // A test may have ended the sessions of its database.
    if (existing === undefined) throw error
    await queryOnOpenConnection(url, sql)
  }
}

async function openConnection(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, stream: () => new Socket().unref() })
  client.on('error', () => openConnections.delete(url))
  await client.connect()
  return client
}

/** Creates a database, as a copy of `template` if it is given. Its caller drops it. */
export async function createTestDatabase(template?: string): Promise<string> {
  const server = await sharedServer()
  // Only digits: other random text in an address looks like a key and would be redacted in messages.
  const name = `test_${randomInt(1e9, 1e10)}`
  await queryOnOpenConnection(server.replace('{}', 'postgres'), createDatabaseSql(name, template))
  return server.replace('{}', name)
}

export async function dropDatabase(url: string): Promise<void> {
  const { pathname } = new URL(url)
  await queryOnOpenConnection(
    url.replace(pathname, '/postgres'),
    `DROP DATABASE ${pathname.slice(1)} WITH (FORCE)`,
  )
}
