import { expect, test } from 'vitest'

import { sources } from './sources.ts'

/** Whether a file holds anything but types. */
const decides = (text: string): boolean =>
  /^export (?:default |async )?(?:function|const|class|enum)\b/m.test(text)

/** Rules that one test looks at together, each with its reason. */
const together: Readonly<Record<string, string>> = {
  'wording/count-in-words': 'wording/wording',
  'wording/escape-xml': 'wording/wording',
  'wording/shell-word': 'wording/wording',
}

test('every file of the domain that decides anything has a unit test under its own name', () => {
  const tests = new Set(
    sources('test/domain/**/*.test.ts').map(({ path }) =>
      path.slice('test/domain/'.length, -'.test.ts'.length),
    ),
  )
  const untested = sources('src/domain/**/*.ts')
    .filter(({ text }) => decides(text))
    .map(({ path }) => path.slice('src/domain/'.length, -'.ts'.length))
    .filter((name) => !tests.has(together[name] ?? name))
  expect(untested).toEqual([])
})

test('every unit test of the domain is about a file that is there', () => {
  const files = new Set(
    sources('src/domain/**/*.ts').map(({ path }) => path.slice('src/domain/'.length, -'.ts'.length)),
  )
  // Bodies that were changed in thousands of ways, against verifying and diagnosing at once.
  const of = new Set([...Object.values(together), 'webhook/mutations'])
  const lost = sources('test/domain/**/*.test.ts')
    .map(({ path }) => path.slice('test/domain/'.length, -'.test.ts'.length))
    .filter((name) => !files.has(name) && !of.has(name))
  expect(lost).toEqual([])
})

test('a unit test of the domain starts no process, opens no port and touches no file', () => {
  const waits =
    /from '(?:node:(?:fs|child_process|http|https|net)(?:\/promises)?|[./]+harness\/(?:world|session|process|run-command)\.ts)'/
  const found = sources('test/domain/**/*.test.ts').filter(({ text }) => waits.test(text))
  // What is quoted for a shell is read back by a shell.
  const shells = new Set(['test/domain/form/command-line.test.ts', 'test/domain/wording/wording.test.ts'])
  expect(found.map(({ path }) => path).filter((path) => !shells.has(path))).toEqual([])
})
