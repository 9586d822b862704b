import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { withLock } from '../../../src/store/config/locked.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { temporaryFolder } from '../../harness/world.ts'

test('one process at a time has the lock, and a process that does not release the lock is reported', async () => {
  const path = join(temporaryFolder(), 'config', 'config.json')
  const entered = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const first = withLock(path, { clock: systemClock }, async () => {
    entered.resolve()
    await done.promise
    return 1
  })
  await entered.promise
  await expect(
    withLock(path, { clock: new ManualClock({ auto: true }) }, async () => 2),
  ).rejects.toMatchObject({
    code: 'io',
    message: `cannot change "${path}": another process has locked it for 15 s`,
  })
  done.resolve()
  expect(await first).toBe(1)
  expect(await withLock(path, { clock: systemClock }, async () => existsSync(`${path}.lock`))).toBe(true)
})

test('a folder that other accounts may write to is refused, and nothing is created in it', async () => {
  const folder = join(temporaryFolder(), 'config')
  mkdirSync(folder)
  chmodSync(folder, 0o775)
  const changed = withLock(join(folder, 'config.json'), { clock: systemClock }, async () => undefined)
  await expect(changed).rejects.toMatchObject({ code: 'io' })
  expect(readdirSync(folder)).toEqual([])
})
