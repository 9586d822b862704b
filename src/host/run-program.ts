export interface ProgramRun {
  /** Exit code; null where a signal ended it or it could not be started. */
  code: number | null
  /** Why it did not end by itself. */
  failure: string | undefined
}

export interface ProgramOptions {
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

function whyNot(program: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return `program not found: "${program}"`
  return error.code === 'EACCES' ? `the program "${program}" is not executable` : error.message
}
