import { randomInt } from 'node:crypto'

import { Client } from 'pg'
import { beforeAll, onTestFinished } from 'vitest'

import { createDatabase } from './postgres-cluster.ts'
import { sharedServer } from './shared-postgres.ts'

/** The first file that asks starts the server, which takes its time on a busy machine. */
beforeAll(async () => {
  await sharedServer()
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

/** A new database that its caller drops; the same as another one where that is named. */
export async function madeDatabase(template?: string): Promise<string> {
  const server = await sharedServer()
  // Digits alone: other random text in an address looks like a key, and is hidden in messages.
  const name = `test_${randomInt(1e9, 1e10)}`
  await asked(server.replace('{}', 'postgres'), createDatabase(name, template))
  return server.replace('{}', name)
}

export async function dropDatabase(url: string): Promise<void> {
  const { pathname } = new URL(url)
  await asked(url.replace(pathname, '/postgres'), `DROP DATABASE ${pathname.slice(1)} WITH (FORCE)`)
}
