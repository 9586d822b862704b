import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { claimLock, type Claim } from '../../src/disk/lock.ts'
import { systemClock } from '../../src/host/clock.ts'
import { systemRandom as random } from '../../src/host/random.ts'

const moduleUrl = (path: string): string => new URL(`../../src/${path}`, import.meta.url).href
const clock = { ...systemClock, now: () => Date.UTC(2026, 10, 21, 9, 30) }
let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-claim-'))
  path = join(folder, 'batch.lock')
})
afterEach(() => rmSync(folder, { recursive: true }))

const claimAs = (pid: number): Promise<Claim> => claimLock(path, { clock, random, waitMs: 0, pid })

test('a claim of a locked path returns the process that holds the lock, and since when', async () => {
  const first = await claimAs(4711)
  expect(await claimAs(4712)).toEqual({
    isClaimed: false,
    holder: { pid: 4711, since: '2026-11-21T09:30:00.000Z' },
  })
  if (first.isClaimed) first.release()
  if (first.isClaimed) first.release()
  expect(readdirSync(folder)).toEqual(['batch.lock'])
  expect(await claimAs(4712)).toMatchObject({ isClaimed: true })
})

test('after its holder is killed, the next claim gets the lock and records itself as the holder', async () => {
  const script = `
    import { claimLock } from ${JSON.stringify(moduleUrl('disk/lock.ts'))}
    import { systemClock as clock } from ${JSON.stringify(moduleUrl('host/clock.ts'))}
    import { systemRandom as random } from ${JSON.stringify(moduleUrl('host/random.ts'))}
    const { isClaimed } = await claimLock(${JSON.stringify(path)}, { clock, random, waitMs: 0, pid: process.pid })
    process.stdout.write(String(isClaimed))
    setInterval(() => {}, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', script])
  const [output] = (await once(holder.stdout, 'data')) as [Buffer]
  expect(output.toString()).toBe('true')
  expect(await claimAs(1)).toMatchObject({ isClaimed: false, holder: { pid: holder.pid } })
  const holderExit = once(holder, 'exit')
  holder.kill('SIGKILL')
  await holderExit
  expect(await claimAs(2)).toMatchObject({ isClaimed: true })
  expect(JSON.parse(readFileSync(`${path}.holder`, 'utf8'))).toMatchObject({ pid: 2 })
})

test.each(['', 'not JSON', '{"pid":"7"}', '{"pid":7,"since":"yesterday"}', '[]'])(
  'with a damaged holder file (%j), a claim of a locked path fails and returns no holder',
  async (text) => {
    await claimAs(1)
    writeFileSync(`${path}.holder`, text)
    expect(await claimAs(2)).toEqual({ isClaimed: false, holder: undefined })
  },
)

test('a claim that cannot write the holder file releases the lock', async () => {
  mkdirSync(`${path}.holder`)
  await expect(claimAs(1)).rejects.toMatchObject({ code: 'io' })
  rmdirSync(`${path}.holder`)
  expect(await claimAs(2)).toMatchObject({ isClaimed: true })
})
