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
const toolsFolder = join(root, 'node_modules')
const getToolPath = (name: string): string => join(toolsFolder, '.bin', name)

/** Runs a command and returns its stdout. Throws an error with both streams if it fails. */
function run(command: string, argv: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, argv, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${argv.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}

let tarball = ''
let packOutput = ''

beforeAll(() => {
  const destination = mkdtempSync(join(tmpdir(), 'refcheck-packed-'))
  packOutput = run('npm', ['pack', '--loglevel=error', `--pack-destination=${destination}`], root)
  tarball = globSync(join(destination, '*.tgz'))[0] ?? ''
  return () => rmSync(destination, { recursive: true })
})

/** Creates a project of a user: a folder in which the package is installed, with common tools. Returns the folder. */
function createProject(): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'somebody', type: 'module' }))
  run('npm', ['install', '--omit=optional', '--ignore-scripts', '--offline', '--no-audit', tarball], folder)
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@types'), { recursive: true })
  for (const name of ['vitest', '@types/node', 'undici-types'])
    symlinkSync(join(toolsFolder, name), join(modules, name))
  for (const name of ['check', 'suite', 'intercept']) {
    const target = join(folder, name === 'suite' ? 'orders.test.ts' : `${name}.ts`)
    const sourceFolder = name === 'check' ? 'test/vectors/library' : 'src/reference/tests'
    cpSync(join(root, sourceFolder, `${name}.ts.txt`), target)
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

test.each(['README.md', 'src/reference/integrators.md'])(
  '%s of the package links only to files of the package',
  (path) => {
    const packed = run('tar', ['-tzf', tarball], root).split('\n')
    const page = run('tar', ['-xzOf', tarball, `package/${path}`], root)
    const links = [...page.matchAll(/\]\((?!https?:|#)([^)#\s]+)|(?:src|href)="(?!https?:|#)([^"#]+)/g)]
    expect(links).not.toEqual([])
    expect(
      links
        .map(([, markdownLink, htmlLink]) => join('package', dirname(path), markdownLink ?? htmlLink ?? ''))
        .filter((each) => !packed.includes(each)),
    ).toEqual([])
  },
)

test('the package is at most 3 MB, and installs no other package if the keychain is omitted', () => {
  expect(statSync(tarball).size).toBeLessThan(3e6)
  const installed = readdirSync(join(createProject(), 'node_modules')).filter((name) => !name.startsWith('.'))
  expect(installed.sort()).toEqual(['@types', 'refcheck', 'undici-types', 'vitest'])
})

test('`npm pack` prints only the name of the file, and the package has no install scripts', () => {
  expect(packOutput).toBe(`${basename(tarball)}\n`)
  const readPacked = (name: string): string => run('tar', ['-xzOf', tarball, `package/${name}`], root)
  const { scripts } = JSON.parse(readPacked('package.json')) as { scripts: Record<string, string> }
  const hooks = new Set(
    ['install', 'prepare', 'publish', 'pack'].flatMap((name) => [name, `pre${name}`, `post${name}`]),
  )
  expect(Object.keys(scripts).filter((name) => hooks.has(name))).toEqual([])
  for (const name of ['dist', 'dist/library'])
    expect(readPacked(`${name}/THIRD-PARTY-LICENSES.txt`)).toMatch(/^undici \d.*\(MIT\)$/m)
})

test(
  'a strict TypeScript project compiles and runs with the client, webhook, sandbox and types of the package',
  { timeout: 120_000 },
  () => {
    const folder = createProject()
    run(getToolPath('tsc'), ['-p', folder], folder)
    expect(run(process.execPath, ['out/check.js'], folder)).toBe('all is so\n')
    expect(run(process.execPath, ['--test', 'out/intercept.js'], folder)).toMatch(/^# pass 1$|^ℹ pass 1$/m)
  },
)

test('stack traces of the library name the source files, and only bundled libraries are minified', () => {
  const folder = createProject()
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
  const readLibraryFile = (path: string): string => readFileSync(join(library, path), 'utf8')
  const maps = globSync('**/*.js.map', { cwd: library }).map((path) => ({
    path,
    map: JSON.parse(readLibraryFile(path)) as { sources: string[]; mappings: string },
  }))
  expect(maps.flatMap(({ map }) => map.sources.filter((source) => source.includes('node_modules')))).toEqual(
    [],
  )
  const sourceMaps = maps.filter(({ map }) => map.sources.length > 0)
  expect(sourceMaps.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['client.js.map', 'sandbox.js.map', 'webhook.js.map']),
  )
  for (const { path, map } of sourceMaps) {
    expect(map.sources.filter((source) => !/\/src\/[\w/.-]+\.c?[jt]s$/.test(source))).toEqual([])
    expect(map.mappings).not.toBe('')
    // A minified chunk would be one line.
    const code = readLibraryFile(path.replace(/\.map$/, ''))
    expect(code.length / code.split('\n').length).toBeLessThan(200)
  }
})

test('refcheck/webhook/edge runs in a host that has only the standard APIs of the web', () => {
  const folder = createProject()
  writeFileSync(join(folder, 'worker.js'), `export { verify } from 'refcheck/webhook/edge'`)
  cpSync(join(root, 'test', 'vectors', 'library', 'edge-host.js.txt'), join(folder, 'edge-host.js'))
  const [secret, body] = ['s3cret', '{"event":"request.updated","request_id":"1","status":"PARTIAL"}']
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const verifyInEdgeHost = (received: string): string =>
    run(
      process.execPath,
      ['--experimental-vm-modules', '--no-warnings', 'edge-host.js', body, received, secret],
      folder,
    )
  expect(verifyInEdgeHost(signature)).toBe(`${body}\n`)
  expect(verifyInEdgeHost('0'.repeat(64))).toBe('BadSignatureError: the signature does not match the body\n')
})

test('the test suite of a user runs with a sandbox in its own process', { timeout: 120_000 }, () => {
  const folder = createProject()
  const output = run(
    process.execPath,
    [join(toolsFolder, 'vitest', 'vitest.mjs'), 'run', '--root', folder],
    folder,
  )
  expect(output).toMatch(/3 passed/)
})

test('publint and are-the-types-wrong report nothing', { timeout: 120_000 }, () => {
  expect(run(getToolPath('publint'), ['run', tarball, '--strict'], root)).toContain('All good!')
  expect(() => run(getToolPath('attw'), [tarball, '--profile', 'esm-only'], root)).not.toThrow()
})

test('the library loads nothing of the command line or oclif, and refcheck/client loads no store', () => {
  const folder = createProject()
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
  const findWords = (name: string, words: readonly string[]): string[] => {
    const urls = run(process.execPath, ['loaded.js', name], folder).trim().split('\n')
    expect(urls.some((url) => url.includes('/refcheck/dist/library/'))).toBe(true)
    const texts = urls
      .filter((url) => url.startsWith('file:'))
      .map((url) => readFileSync(new URL(url), 'utf8'))
    return words.filter((word) => texts.some((text) => text.includes(word)) || urls.includes(word))
  }
  // DatabaseSync is the class of node:sqlite; undici only checks whether that module exists.
  const store = ['DatabaseSync', 'CREATE TABLE', 'REFCHECK_STORE=']
  const commandLine = ['@oclif', '@napi-rs/keyring', 'inquirer']
  for (const name of ['refcheck/client', 'refcheck/webhook', 'refcheck/webhook/edge', 'refcheck/sandbox'])
    expect([name, findWords(name, [...store.slice(0, 2), ...commandLine])]).toEqual([name, []])
  expect(findWords('refcheck/journal', [...store, ...commandLine])).toEqual(store)
})
