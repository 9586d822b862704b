import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { tasks } from './tasks.ts'

test('each task of the list has a test, and each test is in the list', () => {
  const files = globSync('*.test.ts', { cwd: import.meta.dirname }).filter((name) => name !== 'tasks.test.ts')
  const testedTasks = files.flatMap((name) =>
    [...readFileSync(join(import.meta.dirname, name), 'utf8').matchAll(/^test\('([^']+)'/gm)].map(
      ([, title = '']) => title,
    ),
  )
  expect(testedTasks.toSorted()).toEqual([...tasks].toSorted())
})
