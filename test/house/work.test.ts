import { posix } from 'node:path'

import { expect, test } from 'vitest'

import { type Source, sources } from './sources.ts'

/** Matches the text before a call that is delegated to, or passed to an engine that runs it. */
const runPrefix = /(?:\byield\*|\(\w*\) =>|\b(?:run|runSync|within)\(|\brunOn\(\w+,)$/

/** Whether a call is an argument of `together`, which runs several generators. `textBefore` is the text before the call. */
function isArgument(textBefore: string): boolean {
  const index = textBefore.lastIndexOf('together(')
  const sinceTogether = index === -1 ? '' : textBefore.slice(index)
  return sinceTogether.split('(').length > sinceTogether.split(')').length
}

interface Generators {
  functions: Set<string>
  methods: Set<string>
}

function findGenerators(text: string): Generators {
  const names = (pattern: RegExp): Set<string> =>
    new Set([...text.matchAll(pattern)].map(([, name = '']) => name))
  return {
    // A generator of other values than statements has the return type Generator on the line of its name.
    functions: names(/^(?:export )?function\* (\w+)(?![^\n]*\): Generator<)/gm),
    methods: names(/^ {2}(?:static )?\*(#?\w+)/gm),
  }
}

/** Returns the generators that a file declares, or imports without renaming them. */
function listFunctions({ path, text }: Source, files: readonly Source[]): string[] {
  const imports = [...text.matchAll(/^import \{([^}]*)\} from '(\.[^']*)'/gm)]
  const imported = imports.flatMap(([, names = '', from = '']) => {
    const target = posix.join(posix.dirname(path), from)
    const declared = findGenerators(files.find((file) => file.path === target)?.text ?? '').functions
    return names
      .split(',')
      .map((each) => each.trim())
      .filter((name) => declared.has(name))
  })
  return [...findGenerators(text).functions, ...imported]
}

/** Returns the calls in a file whose generators are not run. */
function findNotRun(file: Source, files: readonly Source[], publicMethods: readonly string[]): string[] {
  const { path, text } = file
  const functionNames = listFunctions(file, files).join('|') || '(?!)'
  const methodNames = [...findGenerators(text).methods, ...publicMethods].join('|') || '(?!)'
  const call = new RegExp(
    `(?<![\\w#.])(?:(?:${functionNames})|\\w+(?:\\??\\.#?\\w+)*?\\??\\.(?:${methodNames}))(?:<[^()\\n]*>)?\\(`,
    'g',
  )
  return [...text.matchAll(call)].flatMap(({ 0: called, index }) => {
    const textBefore = text.slice(0, index)
    const isDeclared = /^[^\n]*\): \w/.test(text.slice(index)) && /(?:^|\n) *(?:async )?$/.test(textBefore)
    if (
      runPrefix.test(textBefore.trimEnd()) ||
      isArgument(textBefore) ||
      /\bfunction\* $/.test(textBefore) ||
      isDeclared
    )
      return []
    return [`${path}:${textBefore.split('\n').length}: ${called}`]
  })
}

/** Returns the names of public generator methods. A call is recognised by the name alone, in every file. */
function listPublicMethods(files: readonly Source[]): string[] {
  const { methods } = findGenerators(files.map(({ text }) => text).join('\n'))
  return [...methods].filter((name) => !name.startsWith('#'))
}

function findAllNotRun(files: readonly Source[]): string[] {
  const methods = listPublicMethods(files)
  return files.flatMap((file) => findNotRun(file, files, methods))
}

const ledger = sources('src/store/ledger/**/*.ts')

test('statements of the ledger are delegated to with yield*, or handed to an engine: otherwise they never run', () => {
  expect(findAllNotRun(ledger)).toEqual([])
})

test('a public method that yields statements shares its name with no method that does not', () => {
  const methods = new Set(listPublicMethods(ledger))
  const sameNames = ledger.flatMap(({ path, text }) =>
    [...text.matchAll(/^ {2}(?:async \*?|static |get )*(\w+)(?:<[^()\n]*>)?\(/gm)].flatMap(([, name = '']) =>
      methods.has(name) ? [`${path}: ${name}`] : [],
    ),
  )
  expect(sameNames).toEqual([])
})

test('a call without yield* is found: of a function, of a method and of a private method', () => {
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
  expect(findAllNotRun([counted, { path: 'a.ts', text }])).toEqual([
    'a.ts:8: rows.store(',
    'a.ts:9: count(',
    'a.ts:9: this.#x.store(',
    'a.ts:13: this.#own(',
  ])
})
