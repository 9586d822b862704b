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
  const workFolder = await WorkFolder.open(join(path, 'work'), workOptions)
  workFolder.appendToJournal('mine')
  await expect(WorkFolder.open(join(path, 'work'), workOptions)).rejects.toThrow(
    /^another run \(process 4711, since .*\) is downloading reports into /,
  )
  workFolder.abandon()
  workFolder.abandon()
  const nextFolder = await WorkFolder.open(join(path, 'work'), workOptions)
  expect(nextFolder.oldJournal).toEqual(['mine'])
  expect(nextFolder.temporaryPath()).toMatch(/\/[0-9a-f]{16}\.part$/)
  await nextFolder.remove()
  expect(readdirSync(path)).toEqual([])
})

test('no file stays open, whatever the result is', async () => {
  mkdirSync(path)
  const countOpenFiles = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0)
  const before = countOpenFiles()
  for (let round = 0; round < 20; round += 1) {
    const workFolder = await WorkFolder.open(join(path, 'work'), workOptions)
    workFolder.appendToJournal('x')
    workFolder.abandon()
    const nextFolder = await WorkFolder.open(join(path, 'work'), workOptions)
    nextFolder.appendToJournal('y')
    await nextFolder.remove()
  }
  expect(countOpenFiles()).toBeLessThan(before + 10)
})

test('a parent folder that does not exist, and a folder at the path of the journal, cause IoError', async () => {
  await expect(WorkFolder.open(join(path, 'work'), workOptions)).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('cannot write to the folder') as string,
  })
  mkdirSync(path)
  const workFolder = await WorkFolder.open(join(path, 'work'), workOptions)
  writeFileSync(join(path, 'theirs'), '')
  linkSync(join(path, 'theirs'), join(path, 'work', 'journal'))
  expect(() => workFolder.appendToJournal('x')).toThrow('it is not a regular file of its own')
  rmSync(join(path, 'work', 'journal'))
  mkdirSync(join(path, 'work', 'journal'))
  expect(() => workFolder.appendToJournal('x')).toThrow(expect.objectContaining({ code: 'io' }))
  workFolder.abandon()
  await expect(WorkFolder.open(join(path, 'work'), workOptions)).rejects.toMatchObject({ code: 'io' })
  rmSync(join(path, 'work', 'journal'), { recursive: true })
  // The refused run has released the lock of the folder.
  await (await WorkFolder.open(join(path, 'work'), workOptions)).remove()
})
