#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `refcheck needs Node 24.15 or newer; this is ${process.versions.node}.\n` +
      `Inside the checkout run it as "npx refcheck", which brings its own Node, or install a newer one.\n`,
  )
  process.exit(1)
}
const path = require('node:path')
const url = require('node:url')
const { boot } = require('../dist/cli/start/boot.cjs')

async function run() {
  const root = url.pathToFileURL(path.join(__dirname, '..', '/'))
  // Not by import(), which would start the loader of ES modules.
  const program = () => require('../dist/cli/start/start.cjs')
  process.exitCode = await boot(process.argv.slice(2), root, program)
}

void run()
