import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { isAllowed, readLicences, formatLicences } from '../../src/build/licences.ts'
import { root } from '../house/sources.ts'
import { temporaryFolder } from '../harness/world.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `supply` of the fault table (test/resilience/rows.ts).
recordForFaultTable('supply', { mustNotHappen: 'packages without a licence' })

/** Creates a package with one module, as npm installs it, and returns the path of the module. */
function installPackage(name: string, files: Record<string, string>, license: unknown = 'MIT'): string {
  const folder = join(temporaryFolder(), 'node_modules', name)
  mkdirSync(join(folder, 'lib'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.2.3', license }))
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  return join(folder, 'lib', 'index.js')
}

test('a licence that is not on the list ends the build with the name of the package', () => {
  expect(['MIT', '(MIT OR GPL-3.0-only)', 'MIT AND ISC'].map(isAllowed)).toEqual([true, true, true])
  expect(['', 'GPL-3.0-only', 'MIT AND GPL-3.0-only', 'UNLICENSED'].map(isAllowed)).not.toContain(true)
  const module = installPackage('greedy', { LICENSE: 'All of it is yours.' }, 'AGPL-3.0-only')
  expect(() => readLicences([module])).toThrow('the licence of greedy 1.2.3 is not allowed: AGPL-3.0-only')
  const old = installPackage('old', { LICENSE: 'x' }, { type: 'MIT' })
  expect(() => readLicences([old])).toThrow('the licence of old 1.2.3 is not allowed: {"type":"MIT"}')
})

test('a package without the text of its licence ends the build', () => {
  const module = installPackage('bare', { 'README.md': '# bare\n\n## License\n\n[MIT](LICENSE)\n' })
  expect(() => readLicences([module])).toThrow('bare 1.2.3 has no text of its licence')
})

test('licence texts are read from the files and the README of a package, and equal ones are printed once', () => {
  const text = formatLicences('About.', [
    ...readLicences([
      installPackage('b', { 'license.md': 'Copyright B\r\nMIT', 'lib/LICENSE': 'Copyright C' }),
    ]),
    ...readLicences([
      installPackage('@x/a', { 'README.md': '# a\n\n## License\n\nPermission is hereby granted.\n' }),
      installPackage('d', { COPYING: 'Copyright D' }, 'ISC'),
      installPackage('e', { LICENCE: 'Copyright D' }, 'ISC'),
    ]),
  ])
  const rule = '-'.repeat(80)
  expect(text).toBe(
    [
      'About.',
      `${rule}\nb 1.2.3 (MIT)\n\nCopyright B\nMIT\n\nCopyright C`,
      `${rule}\n@x/a 1.2.3 (MIT)\n\nPermission is hereby granted.`,
      `${rule}\nd 1.2.3 (ISC)\ne 1.2.3 (ISC)\n\nCopyright D\n`,
    ].join('\n\n'),
  )
})

test('THIRD-PARTY-LICENSES.txt names every package of the bundle and the holders of code compiled into one', () => {
  const contents = JSON.parse(readFileSync(join(root, 'dist', 'contents.json'), 'utf8')) as Record<
    string,
    string[]
  >
  const names = new Set(Object.values(contents).flat())
  const text = readFileSync(join(root, 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8')
  expect([...names].filter((name) => !new RegExp(`^${name} \\d.* \\(.+\\)$`, 'm').test(text))).toEqual([])
  for (const holder of ['Stephen Dolan', 'K.Kosako', 'Fedor Indutny', 'Isaac Z. Schlueter'])
    expect(text).toContain(holder)
})
