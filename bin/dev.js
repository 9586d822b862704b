#!/usr/bin/env node
// Runs the sources as they are, by Node's own type stripping: no build, no manifest.
const { main } = await import('../src/cli/main.ts')
const { processContext } = await import('../src/cli/context.ts')
process.exitCode = await main(process.argv.slice(2), processContext(), new URL('..', import.meta.url), {
  fromSource: true,
})
