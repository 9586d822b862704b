import { defineConfig } from 'vitest/config'

/**
 * The sources run natively, by Node's own type stripping, so that the modules oclif loads and the
 * ones a test imports are the same instances. It also makes vi.mock impossible, which is wanted.
 */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: './harness/fresh-build.ts',
    include: ['**/*.test.ts'],
    exclude: ['system/**', 'bench/**'],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    disableConsoleIntercept: true,
    restoreMocks: true,
    testTimeout: 20_000,
    // Vitest leaves one processor idle, and loads everything anew for each file: together half of a run's time. A
    // test leaves no state behind (folders, sandboxes and streams are its own), so that files may share a process.
    maxWorkers: '100%',
    isolate: false,
  },
})
