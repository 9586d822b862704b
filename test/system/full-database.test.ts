import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { Cluster } from '../harness/postgres-cluster.ts'
import { world } from '../harness/world.ts'
import { mountSmallDisk } from '../harness/faults/small-disk.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('disk', { mustNotHappen: 'lost or twice' })

/** The account that the server runs as when root starts it. */
const serverUid = 65_534

test('a run waits for a database whose disk is full while orders are in flight, and each person is ordered once', async () => {
  const cluster = await Cluster.start()
  onTestFinished(() => cluster.stop())
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-full-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o711)
  const path = join(folder, 'disk')
  const disk = mountSmallDisk(path, 24_000)
  chownSync(path, serverUid, serverUid)
  await cluster.ask(`CREATE TABLESPACE small LOCATION '${path}'`)
  const database = await cluster.create()
  await cluster.ask(`ALTER DATABASE ${database} SET TABLESPACE small`)
  const env = { REFCHECK_STORE: cluster.url(database), REFCHECK_QUOTA: '10000/60' }
  const here = await world({ clock: systemClock, quota: [{ calls: 10_000, seconds: 60 }] })
  await here.run(['store', 'migrate'], { env })
  writePeopleFile(here.folder, createEmails(100))
  const countOrders = (): number => here.sandbox.requests().length
  let orderCountWhenFull = 0
  here.intercept(async (request, ask) => {
    const answer = await ask(request)
    if (request.method === 'POST' && countOrders() === 5) disk.fill()
    return answer
  })
  const outcome = await here.run(['batch', 'run', 'people.csv', '--package', '102', '--yes'], {
    env,
    onWrite(_stream, text) {
      if (!text.includes('Waiting for the store')) return
      orderCountWhenFull = countOrders()
      disk.free()
    },
  })
  expect(outcome.stderr).toMatch(
    /Waiting for the store "\S+": no space is left on the disk of the server\.$/m,
  )
  expect(outcome.stderr).toMatch(/The store "\S+" can be used again\.$/m)
  expect(outcome).toMatchObject({ code: 0 })
  expect(orderCountWhenFull).toBeLessThan(100)
  expect(here.sandbox.requests().map(({ recipient }) => recipient.email)).toEqual(createEmails(100))
})
