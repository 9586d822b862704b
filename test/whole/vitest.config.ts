import { defineConfig } from 'vitest/config'

import tests from '../vitest.config.ts'

/** Runs the slow tests in full: `npm run test:whole`. */
export default defineConfig({
  test: {
    ...tests.test,
    include: [
      'acceptance/library.test.ts',
      'acceptance/ordering/rollback.test.ts',
      'acceptance/ordering/kill.test.ts',
      'acceptance/ordering/race.test.ts',
      'acceptance/report-kill.test.ts',
      'acceptance/start-up.test.ts',
      'conformance/defects/over-time.test.ts',
      'conformance/second-clean.test.ts',
      'conformance/second-defects.test.ts',
      'conformance/second-real-time.test.ts',
      'resilience/expressions.test.ts',
      'usecases/quota/many-processes.test.ts',
      'usecases/request/wait-many.test.ts',
    ],
    exclude: [],
    env: { REFCHECK_WHOLE: '1' },
  },
})
