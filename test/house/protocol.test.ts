import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { exitCodes } from '../../src/errors/kinds.ts'
import { tables } from '../../src/store/ledger/schema.ts'
import { protocolStatements } from './protocol.ts'

/** Returns the cited tests whose file or title does not exist. */
function findMissing(tests: readonly (readonly [file: string, title: string])[]): string[] {
  return tests.flatMap(([file, title]) => {
    const path = join(import.meta.dirname, '..', file)
    return existsSync(path) && readFileSync(path, 'utf8').includes(title) ? [] : [`${file}: ${title}`]
  })
}

test.each(protocolStatements)('the ordering protocol, $section: "$statement" has a test', ({ tests }) => {
  expect(findMissing(tests)).toEqual([])
})

const root = join(import.meta.dirname, '..', '..')
const readDocument = (name: string): string => readFileSync(join(root, 'src', 'docs', name), 'utf8')

test.each(readdirSync(join(root, 'src', 'docs')))(
  'every file and folder that src/docs/%s names exists',
  (name) => {
    const rooms = 'test|src|store|domain|usecases|http|cli|disk|host|errors|output|app'
    const named = [...readDocument(name).matchAll(new RegExp(`\`((?:${rooms})/[\\w/.-]*)\``, 'g'))].map(
      ([, path = '']) => path,
    )
    const pathOf = (path: string): string => join(root, /^(?:test|src)\//.test(path) ? '' : 'src', path)
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((path) => !existsSync(pathOf(path)))).toEqual([])
  },
)

test('src/docs/storage.md has a line for each table of both engines, and no other', () => {
  const part = readDocument('storage.md').split('## Tables')[1] ?? ''
  const documented = [...part.matchAll(/^\| `(\w+)`/gm)].map(([, table = '']) => table)
  const [sqlite, postgres] = ['sqlite', 'postgres'].map((engine) => readStoreSource(`${engine}/store.ts`))
  const engineTables = [...`${sqlite}${postgres}`.matchAll(/^CREATE TABLE (\w+)/gm)].map(
    ([, table = '']) => table,
  )
  expect(documented.toSorted()).toEqual([...tables.map(({ name }) => name), ...engineTables].toSorted())
})

test('src/docs/cli.md has the exit codes of the program', () => {
  const part = readDocument('cli.md').split('## Exit codes')[1] ?? ''
  const documented = [...part.matchAll(/^\| (\d+) +\| ([^|]*?) *\|/gm)].flatMap(([, code = '', names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => [name, Number(code)]),
  )
  expect(Object.fromEntries(documented)).toEqual(exitCodes)
})

test('src/docs/testing.md names every npm script that tests, and no other', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const tools = new Set(['build', 'manifest', 'package', 'dependencies', 'format'])
  const text = readDocument('testing.md')
  const named = [...text.matchAll(/`npm run [\w:-]+`(?:, `[\w:-]+`)*/g)].flatMap(([line]) =>
    [...line.matchAll(/[\w:-]+(?=`)/g)].map(([name]) => name),
  )
  if (text.includes('`npm test`')) named.push('test')
  expect([...new Set(named)].toSorted()).toEqual(
    Object.keys(scripts)
      .filter((name) => !tools.has(name))
      .toSorted(),
  )
})

function readStoreSource(path: string): string {
  return readFileSync(join(root, 'src', 'store', 'ledger', path), 'utf8')
}
