import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

import tests from '../vitest.config.ts'

const src = join(import.meta.dirname, '..', '..', 'src')
const rooms = ['domain', 'contract', 'api', 'http', 'store']

// Code from a cache has less precise counts.
process.env['NODE_DISABLE_COMPILE_CACHE'] = '1'

/** How many branches of the rooms that decide are come across by `npm test`. */
export default defineConfig({
  test: {
    ...tests.test,
    coverage: {
      enabled: true,
      provider: 'v8',
      // The tests' root is not that of the sources.
      allowExternal: true,
      include: rooms.map((room) => `${src}/${room}/**/*.ts`),
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: join(import.meta.dirname, '..', '..', 'node_modules', '.coverage'),
      reportOnFailure: true,
      // Each room by itself: a large one would hide a small one.
      thresholds: Object.fromEntries(rooms.map((room) => [`../src/${room}/**`, { branches: 95 }])),
    },
  },
})
