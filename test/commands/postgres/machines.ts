import { join } from 'node:path'

import { createEmails, writePeopleFile } from '../../harness/batch-file.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { createTestStore } from '../../harness/postgres-store.ts'
import { type Outcome, type RunOptions } from '../../harness/run-command.ts'
import { emptyEnv, type World, world } from '../../harness/world.ts'

export interface Machines extends World {
  /** The URL of the store that all machines use. */
  storeUrl: string
  /** Returns the variables of one machine, in addition to those of all machines. */
  envOf: (machine: string) => Record<string, string>
  /** Runs a command line on a machine, which has its own settings, data and clock. */
  on: (machine: string, line: string, options?: RunOptions) => Promise<Outcome>
}

/**
 * Starts several machines that share a store on PostgreSQL and a file with `peopleCount` people. The store is new
 * unless its URL is given.
 */
export async function startMachines(peopleCount: number, existingUrl?: string): Promise<Machines> {
  const here = await world({
    clock: new ManualClock({ auto: true }),
    seed: 'machines',
    quota: [{ calls: 10_000, seconds: 60 }],
  })
  const storeUrl = existingUrl ?? (await createTestStore())
  writePeopleFile(here.folder, createEmails(peopleCount))
  const envOf = (machine: string): Record<string, string> => ({
    REFCHECK_STORE: storeUrl,
    REFCHECK_QUOTA: '10000/60',
    ...emptyEnv(join(here.folder, machine)),
  })
  return {
    ...here,
    storeUrl,
    envOf,
    on: (machine, line, options = {}) =>
      here.run(line.split(' '), {
        clock: new ManualClock({ auto: true }),
        ...options,
        env: { ...envOf(machine), ...options.env },
      }),
  }
}
