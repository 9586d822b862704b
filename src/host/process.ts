/** The id of this process. */
export function processId(): number {
  return process.pid
}

/** The id of the account that runs this process; undefined on Windows, where files have no such number. */
export function ownUserId(): number | undefined {
  return process.geteuid?.()
}

/** The id of the group that owns new files of this process; undefined on Windows. */
export function ownGroupId(): number | undefined {
  return process.getegid?.()
}

/** Calls `onExit` with the exit code when the process exits. `onExit` has to be synchronous. */
export function runAtExit(onExit: (code: number) => void): void {
  process.on('exit', onExit)
}

/** The signals by which the user or a supervisor stops this process. */
export interface Interrupts {
  /**
   * Aborted at the first SIGINT, SIGTERM or SIGHUP (the terminal was closed). Reading this property installs the
   * handlers: from then on the first signal does not end the process.
   */
  readonly signal: AbortSignal
  /** Whether the signal was aborted. Reading this property installs no handlers. */
  readonly isStopped: boolean
  /** Whether the cause was SIGTERM, the signal of supervisors. */
  readonly isTerminated: boolean
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const ownListeners = new WeakSet<object>()

/**
 * Converts the first SIGINT, SIGTERM or SIGHUP to an abort. The handlers run once, so a second signal ends the process
 * without waiting.
 */
export function processInterrupts(): Interrupts {
  let controller: AbortController | undefined
  let stopSignal: NodeJS.Signals | undefined
  return {
    get signal() {
      if (controller === undefined) {
        const newController = new AbortController()
        controller = newController
        const stop = (name: NodeJS.Signals): void => {
          stopSignal ??= name
          newController.abort()
        }
        ownListeners.add(stop)
        for (const name of stopSignals) process.once(name, stop)
      }
      return controller.signal
    },
    get isStopped() {
      return controller?.signal.aborted ?? false
    },
    get isTerminated() {
      return stopSignal === 'SIGTERM'
    },
  }
}

/**
 * Loads a module and removes the signal handlers that it installed. A library that sends the signal to the process
 * again would end it before the cleanup is done.
 */
export async function loadWithoutSignalHandlers<T>(load: () => Promise<T>): Promise<T> {
  const listenersBefore = stopSignals.map((name) => new Set(process.listeners(name)))
  const loaded = await load()
  for (const [index, name] of stopSignals.entries()) {
    for (const listener of process.listeners(name)) {
      if (!ownListeners.has(listener) && listenersBefore[index]?.has(listener) !== true)
        process.removeListener(name, listener)
    }
  }
  return loaded
}

/** The environment variables, as an input of functions. */
export type Environment = Readonly<Record<string, string | undefined>>

export const processEnvironment = (): Environment => process.env

/** Returns the value of a variable; undefined if it is empty. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name]
  return value === undefined || value === '' ? undefined : value
}

/** The name of a variable that is set for all programs that `refcheck mcp` starts. */
export const agentVariable = 'REFCHECK_STARTED_BY_AGENT'
