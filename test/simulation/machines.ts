import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { StoreFiles } from './store-files.ts'

/** A machine that orders with the store. */
export interface Machine {
  /** The folder of its settings, with its attempt log. */
  config: string
  /** Offset of its wall clock, in ms. */
  aheadMs: number
  /** Whether the machine was lost with its disk. No process is started on a lost machine. */
  isLost: boolean
}

const minute = 60_000
const day = 24 * 60 * minute

/** The offsets to which a clock may be set, in ms. */
const clockOffsets = [0, 0, 30_000, -30_000, 16 * minute, -16 * minute, 8 * day, -8 * day]

/** All machines, including lost ones. With an SQLite store there is one. */
export class Machines {
  readonly all: Machine[] = []
  readonly #storage: StoreFiles
  readonly #rng: () => number
  #lastAdded: Machine | undefined

  constructor(storage: StoreFiles, rng: () => number) {
    this.#storage = storage
    this.#rng = rng
    this.add()
    if (storage.storeSetting !== undefined) this.add()
  }

  get available(): Machine[] {
    return this.all.filter(({ isLost }) => !isLost)
  }

  /**
   * Returns a machine that was added since the last call, so that it sends before the next event; otherwise a
   * random machine.
   */
  pickNext(): Machine {
    const machine = this.#lastAdded ?? this.pick()
    this.#lastAdded = undefined
    return machine
  }

  pick(): Machine {
    const { available } = this
    return available[Math.floor(this.#rng() * available.length)]!
  }

  /** Adds a machine with empty settings, or with a copy of those of `copyOf`. */
  add(copyOf?: Machine): Machine {
    const { config } = this.#storage.paths
    const machine = {
      config: this.all.length === 0 ? config : `${config}${this.all.length + 1}`,
      aheadMs: 0,
      isLost: false,
    }
    if (copyOf !== undefined && existsSync(copyOf.config))
      cpSync(copyOf.config, machine.config, { recursive: true })
    this.all.push(machine)
    this.#lastAdded = machine
    return machine
  }

  /**
   * Sets the wall clock of a machine to a random offset. An SQLite store uses this clock, and an offset of
   * days would make an order old enough to be renewed, so the offset is limited to minutes there.
   */
  setClock(machine: Machine): void {
    const offset = clockOffsets[Math.floor(this.#rng() * clockOffsets.length)] ?? 0
    const limit = this.#storage.storeSetting === undefined ? 16 * minute : 8 * day
    machine.aheadMs = Math.max(-limit, Math.min(limit, offset))
  }

  /** Whether an attempt log of the machine contains one of `names`. */
  hasLogWithAny({ config }: Machine, names: ReadonlySet<string>): boolean {
    const logs = this.#storage.attemptLogs(config).map((path) => readFileSync(path, 'utf8'))
    return logs.some((log) => [...names].some((name) => log.includes(name)))
  }

  /** The folder of the machine's attempt logs. */
  attemptLogFolder({ config }: Machine): string {
    return join(config, 'attempts')
  }
}
