import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openSheet } from '../../src/sheets/open.ts'
import { fileSource } from '../../src/sheets/sheet.ts'
import { temporaryFolder } from '../harness/world.ts'
import { all, plainJson, rowsOf } from './table.ts'

test('a file on disk is read, again and again', async () => {
  const path = join(temporaryFolder(), 'people.csv')
  writeFileSync(path, 'first_name;phone\nZoë;+61412345678\n')
  const sheet = await openSheet(await fileSource(path, 'people.csv'), { readJson: plainJson })
  expect(sheet.columns).toEqual(['first_name', 'phone'])
  const twice = [await all(sheet.rows()), await all(sheet.rows())]
  expect(twice[0]).toHaveLength(1)
  expect(twice[1]).toEqual(twice[0])
})

test('a file that was changed meanwhile is refused', async () => {
  const path = join(temporaryFolder(), 'people.csv')
  writeFileSync(path, 'first_name\nZoë\n')
  const source = await fileSource(path, 'people.csv')
  writeFileSync(path, 'first_name\nMei\nZoë\n')
  await expect(source.readAll()).rejects.toThrow('it was changed while it was being read')
})

test.each(['nope.csv', 'folder'])('%s cannot be read', async (name) => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'folder'))
  await expect(fileSource(join(folder, name), name)).rejects.toThrow(name)
})

test.each([
  ['\n', '\n'],
  ['\r\n', '\n'],
  ['\r\n', '\r\n'],
  ['\n', '\r\n'],
  ['\r', '\r'],
])(
  'a row is told by its line as a spreadsheet counts: lines end in %j, cells break in %j',
  async (end, within) => {
    const text = ['a,b', `"x${within}y",1`, '', `"p${within}${within}q","r${within}s"`, 'z,2', ''].join(end)
    const rows = await rowsOf(text, 'p.csv')
    expect(rows.map(({ row, line }) => [row, line])).toEqual([
      [1, 2],
      [3, 4],
      [4, 5],
    ])
  },
)
