import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { systemClock as clock } from '../../../src/host/clock.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { WorkFolder } from '../../../src/store/reports/work.ts'

let root: string
let path: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'refcheck-work-'))
  path = join(root, 'reports')
})
afterEach(() => rmSync(root, { recursive: true }))

const workOptions = { clock, random, pid: 4711 }

test('another run is reported, and none of its files is changed', async () => {
  mkdirSync(path)
  const held = await WorkFolder.open(join(path, 'work'), workOptions)
  held.appendToJournal('mine')
  await expect(WorkFolder.open(join(path, 'work'), workOptions)).rejects.toThrow(
    /^another run \(process 4711, since .*\) is downloading reports into /,
  )
  held.abandon()
  held.abandon()
  const next = await WorkFolder.open(join(path, 'work'), workOptions)
  expect(next.oldJournal).toEqual(['mine'])
  expect(next.temporaryPath()).toMatch(/\/[0-9a-f]{16}\.part$/)
  await next.remove()
  expect(readdirSync(path)).toEqual([])
})

test('no file stays open, whatever the result is', async () => {
  mkdirSync(path)
  const files = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0)
  const before = files()
  for (let round = 0; round < 20; round += 1) {
    const held = await WorkFolder.open(join(path, 'work'), workOptions)
    held.appendToJournal('x')
    held.abandon()
    const next = await WorkFolder.open(join(path, 'work'), workOptions)
    next.appendToJournal('y')
    await next.remove()
  }
  expect(files()).toBeLessThan(before + 10)
})

test('a parent folder that does not exist, and a folder at the path of the journal, cause IoError', async () => {
  await expect(WorkFolder.open(join(path, 'work'), workOptions)).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('cannot write to the folder') as string,
  })
  mkdirSync(path)
  const held = await WorkFolder.open(join(path, 'work'), workOptions)
  writeFileSync(join(path, 'theirs'), '')
  linkSync(join(path, 'theirs'), join(path, 'work', 'journal'))
  expect(() => held.appendToJournal('x')).toThrow('it is not a regular file of its own')
  rmSync(join(path, 'work', 'journal'))
  mkdirSync(join(path, 'work', 'journal'))
  expect(() => held.appendToJournal('x')).toThrow(expect.objectContaining({ code: 'io' }))
  held.abandon()
  await expect(WorkFolder.open(join(path, 'work'), workOptions)).rejects.toMatchObject({ code: 'io' })
  rmSync(join(path, 'work', 'journal'), { recursive: true })
  // Who was refused has let go of it.
  await (await WorkFolder.open(join(path, 'work'), workOptions)).remove()
})
