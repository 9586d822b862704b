import type { Governor } from './governor.ts'

/**
 * What a command uses of the quota without asking first: a person's single reads are counted once the
 * answer is out, so that they cost no start-up. What went through the governor is counted already.
 */
export class QuotaUsage {
  #key: { baseUrl: string; apiKey: string } | undefined
  #calls = 0
  #taken = 0
  #throttle: { seconds: number; understood: boolean } | undefined
  #governor: Governor | undefined

  /** The key that calls are made with from now on. */
  of(baseUrl: string, apiKey: string): void {
    this.#key = { baseUrl, apiKey }
  }

  /** A call was made. The ping is exempt, and so are downloads by a signed URL. */
  exchange(url: string): void {
    const { pathname, searchParams, origin } = new URL(url)
    const counts = this.#key !== undefined && origin === new URL(this.#key.baseUrl).origin
    if (counts && !pathname.endsWith('/v1/ping') && !searchParams.has('t')) this.#calls += 1
  }

  /** A 429 was answered; other processes learn of it at once where this one has the store open. */
  throttled(seconds: number, understood: boolean): void {
    this.#throttle = { seconds, understood }
    this.#governor?.throttled(seconds, understood).catch(() => {
      // As in `settle`.
    })
  }

  /** A governor whose places are not counted a second time. */
  through(governor: Governor): Governor {
    const counted: Governor = {
      ...governor,
      claim: async (kind, options) => {
        await governor.claim(kind, options)
        this.#taken += 1
      },
      place: () => {
        const { account, decide } = governor.place()
        return {
          account,
          decide: (state, now) => {
            const decision = decide(state, now)
            if (decision.waitMs === 0) this.#taken += 1
            return decision
          },
        }
      },
    }
    this.#governor = counted
    return counted
  }

  /** Counts what is left to count. A store that cannot be written to is no fault of the command. */
  async flushUsage(governorOf: (baseUrl: string, apiKey: string) => Promise<Governor>): Promise<void> {
    const calls = this.#calls - this.#taken
    if (this.#key === undefined || calls <= 0) return
    try {
      const governor = this.#governor ?? (await governorOf(this.#key.baseUrl, this.#key.apiKey))
      await governor.count(calls)
      if (this.#throttle !== undefined && this.#governor === undefined) {
        await governor.throttled(this.#throttle.seconds, this.#throttle.understood)
      }
    } catch {
      // The next 429 would tell what was not counted.
    }
  }
}
