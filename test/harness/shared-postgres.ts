import { connect, createServer } from 'node:net'

import { Cluster } from './postgres-cluster.ts'

/** Name of a database with an empty store, which tests copy. */
export const storeTemplate = 'made_store'

const portVariable = 'REFCHECK_TEST_POSTGRES'

/**
 * Starts one PostgreSQL server for all test files, when the first of them needs it. It ends with the test run.
 */
export default async function sharePostgres(): Promise<() => Promise<void>> {
  let cluster: Promise<Cluster> | undefined
  const server = createServer((socket) => {
    cluster ??= startWithTemplate()
    socket.on('error', () => undefined)
    cluster.then(
      (started) => socket.end(JSON.stringify({ url: started.url('{}') })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  process.env[portVariable] = String(typeof address === 'object' && address !== null ? address.port : '')
  return async () => {
    server.close()
    await (await cluster)?.stop()
  }
}

async function startWithTemplate(): Promise<Cluster> {
  const cluster = await Cluster.start()
  await cluster.ask(`CREATE DATABASE ${storeTemplate}`)
  const { createStore } = await import('./create-store.ts')
  await createStore(cluster.url(storeTemplate))
  return cluster
}

/** Whether this run of tests was set up with a server. */
export const hasSharedServer = (): boolean => process.env[portVariable] !== undefined

/** Returns the server's URL, with `{}` in place of the name of the database. */
export async function sharedServer(): Promise<string> {
  const socket = connect(Number(process.env[portVariable]), '127.0.0.1')
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  const { url, error } = JSON.parse(answer) as { url?: string; error?: string }
  if (url === undefined) throw new Error(error)
  return url
}
