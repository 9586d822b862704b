import { TIME_OF_DAY } from './filters.ts'
import { startProgram } from './process.ts'
import { type SnapshotText, type Session, session, type Step, type TypingOptions } from './session.ts'
import { emptyEnv, envOfReadyLine } from './service-env.ts'

export interface SandboxProcess {
  type: (line: string | readonly string[], options?: TypingOptions) => Promise<Step>
  all: (lines: readonly (string | readonly string[])[]) => Promise<SnapshotText>
  write: Session['write']
  /** Address and key of the sandbox. */
  env: Record<string, string>
  /** The JSON that the sandbox printed when it was ready. */
  address: Record<string, string>
  process: ReturnType<typeof startProgram>
}

/** Starts a sandbox in another process, and a session whose environment has its address and key. */
export async function startSandboxProcess(
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<SandboxProcess> {
  const here = await session({
    isLoggedOut: true,
    filters: [[/\b20\d\d-\d\d-\d\d \d\d:\d\d \+00:00/g, 'TIME'], TIME_OF_DAY],
  })
  const argv = ['sandbox', 'start', '--port', '0', '--json', '--seed', 'session', ...flags]
  const running = startProgram(argv, { ...emptyEnv(here.folder), ...env })
  const printed = await running.until('\n')
  const address = JSON.parse(printed) as Record<string, string>
  const exported = { ...env, ...envOfReadyLine(printed) }
  // The variables are exported in the shell, so that the command lines do not repeat them.
  const type: SandboxProcess['type'] = (line, options) => here.type(line, { exported, ...options })
  const all: SandboxProcess['all'] = (lines) => here.all(lines, { exported })
  return { type, all, write: here.write, env: exported, address, process: running }
}
