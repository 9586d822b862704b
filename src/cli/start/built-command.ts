import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

import type { LaunchableCommand } from '../base-command.ts'
import { isHeld } from './hold-program.ts'

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
