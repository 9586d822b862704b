/** Thrown in a simulated process that was killed, so that none of its further code runs. */
export class Crash extends Error {}

/** Lets one process at a time run from one of its steps to the next, in a random order. */
export class Scheduler {
  readonly #rng: () => number
  readonly #waiting: ProcessSteps[] = []
  #hasRunning = false

  constructor(rng: () => number) {
    this.#rng = rng
  }

  /** Runs all processes in parallel until each has ended. */
  async runAll(started: readonly { steps: ProcessSteps; work: () => Promise<void> }[]): Promise<void> {
    await Promise.all(
      started.map(async ({ steps, work }) => {
        await this.waitForTurn(steps)
        try {
          await work()
        } finally {
          // Calls in flight end first, so that the result does not depend on the speed of the machine.
          await steps.waitUntilIdle()
          steps.hasEnded = true
          this.releaseTurn(steps)
        }
      }),
    )
  }

  /**
   * Parallel work of one process resumes together; another process runs only once all of it waits at a step.
   */
  async waitForTurn(steps: ProcessSteps, begins = false): Promise<void> {
    const woken = new Promise<void>((wake) => steps.waiters.push({ wake, begins }))
    if (!this.#waiting.includes(steps)) this.#waiting.push(steps)
    if (!steps.hasTurn || !steps.isBusy) this.releaseTurn(steps)
    await woken
    if (steps.hasEnded) throw new Crash('its process has ended')
  }

  releaseTurn(steps: ProcessSteps): void {
    if (steps.hasTurn) this.#hasRunning = false
    steps.hasTurn = false
    while (!this.#hasRunning) {
      const [next] = this.#waiting.splice(Math.floor(this.#rng() * this.#waiting.length), 1)
      if (next === undefined) return
      this.#hasRunning = !next.hasEnded
      next.hasTurn = !next.hasEnded
      next.wakeWaiters()
    }
  }
}

/**
 * Counts the steps of one process and kills it at the step `killAtStep`. Each call of the store, the service
 * or the clock is two steps: before and after it. A killed process takes no further step.
 */
export class ProcessSteps {
  readonly #scheduler: Scheduler
  readonly #killAtStep: number
  readonly #onStep: (what: string) => void
  #stepCount = 0
  #isKilled = false
  readonly waiters: { wake: () => void; begins: boolean }[] = []
  /** Calls that have started and not ended; how long they take depends on the machine. */
  #callsInFlight = 0
  #onIdle: (() => void)[] = []
  hasTurn = false
  hasEnded = false
  /** Name of the last step, and id of the last attempt that the process recorded. */
  lastStep = ''
  lastAttempt: string | undefined

  constructor(scheduler: Scheduler, killAtStep: number, onStep: (what: string) => void) {
    this.#scheduler = scheduler
    this.#killAtStep = killAtStep
    this.#onStep = onStep
  }

  get isKilled(): boolean {
    return this.#isKilled
  }

  /** `begins`: a call follows the step, and is in flight until `#ended`. */
  async step(what: string, begins = false): Promise<void> {
    if (this.#isKilled) throw new Crash('dead')
    await this.#scheduler.waitForTurn(this, begins)
    if (!this.#isKilled) {
      this.#stepCount += 1
      this.lastStep = what
      this.#onStep(what)
      if (this.#stepCount < this.#killAtStep) return
    }
    if (begins) this.#ended()
    const why = this.#isKilled ? 'dead' : 'killed'
    this.#isKilled = true
    // Its parallel work that waits for a turn is woken, to be killed as well.
    this.wakeWaiters()
    throw new Crash(why)
  }

  /** Wakes all work of the process that waits for a turn. */
  wakeWaiters(): void {
    for (const { wake, begins } of this.waiters.splice(0)) {
      if (begins && !this.hasEnded) this.#callsInFlight += 1
      wake()
    }
  }

  /** A proxy of `object` whose methods are steps, except those named in `except`. */
  wrap<T extends object>(object: T, except: readonly string[] = []): T {
    return new Proxy(object, {
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
    this.#callsInFlight -= 1
    if (!this.isBusy) for (const rest of this.#onIdle.splice(0)) rest()
  }

  get isBusy(): boolean {
    return this.#callsInFlight > 0
  }

  /** Resolves once no call is in flight. */
  async waitUntilIdle(): Promise<void> {
    while (this.isBusy) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }
}
