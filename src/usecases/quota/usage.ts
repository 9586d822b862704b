import type { Governor } from './governor.ts'

/**
 * Counts the calls that a command makes without a claim. Single reads are counted after their output, so that
 * the store is not opened before the output. Calls with a claim were counted by the governor.
 */
export class QuotaUsage {
  #key: { baseUrl: string; apiKey: string } | undefined
  #calls = 0
  #countedByGovernor = 0
  #throttle: { seconds: number; isStated: boolean } | undefined
  #governor: Governor | undefined

  /** Sets the key of the following calls. */
  setKey(baseUrl: string, apiKey: string): void {
    this.#key = { baseUrl, apiKey }
  }

  /** Counts a call. The ping and downloads by a signed URL do not count in the quota. */
  recordExchange(url: string): void {
    const { pathname, searchParams, origin } = new URL(url)
    const isCounted = this.#key !== undefined && origin === new URL(this.#key.baseUrl).origin
    if (isCounted && !pathname.endsWith('/v1/ping') && !searchParams.has('t')) this.#calls += 1
  }

  /** Records a 429. If this process has the store open, other processes see it at once. */
  recordThrottle(seconds: number, isStated: boolean): void {
    this.#throttle = { seconds, isStated }
    this.#governor?.recordThrottle(seconds, isStated).catch(() => {
      // The store may be unavailable, as in `flushUsage`.
    })
  }

  /** Returns a governor whose claims are not counted a second time here. */
  wrapGovernor(governor: Governor): Governor {
    const countingGovernor: Governor = {
      ...governor,
      claim: async (kind, options) => {
        await governor.claim(kind, options)
        this.#countedByGovernor += 1
      },
      claimForCreate: () => {
        const { account, decide } = governor.claimForCreate()
        return {
          account,
          decide: (state, now) => {
            const decision = decide(state, now)
            if (decision.waitMs === 0) this.#countedByGovernor += 1
            return decision
          },
        }
      },
    }
    this.#governor = countingGovernor
    return countingGovernor
  }

  /** Records the calls that were not counted yet. An error of the store does not fail the command. */
  async flushUsage(openGovernor: (baseUrl: string, apiKey: string) => Promise<Governor>): Promise<void> {
    const calls = this.#calls - this.#countedByGovernor
    if (this.#key === undefined || calls <= 0) return
    try {
      const governor = this.#governor ?? (await openGovernor(this.#key.baseUrl, this.#key.apiKey))
      await governor.count(calls)
      if (this.#throttle !== undefined && this.#governor === undefined) {
        await governor.recordThrottle(this.#throttle.seconds, this.#throttle.isStated)
      }
    } catch {
      // Calls that were not counted only lead to an earlier 429.
    }
  }
}
