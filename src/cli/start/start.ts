import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { type Clock, systemClock } from '../../host/clock.ts'
import type { BuiltCommand, LaunchableCommand } from '../base-command.ts'
import { InterruptedError, PromptBackError } from '../../errors/kinds.ts'
import { Secrets, secretsOf } from '../../host/secrets.ts'
import { failureText } from '../../output/present.ts'
import { type Context, processContext } from '../../app/context.ts'
import { internalError, main } from '../main.ts'

/**
 * The finder of commands in a built `dist`, where `auth login` is the file `commands/auth/login.cjs`. It
 * answers only for lines that begin with a command's whole name and ask for no help; the rest (topics,
 * misspellings, stray words) is oclif's. Spares its reading of every command's flags and of plugins.
 */
export function builtCommands(dist: URL): (argv: readonly string[]) => BuiltCommand | undefined {
  const folder = new URL('commands/', dist)
  const load = createRequire(folder)
  return (argv) => {
    const end = argv.indexOf('--')
    if (argv.slice(0, end === -1 ? argv.length : end).some((arg) => helpFlags.has(arg))) return undefined
    const words = leadingWords(argv)
    for (let length = words.length; length > 0; length -= 1) {
      const url = new URL(`${words.slice(0, length).join('/')}.cjs`, folder)
      const file = fileURLToPath(url)
      if (!isHeld(url) && !existsSync(file)) continue
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

/** As many as the longest name has, at most. */
function leadingWords(argv: readonly string[]): string[] {
  const words = argv.slice(0, 3)
  const end = words.findIndex((arg) => !/^[a-z][a-z-]*$/.test(arg))
  return end === -1 ? words : words.slice(0, end)
}

/** oclif takes a word after a command without arguments for a part of the name. */
function isWord(arg: string | undefined): boolean {
  return arg !== undefined && !arg.startsWith('-') && !arg.includes('=')
}

function isLaunchable(command: Partial<LaunchableCommand>): command is LaunchableCommand {
  return command.launch !== undefined && command.args !== undefined
}

/** Sources of the built program by their URLs; empty until they are held. */
const held = new Map<string, Buffer>()

/**
 * Reads every file of the built program once, and loads from that copy from then on: a long-running process keeps its
 * version while the program is upgraded, whose files then have other names. `dist` ends with a slash.
 */
export function pinLoadedCode(dist: URL): void {
  if (held.size > 0) return
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const url = new URL(name.replaceAll('\\', '/'), dist)
    if (name.endsWith('.cjs')) held.set(url.href, readFileSync(url))
  }
  registerHooks({
    resolve(specifier, context, next) {
      const { href } = /^\.\.?\//.test(specifier)
        ? new URL(specifier, context.parentURL ?? dist)
        : specifier.startsWith('/')
          ? pathToFileURL(specifier)
          : { href: specifier }
      return held.has(href) ? { url: href, format: 'commonjs', shortCircuit: true } : next(specifier, context)
    },
    load(url, context, next) {
      const source = held.get(url)
      return source === undefined ? next(url, context) : { source, format: 'commonjs', shortCircuit: true }
    },
  })
}

/** Whether a file of the program can be loaded, though it may be gone. */
export function isHeld(file: URL): boolean {
  return held.has(file.href)
}

/** A command that waits a second may wait for hours, and then needs modules that are not loaded yet. */
const longMs = 1000

/** The machine's clock, which holds the program before the first long wait. */
export function holdingClock(pinCode: () => void): Clock {
  return {
    ...systemClock,
    sleep(ms, signal) {
      if (ms >= longMs) pinCode()
      return systemClock.sleep(ms, signal)
    },
  }
}

// Tests drive the built program through these.
export { InterruptedError, main, PromptBackError }

/** Runs a command line of the built program whose package is in the folder `root`. */
export function start(argv: readonly string[], root: string): Promise<number> {
  // Stack traces are never printed, and undici makes an error for each connection that it closes.
  Error.stackTraceLimit = 0
  // A diagnostic report of Node, which the user may have asked for, would hold the API key in clear text.
  globalThis.process.report.excludeEnv = true
  const folder = pathToFileURL(`${root}/`)
  const dist = new URL('dist/', folder)
  const pinCode = (): void => pinLoadedCode(dist)
  const process = processContext()
  const context: Context = {
    ...process,
    secrets: secretsOf(process.env, secrets),
    clock: holdingClock(pinCode),
    pinCode,
  }
  return main(argv, context, folder, { builtCommand: builtCommands(dist) })
}

/** Of this process, as far as they are known when it crashes. */
const secrets = new Secrets()

/** What is printed of an error that nothing caught. */
export function crashText(error: unknown): string {
  return secrets.redact(failureText(internalError(error), { columns: undefined, color: false }))
}
