import { numbered } from './template.ts'

/**
 * Which report has which file name in a folder. Two that would be called the same, also where a disk
 * minds neither case nor the form of accents, get numbers in the order they are planned; a name that
 * is on record stays its report's.
 */
export class FileNames {
  readonly #owners = new Map<string, string>()
  readonly #recorded = new Map<string, string>()
  readonly #next = new Map<string, number>()

  constructor(recorded: Iterable<{ key: string; file: string }>) {
    for (const { key, file } of recorded) {
      this.#owners.set(folded(file), key)
      this.#recorded.set(key, file)
    }
  }

  /** The name for a report that would like to be called `wanted`. */
  assign(key: string, wanted: string): string {
    const had = this.#recorded.get(key)
    if (had !== undefined && isNumbered(had, wanted)) return had
    const first = folded(wanted)
    for (let number = this.#next.get(first) ?? 1; ; number += 1) {
      const name = numbered(wanted, number)
      if (this.#owners.has(folded(name))) continue
      this.#owners.set(folded(name), key)
      this.#next.set(first, number)
      return name
    }
  }
}

/** Whether it is `wanted` itself or one of its numbered names. */
function isNumbered(name: string, wanted: string): boolean {
  const [, number = '1'] = /-([1-9]\d{0,8})\.pdf$/.exec(name) ?? []
  return name === wanted || name === numbered(wanted, Number(number))
}

function folded(name: string): string {
  return name.normalize('NFKC').toLowerCase().toUpperCase().normalize('NFC')
}
