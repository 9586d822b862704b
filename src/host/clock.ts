/** The time, as an input of functions. All values are in milliseconds. */
export interface Clock {
  /** Wall time since the epoch. It may jump in either direction. */
  now(): number
  /** Time since a fixed moment of this process. It never decreases. */
  monotonic(): number
  /** Resolves after `ms`. Rejects with the signal's reason if the signal is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** setTimeout fires at once for more than 2^31-1 ms, so longer waits are split. */
const maxTimerMs = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  // The global `performance` would load a whole module of measurements.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  async sleep(ms, signal) {
    signal?.throwIfAborted()
    for (let remainingMs = Math.max(0, ms); remainingMs >= 0; remainingMs -= maxTimerMs) {
      await pause(Math.min(remainingMs, maxTimerMs), signal)
    }
  },
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
