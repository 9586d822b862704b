import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

import tests from '../vitest.config.ts'

const here = import.meta.dirname

/** One worker, whose sources hold all mutants at once; see run.ts. */
export default defineConfig({
  test: {
    ...tests.test,
    exclude: [],
    runner: join(here, 'runner.ts'),
    execArgv: ['--import', join(here, 'load.ts')],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    update: false,
    testTimeout: 20_000,
    silent: true,
    reporters: [{}],
    passWithNoTests: true,
  },
})
