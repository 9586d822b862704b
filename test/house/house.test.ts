import { execFileSync } from 'node:child_process'

import { expect, test } from 'vitest'

import { root, sources } from './sources.ts'

const src = sources('src/**/*.ts')
const all = [...src, ...sources('test/**/*.ts')]

/** Paths and lines of a pattern, for a message one can click. */
function lines(files: typeof all, pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  )
}

test('the top level holds only what a tool or a reader looks for there', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
  const top = [...new Set(tracked.map((path) => path.split('/')[0] ?? ''))].filter((name) => name !== '')
  const expected = new Set([
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'bin',
    'src',
    'test',
    'README.md',
    'oclif.manifest.json',
  ])
  expect(top.filter((name) => !name.startsWith('.') && !expected.has(name))).toEqual([])
})

test('no drawers: a name says what is in it', () => {
  const drawer = /(^|\/)(utils?|helpers?|common|shared|misc|lib)(\/|\.ts$)/
  expect(all.map(({ path }) => path).filter((path) => drawer.test(path))).toEqual([])
})

test('names are lowercase with hyphens', () => {
  expect(all.map(({ path }) => path).filter((path) => !/^[a-z0-9./-]+$/.test(path))).toEqual([])
})

test('time, randomness and the process are read in host, and streams in output and cli', () => {
  const ambient =
    /\bprocess\.(env|cwd|exit|stdin|stdout|stderr|argv|pid|on|once)\b|\bDate\.now\(|new Date\(\)|Math\.random|\bconsole\./
  const elsewhere = src.filter(({ path }) => !/^src\/(host|output|cli|build)\//.test(path))
  expect(lines(elsewhere, ambient)).toEqual([])
})

test('only bin may end the process', () => {
  // The process group of a program that was started is not this process.
  expect(lines(src, /\bprocess\.(exit|kill(?!\(-child\.pid,)|abort)\b/)).toEqual([])
})

test('tests replace no module and wait for no clock', () => {
  const banned =
    /\bvi\.(mock|doMock)\b|\.(skip|only|todo|skipIf|runIf)\(|\bsetTimeout\(r|(?<!clock\.)\bsleep\(\d/
  expect(
    lines(
      sources('test/**/*.test.ts').filter(({ path }) => !path.startsWith('test/house/')),
      banned,
    ),
  ).toEqual([])
})

test('nothing is typed any, ignored or silenced', () => {
  const silenced =
    /\bas any\b(?! [a-z])|^[^*]*: any\b(?! [a-z])|<any>|@ts-(ignore|nocheck|expect-error)|(oxlint|eslint)-disable/
  expect(
    lines(
      all.filter(({ path }) => !path.startsWith('test/house/')),
      silenced,
    ),
  ).toEqual([])
})

test('a file is one topic of at most 600 lines', () => {
  const long = all.filter(({ text }) => text.split('\n').length > 601)
  expect(long.map(({ path }) => path)).toEqual([])
})

test('a command file is at most 115 lines, flags and examples included', () => {
  const long = sources('src/commands/**/*.ts').filter(({ text }) => text.split('\n').length > 116)
  expect(long.map(({ path }) => path)).toEqual([])
})

test('dependencies are exact versions', () => {
  const [pjson] = sources('package.json')
  const { dependencies, devDependencies } = JSON.parse(pjson?.text ?? '') as Record<
    string,
    Record<string, string>
  >
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version),
  )
  expect(loose).toEqual([])
})

test('every dependency has its reason in src/README.md', () => {
  const [pjson] = sources('package.json')
  const [readme] = sources('src/README.md')
  const { dependencies, devDependencies } = JSON.parse(pjson?.text ?? '') as Record<
    string,
    Record<string, string>
  >
  const missing = Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !readme?.text.includes(`| \`${name}\``),
  )
  expect(missing).toEqual([])
})

test('no path of a machine and no registry host is in any file', () => {
  const written = /['"`(\s](\/(work|farm|root|home)\/)|registry\.npmjs/
  const files = [
    ...src,
    ...sources('bin/*'),
    ...sources('README.md'),
    ...sources('src/README.md'),
    ...sources('test/bench/README.md'),
    ...sources('package.json'),
    ...sources('.ci/*'),
  ]
  expect(lines(files, written)).toEqual([])
})

test('a command that reads a file of people is told by the one place that repeats how it is read and what it allows', () => {
  const byHand = sources('src/**/*.ts').filter(({ text }) =>
    /refcheck batch (?:run|plan|validate) \$\{/.test(text),
  )
  expect(byHand.map(({ path }) => path)).toEqual([])
  // What a stream is given directly has not been through `keep`: see domain/wording/pasted-command.ts.
  const unkept = sources('src/{app,cli,commands,output}/**/*.ts').filter(({ text }) =>
    /\.write\([^)]*refcheck (?!\$\{pjson)/.test(text),
  )
  expect(unkept.map(({ path }) => path)).toEqual([])
})
