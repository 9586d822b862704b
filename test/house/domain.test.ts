import { expect, test } from 'vitest'

import { sources } from './sources.ts'

const domain = sources('src/domain/**/*.ts')

/** Returns the lines of code that match a pattern, without comments and string literals. */
function findLines(pattern: RegExp): string[] {
  return domain.flatMap(({ path, text }) =>
    blankTexts(text)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )
}

/** Replaces comments and string literals with blanks. The ends of lines stay. */
function blankTexts(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, (found) =>
    found.replace(/[^\n]/g, ' '),
  )
}

test('the domain has no asynchronous code', () => {
  expect(
    findLines(/\b(await|async|Promise|AsyncIterable|AsyncIterator|AsyncGenerator|AbortSignal)\b|\bimport\(/),
  ).toEqual([])
})

test('the domain reads neither a clock nor random numbers: a time is passed as a number', () => {
  expect(findLines(/\b(Clock|Random|Environment|Date\.now|new Date\(\)|Math\.random)\b/)).toEqual([])
})

test('the domain imports only functions of Node.js that compute', () => {
  const violations = domain.flatMap(({ path, text }) =>
    [...text.matchAll(/import \{([^}]*)\} from 'node:(?:crypto|buffer|zlib)'/g)].flatMap(([, names = '']) =>
      names
        .split(',')
        .flatMap((name) =>
          ['createHash', 'hash', 'isUtf8', 'gunzipSync'].includes(name.trim())
            ? []
            : [`${path}: ${name.trim()}`],
        ),
    ),
  )
  expect(violations).toEqual([])
})

test('comments and string literals are not checked', () => {
  expect(blankTexts("const a = 'await' // Promise\n/* async */ b")).toBe(
    'const a =                   \n            b',
  )
})

test('a unit test of the domain starts no process, opens no port and touches no file', () => {
  const forbiddenImport =
    /from '(?:node:(?:fs|child_process|http|https|net)(?:\/promises)?|[./]+harness\/(?:world|session|process|run-command)\.ts)'/
  const found = sources('test/domain/**/*.test.ts').filter(({ text }) => forbiddenImport.test(text))
  // These tests run a shell, which reads the quoted command line.
  const shellTests = new Set(['test/domain/form/command-line.test.ts', 'test/domain/wording/wording.test.ts'])
  expect(found.map(({ path }) => path).filter((path) => !shellTests.has(path))).toEqual([])
})
