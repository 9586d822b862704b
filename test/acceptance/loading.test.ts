import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { program } from '../harness/program.ts'
import { temporaryFolder, world } from '../harness/world.ts'
import { sources } from '../house/sources.ts'

const dist = join(import.meta.dirname, '..', '..', 'dist')
const contents = JSON.parse(readFileSync(join(dist, 'contents.json'), 'utf8')) as Record<string, string[]>

/** Libraries that take noticeable time to load, by purpose. The other libraries are oclif and those that draw tables. */
const costlyLibraries: Record<string, string[]> = {
  http: ['undici'],
  shapes: ['zod'],
  prompts: ['inquirer', '@inquirer/core'],
  writingSettings: ['conf', 'ajv'],
  phones: ['libphonenumber-js'],
  csv: ['csv-parse'],
  xlsx: ['saxes', 'yauzl', 'yazl'],
  pdf: ['@cantoo/pdf-lib'],
  agents: ['@modelcontextprotocol/server', '@modelcontextprotocol/core'],
  sandbox: ['hono', '@hono/node-server', 'yaml'],
}

/** The purposes for which each kind of command may load libraries. */
const commandKinds: [kind: string, purposes: string[], lines: string[][]][] = [
  [
    'a command without calls of the service',
    [],
    [
      ['config', 'list'],
      ['batch', 'list', '--json'],
      ['batch', 'status', '3f2b8c1e'],
      ['batch', 'rows', '3f2b8c1e'],
      ['request', 'list'],
      ['store', 'info'],
      ['webhook', 'sign', 'body.json'],
      ['webhook', 'verify', 'body.json', '--signature', 'v1=00'],
      ['sandbox', 'scenarios'],
    ],
  ],
  [
    'a command that reads the service',
    ['http', 'shapes'],
    [
      ['auth', 'status'],
      ['ping'],
      ['quota'],
      ['packages', 'list'],
      ['users', 'list'],
      ['schema', 'show', '101'],
      ['request', 'get', '00000000-0000-4000-8000-000000000000'],
    ],
  ],
  [
    'a command that checks stored data as it reads them',
    ['shapes'],
    [['status'], ['auth', 'list'], ['webhook', 'events', 'list']],
  ],
  [
    'a command that reads a CSV file',
    ['http', 'shapes', 'csv'],
    [['batch', 'validate', 'people.csv', '--package', '101']],
  ],
  [
    'a command that writes a template in CSV',
    ['http', 'shapes', 'csv'],
    [['schema', 'template', '101', '--format', 'csv']],
  ],
  [
    'a single order with flags',
    ['http', 'shapes'],
    [['request', 'create', '--package', '101', '--dry-run', '--yes']],
  ],
]

/** Runs a command line, and returns the packages whose code it loaded. */
async function listLoadedPackages(
  argv: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<string[]> {
  const [hookFile, loadedFile] = [join(cwd, 'hook.cjs'), join(cwd, 'loaded.json')]
  writeFileSync(
    hookFile,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(loadedFile)}, JSON.stringify(Object.keys(require.cache))))`,
  )
  const nodeArguments = ['--require', hookFile, program, ...argv]
  const options = { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } }
  await promisify(execFile)(process.execPath, nodeArguments, options).catch(() => undefined)
  const files = JSON.parse(readFileSync(loadedFile, 'utf8')) as string[]
  return [...new Set(files.flatMap((file) => contents[relative(dist, file)] ?? []))]
}

test.each(commandKinds)(
  '%s loads no costly libraries except those for %j',
  async (_kind, purposes, lines) => {
    const { env } = await world()
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'body.json'), '{}')
    writeFileSync(join(cwd, 'people.csv'), 'first_name,last_name,email,phone\n')
    const forbidden = new Set(
      Object.entries(costlyLibraries).flatMap(([purpose, names]) =>
        purposes.includes(purpose) ? [] : names,
      ),
    )
    for (const argv of lines) {
      const packages = await listLoadedPackages(argv, cwd, { ...env, REFCHECK_WEBHOOK_SECRET: 'secret' })
      expect(packages).toContain('@oclif/core')
      expect({ argv, costly: packages.filter((name) => forbidden.has(name)) }).toEqual({ argv, costly: [] })
    }
  },
)

test('the bundle has every export of undici that the code uses', () => {
  const text = sources('src/http/*.ts')
    .map((source) => source.text)
    .join('\n')
  const imports = [...text.matchAll(/^import \{(.*)\} from 'undici'/gm)]
  const importedNames = imports.flatMap(([, names = '']) => names.split(',').map((name) => name.trim()))
  const values = importedNames.filter((name) => !name.startsWith('type '))
  expect(values).toContain('Client')
  const [bundled] = sources('src/build/undici.cjs')
  expect(values.filter((name) => !new RegExp(`^  (get )?${name}\\b`, 'm').test(bundled?.text ?? ''))).toEqual(
    [],
  )
})

test('a module outside the bundle is loaded by require, because Node.js prints a warning for an import() in cached code', () => {
  const imported = sources('src/**/*.ts').filter(({ text }) =>
    /await import\('@napi-rs\/keyring'\)/.test(text),
  )
  expect(imported.map(({ path }) => path)).toEqual([])
})
