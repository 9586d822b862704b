import { expect, test } from 'vitest'

import { hasFileModes, nodeVersion } from '../../src/host/machine.ts'

test('a mode of a file says who may read it everywhere but on Windows, which makes one up', () => {
  expect((['linux', 'darwin', 'freebsd', 'win32'] as const).map((each) => hasFileModes(each))).toEqual([
    true,
    true,
    true,
    false,
  ])
  expect(nodeVersion()).toBe(process.version.slice(1))
})
