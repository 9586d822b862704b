import { availableParallelism } from 'node:os'
import { join } from 'node:path'

import { defineConfig } from 'vitest/config'

import { LongestFirstSequencer } from './harness/longest-first.ts'
import { temporaryRoot } from './harness/temporary-root.ts'

// Times are shown in the time zone of the reader.
process.env['TZ'] = 'UTC'
process.env['TMPDIR'] = temporaryRoot()
// Caches compiled modules, so that workers and child processes that run the sources need not strip their types and
// compile them again.
process.env['NODE_COMPILE_CACHE'] ??= join(
  import.meta.dirname,
  '..',
  'node_modules',
  '.cache',
  'test-modules',
)

/**
 * The sources run natively, by Node's own type stripping, so that the modules oclif loads and the
 * ones a test imports are the same instances. It also makes vi.mock impossible, which is wanted.
 */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: ['./harness/fresh-build.ts', './harness/shared-postgres.ts'],
    setupFiles: ['./harness/module-loading.ts', './harness/property-seed.ts', './harness/left-open.ts'],
    include: ['**/*.test.ts'],
    exclude: [
      // system/tasks: only first-steps, columns, questions and tasks run here, because batches and ordering are slow.
      'system/*.test.ts',
      'system/!(tasks)/**',
      'system/tasks/{batches,ordering}.test.ts',
      'bench/**',
      'mutants/**',
      'conformance/second-real-time.test.ts',
      'acceptance/library.test.ts',
      'usecases/request/wait-many.test.ts',
    ],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    disableConsoleIntercept: true,
    restoreMocks: true,
    // Long enough for a busy machine; a test that hangs still ends.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // By default Vitest leaves one processor idle and loads all modules again for each file, which together takes half
    // the time of a run. Tests wait for child processes and databases, so two workers more than there are processors
    // are never without work. Test files share a process, because each restores the state of the process that it
    // changed (trustAuthority, for example).
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirstSequencer },
    isolate: false,
  },
})
