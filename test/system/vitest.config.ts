import { defineConfig } from 'vitest/config'

process.env['TZ'] = 'UTC'

/** Tests that need programs of the system (Chromium, LibreOffice, strace, qpdf): `npm run test:system`. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: '../harness/fresh-build.ts',
    include: ['**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Two workers, because tests often wait for programs. `npm run resilience` runs the files that measure one at a time.
    maxWorkers: 2,
    disableConsoleIntercept: true,
    experimental: { viteModuleRunner: false },
  },
})
