import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { App } from '../../src/app/app.ts'
import { systemClock } from '../../src/host/clock.ts'
import { systemRandom } from '../../src/host/random.ts'
import { captureStreams } from '../harness/streams.ts'
import { temporaryFolder } from '../harness/world.ts'

/** Creates an app whose settings and store are in a new folder. */
function createApp(): { app: App; storeFile: string } {
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

test('a service is created at most once, and only when it is requested', async () => {
  const { app, storeFile } = createApp()
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

test('if several services cannot be created, the error of the first is reported, and later ones are not created', async () => {
  const { app, storeFile } = createApp()
  await expect(app.services('session', 'store')).rejects.toMatchObject({ code: 'unauthenticated' })
  expect(existsSync(storeFile)).toBe(false)
})

test('closing the app first calls the beforeClose callbacks, then the onClose callbacks in reverse order', async () => {
  const { app } = createApp()
  const calls: string[] = []
  app.onClose(() => void calls.push('first'))
  app.beforeClose(
    async () => void calls.push(`settled ${(await app.services('batches')).batches.constructor.name}`),
  )
  app.onClose(() => void calls.push('second'))
  const { ledger } = await app.services('ledger')
  await app.close()
  expect(calls).toEqual(['settled Batches', 'second', 'first'])
  await expect((async () => ledger.list({}))()).rejects.toBeInstanceOf(Error)
})

test('another profile has separate settings and a separate session, and shares the store and the connections', async () => {
  const { app } = createApp()
  const otherApp = await app.forProfile('other')
  const [ownServices, otherServices] = [
    await app.services('store', 'http', 'profile'),
    await otherApp.services('store', 'http', 'profile'),
  ]
  expect(otherServices.store).toBe(ownServices.store)
  expect(otherServices.http).toBe(ownServices.http)
  expect([ownServices.profile, otherServices.profile]).toEqual([undefined, 'other'])
})
