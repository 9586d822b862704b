import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { eventBody, postDelivery, requestIds } from '../harness/deliveries.ts'
import { startListener } from '../harness/listening.ts'
import { world } from '../harness/world.ts'
import { mountSmallDisk } from '../harness/faults/small-disk.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('disk', { mustNotHappen: 'acknowledged and lost' })

/** Starts a handler that calls `before` before it answers. */
async function startHandler(before: () => void) {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()))
    request.on('end', () => {
      before()
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

test('a receiver on a full disk exits with 1 and acknowledges nothing more; the next receiver forwards the events', async () => {
  const here = await world()
  const path = join(here.folder, 'disk')
  const disk = mountSmallDisk(path, 512)
  let isFirst = true
  const handler = await startHandler(() => {
    if (isFirst) disk.fill()
    isFirst = false
  })
  const options = { env: { REFCHECK_STORE: join(path, 'ledger.sqlite') } }
  const secret = here.env['REFCHECK_WEBHOOK_SECRET'] ?? ''
  const receiver = await startListener(here, ['--forward-to', handler.url], options)
  const [firstRequestId, secondRequestId] = requestIds as [string, string]
  expect(await postDelivery(receiver.url, secret, { body: eventBody(firstRequestId) })).toBe(204)
  const { code, stdout, stderr } = await receiver.ended
  expect([code, stdout.split('\n')]).toEqual([1, [expect.stringContaining(firstRequestId), '']])
  expect(stderr).toMatch(
    /^Listening at .+\nError: cannot use the store ".+": no space is left on the disk\nFree some space, .+\n$/,
  )

  disk.free()
  // The first forward could not be recorded, so the event is forwarded again (at least once).
  const next = await startListener(here, ['--forward-to', handler.url, '--max-events', '1'], options)
  expect(await postDelivery(next.url, secret, { body: eventBody(secondRequestId) })).toBe(204)
  expect((await next.ended).code).toBe(0)
  expect(handler.bodies.toSorted()).toEqual([
    eventBody(firstRequestId),
    eventBody(firstRequestId),
    eventBody(secondRequestId),
  ])
})

test('a delivery that arrives when the disk is full is not acknowledged, and the receiver ends', async () => {
  const here = await world()
  const path = join(here.folder, 'disk')
  const disk = mountSmallDisk(path, 512)
  const options = { env: { REFCHECK_STORE: join(path, 'ledger.sqlite') } }
  const secret = here.env['REFCHECK_WEBHOOK_SECRET'] ?? ''
  const receiver = await startListener(here, ['--json'], options)
  expect(await postDelivery(receiver.url, secret, { body: eventBody(requestIds[1]) })).toBe(204)
  disk.fill()
  expect(await postDelivery(receiver.url, secret, { body: eventBody() })).toBe(500)
  const { code, stdout, stderr } = await receiver.ended
  // stdout has only one document per line.
  expect([
    code,
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ]).toMatchObject([1, [{ request_id: requestIds[1] }]])
  expect(stderr).toContain('no space is left on the disk')
})
