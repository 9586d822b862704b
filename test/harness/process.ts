import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

import { onTestFinished } from 'vitest'

import { program } from './program.ts'

/** A run of the program in a process of its own, where the process is the point. */
export interface Running {
  child: ChildProcess
  stdout(): string
  stderr(): string
  /** Resolves with the whole of stdout once it holds `text`. */
  until(text: string): Promise<string>
  /** Exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
}

export interface StartOptions {
  cwd?: string | undefined
  /** Written to its standard input, which ends then; empty by default. */
  stdin?: string | undefined
  /** The program to start instead of the one in this tree. */
  program?: string | undefined
}

export function start(
  argv: readonly string[],
  env: Record<string, string>,
  { cwd, stdin, program: other = program }: StartOptions = {},
): Running {
  const child = spawn(process.execPath, [other, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  const taken = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (taken.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (taken.stderr += chunk.toString()))
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    child,
    stdout: () => taken.stdout,
    stderr: () => taken.stderr,
    async until(text) {
      while (!taken.stdout.includes(text)) {
        if (child.exitCode !== null)
          throw new Error(`it ended before "${text}": ${taken.stdout}${taken.stderr}`)
        await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
      }
      return taken.stdout
    },
    ended: once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals),
  }
}
