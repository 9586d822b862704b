import type { RunningSandbox } from '../../sandbox/control/client.ts'

/** One thing that happened in a sandbox; `n` counts from 0. */
export interface NumberedEntry {
  n: number
}

/** Seconds that the sandbox keeps a question for more before it answers with none. */
const waitSeconds = 20

/** What happens in a running sandbox from now on, and what it still knows of before; ends when `signal` is aborted. */
export async function* followLog<Entry extends NumberedEntry>(
  sandbox: Pick<RunningSandbox, 'read'>,
  signal: AbortSignal,
): AsyncGenerator<Entry> {
  let from = 0
  while (!signal.aborted) {
    let entries: Entry[]
    try {
      entries = (await sandbox.read(`log?from=${from}&wait=${waitSeconds}`, signal)) as Entry[]
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    yield* entries
    from = (entries.at(-1)?.n ?? from - 1) + 1
  }
}
