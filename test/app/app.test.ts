import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { App } from '../../src/app/app.ts'
import { systemClock } from '../../src/host/clock.ts'
import { systemRandom } from '../../src/host/random.ts'
import { captureStreams } from '../harness/streams.ts'
import { temporaryFolder } from '../harness/world.ts'

/** An app whose settings and store are in a new folder. */
function newApp(): { app: App; storeFile: string } {
  const folder = temporaryFolder()
  const env = { REFCHECK_CONFIG_DIR: join(folder, 'config'), REFCHECK_DATA_DIR: join(folder, 'data') }
  const streams = captureStreams()
  const interrupts = { signal: new AbortController().signal, isStopped: false, isTerminated: false }
  const context = { env, clock: systemClock, random: systemRandom, streams, interrupts, cwd: folder }
  const options = { version: '0', profile: undefined, noColor: true, quiet: false, verbose: false }
  const app = new App(context, { ...options, timeoutMs: undefined })
  onTestFinished(() => app.close())
  return { app, storeFile: join(folder, 'data', 'ledger.sqlite') }
}

test('a service is made at most once, and none before it is asked for', async () => {
  const { app, storeFile } = newApp()
  await app.services('settings', 'clock', 'files')
  expect(existsSync(storeFile)).toBe(false)
  const [{ store }, { ledger, batches }] = await Promise.all([
    app.services('store'),
    app.services('ledger', 'batches'),
  ])
  expect(ledger).toBe(store.ledger)
  expect(batches).toBe(store.batches)
  expect((await app.services('store')).store).toBe(store)
})

test('of several that cannot be made the first is reported, and what comes after it is not made', async () => {
  const { app, storeFile } = newApp()
  await expect(app.services('session', 'store')).rejects.toMatchObject({ code: 'unauthenticated' })
  expect(existsSync(storeFile)).toBe(false)
})

test('what was made is closed with the app, last first, once its end was counted', async () => {
  const { app } = newApp()
  const closed: string[] = []
  app.onClose(() => void closed.push('first'))
  app.beforeClose(
    async () => void closed.push(`settled ${(await app.services('batches')).batches.constructor.name}`),
  )
  app.onClose(() => void closed.push('second'))
  const { ledger } = await app.services('ledger')
  await app.close()
  expect(closed).toEqual(['settled Batches', 'second', 'first'])
  await expect((async () => ledger.list({}))()).rejects.toBeInstanceOf(Error)
})

test('another profile has settings and a session of its own, and shares the store and the connections', async () => {
  const { app } = newApp()
  const other = await app.forProfile('other')
  const [own, theirs] = [
    await app.services('store', 'http', 'profile'),
    await other.services('store', 'http', 'profile'),
  ]
  expect(theirs.store).toBe(own.store)
  expect(theirs.http).toBe(own.http)
  expect([own.profile, theirs.profile]).toEqual([undefined, 'other'])
})
