/*
 * Runs the tests that test/house/went-around.ts names on an earlier build: each case was a fault of 0.1.0, so that a test
 * of it fails there.
 * Run: git worktree add FOLDER 292204a, there `npm ci && npm run build`, then here: node test/built/earlier.ts FOLDER
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { printTable } from '../bench/measuring.ts'
import { ways } from '../house/went-around.ts'

interface Report {
  testResults: {
    name: string
    message: string
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
  }[]
}

const root = join(import.meta.dirname, '..', '..')
const folder = resolve(process.argv[2] ?? '')
const results = mkdtempSync(join(tmpdir(), 'refcheck-earlier-'))
type Named = (typeof ways)[number]['tests'][number]
/** Tests that run the program; the others call its parts. */
const isSession = ([file]: Named): boolean => /^(commands|acceptance|system)\//.test(file)

/** A title as went-around.ts has it, of which only a part may stand there. */
const pattern = (title: string): string =>
  title.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`).replaceAll(/%[is]/g, '.*')

/** Runs named tests; of each why it failed, undefined where it did not. */
function run(chosen: readonly Named[], env: Record<string, string>): (test: Named) => string | undefined {
  const output = join(results, `${Object.keys(env).join('-')}.json`)
  const config = join(import.meta.dirname, 'earlier.config.ts')
  const titles = chosen.map(([, title]) => pattern(title)).join('|')
  const vitest = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--config', config]
  const argv = [...vitest, '--reporter', 'json', '--outputFile', output, '--testNamePattern', titles]
  const files = JSON.stringify([...new Set(chosen.map(([file]) => file))])
  spawnSync(process.execPath, argv, {
    cwd: root,
    env: { ...process.env, CI: '1', EARLIER_FILES: files, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as Report
  return ([file, title]) => {
    const found = testResults.find(({ name }) => name.endsWith(`/test/${file}`))
    if (found === undefined) throw new Error(`${file} did not run`)
    if (found.assertionResults.length === 0) return firstLine(found.message)
    // PostgreSQL came later.
    const ran = found.assertionResults.filter(
      ({ fullName, status }) => !fullName.includes('PostgreSQL') && ['passed', 'failed'].includes(status),
    )
    const titled = ran.filter(({ fullName }) => new RegExp(pattern(title)).test(fullName))
    // A title may be that of a row that one test takes along with others.
    const judged = titled.length === 0 ? ran : titled
    if (judged.length === 0) throw new Error(`no test of ${file} ran: ${title}`)
    return judged.flatMap(({ failureMessages }) => failureMessages).map(firstLine)[0]
  }
}

const firstLine = (text: string): string =>
  (text.split('\n')[0] ?? '').replace(`${folder}/`, '').slice(0, 100)

const whys = ways.map((): string | undefined => undefined)

/** Tries the cases that no test has failed for yet. */
function attempt(kind: string, which: (test: Named) => boolean, env: Record<string, string>): void {
  const left = ways.map(({ tests }, at) => (whys[at] === undefined ? tests.filter(which) : []))
  const failureOf = left.flat().length === 0 ? () => undefined : run(left.flat(), env)
  for (const [at, tests] of left.entries()) {
    const why = tests.flatMap((test) => failureOf(test) ?? [])[0]
    if (why !== undefined) whys[at] = `${kind}: ${why}`
  }
}

try {
  attempt('does', isSession, { REFCHECK_BUILT: folder, EARLIER_UNSHOWN: '1' })
  attempt('decides', (test) => !isSession(test), { EARLIER_SOURCES: folder })
  attempt('says', isSession, { REFCHECK_BUILT: folder })
  printTable([
    ['by', 'case', 'how it fails on it'],
    ...ways.map(({ by, case: what }, at) => [by, what, whys[at] ?? 'PASSES']),
  ])
  const failing = (kind: string): number => whys.filter((why) => why?.startsWith(kind) === true).length
  console.log(
    `${failing('')} of ${whys.length} cases fail on ${folder}: ${failing('does')} by what it does, ${failing('says')} by what it says, ${failing('decides')} by rules that it has not`,
  )
  if (failing('') < whys.length) process.exitCode = 1
} finally {
  rmSync(results, { recursive: true })
}
