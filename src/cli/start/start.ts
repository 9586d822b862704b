import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { type Clock, systemClock } from '../../host/clock.ts'
import type { ResolvedCommand, LaunchableCommand } from '../base-command.ts'
import { InterruptedError, PromptBackError } from '../../errors/kinds.ts'
import { Secrets, secretsOf } from '../../host/secrets.ts'
import { failureText } from '../../output/present.ts'
import { type Context, processContext } from '../../app/context.ts'
import { internalError, main } from '../main.ts'

/**
 * Returns a function that finds commands in a built `dist`, where `auth login` is the file `commands/auth/login.cjs`.
 * Tests use it for `src`, with the extension `.ts`.
 * The function returns undefined unless the arguments begin with the whole name of a command and do not ask for help.
 * If it returns undefined, oclif interprets the arguments, for which it reads the flags of all commands and the
 * plugins.
 */
export function createCommandFinder(
  dist: URL,
  extension = '.cjs',
): (argv: readonly string[]) => ResolvedCommand | undefined {
  const folder = new URL('commands/', dist)
  const load = createRequire(folder)
  return (argv) => {
    const endOfFlags = argv.indexOf('--')
    if (argv.slice(0, endOfFlags === -1 ? argv.length : endOfFlags).some((arg) => helpFlags.has(arg)))
      return undefined
    const words = leadingWords(argv)
    for (let length = words.length; length > 0; length -= 1) {
      const url = new URL(`${words.slice(0, length).join('/')}${extension}`, folder)
      const file = fileURLToPath(url)
      if (!isPinned(url) && !existsSync(file)) continue
      const { default: command } = load(file) as { default: Partial<LaunchableCommand> }
      if (!isLaunchable(command)) return undefined
      if (Object.keys(command.args).length === 0 && isWord(argv[length])) return undefined
      command.id = words.slice(0, length).join(':')
      return { command, argv: argv.slice(length) }
    }
    return undefined
  }
}

const helpFlags = new Set(['--help', '-h'])

/** Returns the arguments that may be words of a command's name. The longest name has three words. */
function leadingWords(argv: readonly string[]): string[] {
  const words = argv.slice(0, 3)
  const nameEnd = words.findIndex((arg) => !/^[a-z][a-z-]*$/.test(arg))
  return nameEnd === -1 ? words : words.slice(0, nameEnd)
}

/**
 * Returns true if an argument may be a word of a command's name. After a command that takes no arguments, oclif reads
 * such an argument as the next word of the name.
 */
function isWord(arg: string | undefined): boolean {
  return arg !== undefined && !arg.startsWith('-') && !arg.includes('=')
}

function isLaunchable(command: Partial<LaunchableCommand>): command is LaunchableCommand {
  return command.launch !== undefined && command.args !== undefined
}

/** Sources of the built program by URL. The map is empty until `pinProgramFiles` reads the sources. */
const pinnedSources = new Map<string, Buffer>()

/**
 * Reads every file of the built program once, and loads modules from these copies from then on. So a
 * long-running process continues with its version after an upgrade, which replaces the files by others with
 * different names. `dist` ends with a slash.
 */
export function pinProgramFiles(dist: URL): void {
  if (pinnedSources.size > 0) return
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const url = new URL(name.replaceAll('\\', '/'), dist)
    if (name.endsWith('.cjs')) pinnedSources.set(url.href, readFileSync(url))
  }
  registerHooks({
    resolve(specifier, context, next) {
      const { href } = /^\.\.?\//.test(specifier)
        ? new URL(specifier, context.parentURL ?? dist)
        : specifier.startsWith('/')
          ? pathToFileURL(specifier)
          : { href: specifier }
      return pinnedSources.has(href)
        ? { url: href, format: 'commonjs', shortCircuit: true }
        : next(specifier, context)
    },
    load(url, context, next) {
      const source = pinnedSources.get(url)
      return source === undefined ? next(url, context) : { source, format: 'commonjs', shortCircuit: true }
    },
  })
}

/**
 * Returns true if `pinProgramFiles` has read a file of the program, so that it can be loaded even if it was
 * removed.
 */
export function isPinned(file: URL): boolean {
  return pinnedSources.has(file.href)
}

/**
 * A wait of this length or longer may be part of a wait of hours, during which an upgrade may remove files that the
 * command has not loaded yet.
 */
const minLongWaitMs = 1000

/**
 * Returns a clock that pins the program's files before each long wait and otherwise works like the machine's
 * clock.
 */
export function createPinningClock(pinFiles: () => void): Clock {
  return {
    ...systemClock,
    sleep(ms, signal) {
      if (ms >= minLongWaitMs) pinFiles()
      return systemClock.sleep(ms, signal)
    },
  }
}

// Exported for the tests of the built program.
export { InterruptedError, main, PromptBackError }

/** Runs a command line of the built program and returns the exit code. `root` is the folder of the package. */
export function start(argv: readonly string[], root: string): Promise<number> {
  // Stack traces are never printed, and undici makes an error for each connection that it closes.
  Error.stackTraceLimit = 0
  // A diagnostic report of Node, which the user may have asked for, would hold the API key in clear text.
  globalThis.process.report.excludeEnv = true
  const folder = pathToFileURL(`${root}/`)
  const dist = new URL('dist/', folder)
  const pinFiles = (): void => pinProgramFiles(dist)
  const process = processContext()
  const context: Context = {
    ...process,
    secrets: secretsOf(process.env, secrets),
    clock: createPinningClock(pinFiles),
    pinProgramFiles: pinFiles,
  }
  return main(argv, context, folder, { findCommand: createCommandFinder(dist) })
}

/** The secrets of this process that are known so far. They are redacted in the text of a crash. */
const secrets = new Secrets()

/** Returns the text that is printed for an error that nothing caught. */
export function crashText(error: unknown): string {
  return secrets.redact(failureText(internalError(error), { columns: undefined, color: false }))
}
