/** The process is gone: nothing after it happens. */
export class Crash extends Error {}

/**
 * Counts the steps of one process and ends it at the chosen one: every call of the store and of the service
 * is two steps, before and after. A dead process does nothing any more.
 */
export class Mortality {
  readonly #dieAt: number
  #steps = 0
  #dead = false

  constructor(dieAt: number) {
    this.#dieAt = dieAt
  }

  get dead(): boolean {
    return this.#dead
  }

  step(): void {
    if (this.#dead) throw new Crash('dead')
    this.#steps += 1
    if (this.#steps < this.#dieAt) return
    this.#dead = true
    throw new Crash('killed')
  }

  /** An object whose methods are steps. */
  of<T extends object>(mortal: T): T {
    return new Proxy(mortal, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function' || name === 'rows' || name === 'bodies') return bound(value, target)
        return async (...args: unknown[]): Promise<unknown> => {
          this.step()
          const result: unknown = await Reflect.apply(value, target, args)
          this.step()
          return result
        }
      },
    })
  }
}

function bound(value: unknown, target: object): unknown {
  return typeof value === 'function' ? (value.bind(target) as unknown) : value
}
