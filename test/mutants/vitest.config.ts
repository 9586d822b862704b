import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

import tests from '../vitest.config.ts'

/** One worker, which loads the sources that run.ts has changed. */
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
