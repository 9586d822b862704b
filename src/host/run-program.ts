import type { ChildProcess } from 'node:child_process'

import { type Environment, variable } from './process.ts'

export interface ProgramRun {
  /** Exit code; null if a signal ended the program or it could not be started. */
  code: number | null
  /** Why the program did not exit by itself, or could not be started. */
  failure: string | undefined
}

interface ProgramOptions {
  /** The complete environment of the program. */
  env: Readonly<Record<string, string | undefined>>
  input: Uint8Array
  /** Milliseconds after which the program is killed. */
  timeoutMs: number
}

/** Runs a program without a shell. Its output goes to the stderr of this process. */
export async function runProgram(
  [program = '', ...args]: readonly string[],
  options: ProgramOptions,
): Promise<ProgramRun> {
  const { env, input, timeoutMs } = options
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(program, args, {
    env: { ...env },
    stdio: ['pipe', 2, 2],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    shell: false,
  })
  // A program may exit before it has read its input.
  child.stdin?.once('error', () => undefined)
  child.stdin?.end(input)
  return waitForEnd(child, program)
}

/** Resolves when a program has ended or could not be started; never rejects. */
function waitForEnd(child: ChildProcess, program: string): Promise<ProgramRun> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, failure: startFailure(program, error) }))
    child.once('close', (code, signal) =>
      resolve({ code, failure: signal === null ? undefined : `it was stopped by ${signal}` }),
    )
  })
}

export interface StartedProgram {
  /** Resolves when the program has ended; never rejects. */
  ended: Promise<ProgramRun>
  /** Kills the program and the processes that it started (SIGKILL), unless the program has ended. */
  kill(): void
}

/**
 * Starts a program without a shell, in a new process group. Its output is discarded, because processes that it leaves
 * running would keep the streams of this process open.
 */
export function startProgram(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): StartedProgram {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(program, args, { env: { ...env }, stdio: 'ignore', shell: false, detached: true })
  return {
    ended: waitForEnd(child, program),
    kill() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      if (process.platform === 'win32') child.kill('SIGKILL')
      else process.kill(-child.pid, 'SIGKILL')
    },
  }
}

function startFailure(program: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return `program not found: "${program}"`
  return error.code === 'EACCES' ? `the program "${program}" is not executable` : error.message
}

/** The program that opens a file on each platform, and its arguments before the path. */
const fileOpeners: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  linux: ['xdg-open'],
  freebsd: ['xdg-open'],
  openbsd: ['xdg-open'],
  win32: ['explorer.exe'],
}

/**
 * Opens a file or folder (an absolute path) with the program of the desktop, without a shell. Returns why it could not
 * be started, or undefined; it does not wait for the program to end. `childEnv` is the environment of the program.
 */
export async function openFile(
  path: string,
  { env, childEnv }: { env: Environment; childEnv: Readonly<Record<string, string | undefined>> },
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const [program, ...firstArguments] = fileOpeners[platform] ?? []
  if (program === undefined) return `no program to open files is known for ${platform}`
  if (variable(env, 'CI') !== undefined) return 'this is a CI job without a screen'
  const usesDesktop = program === 'xdg-open'
  if (
    usesDesktop &&
    variable(env, 'DISPLAY') === undefined &&
    variable(env, 'WAYLAND_DISPLAY') === undefined
  ) {
    return 'this machine has no desktop'
  }
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(program, [...firstArguments, path], {
    env: { ...childEnv },
    detached: true,
    stdio: 'ignore',
  })
  return new Promise((resolve) => {
    child.once('error', () => resolve(`"${program}" could not be started`))
    child.once('spawn', () => {
      child.unref()
      resolve(undefined)
    })
  })
}
