import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

import { expect, onTestFinished, test } from 'vitest'

import type { App } from '../../src/app/app.ts'
import { serveHealth } from '../../src/app/worker.ts'
import { systemClock } from '../../src/host/clock.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `incomplete` of the fault table (test/resilience/rows.ts).
recordForFaultTable('incomplete', { mustNotHappen: 'blocked' })

test('metrics that are requested several times at once are read once, and read again for a later request', async () => {
  let queuedReads = 0
  const services = {
    batches: { listQueued: async () => ((queuedReads += 1), []) },
    store: { rollbacks: { readClosing: async () => undefined } },
  }
  const app = { services: async () => services, context: { clock: systemClock }, onClose: () => undefined }
  const health = await serveHealth(app as unknown as App, {
    host: '127.0.0.1',
    port: 0,
    profiles: [],
    readQuota: async () => [],
  })
  onTestFinished(() => health.close())
  const formatRequest = (path: string, otherHeaders = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\n${otherHeaders}\r\n`
  const socket = connect(health.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(formatRequest('/metrics').repeat(7) + formatRequest('/metrics', 'Connection: close\r\n'))
  expect((await text(socket)).match(/refcheck_queue_lag_seconds 0\n/g)).toHaveLength(8)
  expect(queuedReads).toBe(1)
  expect(await (await fetch(`${health.url}/metrics`)).text()).toContain('refcheck_queue_lag_seconds 0\n')
  expect(queuedReads).toBe(2)
})
