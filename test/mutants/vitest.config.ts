import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

import tests from '../vitest.config.ts'

/** One worker, whose sources are those of a plan; see run.ts. */
export default defineConfig({
  test: {
    ...tests.test,
    exclude: [],
    execArgv: ['--import', join(import.meta.dirname, 'load.ts')],
    pool: 'forks',
    maxWorkers: 1,
    update: false,
    bail: 1,
    testTimeout: 20_000,
    silent: true,
  },
})
