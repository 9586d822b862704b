#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs'
import * as nodeModule from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `refcheck needs Node 24.15 or newer; this is ${process.versions.node}.\n` +
      `Inside the checkout run it as "npx refcheck", which brings its own Node, or install a newer one.\n`,
  )
  process.exit(1)
}
const root = new URL('..', import.meta.url)
if (process.argv.length === 3 && process.argv[2] === '--version') {
  // Asked for so often, and by other programs, that nothing else is loaded for it.
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  process.stdout.write(`refcheck ${version}\n`)
} else {
  const { resolvePaths } = await import('../dist/host/paths.js')
  const { data } = resolvePaths(process.env)
  // Compiled code is kept beside the store; a folder that is not there yet is made, private, by whoever needs it.
  if (existsSync(data)) nodeModule.enableCompileCache(`${data}/compile-cache`)
  const { main } = await import('../dist/cli/main.js')
  const { processContext } = await import('../dist/cli/context.js')
  process.exitCode = await main(process.argv.slice(2), processContext(), root)
}
