import { readFile } from 'node:fs/promises'
import { checkServerIdentity } from 'node:tls'

import type { ClientConfig } from 'pg'

import type { PostgresServer } from '../../../domain/store/postgres-address.ts'
import { diskFailure } from '../../../disk/failure.ts'

const connectTimeoutMs = 10_000

/** OIDs of int8 and numeric, which would come as text. */
const numbers = new Set([20, 1700])

/** How the server is reached. All of it is said, so that no PG… variable of the process adds to it. */
export async function clientOptions(server: PostgresServer): Promise<ClientConfig> {
  const { user, password, host, port, database, tls } = server
  const { types } = await import('pg')
  return {
    user,
    password: () => Promise.resolve(password as string),
    host,
    port,
    database,
    ssl: tls === 'disable' ? false : await verified(server),
    application_name: 'refcheck',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: { getTypeParser: (oid, format) => (numbers.has(oid) ? Number : types.getTypeParser(oid, format)) },
  }
}

/** verify-full: a chain to a known authority, and the host's own name in the certificate. */
async function verified({ host, rootCertificate }: PostgresServer): Promise<ClientConfig['ssl']> {
  const ca = rootCertificate === undefined ? {} : { ca: await certificate(rootCertificate) }
  return {
    ...ca,
    rejectUnauthorized: true,
    checkServerIdentity: (_, peer) => checkServerIdentity(host, peer),
  }
}

async function certificate(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw diskFailure('read sslrootcert', path, error)
  }
}
