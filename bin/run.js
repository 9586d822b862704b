#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `refcheck needs Node 24.15 or newer; this is ${process.versions.node}.\n` +
      `Inside the checkout run it as "npx refcheck", which brings its own Node, or install a newer one.\n`,
  )
  process.exit(1)
}
const { main } = await import('../dist/cli/main.js')
const { processContext } = await import('../dist/cli/context.js')
process.exitCode = await main(process.argv.slice(2), processContext(), new URL('..', import.meta.url))
