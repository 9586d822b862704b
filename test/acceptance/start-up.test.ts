import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { expect, test } from 'vitest'

import { plantCode } from '../harness/planted-code.ts'
import { program } from '../harness/program.ts'
import { loadBuiltProgram, refcheck, type RunOptions } from '../harness/run-command.ts'
import { sampleOf } from '../harness/share.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const root = join(import.meta.dirname, '..', '..')
const { preparedHelp } = createRequire(import.meta.url)('../../bin/run.js') as {
  preparedHelp: (argv: readonly string[]) => string | undefined
}
const rootUrl = pathToFileURL(`${root}/`)
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const manifest = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Record<string, { args: Record<string, unknown> }>
}
const ids = Object.keys(manifest.commands)
const topics = [
  ...new Set(ids.flatMap((id) => id.split(':').map((_, index, words) => words.slice(0, index).join(':')))),
]

function runProgram(argv: readonly string[], folder: string) {
  const env = { PATH: process.env['PATH'] ?? '', ...emptyEnv(folder) }
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
    env,
  })
  return { status, stdout: stdout.toString(), stderr: stderr.toString() }
}

test('--version prints the version of the package, and neither --version nor help creates files', () => {
  const folder = temporaryFolder()
  expect(runProgram(['--version'], folder)).toEqual({
    status: 0,
    stdout: `refcheck ${version}\n`,
    stderr: '',
  })
  expect(runProgram(['batch', '--help'], folder).status).toBe(0)
  expect(existsSync(join(folder, 'data'))).toBe(false)
})

test('help ends with exit 0 if its output is not read', () => {
  const folder = temporaryFolder()
  const script = `"${process.execPath}" "${program}" batch run --help | true; echo "\${PIPESTATUS[0]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', script], {
    env: { ...process.env, ...emptyEnv(folder) },
  })
  expect({ stdout: stdout.toString(), stderr: stderr.toString() }).toEqual({ stdout: '0\n', stderr: '' })
})

test.each([...ids, ...topics])('the prepared text of "%s --help" is what oclif prints', async (id) => {
  const words = id === '' ? [] : id.split(':')
  const { code, stdout } = await refcheck([...words, '--help'], { env: emptyEnv(temporaryFolder()) })
  expect(code).toBe(0)
  expect(preparedHelp([...words, '--help'])).toBe(stdout)
  expect(preparedHelp([...words, '-h'])).toBe(stdout)
  if (id === 'help') return
  expect(preparedHelp(['help', ...words])).toBe(stdout)
  expect(preparedHelp(words)).toBe(ids.includes(id) ? undefined : stdout)
})

test.each([
  ['batch', '--help', 'run'],
  ['batch', 'run', '--help', '--json'],
  ['no-such-topic', '--help'],
  ['../../package', '--help'],
  ['batch', 'run', '--', '--help', 'x'],
])('oclif handles arguments that are not exactly a call of help: %j', (...argv) => {
  expect(preparedHelp(argv)).toBeUndefined()
})

/** The built program finds a command by its file (`createCommandFinder`) or through oclif (`main` without it). */
const { main, createCommandFinder } = loadBuiltProgram()

test.each(
  sampleOf(
    ids.filter((id) => !/^(help|complete)$/.test(id)),
    25,
  ),
)('%s has the same result, found by its file and found through oclif', async (id) => {
  const words = id.split(':')
  const findCommand = createCommandFinder(new URL('dist/', rootUrl))
  const commandLines = [
    [...words, '--no-such-flag', '--json'],
    [...words, 'stray', 'words', 'here', 'and', 'there'],
    [...words, '--profile'],
  ]
  for (const argv of commandLines) {
    const runWith = async (mainFunction?: RunOptions['main']) => {
      const { code, stdout, stderr } = await refcheck(argv, {
        env: emptyEnv(temporaryFolder()),
        main: mainFunction,
      })
      return { code, stdout, stderr }
    }
    const fromSource = await runWith()
    expect(await runWith((line, context) => main(line, context, rootUrl, { findCommand }))).toEqual(
      fromSource,
    )
    expect(await runWith((line, context) => main(line, context, rootUrl))).toEqual(fromSource)
  }
  expect(findCommand(words)?.command.id).toBe(id)
})

test('compiled code is stored only for this version, in a private folder, and does not change the output', () => {
  const folder = temporaryFolder()
  const cache = join(folder, 'data', 'compile-cache')
  mkdirSync(join(cache, '0.0.1'), { recursive: true, mode: 0o700 })
  const commandLines = [['nothing'], ['config', 'list', '--json'], ['batch', 'list']]
  const firstResults = commandLines.map((argv) => runProgram(argv, folder))
  expect(commandLines.map((argv) => runProgram(argv, folder))).toEqual(firstResults)
  expect(readdirSync(cache)).toEqual([version])
  expect(statSync(cache).mode & 0o777).toBe(0o700)
  expect(readdirSync(join(cache, version))).toEqual(['batch.list', 'config.list', 'other'])
})

test.each<[string, (code: Buffer) => Buffer]>([
  ['torn', (code) => code.subarray(0, code.length / 2)],
  ['empty', () => Buffer.alloc(0)],
  [
    'of another build',
    (code) => Buffer.from(code.toString('latin1').replace(/"build":"./, '"build":"-'), 'latin1'),
  ],
  ['of another V8', (code) => Buffer.from(code).fill(0, code.indexOf(']]') + 16)],
])('compiled code that is %s is compiled again', (_, damage) => {
  const folder = temporaryFolder()
  const file = join(folder, 'data', 'compile-cache', version, 'config.list')
  const answer = runProgram(['config', 'list', '--json'], folder)
  const completeCode = readFileSync(file)
  writeFileSync(file, damage(completeCode))
  expect(runProgram(['config', 'list', '--json'], folder)).toEqual(answer)
  expect(Math.abs(readFileSync(file).length / completeCode.length - 1)).toBeLessThan(0.5)
})

test.each<[string, (cache: string, elsewhere: string) => void]>([
  ['that others may write to', (cache: string) => chmodSync(cache, 0o777)],
  [
    'that is a link to another folder',
    (cache: string, elsewhere: string) => {
      mkdirSync(elsewhere, { mode: 0o700 })
      symlinkSync(elsewhere, cache)
    },
  ],
  // Only root can change the owner of a folder.
  ...(process.getuid?.() === 0
    ? ([['of another account', (cache) => chownSync(cache, 65534, 65534)]] as [
        string,
        (cache: string) => void,
      ][])
    : []),
])('compiled code is not stored in a folder %s', (description, prepare) => {
  const folder = temporaryFolder()
  const [cache, elsewhere] = [join(folder, 'data', 'compile-cache'), join(folder, 'elsewhere')]
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  if (!description.startsWith('that is')) mkdirSync(cache, { mode: 0o700 })
  prepare(cache, elsewhere)
  expect(runProgram(['config', 'list', '--json'], folder)).toMatchObject({ status: 0, stderr: '' })
  expect(readdirSync(cache)).toEqual([])
})

const foreignUid = 54_321

test.each<[string, boolean, (file: string, parent: string) => void]>([
  ['of this account', true, () => undefined],
  ['in a sticky folder', true, (_, parent) => chmodSync(parent, 0o1777)],
  ['that others may write to', false, (file) => chmodSync(file, 0o606)],
  ['that its group may write to', false, (file) => chmodSync(file, 0o660)],
  ['below a folder that all may write to', false, (_, parent) => chmodSync(parent, 0o777)],
  ['below a folder that its group may write to', false, (_, parent) => chmodSync(parent, 0o775)],
  ['in a sticky folder for data', false, (file) => chmodSync(join(file, '..', '..', '..'), 0o1777)],
  // Only root can change the owner of a file.
  ...(process.getuid?.() === 0
    ? ([
        ['of another account', false, (file) => chownSync(file, foreignUid, foreignUid)],
        [
          'below a folder of another account',
          false,
          (_, parent) => chownSync(parent, foreignUid, foreignUid),
        ],
      ] as [string, boolean, (file: string, parent: string) => void][])
    : []),
])('compiled code %s is run: %s', (_, isRun, prepare) => {
  const parent = temporaryFolder()
  const argv = ['config', 'list', '--json']
  runProgram(argv, parent)
  const file = join(parent, 'data', 'compile-cache', version, 'config.list')
  plantCode(file)
  prepare(file, parent)
  expect(runProgram(argv, parent).stderr.includes('poisoned')).toBe(isRun)
})

test('compiled code that another account could have written is replaced', () => {
  const folder = temporaryFolder()
  const argv = ['config', 'list', '--json']
  const answer = runProgram(argv, folder)
  const file = join(folder, 'data', 'compile-cache', version, 'config.list')
  chmodSync(file, 0o666)
  expect(runProgram(argv, folder)).toEqual(answer)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('commands also work if no compiled code can be stored', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  chmodSync(join(folder, 'data'), 0o500)
  expect(runProgram(['config', 'list', '--json'], folder)).toMatchObject({ status: 0, stderr: '' })
})
