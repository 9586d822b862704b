import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import type { Filter } from './filters.ts'
import { MS, TIME } from './filters.ts'
import { Names } from './names.ts'
import { openScreen, type Screen } from './screen.ts'
import { SnapshotText } from './session.ts'
import { createProgramFolder } from './shell.ts'
import { emptyEnv, type World, world } from './world.ts'

export interface TerminalSession extends World {
  /**
   * Types a command line at the shell. Resolves once `waitFor` is on the screen, by default the end of the
   * command.
   */
  type(line: string, waitFor?: string | RegExp): Promise<void>
  /**
   * Presses keys at a question. Resolves once `waitFor` is on the screen, by default the end of the command.
   */
  press(keys: string, waitFor?: string | RegExp): Promise<void>
  /** Number of keys pressed at questions since the last call; an arrow is one key. */
  keysPressed(): number
  /** The visible screen, for a snapshot: at most 24 lines. */
  screen(): SnapshotText
  /** All lines since the last call, with exit codes; `2> ` before lines of stderr. */
  transcript(): SnapshotText
  write(name: string, text: string): void
  read(name: string): string
  has(name: string): boolean
}

export interface TerminalOptions {
  /** Whether the user is not logged in, and the environment has no address and key of the service. */
  isLoggedOut?: boolean | undefined
  filters?: readonly Filter[] | undefined
  /** How many times faster requests progress; 1 by default. */
  speed?: number | undefined
}

/**
 * Writes a module that makes a program write stderr in italics, to distinguish it from stdout on the same terminal.
 * Returns its path.
 */
function italicErrors(folder: string): string {
  const path = join(folder, 'italic-errors.cjs')
  const draw = String.raw`'\x1b[3m' + chunk + '\x1b[23m'`
  writeFileSync(
    path,
    `const { write } = process.stderr\nprocess.stderr.write = (chunk, ...rest) => write.call(process.stderr, ${draw}, ...rest)\n`,
  )
  return path
}

/** The end of a command: a line with its exit code, then the prompt. */
const commandEnd = /^exit \d+\n\$/m

/**
 * Starts a shell in a pseudo-terminal of 80x24, with the built program on the PATH and a sandbox. stdin, stdout and
 * stderr are all the terminal; the shell prints each exit code.
 */
export async function startTerminal({
  isLoggedOut = false,
  filters = [],
  speed,
}: TerminalOptions = {}): Promise<TerminalSession> {
  const environment = await world({ seed: 'task', speed })
  const names = new Names(environment, [MS, TIME, ...filters])
  const env = {
    ...(isLoggedOut ? emptyEnv(environment.folder) : environment.env),
    PATH: `${createProgramFolder(environment.folder)}:${process.env['PATH'] ?? ''}`,
    HOME: environment.folder,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    NO_COLOR: '1',
    NODE_OPTIONS: `--require=${italicErrors(environment.folder)}`,
    PS1: '$ ',
    PROMPT_COMMAND: 'code=$?; if [ -n "$ran" ]; then echo "exit $code"; fi; ran=1',
  }
  const screen: Screen = openScreen('bash', ['--norc', '--noprofile', '-i'], { cwd: environment.folder, env })
  await screen.until(/\$\s*$/)
  let shownLines = 0
  let keyCount = 0
  const press = async (keys: string, waitFor: string | RegExp = commandEnd): Promise<void> => {
    screen.press(keys)
    await screen.until(waitFor)
  }
  const replaceNames = (text: string): SnapshotText =>
    new SnapshotText(names.replaceNames(text).replaceAll(/ +$/gm, ''))
  return {
    ...environment,
    type: (line, waitFor) => press(`${line}\r`, waitFor),
    async press(keys, waitFor) {
      // A dot replaces the start of each escape sequence, so that an arrow counts as one key.
      keyCount += stripVTControlCharacters(keys.replaceAll('\u001B[', '.\u001B[')).length
      await press(keys, waitFor)
    },
    keysPressed() {
      const count = keyCount
      keyCount = 0
      return count
    },
    screen: () => replaceNames(screen.visibleText()),
    transcript() {
      const lines = screen.fullText().split('\n')
      const text = lines.slice(shownLines).join('\n')
      shownLines = Math.max(0, lines.length - 1)
      return replaceNames(text)
    },
    write: (name, text) => writeFileSync(join(environment.folder, name), text),
    read: (name) => readFileSync(join(environment.folder, name), 'utf8'),
    has: (name) => existsSync(join(environment.folder, name)),
  }
}
