import { expect, test } from 'vitest'

import { parseWindows, windowsFor } from '../../../src/domain/quota/windows.ts'

test('windows are written as calls/seconds, separated by commas', () => {
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

test('the windows of the API document apply unless REFCHECK_QUOTA is set, which only a loopback URL allows', () => {
  const documented = [
    { calls: 60, seconds: 60 },
    { calls: 1000, seconds: 3600 },
  ]
  expect(windowsFor('https://api.example.com', undefined)).toEqual(documented)
  expect(windowsFor('http://127.0.0.1:4010', undefined)).toEqual(documented)
  expect(windowsFor('http://127.0.0.1:4010', '5/60')).toEqual([{ calls: 5, seconds: 60 }])
  expect(() => windowsFor('https://api.example.com', '5/60')).toThrow(/REFCHECK_QUOTA/)
})

test('the error for an invalid quota shows forty characters of the text', () => {
  expect(() => parseWindows(`60${'x'.repeat(100)}`, '--quota')).toThrow(`"60${'x'.repeat(38)}" is not`)
})
