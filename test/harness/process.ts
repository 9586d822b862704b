import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

import { onTestFinished } from 'vitest'

import { program } from './program.ts'

/** The program, running in another process. */
export interface RunningProgram {
  child: ChildProcess
  stdout(): string
  stderr(): string
  /** Resolves with all of stdout once it contains `text`. */
  until(text: string): Promise<string>
  /** Resolves with the exit code, or with the signal that ended the program. */
  ended: Promise<number | NodeJS.Signals>
}

export interface StartOptions {
  cwd?: string | undefined
  /** Written to the program's standard input, which is then closed; empty by default. */
  stdin?: string | undefined
  /** The program to start instead of the one in this tree. */
  program?: string | undefined
}

/** Starts `refcheck …` in another process, which is killed when the test ends. */
export function startProgram(
  argv: readonly string[],
  env: Record<string, string>,
  { cwd, stdin, program: programPath = program }: StartOptions = {},
): RunningProgram {
  const child = spawn(process.execPath, [programPath, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async until(text) {
      while (!output.stdout.includes(text)) {
        if (child.exitCode !== null)
          throw new Error(`it ended before "${text}": ${output.stdout}${output.stderr}`)
        await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
      }
      return output.stdout
    },
    ended: once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals),
  }
}
