import { fileURLToPath } from 'node:url'

import { expect, onTestFinished, test } from 'vitest'

import { listen } from '../../../src/server/listen.ts'
import { orderArguments } from '../../harness/people.ts'
import { startProgram } from '../../harness/process.ts'
import { world } from '../../harness/world.ts'
import { startConnectProxy } from '../../http/connect-proxy.ts'
import { identity } from '../../http/raw-server.ts'

/** Node.js reads this file only when a process starts, so the program runs in a separate process here. */
const authorityFile = fileURLToPath(new URL('../../vectors/tls/authority.pem', import.meta.url))

test('a store in memory refuses to order from a service that is not on this machine', async () => {
  const { sandbox, env } = await world()
  const service = await listen((request, connection) => sandbox.fetch(request, connection), {
    tls: identity('service'),
  })
  onTestFinished(() => service.close())
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': service.port } })
  const order = async (storeEnv: Record<string, string>): Promise<[unknown, string]> => {
    const run = startProgram(orderArguments('Priya', ['--yes', '--quiet']), {
      ...env,
      REFCHECK_BASE_URL: 'https://service.test',
      NODE_EXTRA_CA_CERTS: authorityFile,
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
      ...storeEnv,
    })
    return [await run.ended, run.stderr()]
  }
  expect(await order({ REFCHECK_STORE: ':memory:' })).toMatchInlineSnapshot(`
    [
      2,
      "Error: refused to order with a store in memory, which would forget the order
    Set REFCHECK_STORE to a file, or unset it. ":memory:" is allowed for a service on this machine only.
    ",
    ]
  `)
  expect(sandbox.requests()).toEqual([])
  // With a store in a file, the same command orders.
  expect(await order({})).toEqual([0, ''])
  expect(sandbox.requests()).toHaveLength(1)
})
