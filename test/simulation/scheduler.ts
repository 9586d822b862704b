/** Thrown in a simulated process that was killed, so that none of its further code runs. */
export class Crash extends Error {}

/** Lets one process at a time run from one of its steps to the next, in a random order. */
export class Scheduler {
  readonly #rng: () => number
  readonly #waiting: ProcessSteps[] = []
  #isProcessRunning = false

  constructor(rng: () => number) {
    this.#rng = rng
  }

  /** Runs all processes in parallel until each has ended. */
  async runAll(processes: readonly { steps: ProcessSteps; work: () => Promise<void> }[]): Promise<void> {
    await Promise.all(
      processes.map(async ({ steps, work }) => {
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
   * Waits until the process of `steps` may run. All parallel calls of a process are resumed together, and another
   * process runs only when all of them wait at a step.
   */
  async waitForTurn(steps: ProcessSteps, startsCall = false): Promise<void> {
    const woken = new Promise<void>((wake) => steps.waiters.push({ wake, startsCall }))
    if (!this.#waiting.includes(steps)) this.#waiting.push(steps)
    if (!steps.hasTurn || !steps.isBusy) this.releaseTurn(steps)
    await woken
    if (steps.hasEnded) throw new Crash('its process has ended')
  }

  releaseTurn(steps: ProcessSteps): void {
    if (steps.hasTurn) this.#isProcessRunning = false
    steps.hasTurn = false
    while (!this.#isProcessRunning) {
      const [next] = this.#waiting.splice(Math.floor(this.#rng() * this.#waiting.length), 1)
      if (next === undefined) return
      this.#isProcessRunning = !next.hasEnded
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
  readonly #onStep: (name: string) => void
  #stepCount = 0
  #isKilled = false
  readonly waiters: { wake: () => void; startsCall: boolean }[] = []
  /** Number of calls that have started and not ended; their duration depends on the machine. */
  #callsInFlight = 0
  #onIdle: (() => void)[] = []
  hasTurn = false
  hasEnded = false
  lastStep = ''
  /** Id of the last attempt that the process recorded in the store. */
  lastAttemptId: string | undefined

  constructor(scheduler: Scheduler, killAtStep: number, onStep: (name: string) => void) {
    this.#scheduler = scheduler
    this.#killAtStep = killAtStep
    this.#onStep = onStep
  }

  get isKilled(): boolean {
    return this.#isKilled
  }

  /** Takes a step. `startsCall`: a call follows the step; it is in flight until `#endCall` is called. */
  async step(name: string, startsCall = false): Promise<void> {
    if (this.#isKilled) throw new Crash('dead')
    await this.#scheduler.waitForTurn(this, startsCall)
    if (!this.#isKilled) {
      this.#stepCount += 1
      this.lastStep = name
      this.#onStep(name)
      if (this.#stepCount < this.#killAtStep) return
    }
    if (startsCall) this.#endCall()
    const reason = this.#isKilled ? 'dead' : 'killed'
    this.#isKilled = true
    // Parallel calls of the process that wait for a turn are woken, so that they are killed as well.
    this.wakeWaiters()
    throw new Crash(reason)
  }

  /** Wakes all calls of the process that wait for a turn. */
  wakeWaiters(): void {
    for (const { wake, startsCall } of this.waiters.splice(0)) {
      if (startsCall && !this.hasEnded) this.#callsInFlight += 1
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
    this.#endCall()
    await this.step(`after ${name}`)
    if (result.status === 'rejected') throw result.reason
    return result.value
  }

  #endCall(): void {
    this.#callsInFlight -= 1
    if (!this.isBusy) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  get isBusy(): boolean {
    return this.#callsInFlight > 0
  }

  /** Resolves once no call is in flight. */
  async waitUntilIdle(): Promise<void> {
    while (this.isBusy) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }
}
