import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

import tests from '../vitest.config.ts'

const src = join(import.meta.dirname, '..', '..', 'src')
const folders = ['domain', 'contract', 'api', 'http', 'store']

// Code from a cache has less precise counts.
process.env['NODE_DISABLE_COMPILE_CACHE'] = '1'

/** Measures how many branches `npm test` runs in the folders of src that contain the rules of the program. */
export default defineConfig({
  test: {
    ...tests.test,
    coverage: {
      enabled: true,
      provider: 'v8',
      // The sources are outside the root of the tests.
      allowExternal: true,
      include: folders.map((folder) => `${src}/${folder}/**/*.ts`),
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: join(import.meta.dirname, '..', '..', 'node_modules', '.coverage'),
      reportOnFailure: true,
      // Each folder has its own threshold, because a large folder would hide a small one.
      thresholds: Object.fromEntries(folders.map((folder) => [`../src/${folder}/**`, { branches: 95 }])),
    },
  },
})
