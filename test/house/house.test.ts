import { execFileSync } from 'node:child_process'

import { expect, test } from 'vitest'

import { root, sources } from './sources.ts'

const sourceFiles = sources('src/**/*.ts')
const allFiles = [...sourceFiles, ...sources('test/**/*.ts')]

/** Returns the lines that match a pattern, each with its path and number. */
function findLines(files: typeof allFiles, pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )
}

test('the top folder has only what a tool or a reader expects there', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
  const topNames = [...new Set(tracked.map((path) => path.split('/')[0] ?? ''))].filter((name) => name !== '')
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
  expect(topNames.filter((name) => !name.startsWith('.') && !expected.has(name))).toEqual([])
})

test('no file or folder has a collective name such as utils', () => {
  const collectiveName = /(^|\/)(utils?|helpers?|common|shared|misc|lib)(\/|\.ts$)/
  expect(allFiles.map(({ path }) => path).filter((path) => collectiveName.test(path))).toEqual([])
})

test('file names are lowercase with hyphens', () => {
  expect(allFiles.map(({ path }) => path).filter((path) => !/^[a-z0-9./-]+$/.test(path))).toEqual([])
})

test('time, randomness and the process are read in host, and streams in output and cli', () => {
  const ambient =
    /\bprocess\.(env|cwd|exit|stdin|stdout|stderr|argv|pid|on|once)\b|\bDate\.now\(|new Date\(\)|Math\.random|\bconsole\./
  const otherFiles = sourceFiles.filter(({ path }) => !/^src\/(host|output|cli|build)\//.test(path))
  expect(findLines(otherFiles, ambient)).toEqual([])
})

test('only bin may end the process', () => {
  // The process group of a program that was started is not this process.
  expect(findLines(sourceFiles, /\bprocess\.(exit|kill(?!\(-child\.pid,)|abort)\b/)).toEqual([])
})

test('tests replace no modules and do not wait for the clock', () => {
  const banned =
    /\bvi\.(mock|doMock)\b|\.(skip|only|todo|skipIf|runIf)\(|\bsetTimeout\(r|(?<!clock\.)\bsleep\(\d/
  expect(
    findLines(
      sources('test/**/*.test.ts').filter(({ path }) => !path.startsWith('test/house/')),
      banned,
    ),
  ).toEqual([])
})

test('no type is any, and no error is ignored or silenced', () => {
  const silenced =
    /\bas any\b(?! [a-z])|^[^*]*: any\b(?! [a-z])|<any>|@ts-(ignore|nocheck|expect-error)|(oxlint|eslint)-disable/
  expect(
    findLines(
      allFiles.filter(({ path }) => !path.startsWith('test/house/')),
      silenced,
    ),
  ).toEqual([])
})

test('a file is one topic of at most 600 lines', () => {
  const longFiles = allFiles.filter(({ text }) => text.split('\n').length > 601)
  expect(longFiles.map(({ path }) => path)).toEqual([])
})

test('a command file is at most 115 lines, flags and examples included', () => {
  const longFiles = sources('src/commands/**/*.ts').filter(({ text }) => text.split('\n').length > 116)
  expect(longFiles.map(({ path }) => path)).toEqual([])
})

test('dependencies are exact versions', () => {
  const [packageJson] = sources('package.json')
  const { dependencies, devDependencies } = JSON.parse(packageJson?.text ?? '') as Record<
    string,
    Record<string, string>
  >
  const inexact = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version),
  )
  expect(inexact).toEqual([])
})

test('every dependency has its reason in src/README.md', () => {
  const [packageJson] = sources('package.json')
  const [readme] = sources('src/README.md')
  const { dependencies, devDependencies } = JSON.parse(packageJson?.text ?? '') as Record<
    string,
    Record<string, string>
  >
  const missing = Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !readme?.text.includes(`| \`${name}\``),
  )
  expect(missing).toEqual([])
})

test('no path of a machine and no registry host is in any file', () => {
  const machinePath = /['"`(\s](\/(work|farm|root|home)\/)|registry\.npmjs/
  const files = [
    ...sourceFiles,
    ...sources('bin/*'),
    ...sources('README.md'),
    ...sources('src/README.md'),
    ...sources('test/bench/README.md'),
    ...sources('package.json'),
    ...sources('.ci/*'),
  ]
  expect(findLines(files, machinePath)).toEqual([])
})

test('only one function prints commands with a file of people, because it repeats the flags of the file', () => {
  const handwritten = sources('src/**/*.ts').filter(({ text }) =>
    /refcheck batch (?:run|plan|validate) \$\{/.test(text),
  )
  expect(handwritten.map(({ path }) => path)).toEqual([])
  // A text that is written to a stream directly has no repeated flags: see domain/wording/pasted-command.ts.
  const directWrites = sources('src/{app,cli,commands,output}/**/*.ts').filter(({ text }) =>
    /\.write\([^)]*refcheck (?!\$\{pjson)/.test(text),
  )
  expect(directWrites.map(({ path }) => path)).toEqual([])
})
