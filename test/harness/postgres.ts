import { randomInt } from 'node:crypto'
import { Socket } from 'node:net'

import { Client } from 'pg'
import { beforeAll, onTestFinished } from 'vitest'

import { createDatabase } from './postgres-cluster.ts'
import { hasSharedServer, sharedServer } from './shared-postgres.ts'

/** The first file that asks starts the server, which takes its time on a busy machine. */
beforeAll(async () => {
  // A run of tests with programs of the system has no shared server, and loads this module for other functions alone.
  if (hasSharedServer()) await sharedServer()
}, 120_000)

/** An empty database of its own on the shared server; goes away with the test. Its `postgres://…`, password and all. */
export async function emptyDatabase(): Promise<string> {
  const url = await madeDatabase()
  onTestFinished(() => dropDatabase(url))
  return url
}

/** Statements as the owner of a database, past the store. */
export async function asked(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

/** Connections that stay open, and do not keep the process running: a new one has its caches to fill at each statement. */
const lasting = new Map<string, Promise<Client>>()

/** The same as `asked`, for a database that is asked before each test. */
export async function askedOften(url: string, sql: string): Promise<void> {
  const known = lasting.get(url)
  const connecting = known ?? connectLasting(url)
  lasting.set(url, connecting)
  try {
    const client = await connecting
    await client.query(sql)
  } catch (error) {
    lasting.delete(url)
    // A test may have ended the sessions of its database.
    if (known === undefined) throw error
    await askedOften(url, sql)
  }
}

async function connectLasting(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, stream: () => new Socket().unref() })
  client.on('error', () => lasting.delete(url))
  await client.connect()
  return client
}

/** A new database that its caller drops; the same as another one where that is named. */
export async function madeDatabase(template?: string): Promise<string> {
  const server = await sharedServer()
  // Digits alone: other random text in an address looks like a key, and is hidden in messages.
  const name = `test_${randomInt(1e9, 1e10)}`
  await askedOften(server.replace('{}', 'postgres'), createDatabase(name, template))
  return server.replace('{}', name)
}

export async function dropDatabase(url: string): Promise<void> {
  const { pathname } = new URL(url)
  await askedOften(url.replace(pathname, '/postgres'), `DROP DATABASE ${pathname.slice(1)} WITH (FORCE)`)
}
