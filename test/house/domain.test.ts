import { expect, test } from 'vitest'

import { sources } from './sources.ts'

const domain = sources('src/domain/**/*.ts')

/** Lines of code with a pattern in it, comments and texts aside. */
function lines(pattern: RegExp): string[] {
  return domain.flatMap(({ path, text }) =>
    code(text)
      .split('\n')
      .flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  )
}

/** Comments and texts blanked, line ends kept. */
function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, (found) =>
    found.replace(/[^\n]/g, ' '),
  )
}

test('the domain waits for nothing', () => {
  expect(
    lines(/\b(await|async|Promise|AsyncIterable|AsyncIterator|AsyncGenerator|AbortSignal)\b|\bimport\(/),
  ).toEqual([])
})

test('the domain reads no clock and rolls no dice: a moment comes as a number', () => {
  expect(lines(/\b(Clock|Random|Environment|Date\.now|new Date\(\)|Math\.random)\b/)).toEqual([])
})

test('of Node the domain takes what only computes', () => {
  const taken = domain.flatMap(({ path, text }) =>
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
  expect(taken).toEqual([])
})

test('what is judged is code, and no comment or text', () => {
  expect(code("const a = 'await' // Promise\n/* async */ b")).toBe(
    'const a =                   \n            b',
  )
})

test('a unit test of the domain starts no process, opens no port and touches no file', () => {
  const waits =
    /from '(?:node:(?:fs|child_process|http|https|net)(?:\/promises)?|[./]+harness\/(?:world|session|process|run-command)\.ts)'/
  const found = sources('test/domain/**/*.test.ts').filter(({ text }) => waits.test(text))
  // What is quoted for a shell is read back by a shell.
  const shells = new Set(['test/domain/form/command-line.test.ts', 'test/domain/wording/wording.test.ts'])
  expect(found.map(({ path }) => path).filter((path) => !shells.has(path))).toEqual([])
})
