#!/usr/bin/env node
// What has to answer at once stands in this file, because to load one more costs a twentieth of a start.
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 24 || (major === 24 && minor >= 15)) return
  process.stderr.write(
    `refcheck needs Node 24.15 or newer; this is ${process.versions.node}.\n` +
      `Inside the checkout run it as "npx refcheck", which brings its own Node, or install a newer one.\n`,
  )
  process.exit(1)
}

function version() {
  return JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version
}

/**
 * The help page that a command line plainly asks for (`refcheck`, `batch`, `batch run --help`, `help batch run`),
 * as the build prepared it for 80 columns without colours; undefined where oclif has to find out what is meant.
 */
function preparedHelp(argv) {
  if (['--help', '-h'].includes(argv.at(-1))) return page(argv.slice(0, -1), ['commands', 'topics'])
  if (argv[0] === 'help') return page(argv.slice(1), ['commands', 'topics', 'pages'])
  return page(argv, ['topics'])
}

function page(words, kinds) {
  if (!words.every((word) => /^[a-z][a-z-]*$/.test(word))) return undefined
  const name = `${['refcheck', ...words].join('.')}.txt`
  for (const kind of kinds) {
    try {
      return fs.readFileSync(path.join(root, 'dist', 'help', kind, name), 'utf8')
    } catch {
      // No such page: not of this kind.
    }
  }
  return undefined
}

/** A terminal has a width and colours that no page was prepared for. To ask process.stdout would make it. */
function mayBeTerminal() {
  try {
    const stdout = fs.fstatSync(1)
    return stdout.isCharacterDevice() && stdout.rdev !== fs.statSync('/dev/null').rdev
  } catch {
    return true
  }
}

/** Past process.stdout, whose making costs a tenth of a start; it is needed where a pipe is full or gone. */
function print(text) {
  let rest = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(fs.writeSync(1, rest))
  } catch {
    process.stdout.on('error', () => {})
    process.stdout.write(rest)
  }
}

/** In place of what Node prints: a stack, and whatever the error names. */
function crash(text) {
  try {
    fs.writeSync(2, text)
  } catch {
    // Nobody reads it.
  }
  process.exit(1)
}

async function run(argv) {
  requireNode()
  if (argv.length === 1 && argv[0] === '--version') return print(`refcheck ${version()}\n`)
  const help = mayBeTerminal() ? undefined : preparedHelp(argv)
  if (help !== undefined) return print(help)
  // The cache has to be in use before other files are loaded. import() would also start the loader of ES modules.
  require('../dist/cli/start/compile-cache.cjs').useCompileCache(version(), argv, root)
  const { start, crashText } = require('../dist/cli/start/start.cjs')
  process.once('uncaughtException', (error) => crash(crashText(error)))
  process.exitCode = await start(argv, root)
}

module.exports = { preparedHelp }
if (require.main === module) void run(process.argv.slice(2))
