import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { build } from 'rolldown'
import { expect, test } from 'vitest'

import { createAliasPlugin, RewriteCounts } from '../../src/build/plugins.ts'
import * as source from '../../src/output/table.ts'
import { temporaryFolder } from '../harness/world.ts'
import { root } from '../house/sources.ts'

const names = [
  'Jo',
  '山田太郎',
  '김철수',
  'Ｍüller',
  'Zoe\u0301 Du\u0308rr',
  '👩‍💻 Ada',
  '🇩🇪 👍🏽 ok',
  'ｱｲｳ',
  '日本語の長い名前はここで折り返す',
]

/** Bundles the module that formats tables as the build does, and imports it. */
async function importBundledTable(): Promise<typeof source> {
  const dir = temporaryFolder()
  await build({
    input: { table: join(root, 'src', 'output', 'table.ts') },
    platform: 'node',
    plugins: [createAliasPlugin(new RewriteCounts())],
    output: { dir, format: 'esm', entryFileNames: '[name].mjs', minify: true },
  })
  return (await import(pathToFileURL(join(dir, 'table.mjs')).href)) as typeof source
}

test('a table of wide characters, emoji and combining marks is the same from the bundle and from source', async () => {
  const { table } = await importBundledTable()
  const columns = [
    { name: 'name', value: (name: string) => name },
    { name: 'twice', value: (name: string) => `${name} ${name}`, style: () => 'green' as const },
    { name: 'end', value: () => '|' },
  ]
  for (const width of [undefined, 80, 30, 12]) {
    const terminal = { columns: width, color: width === 30 }
    const text = table(names, columns, terminal)
    expect(text).toBe(source.table(names, columns, terminal))
    expect(text).not.toContain('…')
  }
  expect(table(names.slice(0, 7), columns, { columns: undefined, color: false })).toMatchInlineSnapshot(`
    "NAME      TWICE              END
    Jo        Jo Jo              |
    山田太郎  山田太郎 山田太郎  |
    김철수    김철수 김철수      |
    Ｍüller   Ｍüller Ｍüller    |
    Zoé Dürr  Zoé Dürr Zoé Dürr  |
    👩‍💻 Ada    👩‍💻 Ada 👩‍💻 Ada      |
    🇩🇪 👍🏽 ok  🇩🇪 👍🏽 ok 🇩🇪 👍🏽 ok  |"
  `)
})
