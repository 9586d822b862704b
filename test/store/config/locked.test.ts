import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { locked } from '../../../src/store/config/locked.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { temporaryFolder } from '../../harness/world.ts'

test('one at a time, and another one that does not let go is told', async () => {
  const path = join(temporaryFolder(), 'config', 'config.json')
  const entered = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const first = locked(path, { clock: systemClock }, async () => {
    entered.resolve()
    await done.promise
    return 1
  })
  await entered.promise
  await expect(locked(path, { clock: new ManualClock({ auto: true }) }, async () => 2)).rejects.toMatchObject(
    {
      code: 'io',
      message: `cannot change "${path}": another process has locked it for 15 s`,
    },
  )
  done.resolve()
  expect(await first).toBe(1)
  expect(await locked(path, { clock: systemClock }, async () => existsSync(`${path}.lock`))).toBe(true)
})

test('a folder that others may read is fixed first, with a word', async () => {
  const folder = join(temporaryFolder(), 'config')
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  const notices: string[] = []
  const onNotice = (text: string): void => void notices.push(text)
  await locked(join(folder, 'config.json'), { clock: systemClock, onNotice }, async () => undefined)
  expect(notices.join()).toContain(`"${folder}" was`)
})
