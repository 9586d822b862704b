import type { Outcome } from './run-command.ts'
import type { World } from './world.ts'

export interface ListeningCommand {
  /** URL for deliveries. */
  url: string
  /** Sends Ctrl-C; or SIGTERM if `startListener` was called with the option `terminated`. */
  stop(): Promise<Outcome>
  /** Resolves when the command ends. */
  ended: Promise<Outcome>
  stderr(): string
}

/** Runs `refcheck webhook listen --port 0 …` until it is stopped. */
export async function startListener(
  { run }: Pick<World, 'run'>,
  argv: readonly string[] = [],
  options: Parameters<World['run']>[1] = {},
): Promise<ListeningCommand> {
  const ctrlC = new AbortController()
  let stderr = ''
  let onText: (() => void) | undefined
  const ended = run(['webhook', 'listen', '--port', '0', ...argv], {
    ...options,
    signal: ctrlC.signal,
    onStderr: (text) => {
      stderr += text
      onText?.()
    },
  })
  const address = /Listening at (\S+)/
  while (!address.test(stderr)) {
    const next = new Promise<void>((resolve) => (onText = resolve))
    const outcome = await Promise.race([next, ended])
    if (outcome !== undefined) throw new Error(`it ended before it listened: ${outcome.stderr}`)
  }
  return {
    url: address.exec(stderr)?.[1] ?? '',
    ended,
    stderr: () => stderr,
    stop: () => {
      ctrlC.abort()
      return ended
    },
  }
}
