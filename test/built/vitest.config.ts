import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

import tests from '../vitest.config.ts'

/** Runs the tests of test/commands with the bundle in dist instead of the sources: `npm run test:built`. */
export default defineConfig({
  test: {
    ...tests.test,
    include: ['commands/**/*.test.ts'],
    env: { REFCHECK_BUILT: join(import.meta.dirname, '..', '..') },
  },
})
