import { type Environment, variable } from './process.ts'

export interface ProgramRun {
  /** Exit code; null where a signal ended it or it could not be started. */
  code: number | null
  /** Why it did not end by itself. */
  failure: string | undefined
}

interface ProgramOptions {
  /** The whole environment it gets. */
  env: Readonly<Record<string, string | undefined>>
  input: Uint8Array
  /** Milliseconds, after which it is ended. */
  timeoutMs: number
}

/** Runs a program, never through a shell; its output goes where ours goes on stderr. */
export function runProgram(
  [program = '', ...args]: readonly string[],
  options: ProgramOptions,
): Promise<ProgramRun> {
  const { env, input, timeoutMs } = options
  const { spawn } = process.getBuiltinModule('node:child_process')
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: { ...env },
      stdio: ['pipe', 2, 2],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      shell: false,
    })
    child.once('error', (error) => resolve({ code: null, failure: whyNot(program, error) }))
    child.once('close', (code, signal) =>
      resolve({ code, failure: signal === null ? undefined : `it was stopped by ${signal}` }),
    )
    // A program need not read what it is given.
    child.stdin?.once('error', () => undefined)
    child.stdin?.end(input)
  })
}

export interface StartedProgram {
  /** Settles once it has ended; never rejects. */
  ended: Promise<ProgramRun>
  /** Ends it and what it started at once (SIGKILL), unless it has ended by itself. */
  kill(): void
}

/**
 * Starts a program, never through a shell, in a process group of its own. Its output is discarded: what it leaves running
 * would otherwise hold our streams open.
 */
export function startProgram(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): StartedProgram {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(program, args, { env: { ...env }, stdio: 'ignore', shell: false, detached: true })
  let isOver = false
  const ended = new Promise<ProgramRun>((resolve) => {
    child.once('error', (error) => resolve({ code: null, failure: whyNot(program, error) }))
    child.once('exit', (code, signal) => {
      isOver = true
      resolve({ code, failure: signal === null ? undefined : `it was stopped by ${signal}` })
    })
  })
  return {
    ended,
    kill() {
      if (isOver || child.pid === undefined) return
      if (process.platform === 'win32') child.kill('SIGKILL')
      else process.kill(-child.pid, 'SIGKILL')
    },
  }
}

function whyNot(program: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return `program not found: "${program}"`
  return error.code === 'EACCES' ? `the program "${program}" is not executable` : error.message
}

/** How a platform shows a file: the program, and the arguments before the path. */
const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  linux: ['xdg-open'],
  freebsd: ['xdg-open'],
  openbsd: ['xdg-open'],
  win32: ['explorer.exe'],
}

/**
 * Shows a file or folder (absolute) with the desktop's own program, never through a shell.
 * Answers why it could not; it does not wait for the program to end. `childEnv`: what the program gets.
 */
export async function openFile(
  path: string,
  { env, childEnv }: { env: Environment; childEnv: Readonly<Record<string, string | undefined>> },
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const [program, ...before] = openers[platform] ?? []
  if (program === undefined) return `no program to open files is known for ${platform}`
  if (variable(env, 'CI') !== undefined) return 'this is a CI job without a screen'
  const isX = program === 'xdg-open'
  if (isX && variable(env, 'DISPLAY') === undefined && variable(env, 'WAYLAND_DISPLAY') === undefined) {
    return 'this machine has no desktop'
  }
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(program, [...before, path], {
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
