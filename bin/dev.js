#!/usr/bin/env node
// Runs the sources with Node's type stripping, without a build and a manifest.
const path = require('node:path')
const url = require('node:url')

async function run() {
  const { main } = await import('../src/cli/main.ts')
  const { processContext } = await import('../src/app/context.ts')
  const root = url.pathToFileURL(path.join(__dirname, '..', '/'))
  process.exitCode = await main(process.argv.slice(2), processContext(), root, { fromSource: true })
}

void run()
