/** How a person or a supervisor asks this process to stop. */
export interface Interrupts {
  /** Aborted at the first SIGINT or SIGTERM. From the first call on, the process no longer dies of them at once. */
  readonly signal: AbortSignal
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
        for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => started.abort())
      }
      return controller.signal
    },
  }
}
