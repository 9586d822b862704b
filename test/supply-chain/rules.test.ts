import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { findInstallScripts, compareWithSbom, findUnpinned } from './rules.ts'

const readRepositoryFile = (name: string): string =>
  readFileSync(join(import.meta.dirname, '..', '..', name), 'utf8')
const lock = JSON.stringify({
  packages: {
    '': { hasInstallScript: true },
    'node_modules/sound': { integrity: 'sha512-AAAA' },
    'node_modules/old': { integrity: 'sha1-AAAA', hasInstallScript: true },
    'node_modules/sound/node_modules/@from/git': { hasInstallScript: true },
  },
})

test('a package without a SHA-512 digest is named', () => {
  expect(findUnpinned(lock)).toEqual(['old', '@from/git'])
})

test('a package whose install script is neither allowed nor forbidden is named, wherever it is nested', () => {
  expect(findInstallScripts(lock, '{"allowScripts":{"old":false}}')).toEqual({
    decided: ['old'],
    undecided: ['@from/git'],
  })
})

test('a shipped package that the bill of materials lacks, or has in another version, is named', () => {
  const sbom = JSON.stringify({
    components: [
      { name: 'one', version: '1.0.0' },
      { group: '@a', name: 'two', version: '2.1.0' },
    ],
  })
  const licences =
    'Code of these packages\n\none 1.0.0 (MIT)\n@a/two 2.0.0 (ISC)\nnode 24.1.0 (MIT)\n\nMIT 1 (c)'
  expect(compareWithSbom(sbom, licences)).toEqual({ missing: ['@a/two 2.0.0', 'node 24.1.0'], shipped: 3 })
})

test('in the lockfile of refcheck every package is pinned, and every install script is allowed or forbidden', () => {
  expect(findUnpinned(readRepositoryFile('package-lock.json'))).toEqual([])
  expect(
    findInstallScripts(readRepositoryFile('package-lock.json'), readRepositoryFile('package.json')).undecided,
  ).toEqual([])
})
