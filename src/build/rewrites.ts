/**
 * How many places each rewrite of the build changed. A rewrite that finds nothing to change means that a library or
 * a path moved, and that a start now loads what it should not: the build fails there, instead of growing slow.
 */
export class Rewrites {
  readonly #places = new Map<string, number>()

  /** @param names What must change at least one place each by the end. */
  constructor(names: readonly string[]) {
    for (const name of names) this.#places.set(name, 0)
  }

  /** Adds changed places to a rewrite that was named at the start. */
  count(name: string, places: number): void {
    const before = this.#places.get(name)
    if (before === undefined) throw new Error(`the build has no rewrite "${name}"`)
    this.#places.set(name, before + places)
  }

  /** One line a rewrite. Throws an `Error` that names each rewrite that changed nothing. */
  summary(): string[] {
    const places = [...this.#places]
    const idle = places.flatMap(([name, count]) => (count === 0 ? [name] : []))
    if (idle.length > 0) throw new Error(`the build changed nothing for: ${idle.join(', ')}`)
    return places.map(([name, count]) => `${name}: ${count}`)
  }
}
