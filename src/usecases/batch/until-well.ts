import { RefcheckError } from '../../errors/base.ts'
import type { RunPorts } from './ports.ts'

const firstPauseMs = 5_000
const longestPauseMs = 60_000

/**
 * "After any unknown nothing more is sent until a ping and a read answer well, so an outage costs one
 * row" (ordering protocol). Undefined once it answers well; an error where waiting does not help, or `budgetMs` ran out.
 * Rejects when the signal aborts.
 */
export async function untilWell(ports: RunPorts, budgetMs: number): Promise<RefcheckError | undefined> {
  const { api, clock, signal, onEvent } = ports
  const deadline = clock.monotonic() + budgetMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const error = await trouble()
    if (error === undefined) return undefined
    signal?.throwIfAborted()
    const passes = error.code === 'unavailable' || error.code === 'throttled'
    const waitMs = Math.max(pauseMs, (error.retryAfter ?? 0) * 1000)
    if (!passes || clock.monotonic() + waitMs > deadline) return error
    onEvent?.({ name: 'outage', reason: error.message, seconds: waitMs / 1000 })
    await clock.sleep(waitMs, signal)
  }

  async function trouble(): Promise<RefcheckError | undefined> {
    try {
      await api.ping(signal)
      await api.listUsers(signal)
      return undefined
    } catch (error) {
      if (error instanceof RefcheckError) return error
      throw error
    }
  }
}
