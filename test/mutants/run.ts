/* Plants each bug of planted.ts alone, runs the tests that have to detect it, and prints the first test that failed.
 * Run: npm run mutants [-- --only PART_OF_A_NAME]
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import type { ChangedSource } from './load.ts'
import { applyEdits, plantedBugs, root } from './planted.ts'

interface Results {
  success: boolean
  testResults: { name: string; message: string; assertionResults: { fullName: string; status: string }[] }[]
}

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const selected = plantedBugs.filter(({ title }) => title.includes(values.only))
const folder = mkdtempSync(join(tmpdir(), 'refcheck-mutants-'))

/**
 * Returns the name of the first test that fails with these sources, or the message of a file that cannot be run;
 * undefined if all pass.
 */
function findFirstFailure(tests: readonly string[], sources: readonly ChangedSource[]): string | undefined {
  const [plan, output] = [join(folder, 'plan.json'), join(folder, 'results.json')]
  writeFileSync(plan, JSON.stringify({ sources }))
  rmSync(output, { force: true })
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const config = join(import.meta.dirname, 'vitest.config.ts')
  const argv = [vitest, 'run', '--config', config, '--reporter=json', `--outputFile=${output}`, ...tests]
  const env = { ...process.env, CI: '1', MUTANTS_PLAN: plan }
  const { stderr } = spawnSync(process.execPath, argv, { cwd: root, env, encoding: 'utf8' })
  if (!existsSync(output)) throw new Error(`the tests did not run: ${stderr}`)
  const { success, testResults } = JSON.parse(readFileSync(output, 'utf8')) as Results
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  )
  if (failed.length > 0) return failed[0]
  return success ? undefined : testResults.find(({ message }) => message !== '')?.message
}

try {
  // A test that fails without a planted bug cannot detect one.
  const failureWithoutBug = findFirstFailure([...new Set(selected.flatMap(({ tests }) => tests))], [])
  if (failureWithoutBug !== undefined)
    throw new Error(`a test fails without a planted bug: ${failureWithoutBug}`)
  for (const bug of selected) {
    const detectedBy = findFirstFailure(bug.tests, applyEdits(bug))
    console.log(detectedBy === undefined ? `SURVIVED: ${bug.title}` : `noticed: ${bug.title} (${detectedBy})`)
    if (detectedBy === undefined) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true })
}
