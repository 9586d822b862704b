import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

import { beforeAll, expect, test } from 'vitest'

import { temporaryFolder } from '../harness/world.ts'

const root = join(import.meta.dirname, '..', '..')
const tools = join(root, 'node_modules')
const tool = (name: string): string => join(tools, '.bin', name)

/** What it printed; throws with both streams where it fails. */
function run(command: string, argv: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, argv, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${argv.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}

let tarball = ''
let printed = ''

beforeAll(() => {
  const destination = mkdtempSync(join(tmpdir(), 'refcheck-packed-'))
  printed = run('npm', ['pack', '--loglevel=error', `--pack-destination=${destination}`], root)
  tarball = globSync(join(destination, '*.tgz'))[0] ?? ''
  return () => rmSync(destination, { recursive: true })
})

/** A project of a user: an empty folder with the package in it, and the tools that they have anyway. */
function project(): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'somebody', type: 'module' }))
  run('npm', ['install', '--omit=optional', '--ignore-scripts', '--offline', '--no-audit', tarball], folder)
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@types'), { recursive: true })
  for (const name of ['vitest', '@types/node', 'undici-types'])
    symlinkSync(join(tools, name), join(modules, name))
  for (const name of ['check', 'suite', 'intercept']) {
    const to = join(folder, name === 'suite' ? 'orders.test.ts' : `${name}.ts`)
    const from = name === 'check' ? 'test/vectors/library' : 'src/reference/tests'
    cpSync(join(root, from, `${name}.ts.txt`), to)
  }
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: 'nodenext',
    target: 'es2022',
    types: ['node'],
    outDir: 'out',
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['check.ts', 'intercept.ts'] }),
  )
  return folder
}

test.each(['README.md', 'src/reference/integrators.md'])('%s of the package links to files in it', (path) => {
  const packed = run('tar', ['-tzf', tarball], root).split('\n')
  const page = run('tar', ['-xzOf', tarball, `package/${path}`], root)
  const links = [...page.matchAll(/\]\((?!https?:|#)([^)#\s]+)|(?:src|href)="(?!https?:|#)([^"#]+)/g)]
  expect(links).not.toEqual([])
  expect(
    links
      .map(([, one, other]) => join('package', dirname(path), one ?? other ?? ''))
      .filter((each) => !packed.includes(each)),
  ).toEqual([])
})

test('the package is at most 3 MB, and one package where the keychain is left out', () => {
  expect(statSync(tarball).size).toBeLessThan(3e6)
  const installed = readdirSync(join(project(), 'node_modules')).filter((name) => !name.startsWith('.'))
  expect(installed.sort()).toEqual(['@types', 'refcheck', 'undici-types', 'vitest'])
})

test('`npm pack` prints the name of the file alone, and what it packs runs nothing where it is installed', () => {
  expect(printed).toBe(`${basename(tarball)}\n`)
  const packed = (name: string): string => run('tar', ['-xzOf', tarball, `package/${name}`], root)
  const { scripts } = JSON.parse(packed('package.json')) as { scripts: Record<string, string> }
  const hooks = new Set(
    ['install', 'prepare', 'publish', 'pack'].flatMap((name) => [name, `pre${name}`, `post${name}`]),
  )
  expect(Object.keys(scripts).filter((name) => hooks.has(name))).toEqual([])
  for (const name of ['dist', 'dist/library'])
    expect(packed(`${name}/THIRD-PARTY-LICENSES.txt`)).toMatch(/^undici \d.*\(MIT\)$/m)
})

test(
  'compiled strictly and run in a plain TypeScript project: client, webhook, sandbox and types',
  { timeout: 120_000 },
  () => {
    const folder = project()
    run(tool('tsc'), ['-p', folder], folder)
    expect(run(process.execPath, ['out/check.js'], folder)).toBe('all is so\n')
    expect(run(process.execPath, ['--test', 'out/intercept.js'], folder)).toMatch(/^# pass 1$|^ℹ pass 1$/m)
  },
)

test('readable: stack traces lead to the source, and only bundled libraries are minified', () => {
  const folder = project()
  writeFileSync(
    join(folder, 'trace.js'),
    `import { createClient } from 'refcheck/client'
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: '0'.repeat(32), userEmail: 'a@example.com' })
    await client.getRequest('..').catch((error) => console.log(error.stack))`,
  )
  const trace = run(process.execPath, ['--enable-source-maps', 'trace.js'], folder)
  expect(trace).toMatch(/^InvalidInputError: "\.\." is not an id\n.*refcheck\/src\/api\/api\.ts:\d+:\d+\)\n/)
  expect(trace).toMatch(/refcheck\/src\/exports\/client\.ts:\d+:\d+\)/)

  const library = join(folder, 'node_modules', 'refcheck', 'dist', 'library')
  const text = (path: string): string => readFileSync(join(library, path), 'utf8')
  const maps = globSync('**/*.js.map', { cwd: library }).map((path) => ({
    path,
    map: JSON.parse(text(path)) as { sources: string[]; mappings: string },
  }))
  expect(maps.flatMap(({ map }) => map.sources.filter((source) => source.includes('node_modules')))).toEqual(
    [],
  )
  const own = maps.filter(({ map }) => map.sources.length > 0)
  expect(own.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['client.js.map', 'sandbox.js.map', 'webhook.js.map']),
  )
  for (const { path, map } of own) {
    expect(map.sources.filter((source) => !/\/src\/[\w/.-]+\.c?[jt]s$/.test(source))).toEqual([])
    expect(map.mappings).not.toBe('')
    // Minified, a chunk is one line.
    const code = text(path.replace(/\.map$/, ''))
    expect(code.length / code.split('\n').length).toBeLessThan(200)
  }
})

test('refcheck/webhook/edge runs where there is nothing but the standard of the web', () => {
  const folder = project()
  writeFileSync(join(folder, 'worker.js'), `export { verify } from 'refcheck/webhook/edge'`)
  cpSync(join(root, 'test', 'vectors', 'library', 'edge-host.js.txt'), join(folder, 'edge-host.js'))
  const [secret, body] = ['s3cret', '{"event":"request.updated","request_id":"1","status":"PARTIAL"}']
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const host = (received: string): string =>
    run(
      process.execPath,
      ['--experimental-vm-modules', '--no-warnings', 'edge-host.js', body, received, secret],
      folder,
    )
  expect(host(signature)).toBe(`${body}\n`)
  expect(host('0'.repeat(64))).toBe('BadSignatureError: the signature does not match the body\n')
})

test('a sandbox in the process of a user’s own suite', { timeout: 120_000 }, () => {
  const folder = project()
  const output = run(process.execPath, [join(tools, 'vitest', 'vitest.mjs'), 'run', '--root', folder], folder)
  expect(output).toMatch(/3 passed/)
})

test('publint and are-the-types-wrong have nothing to say', { timeout: 120_000 }, () => {
  expect(run(tool('publint'), ['run', tarball, '--strict'], root)).toContain('All good!')
  expect(() => run(tool('attw'), [tarball, '--profile', 'esm-only'], root)).not.toThrow()
})

test('nothing of the command line or oclif is in it, and refcheck/client loads no store', () => {
  const folder = project()
  writeFileSync(
    join(folder, 'loaded.js'),
    `import { registerHooks } from 'node:module'
    registerHooks({
      load(url, context, next) {
        console.log(url)
        return next(url, context)
      },
    })
    await import(process.argv[2])`,
  )
  const found = (name: string, words: readonly string[]): string[] => {
    const urls = run(process.execPath, ['loaded.js', name], folder).trim().split('\n')
    expect(urls.some((url) => url.includes('/refcheck/dist/library/'))).toBe(true)
    const texts = urls
      .filter((url) => url.startsWith('file:'))
      .map((url) => readFileSync(new URL(url), 'utf8'))
    return words.filter((word) => texts.some((text) => text.includes(word)) || urls.includes(word))
  }
  // DatabaseSync is the class of node:sqlite; undici only asks whether that module is there.
  const store = ['DatabaseSync', 'CREATE TABLE', 'REFCHECK_STORE=']
  const commandLine = ['@oclif', '@napi-rs/keyring', 'inquirer']
  for (const name of ['refcheck/client', 'refcheck/webhook', 'refcheck/webhook/edge', 'refcheck/sandbox'])
    expect([name, found(name, [...store.slice(0, 2), ...commandLine])]).toEqual([name, []])
  expect(found('refcheck/journal', [...store, ...commandLine])).toEqual(store)
})
