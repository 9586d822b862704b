import { join } from 'node:path'

import { emails, peopleFile } from '../../harness/batch-file.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { createTestStore } from '../../harness/postgres-store.ts'
import { type Outcome, type RunOptions } from '../../harness/run-command.ts'
import { emptyEnv, type World, world } from '../../harness/world.ts'

export interface Machines extends World {
  /** Of the store that all of them use. */
  storeUrl: string
  /** The environment of a machine, besides the one of all. */
  envOf: (machine: string) => Record<string, string>
  /** Types a command line on a machine: it has settings, data and a clock of its own. */
  on: (machine: string, line: string, options?: RunOptions) => Promise<Outcome>
}

/** Several machines that share a store on PostgreSQL, one of their own unless it is given, and a file of so many people. */
export async function machines(people: number, given?: string): Promise<Machines> {
  const here = await world({
    clock: new ManualClock({ auto: true }),
    seed: 'machines',
    quota: [{ calls: 10_000, seconds: 60 }],
  })
  const storeUrl = given ?? (await createTestStore())
  peopleFile(here.folder, emails(people))
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
