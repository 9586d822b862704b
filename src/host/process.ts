/** This process's id. */
export function processId(): number {
  return process.pid
}

/** The account this process runs as; undefined on Windows, where files have no such number. */
export function ownUserId(): number | undefined {
  return process.geteuid?.()
}

/** The group that its new files get; undefined on Windows. */
export function ownGroupId(): number | undefined {
  return process.getegid?.()
}

/** `work` is done as the last of all; what it does has to be done at once. `code`: with which the process ends. */
export function atExit(work: (code: number) => void): void {
  process.on('exit', work)
}

/** How a person or a supervisor asks this process to stop. */
export interface Interrupts {
  /** Aborted at the first SIGINT, SIGTERM or SIGHUP (a terminal that was closed). Once it has been asked for, the process no longer dies of them at once. */
  readonly signal: AbortSignal
  /** Whether it has been aborted; asking this does not change what a signal does. */
  readonly stopped: boolean
  /** Whether it was aborted by SIGTERM, as a supervisor ends a service. */
  readonly terminated: boolean
}

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const ours = new WeakSet<object>()

/**
 * Turns SIGINT, SIGTERM and SIGHUP into an abort, once. A second one ends the process the plain way, for a
 * person who will not wait.
 */
export function processInterrupts(): Interrupts {
  let controller: AbortController | undefined
  let by: NodeJS.Signals | undefined
  return {
    get signal() {
      if (controller === undefined) {
        const started = new AbortController()
        controller = started
        const stop = (name: NodeJS.Signals): void => {
          by ??= name
          started.abort()
        }
        ours.add(stop)
        for (const name of names) process.once(name, stop)
      }
      return controller.signal
    },
    get stopped() {
      return controller?.signal.aborted ?? false
    },
    get terminated() {
      return by === 'SIGTERM'
    },
  }
}

/**
 * Loads a module and takes away the signal handlers it brought: a library that sends the first signal
 * to the process again would end it before it could end in order.
 */
export async function withoutItsSignalHandlers<T>(load: () => Promise<T>): Promise<T> {
  const before = names.map((name) => new Set(process.listeners(name)))
  const loaded = await load()
  for (const [at, name] of names.entries()) {
    for (const listener of process.listeners(name)) {
      if (!ours.has(listener) && before[at]?.has(listener) !== true) process.removeListener(name, listener)
    }
  }
  return loaded
}

/** The environment variables as a value. */
export type Environment = Readonly<Record<string, string | undefined>>

export const processEnvironment = (): Environment => process.env

/** A variable's value; an empty one counts as absent. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name]
  return value === undefined || value === '' ? undefined : value
}

/** Set in the environment of everything that `refcheck mcp` starts. */
export const agentMark = 'REFCHECK_STARTED_BY_AGENT'
