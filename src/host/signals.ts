/** How a person or a supervisor asks this process to stop. */
export interface Interrupts {
  /** Aborted at the first SIGINT or SIGTERM. Once it has been asked for, the process no longer dies of them at once. */
  readonly signal: AbortSignal
  /** Whether it has been aborted; asking this does not change what a signal does. */
  readonly stopped: boolean
}

/**
 * Turns SIGINT and SIGTERM into an abort, once. A second one ends the process the plain way, for a
 * person who will not wait.
 */
export function processInterrupts(): Interrupts {
  let controller: AbortController | undefined
  return {
    get signal() {
      if (controller === undefined) {
        const started = new AbortController()
        controller = started
        const stop = (): void => started.abort()
        for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop)
      }
      return controller.signal
    },
    get stopped() {
      return controller?.signal.aborted ?? false
    },
  }
}
