import { expect, test } from 'vitest'

import { parseWindows } from '../../../src/domain/quota/windows.ts'

test('calls/seconds, several with commas between', () => {
  expect(parseWindows('60/60,1000/3600', '--quota')).toEqual([
    { calls: 60, seconds: 60 },
    { calls: 1000, seconds: 3600 },
  ])
  expect(parseWindows(' 5/1 , 6/2 ', '--quota')).toHaveLength(2)
})

test.each(['', '60', '60/', '/60', '0/60', '60/0', '1e3/60', '-1/60', '60/60,', '60/60;1/1', '1/1/1'])(
  '%j is refused',
  (text) => {
    expect(() => parseWindows(text, '--quota')).toThrow(/^--quota: /)
  },
)
