import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { promises } from './protocol.ts'

test.each(promises)('the ordering protocol, $section: "$says" is held by a test', ({ by }) => {
  for (const [file, title] of by) {
    const path = join(import.meta.dirname, '..', file)
    expect(existsSync(path), `${file} is there`).toBe(true)
    expect(readFileSync(path, 'utf8'), `${file} holds "${title}"`).toContain(title)
  }
})
