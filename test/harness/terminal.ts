import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import { spawn } from '@lydell/node-pty'
import { onTestFinished } from 'vitest'

export interface Terminal {
  /** Resolves once the output contains `text` after the text that the previous call waited for. */
  until(text: string | RegExp): Promise<void>
  /** Presses keys. */
  type(keys: string): void
  /** Changes the width of the window. */
  resize(columns: number): void
  /** All output to the terminal so far, with escape sequences. */
  raw(): string
  /** Resolves when the program ends. */
  ended: Promise<{ code: number; stdout: string }>
}

export const keys = {
  enter: '\r',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  ctrlU: '\u0015',
  up: '\u001B[A',
  down: '\u001B[B',
  backspace: '\u007F',
}

export interface TerminalOptions {
  /** Variables in addition to those that every terminal sets. */
  env?: Record<string, string> | undefined
  /** Whether stdout is the terminal as well; by default it is a file. */
  isStdoutTerminal?: boolean | undefined
}

/**
 * Runs a Node program in a real pseudo-terminal. Its stdin and stderr are the terminal. Its stdout is by default a
 * file, as in `program > file`, whose text is returned separately. The program ends with the test at the latest.
 */
export async function openTerminal(
  argv: readonly string[],
  columns = 80,
  { env = {}, isStdoutTerminal = false }: TerminalOptions = {},
): Promise<Terminal> {
  const folder = await mkdtemp(join(tmpdir(), 'refcheck-terminal-'))
  const file = join(folder, 'stdout')
  await writeFile(file, '')
  const line = isStdoutTerminal ? 'shift; exec "$@"' : 'out=$1; shift; exec "$@" > "$out"'
  const terminal = { TERM: 'xterm-256color', LANG: 'C.UTF-8', NODE_NO_WARNINGS: '1' }
  const { PATH, NODE_COMPILE_CACHE } = process.env
  // A variable without a value would become the text "undefined", which names a folder.
  const cache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  const program = spawn('sh', ['-c', line, 'sh', file, process.execPath, ...argv], {
    cols: columns,
    rows: 40,
    env: { PATH, ...cache, ...terminal, ...env },
  })
  let raw = ''
  let readLength = 0
  let check = (): void => undefined
  program.onData((data) => {
    raw += data
    check()
  })
  let isRunning = true
  onTestFinished(() => {
    if (isRunning) program.kill('SIGKILL')
  })
  const ended = new Promise<number>((resolve) => {
    program.onExit(({ exitCode }) => {
      isRunning = false
      resolve(exitCode)
    })
  }).then(async (code) => {
    const stdout = await readFile(file, 'utf8')
    await rm(folder, { recursive: true })
    return { code, stdout }
  })

  const until = (text: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      check = () => {
        const rest = stripVTControlCharacters(raw).slice(readLength)
        const at = typeof text === 'string' ? rest.indexOf(text) : rest.search(text)
        if (at === -1) return
        readLength +=
          at + (typeof text === 'string' ? text.length : (rest.slice(at).match(text)?.[0].length ?? 0))
        check = () => undefined
        resolve()
      }
      void ended.then(() =>
        reject(new Error(`ended before ${String(text)} came; what came was ${JSON.stringify(raw)}`)),
      )
      check()
    })
  return {
    until,
    type: (typed) => program.write(typed),
    resize: (width) => program.resize(width, 40),
    raw: () => raw,
    ended,
  }
}
