import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

import { expect, onTestFinished, test } from 'vitest'

import type { App } from '../../src/app/app.ts'
import { serveHealth } from '../../src/app/worker.ts'
import { systemClock } from '../../src/host/clock.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('incomplete', 'kept out')

test('figures that many ask for at the same moment are made once, and again for who asks later', async () => {
  let queuedReads = 0
  const services = {
    batches: { listQueued: async () => ((queuedReads += 1), []) },
    store: { rollbacks: { closing: async () => undefined } },
  }
  const app = { services: async () => services, context: { clock: systemClock }, onClose: () => undefined }
  const health = await serveHealth(app as unknown as App, {
    host: '127.0.0.1',
    port: 0,
    profiles: [],
    quota: async () => [],
  })
  onTestFinished(() => health.close())
  const ask = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
  const socket = connect(health.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(ask('/metrics').repeat(7) + ask('/metrics', 'Connection: close\r\n'))
  expect((await text(socket)).match(/refcheck_queue_lag_seconds 0\n/g)).toHaveLength(8)
  expect(queuedReads).toBe(1)
  expect(await (await fetch(`${health.url}/metrics`)).text()).toContain('refcheck_queue_lag_seconds 0\n')
  expect(queuedReads).toBe(2)
})
