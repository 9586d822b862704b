import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { type Clock, systemClock } from '../../host/clock.ts'
import type { LaunchableCommand } from '../base-command.ts'

export interface BuiltCommand {
  command: LaunchableCommand
  /** What follows its name. */
  argv: string[]
}

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
