import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { installScripts, shippedWithout, unpinned } from './rules.ts'

const ours = (name: string): string => readFileSync(join(import.meta.dirname, '..', '..', name), 'utf8')
const lock = JSON.stringify({
  packages: {
    '': { hasInstallScript: true },
    'node_modules/sound': { integrity: 'sha512-AAAA' },
    'node_modules/old': { integrity: 'sha1-AAAA', hasInstallScript: true },
    'node_modules/sound/node_modules/@from/git': { hasInstallScript: true },
  },
})

test('a package without a SHA-512 digest is named', () => {
  expect(unpinned(lock)).toEqual(['old', '@from/git'])
})

test('a package whose script is not decided on is named, wherever it is nested', () => {
  expect(installScripts(lock, '{"allowScripts":{"old":false}}')).toEqual({
    decided: ['old'],
    undecided: ['@from/git'],
  })
})

test('a package that is shipped and not in the bill of materials is named, another version of it as well', () => {
  const sbom = JSON.stringify({
    components: [
      { name: 'one', version: '1.0.0' },
      { group: '@a', name: 'two', version: '2.1.0' },
    ],
  })
  const licences =
    'Code of these packages\n\none 1.0.0 (MIT)\n@a/two 2.0.0 (ISC)\nnode 24.1.0 (MIT)\n\nMIT 1 (c)'
  expect(shippedWithout(sbom, licences)).toEqual({ missing: ['@a/two 2.0.0', 'node 24.1.0'], shipped: 3 })
})

test('here every package is pinned, and every script decided on', () => {
  expect(unpinned(ours('package-lock.json'))).toEqual([])
  expect(installScripts(ours('package-lock.json'), ours('package.json')).undecided).toEqual([])
})
