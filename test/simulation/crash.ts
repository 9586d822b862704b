/** The process is gone: nothing after it happens. */
export class Crash extends Error {}

/** The process that may go on now: one at a time, from one step of it to the next, in an order that luck chooses. */
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
          // What it had under way when it died comes to its end first: how long that takes is not for the machine to say.
          await life.atRest()
          life.hasEnded = true
          this.letGo(life)
        }
      }),
    )
  }

  /** What one process does side by side goes on together, and no other process before all of it has come to a step. */
  async wait(life: Life, begins = false): Promise<void> {
    const woken = new Promise<void>((wake) => life.waiters.push({ wake, begins }))
    if (!this.#waiting.includes(life)) this.#waiting.push(life)
    if (!life.hasTurn || !life.isBusy) this.letGo(life)
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
      next.goOn()
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
  readonly #onStep: (what: string) => void
  #steps = 0
  #isDead = false
  readonly waiters: { wake: () => void; begins: boolean }[] = []
  /** Calls that have begun and not ended: they take as long as the machine likes. */
  #underWay = 0
  #onRest: (() => void)[] = []
  hasTurn = false
  hasEnded = false
  /** The last thing it did, and the attempt that the last begin made. */
  last = ''
  lastAttempt: string | undefined

  constructor(turns: Turns, dieAt: number, onStep: (what: string) => void) {
    this.#turns = turns
    this.#dieAt = dieAt
    this.#onStep = onStep
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** `begins`: a call comes after it, which is under way until `ended`. */
  async step(what: string, begins = false): Promise<void> {
    if (this.#isDead) throw new Crash('dead')
    await this.#turns.wait(this, begins)
    if (!this.#isDead) {
      this.#steps += 1
      this.last = what
      this.#onStep(what)
      if (this.#steps < this.#dieAt) return
    }
    if (begins) this.#ended()
    const why = this.#isDead ? 'dead' : 'killed'
    this.#isDead = true
    // What else it had waiting dies with it.
    this.goOn()
    throw new Crash(why)
  }

  /** Wakes all that waits for a turn. */
  goOn(): void {
    for (const { wake, begins } of this.waiters.splice(0)) {
      if (begins && !this.hasEnded) this.#underWay += 1
      wake()
    }
  }

  /** An object whose methods are steps, but for those named. */
  of<T extends object>(mortal: T, except: readonly string[] = []): T {
    return new Proxy(mortal, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (except.includes(String(name))) return value.bind(target) as unknown
        return (...args: unknown[]) =>
          this.#call(String(name), Reflect.apply.bind(undefined, value, target, args))
      },
    })
  }

  async #call(name: string, work: () => unknown): Promise<unknown> {
    await this.step(`before ${name}`, true)
    const [result] = await Promise.allSettled([new Promise((resolve) => resolve(work()))])
    this.#ended()
    await this.step(`after ${name}`)
    if (result.status === 'rejected') throw result.reason
    return result.value
  }

  #ended(): void {
    this.#underWay -= 1
    if (!this.isBusy) for (const rest of this.#onRest.splice(0)) rest()
  }

  get isBusy(): boolean {
    return this.#underWay > 0
  }

  /** Once nothing is under way. */
  async atRest(): Promise<void> {
    while (this.isBusy) await new Promise<void>((resolve) => this.#onRest.push(resolve))
  }
}
