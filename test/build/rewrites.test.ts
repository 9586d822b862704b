import { expect, test } from 'vitest'

import { groups, patternsOf, requireMatches } from '../../src/build/groups.ts'
import { lazyRequires, Rewrites } from '../../src/build/plugins.ts'
import { root, sources } from '../house/sources.ts'

test('a rewrite that changes nothing ends the build by its name', () => {
  const rewrites = new Rewrites()
  rewrites.require('alias of undici', 'lazy chunk oclif-ux')
  rewrites.count('alias of undici', 3)
  expect(() => rewrites.summary()).toThrow('the build changed nothing for: lazy chunk oclif-ux')
  rewrites.count('lazy chunk oclif-ux', 1)
  expect(rewrites.summary()).toEqual(['alias of undici: 3', 'lazy chunk oclif-ux: 1'])
})

test('requires move to first use; a module that went ESM has none to move', () => {
  expect(lazyRequires('const a_1 = require("./a");\nnew a_1.B(a_1.c)')).toEqual({
    code: 'let lazy_a_1; const load_a_1 = () => (lazy_a_1 ??= require("./a"));\nnew (load_a_1()).B(load_a_1().c)',
    count: 1,
  })
  expect(lazyRequires("import { B } from './a.js'\n").count).toBe(0)
})

test('each path of a group is a file, so that a move cannot take it out of its group unseen', () => {
  const files = sources('src/**/*.ts').map(({ path }) => `${root}/${path}`)
  const patterns = groups.flatMap(patternsOf).filter(({ pattern }) => pattern.startsWith('src/'))
  expect(patterns.length).toBeGreaterThan(10)
  const idle = patterns.filter((each) => !files.some((file) => each.test.test(file)))
  expect(idle.map(({ pattern }) => pattern)).toEqual([])
})

test('a group whose file moved ends the build', () => {
  const matching = groups
    .flatMap(patternsOf)
    .map(({ pattern }) => `/x/${pattern.replace('*', 'io')}/index.ts`)
  const modules = matching.map((id) => (id.includes('/src/') ? id.replace('/index.ts', '') : id))
  expect(() => requireMatches(modules)).not.toThrow()
  expect(() => requireMatches(modules.filter((id) => !id.endsWith('api/api.ts')))).toThrow(
    'no module of the program is src/api/api.ts (group wire)',
  )
})
