import { posix } from 'node:path'

import { expect, test } from 'vitest'

import { type Source, sources } from './sources.ts'

/** Where a call may stand: it is delegated to, or handed to an engine, which runs it. */
const isRun = /(?:\byield\*|\(\w*\) =>|\b(?:run|runSync|within)\(|\brunOn\(\w+,)$/

/** Whether it is an argument of what runs several side by side. */
function isArgument(before: string): boolean {
  const at = before.lastIndexOf('together(')
  const since = at === -1 ? '' : before.slice(at)
  return since.split('(').length > since.split(')').length
}

interface Generators {
  functions: Set<string>
  methods: Set<string>
}

function generatorsOf(text: string): Generators {
  const names = (pattern: RegExp): Set<string> =>
    new Set([...text.matchAll(pattern)].map(([, name = '']) => name))
  return {
    // A generator of anything but statements says so on the line of its name.
    functions: names(/^(?:export )?function\* (\w+)(?![^\n]*\): Generator<)/gm),
    methods: names(/^ {2}(?:static )?\*(#?\w+)/gm),
  }
}

/** Generators that a file declares, or imports by their own names. */
function functionsOf({ path, text }: Source, files: readonly Source[]): string[] {
  const imports = [...text.matchAll(/^import \{([^}]*)\} from '(\.[^']*)'/gm)]
  const imported = imports.flatMap(([, names = '', from = '']) => {
    const target = posix.join(posix.dirname(path), from)
    const declared = generatorsOf(files.find((file) => file.path === target)?.text ?? '').functions
    return names
      .split(',')
      .map((each) => each.trim())
      .filter((name) => declared.has(name))
  })
  return [...generatorsOf(text).functions, ...imported]
}

/** Calls of generators in a file that nothing runs. */
function notRun(file: Source, files: readonly Source[], shared: readonly string[]): string[] {
  const { path, text } = file
  const bare = functionsOf(file, files).join('|') || '(?!)'
  const received = [...generatorsOf(text).methods, ...shared].join('|') || '(?!)'
  const call = new RegExp(
    `(?<![\\w#.])(?:(?:${bare})|\\w+(?:\\??\\.#?\\w+)*?\\??\\.(?:${received}))(?:<[^()\\n]*>)?\\(`,
    'g',
  )
  return [...text.matchAll(call)].flatMap(({ 0: called, index }) => {
    const before = text.slice(0, index)
    const isDeclared = /^[^\n]*\): \w/.test(text.slice(index)) && /(?:^|\n) *(?:async )?$/.test(before)
    if (isRun.test(before.trimEnd()) || isArgument(before) || /\bfunction\* $/.test(before) || isDeclared)
      return []
    return [`${path}:${before.split('\n').length}: ${called}`]
  })
}

/** Methods are known by their names alone, wherever they are declared. */
function methodsOf(files: readonly Source[]): string[] {
  const { methods } = generatorsOf(files.map(({ text }) => text).join('\n'))
  return [...methods].filter((name) => !name.startsWith('#'))
}

function allNotRun(files: readonly Source[]): string[] {
  const methods = methodsOf(files)
  return files.flatMap((file) => notRun(file, files, methods))
}

const ledger = sources('src/store/ledger/**/*.ts')

test('statements of the ledger are delegated to with yield*, or handed to an engine: otherwise they never run', () => {
  expect(allNotRun(ledger)).toEqual([])
})

test('a public method that yields statements shares its name with no method that does not', () => {
  const methods = new Set(methodsOf(ledger))
  const others = ledger.flatMap(({ path, text }) =>
    [...text.matchAll(/^ {2}(?:async \*?|static |get )*(\w+)(?:<[^()\n]*>)?\(/gm)].flatMap(([, name = '']) =>
      methods.has(name) ? [`${path}: ${name}`] : [],
    ),
  )
  expect(others).toEqual([])
})

test('a call without yield* is found, of a function, of a method and of one of its own', () => {
  const text = `import { count, type Work } from './count.ts'
export function* good(rows: Rows): Work<number> {
  yield* rows.store('one')
  return yield* count()
}
const all = () => engine.transaction(() => good(rows))
function* bad(rows: Rows): Work<void> {
  rows.store('one')
  if (count() !== undefined) this.#x.store('two')
}
class Rows {
  *store(name: string): Work<void> {
    this.#own(name)
  }
  *#own(name: string): Work<void> {}
}
`
  const counted = { path: 'count.ts', text: 'export function* count(): Work<number> {\n}\n' }
  expect(allNotRun([counted, { path: 'a.ts', text }])).toEqual([
    'a.ts:8: rows.store(',
    'a.ts:9: count(',
    'a.ts:9: this.#x.store(',
    'a.ts:13: this.#own(',
  ])
})
