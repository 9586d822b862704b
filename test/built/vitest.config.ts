import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

import tests from '../vitest.config.ts'

/** The terminal sessions of test/commands once more, on the bundle in dist: `npm run test:built`. */
export default defineConfig({
  test: {
    ...tests.test,
    include: ['commands/**/*.test.ts'],
    env: { REFCHECK_BUILT: join(import.meta.dirname, '..', '..') },
  },
})
