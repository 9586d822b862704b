import { execFileSync } from 'node:child_process'

import { expect, test } from 'vitest'

import { formatCount, escapeXml } from '../../../src/domain/wording/text.ts'
import { shellWord } from '../../../src/domain/wording/pasted-command.ts'

test('a shell reads every quoted word unchanged, and plain words have no quotes', () => {
  const words = [
    'people.csv',
    'Größe.csv',
    'a b',
    "it's",
    '',
    '$HOME',
    '`id`',
    'a;b',
    '~',
    '*',
    '!x',
    '--map=a',
  ]
  const quoted = words.map(shellWord)
  const output = execFileSync('sh', ['-c', `printf '%s\\n' ${quoted.join(' ')}`], { encoding: 'utf8' })
  expect(output.split('\n').slice(0, -1)).toEqual(words)
  expect(quoted.slice(0, 5)).toEqual(['people.csv', 'Größe.csv', "'a b'", String.raw`'it'\''s'`, "''"])
})

test('special characters are escaped in XML', () => {
  expect(escapeXml(`<a href="b">'&amp;`)).toBe(`&lt;a href=&quot;b&quot;&gt;'&amp;amp;`)
})

test('the noun agrees with the count', () => {
  expect([0, 1, 2].map((count) => formatCount(count, 'row'))).toEqual(['0 rows', '1 row', '2 rows'])
  expect(formatCount(2, 'run is', 'runs are')).toBe('2 runs are')
})
