import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { promises } from './protocol.ts'

/** Tests that are not there, or no longer called so. */
function missing(tests: readonly (readonly [file: string, title: string])[]): string[] {
  return tests.flatMap(([file, title]) => {
    const path = join(import.meta.dirname, '..', file)
    return existsSync(path) && readFileSync(path, 'utf8').includes(title) ? [] : [`${file}: ${title}`]
  })
}

test.each(promises)('the ordering protocol, $section: "$says" is held by a test', ({ by }) => {
  expect(missing(by)).toEqual([])
})

test('every file and folder that src/docs/ordering.md names exists', () => {
  const root = join(import.meta.dirname, '..', '..')
  const text = readFileSync(join(root, 'src', 'docs', 'ordering.md'), 'utf8')
  const named = [...text.matchAll(/`((?:test|store|domain|usecases|http)\/[\w/.-]*)`/g)].map(
    ([, path = '']) => path,
  )
  const pathOf = (path: string): string => join(root, path.startsWith('test/') ? '' : 'src', path)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((path) => !existsSync(pathOf(path)))).toEqual([])
})
