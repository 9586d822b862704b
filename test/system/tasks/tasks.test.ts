import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { tasks } from './tasks.ts'

test('each of the tasks has its test, and each test is one of them', () => {
  const files = globSync('*.test.ts', { cwd: import.meta.dirname }).filter((name) => name !== 'tasks.test.ts')
  const named = files.flatMap((name) =>
    [...readFileSync(join(import.meta.dirname, name), 'utf8').matchAll(/^test\('([^']+)'/gm)].map(
      ([, title = '']) => title,
    ),
  )
  expect(named.toSorted()).toEqual([...tasks].toSorted())
})
