/** The process is gone: nothing after it happens. */
export class Crash extends Error {}

/** Whoever may go on now: one process at a time, from one step of it to the next, in an order that luck chooses. */
export class Turns {
  readonly #rng: () => number
  readonly #waiting: Life[] = []
  #isTaken = false

  constructor(rng: () => number) {
    this.#rng = rng
  }

  /** All of them side by side, until each has come to its end. */
  async all(lives: readonly { life: Life; work: () => Promise<void> }[]): Promise<void> {
    await Promise.all(
      lives.map(async ({ life, work }) => {
        await this.wait(life)
        try {
          await work()
        } finally {
          life.hasEnded = true
          this.letGo(life)
        }
      }),
    )
  }

  /** What one process does side by side goes on together. */
  async wait(life: Life): Promise<void> {
    const woken = new Promise<void>((resolve) => life.waiters.push(resolve))
    if (!this.#waiting.includes(life)) this.#waiting.push(life)
    this.letGo(life)
    await woken
    if (life.hasEnded) throw new Crash('its process has ended')
  }

  letGo(life: Life): void {
    if (life.hasTurn) this.#isTaken = false
    life.hasTurn = false
    while (!this.#isTaken) {
      const [next] = this.#waiting.splice(Math.floor(this.#rng() * this.#waiting.length), 1)
      if (next === undefined) return
      this.#isTaken = !next.hasEnded
      next.hasTurn = !next.hasEnded
      for (const wake of next.waiters.splice(0)) wake()
    }
  }
}

/**
 * Counts the steps of one process and ends it at the chosen one: every call of the store, of the service and of the
 * clock is two steps, before and after. A dead process does nothing any more.
 */
export class Life {
  readonly #turns: Turns
  readonly #dieAt: number
  #steps = 0
  #isDead = false
  readonly waiters: (() => void)[] = []
  hasTurn = false
  hasEnded = false
  /** The last thing it did, and the attempt that the last begin made. */
  last = ''
  begun: string | undefined

  constructor(turns: Turns, dieAt: number) {
    this.#turns = turns
    this.#dieAt = dieAt
  }

  get isDead(): boolean {
    return this.#isDead
  }

  async step(what: string): Promise<void> {
    if (this.#isDead) throw new Crash('dead')
    await this.#turns.wait(this)
    if (this.#isDead) throw new Crash('dead')
    this.#steps += 1
    this.last = what
    if (this.#steps < this.#dieAt) return
    this.#isDead = true
    throw new Crash('killed')
  }

  /** An object whose methods are steps, but for those named. */
  of<T extends object>(mortal: T, except: readonly string[] = []): T {
    return new Proxy(mortal, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (except.includes(String(name))) return value.bind(target) as unknown
        return async (...args: unknown[]): Promise<unknown> => {
          await this.step(`before ${String(name)}`)
          const result: unknown = await Reflect.apply(value, target, args)
          await this.step(`after ${String(name)}`)
          return result
        }
      },
    })
  }
}
