import { expect, test } from 'vitest'

import { hasFileModes, nodeVersion } from '../../src/host/machine.ts'

test('file modes are meaningful on all platforms except Windows, and nodeVersion returns the version of this process', () => {
  expect(
    (['linux', 'darwin', 'freebsd', 'win32'] as const).map((platform) => hasFileModes(platform)),
  ).toEqual([true, true, true, false])
  expect(nodeVersion()).toBe(process.version.slice(1))
})
