import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { StoreFiles } from './store-files.ts'

/** A machine that orders with the store. */
export interface Machine {
  /** The folder of its settings, with its attempt log. */
  config: string
  /** How far its wall clock is ahead, in ms. */
  aheadMs: number
  /** Its disk is lost: nothing runs there any more. */
  isGone: boolean
}

const minute = 60_000
const day = 24 * 60 * minute

/** How far clocks are off. */
const offsets = [0, 0, 30_000, -30_000, 16 * minute, -16 * minute, 8 * day, -8 * day]

/** All machines that ever were. With a store in a file there is one. */
export class Machines {
  readonly all: Machine[] = []
  readonly #files: StoreFiles
  readonly #rng: () => number
  #added: Machine | undefined

  constructor(files: StoreFiles, rng: () => number) {
    this.#files = files
    this.#rng = rng
    this.add()
    if (files.chosen !== undefined) this.add()
  }

  get present(): Machine[] {
    return this.all.filter(({ isGone }) => !isGone)
  }

  /** One that was added just now, so that it sends before the next event; else any. */
  next(): Machine {
    const machine = this.#added ?? this.any()
    this.#added = undefined
    return machine
  }

  any(): Machine {
    const { present } = this
    return present[Math.floor(this.#rng() * present.length)]!
  }

  /** One more, set up by hand, or with a copy of the settings of another. */
  add(copyOf?: Machine): Machine {
    const { config } = this.#files.paths
    const machine = {
      config: this.all.length === 0 ? config : `${config}${this.all.length + 1}`,
      aheadMs: 0,
      isGone: false,
    }
    if (copyOf !== undefined && existsSync(copyOf.config))
      cpSync(copyOf.config, machine.config, { recursive: true })
    this.all.push(machine)
    this.#added = machine
    return machine
  }

  /**
   * Sets the wall clock of a machine. A store in a file goes by it: days ahead make an order old enough to be renewed, so there
   * it is off by minutes.
   */
  setClock(machine: Machine): void {
    const offset = offsets[Math.floor(this.#rng() * offsets.length)] ?? 0
    const limit = this.#files.chosen === undefined ? 16 * minute : 8 * day
    machine.aheadMs = Math.max(-limit, Math.min(limit, offset))
  }

  /** Whether a log of the machine names any of these. */
  knowsAny({ config }: Machine, names: ReadonlySet<string>): boolean {
    const logs = this.#files.lists(config).map((path) => readFileSync(path, 'utf8'))
    return logs.some((log) => [...names].some((name) => log.includes(name)))
  }

  /** The attempt log that a machine begins with its next order is in here. */
  logsOf({ config }: Machine): string {
    return join(config, 'attempts')
  }
}
