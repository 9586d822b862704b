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

/** Libraries whose loading a person would feel, by what they are for. The rest is oclif and what draws a table. */
const costly: Record<string, string[]> = {
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

/** What a kind of command may load of it. */
const kinds: [kind: string, may: string[], lines: string[][]][] = [
  [
    'what is answered from this machine',
    [],
    [
      ['config', 'list'],
      ['batch', 'list', '--json'],
      ['request', 'list'],
      ['store', 'info'],
      ['webhook', 'sign', 'body.json'],
      ['webhook', 'verify', 'body.json', '--signature', 'v1=00'],
      ['sandbox', 'scenarios'],
    ],
  ],
  [
    'a read of the service',
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
    'what is checked as it is read',
    ['shapes'],
    [
      ['auth', 'list'],
      ['webhook', 'events', 'list'],
    ],
  ],
  [
    'rows of a CSV file',
    ['http', 'shapes', 'csv'],
    [['batch', 'validate', 'people.csv', '--package', '101']],
  ],
  ['a template in CSV', ['http', 'shapes', 'csv'], [['schema', 'template', '101', '--format', 'csv']]],
  [
    'one order by flags',
    ['http', 'shapes'],
    [['request', 'create', '--package', '101', '--dry-run', '--yes']],
  ],
]

/** The packages whose code a command line loaded. */
async function loaded(argv: readonly string[], cwd: string, env: Record<string, string>): Promise<string[]> {
  const [hook, list] = [join(cwd, 'hook.cjs'), join(cwd, 'loaded.json')]
  writeFileSync(
    hook,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify(Object.keys(require.cache))))`,
  )
  const line = ['--require', hook, program, ...argv]
  const options = { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } }
  await promisify(execFile)(process.execPath, line, options).catch(() => undefined)
  const files = JSON.parse(readFileSync(list, 'utf8')) as string[]
  return [...new Set(files.flatMap((file) => contents[relative(dist, file)] ?? []))]
}

test.each(kinds)('%s loads what it may (%j) and nothing else that is costly', async (_kind, may, lines) => {
  const { env } = await world()
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'body.json'), '{}')
  writeFileSync(join(cwd, 'people.csv'), 'first_name,last_name,email,phone\n')
  const forbidden = new Set(
    Object.entries(costly).flatMap(([what, names]) => (may.includes(what) ? [] : names)),
  )
  for (const argv of lines) {
    const packages = await loaded(argv, cwd, { ...env, REFCHECK_WEBHOOK_SECRET: 'secret' })
    expect(packages).toContain('@oclif/core')
    expect({ argv, costly: packages.filter((name) => forbidden.has(name)) }).toEqual({ argv, costly: [] })
  }
})

test('the bundle has all that is used of undici', () => {
  const text = sources('src/http/*.ts')
    .map((source) => source.text)
    .join('\n')
  const imports = [...text.matchAll(/^import \{(.*)\} from 'undici'/gm)]
  const used = imports.flatMap(([, names = '']) => names.split(',').map((name) => name.trim()))
  const values = used.filter((name) => !name.startsWith('type '))
  expect(values).toContain('Client')
  const [bundled] = sources('src/build/undici.cjs')
  expect(values.filter((name) => !new RegExp(`^  (get )?${name}\\b`, 'm').test(bundled?.text ?? ''))).toEqual(
    [],
  )
})

test('what is outside the bundle is loaded by require: of an import() in cached code Node prints a warning', () => {
  const imported = sources('src/**/*.ts').filter(({ text }) =>
    /await import\('@napi-rs\/keyring'\)/.test(text),
  )
  expect(imported.map(({ path }) => path)).toEqual([])
})
