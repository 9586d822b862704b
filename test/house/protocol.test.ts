import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { promises } from './protocol.ts'
import { ways } from './went-around.ts'

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

test.each(ways)(
  'what went around the journal of 0.1.0 by $by: "$case" has a test named by it',
  ({ tests }) => {
    expect(missing(tests)).toEqual([])
  },
)
