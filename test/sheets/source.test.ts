import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openSheet } from '../../src/sheets/open.ts'
import { fileSource } from '../../src/sheets/sheet.ts'
import { temporaryFolder } from '../harness/world.ts'
import { collect, parseJsonRow, readRows } from './table.ts'

test('a file can be read several times, with equal rows', async () => {
  const path = join(temporaryFolder(), 'people.csv')
  writeFileSync(path, 'first_name;phone\nZoë;+61412345678\n')
  const sheet = await openSheet(await fileSource(path, 'people.csv'), { readJson: parseJsonRow })
  expect(sheet.columns).toEqual(['first_name', 'phone'])
  const bothReads = [await collect(sheet.rows()), await collect(sheet.rows())]
  expect(bothReads[0]).toHaveLength(1)
  expect(bothReads[1]).toEqual(bothReads[0])
})

test('a file that has changed since it was opened is refused', async () => {
  const path = join(temporaryFolder(), 'people.csv')
  writeFileSync(path, 'first_name\nZoë\n')
  const source = await fileSource(path, 'people.csv')
  writeFileSync(path, 'first_name\nMei\nZoë\n')
  await expect(source.readAll()).rejects.toThrow('it was changed while it was being read')
})

test.each(['nope.csv', 'folder'])('the error for the unreadable path %s contains it', async (name) => {
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
  'rows have the line numbers of a spreadsheet if lines end in %j and cells contain %j',
  async (lineEnd, lineBreak) => {
    const text = [
      'a,b',
      `"x${lineBreak}y",1`,
      '',
      `"p${lineBreak}${lineBreak}q","r${lineBreak}s"`,
      'z,2',
      '',
    ].join(lineEnd)
    const rows = await readRows(text, 'p.csv')
    expect(rows.map(({ row, line }) => [row, line])).toEqual([
      [1, 2],
      [3, 4],
      [4, 5],
    ])
  },
)
