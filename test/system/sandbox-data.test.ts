import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { systemRandom } from '../../src/host/random.ts'
import { openJournal } from '../../src/sandbox/service/journal.ts'
import { createSandbox } from '../../src/sandbox/control/embedded.ts'
import { ManualClock } from '../../src/sandbox/control/manual-clock.ts'
import { simpleOrder, startTime, createSandboxClient } from '../sandbox/sandbox-client.ts'
import { mountSmallDisk } from '../harness/faults/small-disk.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('disk', { mustNotHappen: 'lost' })

const openData = (path: string) =>
  openJournal(path, { clock: systemClock, random: systemRandom, pid: process.pid })

test('a sandbox whose disk was full continues with free space, and its data is complete', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-disk-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const disk = mountSmallDisk(join(folder, 'disk'), 64)
  const path = join(folder, 'disk', 'state')
  const client = createSandboxClient({ journal: await openData(path) })
  const ids = [await client.order()]
  disk.fill()
  const statuses: number[] = []
  for (let call = 0; call < 20; call += 1) {
    const { status, envelope } = await client.post(simpleOrder)
    statuses.push(status)
    if (status === 201) ids.push((envelope().data as { request_id: string }).request_id)
  }
  expect(new Set(statuses.slice(-5))).toEqual(new Set([500]))
  disk.free()
  ids.push(await client.order())
  client.sandbox.close()

  const reopened = createSandbox({ clock: new ManualClock(startTime), journal: await openData(path) })
  onTestFinished(() => reopened.close())
  expect(reopened.requests().map(({ request_id }) => request_id)).toEqual(ids)
  expect(readdirSync(join(folder, 'disk')).filter((name) => name.endsWith('.new'))).toEqual([])
})
