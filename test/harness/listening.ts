import type { Outcome } from './run-command.ts'
import type { World } from './world.ts'

export interface ListeningCommand {
  /** Where deliveries go. */
  url: string
  /** Ctrl-C, or with `terminated` among the options SIGTERM. */
  stop(): Promise<Outcome>
  /** What it ends with by itself. */
  ended: Promise<Outcome>
  stderr(): string
}

/** Runs `refcheck webhook listen --port 0 …` until it is stopped. */
export async function listening(
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
    const over = await Promise.race([next, ended])
    if (over !== undefined) throw new Error(`it ended before it listened: ${over.stderr}`)
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
