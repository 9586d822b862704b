import { posix } from 'node:path'

import { expect, test } from 'vitest'

import { importsOf, sources } from './sources.ts'

/**
 * Who may import whom. Data flows one way, so that a line's room tells what it can know. "types" may
 * be imported as types only: instances come as arguments.
 */
const rooms: Record<string, { may: string[]; types?: string[] }> = {
  commands: { may: ['cli', 'domain', 'output/views', 'contract/request-json-schema.ts'] },
  cli: { may: ['*'] },
  domain: {
    may: ['contract', 'errors'],
    types: ['api', 'http', 'store', 'sheets', 'prompt', 'server', 'host'],
  },
  output: { may: ['contract', 'errors', 'host'], types: ['domain'] },
  api: { may: ['http', 'contract', 'errors', 'host'] },
  http: { may: ['errors', 'host'] },
  store: { may: ['contract', 'errors', 'host'] },
  sheets: { may: ['errors', 'host'] },
  prompt: { may: ['errors', 'host'] },
  server: { may: ['errors', 'host'] },
  // Makes dist; nothing of the program imports it.
  build: { may: ['cli'] },
  sandbox: { may: ['http', 'contract', 'errors', 'host', 'server'] },
  contract: { may: [] },
  errors: { may: [] },
  host: { may: [] },
}

/** Rooms that may import only these packages, each with its reason. */
const packages: Record<string, string[]> = {
  // The wire, and nothing that could talk over it.
  contract: ['zod', 'node:crypto'],
  errors: [],
}

/** Packages that one room alone may import. */
const keepers: [name: string, room: string, why: string][] = [
  ['undici', 'http', 'every byte to the network passes its limits'],
  ['inquirer', 'prompt', 'prompts are asked through Prompter'],
  ['conf', 'store', 'settings are locked around every write'],
  ['@napi-rs/keyring', 'store', 'keys are reached in one place'],
  ['node:sqlite', 'store', 'SQL belongs to the store'],
  ['fast-string-width', 'output', 'only output knows a width'],
  ['rolldown', 'build', 'nothing is bundled at run time'],
  ['hono', 'sandbox', 'the sandbox is the only service here'],
  ['csv-parse', 'sheets', 'files from elsewhere pass its limits'],
  ['yauzl', 'sheets', 'every inflated byte is counted'],
  ['yazl', 'sheets', 'XLSX is written in one place'],
  ['saxes', 'sheets', 'XML from elsewhere is read in one place'],
]

const files = sources('src/**/*.ts')
const roomOf = (path: string): string => path.split('/')[1] ?? ''

function violations(check: (path: string, from: string, typesOnly: boolean) => string | undefined): string[] {
  return files.flatMap(({ path, text }) =>
    importsOf(text).flatMap(({ from, typesOnly }) => {
      const wrong = check(path, from, typesOnly)
      return wrong === undefined ? [] : [`${path}: ${wrong}`]
    }),
  )
}

test('every source stands in a room', () => {
  expect(
    [...new Set(files.map(({ path }) => roomOf(path)))].filter((room) => rooms[room] === undefined),
  ).toEqual([])
})

test('rooms import only what lies upstream of them', () => {
  expect(
    violations((path, from, typesOnly) => {
      if (!from.startsWith('.')) return undefined
      const target = posix.join(posix.dirname(path), from).replace(/^src\//, '')
      const room = roomOf(path)
      const { may = [], types = [] } = rooms[room] ?? {}
      const within = (name: string): boolean =>
        name === '*' || target === name || target.startsWith(`${name}/`)
      if (target.startsWith(`${room}/`) || may.some(within)) return undefined
      if (types.some(within)) return typesOnly ? undefined : `imports more than types from ${target}`
      return `imports ${target}`
    }),
  ).toEqual([])
})

test('some rooms keep to a few packages', () => {
  expect(
    violations((path, from) => {
      const allowed = packages[roomOf(path)]
      if (allowed === undefined || from.startsWith('.') || allowed.includes(from)) return undefined
      return `imports ${from}`
    }),
  ).toEqual([])
})

test.each(keepers)('only one room imports %s (%s: %s)', (name, room) => {
  expect(
    violations((path, from) => {
      const named = from === name || from.startsWith(`${name}/`)
      return named && roomOf(path) !== room ? `imports ${from}` : undefined
    }),
  ).toEqual([])
})

test('the rules see the imports they judge', () => {
  expect(
    importsOf("import type { A } from './a.ts'\nimport { type B } from './b.ts'\nimport c, { d } from 'd'"),
  ).toEqual([
    { from: './a.ts', typesOnly: true },
    { from: './b.ts', typesOnly: true },
    { from: 'd', typesOnly: false },
  ])
  expect(files.length).toBeGreaterThan(50)
})
