#!/usr/bin/env node
// This file prints the version and the help pages itself, because loading one more file takes a twentieth of the start.
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 24 || (major === 24 && minor >= 15)) return
  process.stderr.write(
    `refcheck needs Node 24.15 or newer; this is ${process.versions.node}.\n` +
      `Inside the checkout run it as "npx refcheck", which brings its own Node,\n` +
      `or install a newer one.\n`,
  )
  process.exit(1)
}

function readVersion() {
  return JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version
}

/**
 * Returns the help page that the arguments name exactly (none, `batch`, `batch run --help`, `help batch run`). The
 * build has written it for 80 columns without colours. Returns undefined if oclif has to interpret the arguments.
 */
function preparedHelp(argv) {
  if (['--help', '-h'].includes(argv.at(-1))) return readPage(argv.slice(0, -1), ['commands', 'topics'])
  if (argv[0] === 'help') return readPage(argv.slice(1), ['commands', 'topics', 'pages'])
  return readPage(argv, ['topics'])
}

function readPage(words, kinds) {
  if (!words.every((word) => /^[a-z][a-z-]*$/.test(word))) return undefined
  const name = `${['refcheck', ...words].join('.')}.txt`
  for (const kind of kinds) {
    try {
      return fs.readFileSync(path.join(root, 'dist', 'help', kind, name), 'utf8')
    } catch {
      // There is no page of this kind with this name.
    }
  }
  return undefined
}

/**
 * Whether stdout may be a terminal, which has another width, and colours. The file is examined, because creating
 * process.stdout takes time.
 */
function mayBeTerminal() {
  try {
    const stdout = fs.fstatSync(1)
    return stdout.isCharacterDevice() && stdout.rdev !== fs.statSync('/dev/null').rdev
  } catch {
    return true
  }
}

/**
 * Writes to the file of stdout, because creating process.stdout takes a tenth of the start. process.stdout is only
 * needed if a pipe is full or closed.
 */
function print(text) {
  let rest = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(fs.writeSync(1, rest))
  } catch {
    process.stdout.on('error', () => {})
    process.stdout.write(rest)
  }
}

/** Prints `text` and exits, before Node prints a stack trace and the properties of the error, which may be secret. */
function crash(text) {
  try {
    fs.writeSync(2, text)
  } catch {
    // stderr is closed.
  }
  process.exit(1)
}

async function run(argv) {
  requireNode()
  if (argv.length === 1 && argv[0] === '--version') return print(`refcheck ${readVersion()}\n`)
  const help = mayBeTerminal() ? undefined : preparedHelp(argv)
  if (help !== undefined) return print(help)
  // The cache has to be in use before other files are loaded. import() would also start the loader of ES modules.
  require('../dist/cli/start/compile-cache.cjs').useCompileCache(readVersion(), argv, root)
  const { start, crashText } = require('../dist/cli/start/start.cjs')
  process.once('uncaughtException', (error) => crash(crashText(error)))
  process.exitCode = await start(argv, root)
}

module.exports = { preparedHelp }
if (require.main === module) void run(process.argv.slice(2))
