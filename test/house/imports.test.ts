import { posix } from 'node:path'

import { expect, test } from 'vitest'

import { importsOf, sources } from './sources.ts'

/**
 * Who may import whom, floor by floor. Data flows one way, so that a line's room tells what it can know. "types"
 * may be imported as types only: instances come as arguments. A room may always import of itself.
 */
const rooms: Record<string, { floor: number; may: string[]; types?: string[] }> = {
  commands: { floor: 7, may: ['cli', 'app', 'usecases', 'domain', 'output/views', 'errors'] },
  app: {
    floor: 5,
    may: [
      'usecases',
      'mcp',
      'store',
      'sandbox',
      'conformance',
      'api',
      'sheets',
      'output',
      'domain',
      'http',
      'disk',
      'server',
      'prompt',
      'contract',
      'errors',
      'host',
    ],
  },
  // What other programs import: nothing of the command line or oclif. The store is for the journal alone (acceptance/library).
  exports: {
    floor: 5,
    may: ['usecases', 'store', 'sandbox', 'api', 'domain', 'http', 'server', 'contract', 'errors', 'host'],
  },
  usecases: {
    floor: 4,
    may: ['domain', 'errors', 'contract', 'disk', 'sheets', 'conformance', 'sandbox/control'],
    types: ['api', 'store', 'http', 'server', 'prompt', 'host', 'output/reporter.ts'],
  },
  // What agents are spoken to with: tools → one use case or one line that reads → a result.
  mcp: { floor: 4, may: ['usecases', 'output', 'domain', 'contract', 'errors', 'host'] },
  // Of the contract the statuses, which are values of flags.
  cli: {
    floor: 6,
    may: ['app', 'output', 'domain', 'prompt', 'disk', 'contract/statuses.ts', 'errors', 'host'],
  },
  store: { floor: 3, may: ['domain', 'disk', 'contract', 'errors', 'host'] },
  // Never domain or api: the sandbox and the suite must not inherit their mistakes.
  sandbox: { floor: 3, may: ['html', 'contract', 'http', 'server', 'disk', 'errors', 'host'] },
  conformance: { floor: 3, may: ['contract', 'http', 'server', 'errors', 'host'] },
  api: { floor: 3, may: ['domain', 'http', 'contract', 'errors', 'host'] },
  sheets: { floor: 3, may: ['domain', 'contract', 'errors', 'host'] },
  output: { floor: 3, may: ['html', 'domain', 'contract', 'errors', 'host'] },
  domain: { floor: 2, may: ['contract', 'errors'] },
  // What pages wear, the sandbox's and those of people alike: it knows no noun.
  html: { floor: 2, may: ['host'] },
  http: { floor: 2, may: ['contract', 'errors', 'host'] },
  disk: { floor: 2, may: ['contract', 'errors', 'host'] },
  server: { floor: 2, may: ['contract', 'errors', 'host'] },
  prompt: { floor: 2, may: ['contract', 'errors', 'host'] },
  contract: { floor: 1, may: [] },
  errors: { floor: 1, may: [] },
  host: { floor: 1, may: [] },
  // Makes dist: it names what it bundles by path, and nothing imports it.
  build: { floor: 0, may: ['cli', 'app', 'output', 'errors'] },
}

/** Within a room: the one never imports the other. */
const apart: [folder: string, never: string, why: string][] = [
  ['sandbox/service', 'sandbox/control', 'the service runs without what steers it'],
]

/** Rooms that may import only these packages, each with its reason. */
const packages: Record<string, string[]> = {
  // The wire, and nothing that could talk over it.
  contract: ['zod', 'node:crypto'],
  errors: [],
  // It decides, and reaches nothing: a digest and a look at bytes are sums.
  domain: ['zod', 'fastest-levenshtein', 'libphonenumber-js', 'node:crypto', 'node:buffer', 'node:zlib'],
}

/** Packages that these rooms alone may import. */
const keepers: [name: string, rooms: string[], why: string][] = [
  ['undici', ['http'], 'every byte to the network passes its limits'],
  ['inquirer', ['prompt'], 'prompts are asked through Prompter'],
  ['conf', ['store'], 'settings are locked around every write'],
  ['@napi-rs/keyring', ['store'], 'keys are reached in one place'],
  ['node:sqlite', ['store', 'disk'], 'SQL belongs to the store, and a lock is an SQLite file'],
  ['pg', ['store'], 'SQL belongs to the store'],
  ['jq-wasm', ['output'], 'it is loaded for --jq alone'],
  ['prom-client', ['output'], 'figures are written in one place'],
  ['cli-table3', ['output'], 'tables are drawn in one place'],
  ['fast-string-width', ['output'], 'only output knows a width'],
  ['rolldown', ['build'], 'nothing is bundled at run time'],
  [
    'hono',
    ['sandbox', 'output', 'html'],
    'the sandbox is the only service here; pages are written with its html',
  ],
  ['tinyqueue', ['sandbox'], 'only the sandbox keeps jobs in a queue by time'],
  ['csv-parse', ['sheets'], 'files from elsewhere pass its limits'],
  ['yauzl', ['sheets'], 'every inflated byte is counted'],
  ['yazl', ['sheets', 'build'], 'XLSX is written in one place, and the package for Windows'],
  ['saxes', ['sheets'], 'XML from elsewhere is read in one place'],
  ['@modelcontextprotocol/server', ['mcp'], 'agents are spoken to in one place'],
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

const targetOf = (path: string, from: string): string =>
  posix.join(posix.dirname(path), from).replace(/^src\//, '')

const within = (target: string, name: string): boolean => target === name || target.startsWith(`${name}/`)

test('every source stands in a room', () => {
  expect(
    [...new Set(files.map(({ path }) => roomOf(path)))].filter((room) => rooms[room] === undefined),
  ).toEqual([])
})

test('rooms import only what their row of the table names', () => {
  expect(
    violations((path, from, typesOnly) => {
      if (!from.startsWith('.')) return undefined
      const target = targetOf(path, from)
      const room = roomOf(path)
      const { may = [], types = [] } = rooms[room] ?? {}
      if (within(target, room) || may.some((name) => within(target, name))) return undefined
      if (types.some((name) => within(target, name))) {
        return typesOnly ? undefined : `imports more than types from ${target}`
      }
      return `imports ${target}`
    }),
  ).toEqual([])
})

test('the table itself names nothing that runs upward', () => {
  const upward = Object.entries(rooms).flatMap(([room, { floor, may, types = [] }]) =>
    may
      .concat(types)
      .filter((name) => room !== 'build' && (rooms[name.split('/')[0] ?? '']?.floor ?? 99) > floor),
  )
  expect(upward).toEqual([])
})

test.each(apart)('%s imports nothing of %s: %s', (folder, never) => {
  expect(
    violations((path, from) => {
      if (!within(path, `src/${folder}`) || !from.startsWith('.')) return undefined
      const target = targetOf(path, from)
      return within(target, never) ? `imports ${target}` : undefined
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

test.each(keepers)('%s is imported by %j alone: %s', (name, keeping) => {
  expect(
    violations((path, from) => {
      const named = from === name || from.startsWith(`${name}/`)
      return named && !keeping.includes(roomOf(path)) ? `imports ${from}` : undefined
    }),
  ).toEqual([])
})

/** The files on a circle of imports, types included: found by taking away what imports nothing that is left. */
function onCircles(graph: Map<string, Set<string>>): string[] {
  const left = new Map([...graph].map(([path, targets]) => [path, new Set(targets)]))
  for (let before = -1; before !== left.size;) {
    before = left.size
    for (const [path, targets] of left) if ([...targets].every((to) => !left.has(to))) left.delete(path)
  }
  for (let before = -1; before !== left.size;) {
    before = left.size
    const values = [...left.values()]
    for (const path of left.keys()) if (!values.some((targets) => targets.has(path))) left.delete(path)
  }
  return [...left.keys()].sort()
}

test('no circle of files, types included', () => {
  const graph = new Map(
    files.map(({ path, text }) => [
      path,
      new Set(
        importsOf(text).flatMap(({ from }) => (from.startsWith('.') ? [`src/${targetOf(path, from)}`] : [])),
      ),
    ]),
  )
  expect(onCircles(graph)).toEqual([])
})

test('a circle is seen, and what merely leads to it or from it is not', () => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c'])],
    ['c', new Set(['b', 'd'])],
    ['d', new Set<string>()],
  ])
  expect(onCircles(graph)).toEqual(['b', 'c'])
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
