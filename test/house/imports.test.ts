import { posix } from 'node:path'

import { expect, test } from 'vitest'

import { listImports, sources } from './sources.ts'

/**
 * The rooms of src, and the rooms that each may import: none of a higher floor. Only types may be imported from
 * `typesOnlyRooms`, because their instances are passed as arguments. A room may always import its own files.
 */
const rooms: Record<string, { floor: number; allowedRooms: string[]; typesOnlyRooms?: string[] }> = {
  commands: { floor: 7, allowedRooms: ['cli', 'app', 'usecases', 'domain', 'output/views', 'errors'] },
  app: {
    floor: 5,
    allowedRooms: [
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
  // The library for other programs imports nothing of the command line or oclif. Only its journal imports the store.
  exports: {
    floor: 5,
    allowedRooms: [
      'usecases',
      'store',
      'sandbox',
      'api',
      'domain',
      'http',
      'server',
      'contract',
      'errors',
      'host',
    ],
  },
  usecases: {
    floor: 4,
    allowedRooms: ['domain', 'errors', 'contract', 'disk', 'sheets', 'conformance', 'sandbox/control'],
    typesOnlyRooms: ['api', 'store', 'http', 'server', 'prompt', 'host', 'output/reporter.ts'],
  },
  // The tools for agents: each calls one use case or reads one value, and returns a result.
  mcp: { floor: 4, allowedRooms: ['usecases', 'output', 'domain', 'contract', 'errors', 'host'] },
  // The statuses of the contract are values of flags.
  cli: {
    floor: 6,
    allowedRooms: ['app', 'output', 'domain', 'prompt', 'disk', 'contract/statuses.ts', 'errors', 'host'],
  },
  store: { floor: 3, allowedRooms: ['domain', 'disk', 'contract', 'errors', 'host'] },
  // sandbox and conformance never import domain or api: tests against them would not detect a bug of these two.
  sandbox: { floor: 3, allowedRooms: ['html', 'contract', 'http', 'server', 'disk', 'errors', 'host'] },
  conformance: { floor: 3, allowedRooms: ['contract', 'http', 'server', 'errors', 'host'] },
  api: { floor: 3, allowedRooms: ['domain', 'http', 'contract', 'errors', 'host'] },
  sheets: { floor: 3, allowedRooms: ['domain', 'contract', 'errors', 'host'] },
  output: { floor: 3, allowedRooms: ['html', 'domain', 'contract', 'errors', 'host'] },
  domain: { floor: 2, allowedRooms: ['contract', 'errors'] },
  // The layout of all HTML pages, without any term of the domain.
  html: { floor: 2, allowedRooms: ['host'] },
  http: { floor: 2, allowedRooms: ['contract', 'errors', 'host'] },
  disk: { floor: 2, allowedRooms: ['contract', 'errors', 'host'] },
  server: { floor: 2, allowedRooms: ['contract', 'errors', 'host'] },
  prompt: { floor: 2, allowedRooms: ['contract', 'errors', 'host'] },
  contract: { floor: 1, allowedRooms: [] },
  errors: { floor: 1, allowedRooms: [] },
  host: { floor: 1, allowedRooms: [] },
  // Builds dist. It names the files to bundle by path, and no room imports it.
  build: { floor: 0, allowedRooms: ['cli', 'app', 'output', 'errors'] },
}

/** Folders of one room, of which the first never imports the second. */
const separateFolders: [folder: string, forbidden: string, why: string][] = [
  ['sandbox/service', 'sandbox/control', 'the service does not depend on the code that controls it'],
]

/** Rooms that may import only these packages, each with its reason. */
const allowedPackages: Record<string, string[]> = {
  // The formats of the wire, without code that sends them.
  contract: ['zod', 'node:crypto'],
  errors: [],
  // Only packages that compute: digests and the reading of bytes are computations too.
  domain: ['zod', 'fastest-levenshtein', 'libphonenumber-js', 'node:crypto', 'node:buffer', 'node:zlib'],
}

/** Packages that only these rooms may import, each with its reason. */
const restrictedPackages: [name: string, rooms: string[], why: string][] = [
  ['undici', ['http'], 'every byte to the network passes its limits'],
  ['inquirer', ['prompt'], 'prompts are asked through Prompter'],
  ['conf', ['store'], 'settings are locked around every write'],
  ['@napi-rs/keyring', ['store'], 'keys are reached in one place'],
  ['node:sqlite', ['store', 'disk'], 'SQL belongs to the store, and a lock is an SQLite file'],
  ['pg', ['store'], 'SQL belongs to the store'],
  ['jq-wasm', ['output'], 'it is loaded for --jq alone'],
  ['prom-client', ['output'], 'metrics are formatted in one place'],
  ['cli-table3', ['output'], 'tables are drawn in one place'],
  ['fast-string-width', ['output'], 'only output knows a width'],
  ['rolldown', ['build'], 'nothing is bundled at run time'],
  [
    'hono',
    ['sandbox', 'output', 'html'],
    'only the sandbox serves routes; output and html use only the `html` helper of hono',
  ],
  ['tinyqueue', ['sandbox'], 'only the sandbox keeps jobs in a queue by time'],
  ['csv-parse', ['sheets'], 'files from elsewhere pass its limits'],
  ['yauzl', ['sheets'], 'every inflated byte is counted'],
  ['yazl', ['sheets', 'build'], 'XLSX is written in one place, and the package for Windows'],
  ['saxes', ['sheets'], 'XML from elsewhere is read in one place'],
  ['@modelcontextprotocol/server', ['mcp'], 'agents are spoken to in one place'],
]

const files = sources('src/**/*.ts')
const findRoom = (path: string): string => path.split('/')[1] ?? ''

function findViolations(
  check: (path: string, from: string, typesOnly: boolean) => string | undefined,
): string[] {
  return files.flatMap(({ path, text }) =>
    listImports(text).flatMap(({ from, typesOnly }) => {
      const violation = check(path, from, typesOnly)
      return violation === undefined ? [] : [`${path}: ${violation}`]
    }),
  )
}

const targetOf = (path: string, from: string): string =>
  posix.join(posix.dirname(path), from).replace(/^src\//, '')

const isWithin = (target: string, name: string): boolean => target === name || target.startsWith(`${name}/`)

test('every source is in a room of the table', () => {
  expect(
    [...new Set(files.map(({ path }) => findRoom(path)))].filter((room) => rooms[room] === undefined),
  ).toEqual([])
})

test('rooms import only what their row of the table names', () => {
  expect(
    findViolations((path, from, typesOnly) => {
      if (!from.startsWith('.')) return undefined
      const target = targetOf(path, from)
      const room = findRoom(path)
      const { allowedRooms = [], typesOnlyRooms = [] } = rooms[room] ?? {}
      if (isWithin(target, room) || allowedRooms.some((name) => isWithin(target, name))) return undefined
      if (typesOnlyRooms.some((name) => isWithin(target, name))) {
        return typesOnly ? undefined : `imports more than types from ${target}`
      }
      return `imports ${target}`
    }),
  ).toEqual([])
})

test('no room of the table imports a room of a higher floor', () => {
  const upward = Object.entries(rooms).flatMap(([room, { floor, allowedRooms, typesOnlyRooms = [] }]) =>
    allowedRooms
      .concat(typesOnlyRooms)
      .filter((name) => room !== 'build' && (rooms[name.split('/')[0] ?? '']?.floor ?? 99) > floor),
  )
  expect(upward).toEqual([])
})

test.each(separateFolders)('%s imports nothing of %s: %s', (folder, forbidden) => {
  expect(
    findViolations((path, from) => {
      if (!isWithin(path, `src/${folder}`) || !from.startsWith('.')) return undefined
      const target = targetOf(path, from)
      return isWithin(target, forbidden) ? `imports ${target}` : undefined
    }),
  ).toEqual([])
})

test('some rooms import only the packages of their row', () => {
  expect(
    findViolations((path, from) => {
      const allowed = allowedPackages[findRoom(path)]
      if (allowed === undefined || from.startsWith('.') || allowed.includes(from)) return undefined
      return `imports ${from}`
    }),
  ).toEqual([])
})

test.each(restrictedPackages)('%s is imported by %j alone: %s', (name, allowedRooms) => {
  expect(
    findViolations((path, from) => {
      const isPackage = from === name || from.startsWith(`${name}/`)
      return isPackage && !allowedRooms.includes(findRoom(path)) ? `imports ${from}` : undefined
    }),
  ).toEqual([])
})

/**
 * Returns the files of import cycles, types included. It removes files that import no remaining file, and then files that
 * no remaining file imports.
 */
function findCycles(graph: Map<string, Set<string>>): string[] {
  const remaining = new Map([...graph].map(([path, targets]) => [path, new Set(targets)]))
  for (let formerSize = -1; formerSize !== remaining.size;) {
    formerSize = remaining.size
    for (const [path, targets] of remaining)
      if ([...targets].every((target) => !remaining.has(target))) remaining.delete(path)
  }
  for (let formerSize = -1; formerSize !== remaining.size;) {
    formerSize = remaining.size
    const values = [...remaining.values()]
    for (const path of remaining.keys())
      if (!values.some((targets) => targets.has(path))) remaining.delete(path)
  }
  return [...remaining.keys()].sort()
}

test('no files import each other in a cycle, types included', () => {
  const graph = new Map(
    files.map(({ path, text }) => [
      path,
      new Set(
        listImports(text).flatMap(({ from }) =>
          from.startsWith('.') ? [`src/${targetOf(path, from)}`] : [],
        ),
      ),
    ]),
  )
  expect(findCycles(graph)).toEqual([])
})

test('the files of a cycle are found, and no files that only import them or are imported by them', () => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c'])],
    ['c', new Set(['b', 'd'])],
    ['d', new Set<string>()],
  ])
  expect(findCycles(graph)).toEqual(['b', 'c'])
})

test('all forms of imports are found, and whether they import only types', () => {
  expect(
    listImports("import type { A } from './a.ts'\nimport { type B } from './b.ts'\nimport c, { d } from 'd'"),
  ).toEqual([
    { from: './a.ts', typesOnly: true },
    { from: './b.ts', typesOnly: true },
    { from: 'd', typesOnly: false },
  ])
  expect(files.length).toBeGreaterThan(50)
})
