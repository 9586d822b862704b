import { defineConfig } from 'vitest/config'

process.env['TZ'] = 'UTC'

/** What needs programs of the system (Chromium, LibreOffice, strace, qpdf): `npm run test:system`. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: '../harness/fresh-build.ts',
    include: ['**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Programs are often waited for; a file that measures gives its figures alone, under `npm run resilience`.
    maxWorkers: 2,
    disableConsoleIntercept: true,
    experimental: { viteModuleRunner: false },
  },
})
