import { ProcessSteps } from './scheduler.ts'
import { pickOne } from './actions.ts'
import type { Machine } from './machines.ts'
import { type RollbackKind, StoreDatabase } from './store-database.ts'
import type { World } from './world.ts'

/** Calls `work` between two steps of the processes, after a random number of steps. */
function runAtRandomStep(
  world: World,
  work: () => Promise<void>,
): { steps: ProcessSteps; work: () => Promise<void> } {
  const steps = new ProcessSteps(world.scheduler, Number.POSITIVE_INFINITY, (what) =>
    world.trace.push(`meanwhile ${what}`),
  )
  const wrapped = steps.wrap({ happen: work })
  return {
    steps,
    async work() {
      for (let left = Math.floor(world.rng() ** 2 * 60); left > 0; left -= 1) await steps.step('waits')
      await wrapped.happen()
    },
  }
}

/** Random events of a round, which run in parallel with its processes. */
export function eventsDuringRound(world: World): ReturnType<typeof runAtRandomStep>[] {
  const { rng, machines, eventCounts } = world
  const events: ReturnType<typeof runAtRandomStep>[] = []
  if (rng() < 0.25)
    events.push(
      runAtRandomStep(world, async () => {
        machines.setClock(machines.pick())
        eventCounts['clocks set'] += 1
      }),
    )
  const hasServer = world.files instanceof StoreDatabase
  if (rng() < (hasServer ? 0.3 : 0.1)) events.push(runAtRandomStep(world, () => restoreDuringRun(world)))
  if (world.files instanceof StoreDatabase && rng() < 0.4) {
    const { files } = world
    events.push(runAtRandomStep(world, () => files.saveState('kept')))
  }
  return events
}

/** Saves the state of the database, and then may add a machine that orders with it. */
export async function copyAndAddMachine({ rng, files, machines }: World): Promise<void> {
  if (!(files instanceof StoreDatabase) || rng() > 0.3) return
  await files.saveState('kept')
  if (rng() < 0.7) machines.add()
}

async function restoreDuringRun(world: World): Promise<void> {
  const { files, rng, eventCounts } = world
  if (files instanceof StoreDatabase) {
    if (await restore(world, rng() < 0.5)) eventCounts['restored during a run'] += 1
    return
  }
  if (!files.restoreInUse('backup', rng() < 0.5 ? 'in place' : 'renamed')) return
  eventCounts['restored during a run'] += 1
  world.damages.push('restore during a run')
}

/** Random events of a database and its machines between two rounds. */
export async function restoreBetweenRounds(world: World): Promise<void> {
  const { rng, files, machines, eventCounts } = world
  if (!(files instanceof StoreDatabase)) return
  if (rng() < 0.1) {
    machines.add(pickOne(machines.available, rng))
    eventCounts['settings copied'] += 1
  }
  const hasLost = rng() < 0.35 && (await restore(world, true))
  if (hasLost) eventCounts['restored between rounds'] += 1
  if (hasLost && machines.available.length > 1 && rng() < 0.15) {
    machines.pick().isGone = true
    eventCounts['machines lost'] += 1
  }
}

const rollbackKinds: readonly RollbackKind[] = ['snapshot', 'snapshot', 'failover', 'failover', 'restore']

/** Restores an older state of the database; false if none was saved. */
async function restore(world: World, isCut: boolean): Promise<boolean> {
  const { rng, files, machines, eventCounts } = world
  if (!(files instanceof StoreDatabase)) return false
  const how = world.eventCounts.failovers > 0 && rng() < 0.4 ? 'old primary' : pickOne(rollbackKinds, rng)
  const lost = await files.restoreState(how === 'old primary' ? 'old_primary' : 'kept', how, isCut)
  if (lost === undefined) return false
  world.damages.push(how)
  const isReported = how === 'snapshot' && rng() < 0.5
  world.losses.push({ lost, isSilent: (how === 'snapshot' || how === 'old primary') && !isReported })
  const isAllLost = (machine: Machine): boolean => {
    const ids = [...world.machineOfAttempt].filter(([, by]) => by === machine).map(([id]) => id)
    return ids.length > 0 && ids.every((id) => lost.has(id))
  }
  eventCounts['first sent in a lost window'] += machines.available.filter(isAllLost).length
  if (how === 'failover') eventCounts.failovers += 1
  else if (how === 'old primary') eventCounts['old primaries back'] += 1
  else if (how === 'restore') eventCounts.restored += 1
  if (!isReported) return true
  const store = await world.open()
  await store.rollbacks.closeAsRestored()
  await store.close()
  eventCounts.restored += 1
  return true
}
