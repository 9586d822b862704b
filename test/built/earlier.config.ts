import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

import tests from '../vitest.config.ts'

const here = import.meta.dirname
const { EARLIER_FILES = '[]', EARLIER_SOURCES, EARLIER_UNSHOWN } = process.env

/** Some tests on an earlier build or its sources; see earlier.ts. */
export default defineConfig({
  test: {
    ...tests.test,
    include: JSON.parse(EARLIER_FILES) as string[],
    exclude: [],
    setupFiles: [
      './harness/property-seed.ts',
      ...(EARLIER_UNSHOWN === undefined ? [] : [join(here, 'unshown.ts')]),
    ],
    execArgv: EARLIER_SOURCES === undefined ? [] : ['--import', join(here, 'earlier-sources.ts')],
    pool: 'forks',
    update: false,
    silent: true,
  },
})
