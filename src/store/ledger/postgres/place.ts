import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { checkServerIdentity } from 'node:tls'

import type { ClientConfig } from 'pg'

import { passwordIn, type PostgresServer } from '../../../domain/store/postgres-address.ts'
import { diskFailure, errorNumber } from '../../../disk/failure.ts'
import { shellWord } from '../../../domain/wording/shell-word.ts'
import { type Environment, variable } from '../../../host/env.ts'
import { homeFolder, NoHomeError } from '../../../host/paths.ts'
import { hasFileModes } from '../../../host/runtime.ts'

const connectTimeoutMs = 10_000
/** A statement that has no answer after this is given up, with its connection: a black hole would hold it for ever. */
export const longestStatementMs = 60_000

/** OIDs of int8 and numeric, which would come as text. */
const numbers = new Set([20, 1700])

/**
 * How the server is reached. All of it is said, so that no PG… variable of the process adds to it. `answerMs`: for who waits
 * no longer than that for a connection, and for each answer.
 */
export async function clientOptions(server: PostgresServer, answerMs?: number): Promise<ClientConfig> {
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
    connectionTimeoutMillis: answerMs ?? connectTimeoutMs,
    query_timeout: answerMs ?? longestStatementMs,
    keepAlive: true,
    types: { getTypeParser: (oid, format) => (numbers.has(oid) ? Number : types.getTypeParser(oid, format)) },
  }
}

/**
 * With the password of the URL, else of PGPASSWORD, else of PGPASSFILE or ~/.pgpass: libpq's own order. A passfile that
 * others may read is left alone, as libpq does.
 */
export async function withPassword(
  server: PostgresServer,
  env: Environment,
  onNotice?: (notice: string) => void,
): Promise<PostgresServer> {
  const password = server.password ?? variable(env, 'PGPASSWORD')
  if (password !== undefined) return { ...server, password }
  const path = passfile(env)
  if (path === undefined) return server
  try {
    if (hasFileModes() && ((await stat(path)).mode & 0o077) !== 0) {
      onNotice?.(
        `The passfile "${path}" can be read by other users and is not used; fix it with: chmod 600 ${shellWord(path)}`,
      )
      return server
    }
    return { ...server, password: passwordIn(await readFile(path, 'utf8'), server) }
  } catch (error) {
    if (errorNumber(error) === 'ENOENT' || errorNumber(error) === 'ENOTDIR') return server
    throw diskFailure('read the passfile', path, error)
  }
}

function passfile(env: Environment): string | undefined {
  const named = variable(env, 'PGPASSFILE')
  if (named !== undefined) return named
  try {
    return join(homeFolder(env), '.pgpass')
  } catch (error) {
    if (error instanceof NoHomeError) return undefined
    throw error
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
