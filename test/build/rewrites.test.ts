import { expect, test } from 'vitest'

import { groups, patternsOf, requireMatchedPatterns } from '../../src/build/groups.ts'
import { makeRequiresLazy, RewriteCounts } from '../../src/build/plugins.ts'
import { root, sources } from '../house/sources.ts'

test('the build fails and names each rewrite that changed nothing', () => {
  const rewriteCounts = new RewriteCounts()
  rewriteCounts.expectRewrites('alias of undici', 'lazy chunk oclif-ux')
  rewriteCounts.addCount('alias of undici', 3)
  expect(() => rewriteCounts.summary()).toThrow('the build changed nothing for: lazy chunk oclif-ux')
  rewriteCounts.addCount('lazy chunk oclif-ux', 1)
  expect(rewriteCounts.summary()).toEqual(['alias of undici: 3', 'lazy chunk oclif-ux: 1'])
})

test('`require` calls are moved to their first use; an ES module has none', () => {
  expect(makeRequiresLazy('const a_1 = require("./a");\nnew a_1.B(a_1.c)')).toEqual({
    code: 'let lazy_a_1; const load_a_1 = () => (lazy_a_1 ??= require("./a"));\nnew (load_a_1()).B(load_a_1().c)',
    count: 1,
  })
  expect(makeRequiresLazy("import { B } from './a.js'\n").count).toBe(0)
})

test('each path pattern of a chunk group matches a source file, so that moving a file cannot silently remove it from its group', () => {
  const files = sources('src/**/*.ts').map(({ path }) => `${root}/${path}`)
  const patterns = groups.flatMap(patternsOf).filter(({ pattern }) => pattern.startsWith('src/'))
  expect(patterns.length).toBeGreaterThan(10)
  const unmatched = patterns.filter((each) => !files.some((file) => each.test.test(file)))
  expect(unmatched.map(({ pattern }) => pattern)).toEqual([])
})

test('the build fails if a path pattern of a chunk group matches no module', () => {
  const matching = groups
    .flatMap(patternsOf)
    .map(({ pattern }) => `/x/${pattern.replace('*', 'io')}/index.ts`)
  const modules = matching.map((id) => (id.includes('/src/') ? id.replace('/index.ts', '') : id))
  expect(() => requireMatchedPatterns(modules)).not.toThrow()
  expect(() => requireMatchedPatterns(modules.filter((id) => !id.endsWith('api/api.ts')))).toThrow(
    'no module of the program is src/api/api.ts (group wire)',
  )
})
