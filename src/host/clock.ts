/** Time as an input. Milliseconds throughout. */
export interface Clock {
  /** Wall time since the epoch; may jump. */
  now(): number
  /** Time since some fixed moment of this process; never goes back. */
  monotonic(): number
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** setTimeout fires at once above 2^31-1 ms, so long waits are cut into pieces. */
const longestTimer = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  // The global `performance` would load what measures much more than this.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  async sleep(ms, signal) {
    signal?.throwIfAborted()
    for (let left = Math.max(0, ms); left >= 0; left -= longestTimer) {
      await pause(Math.min(left, longestTimer), signal)
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
