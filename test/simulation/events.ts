import { ProcessSteps } from './scheduler.ts'
import { pickOne } from './actions.ts'
import type { Machine } from './machines.ts'
import { type RollbackKind, StoreDatabase } from './store-database.ts'
import type { World } from './world.ts'

/**
 * Returns an event for the scheduler, which calls `work` between two steps of the processes, after a random
 * number of steps.
 */
function createEventAtRandomStep(
  world: World,
  work: () => Promise<void>,
): { steps: ProcessSteps; work: () => Promise<void> } {
  const steps = new ProcessSteps(world.scheduler, Number.POSITIVE_INFINITY, (step) =>
    world.trace.push(`meanwhile ${step}`),
  )
  const { performEvent } = steps.wrap({ performEvent: work })
  return {
    steps,
    async work() {
      for (let remaining = Math.floor(world.rng() ** 2 * 60); remaining > 0; remaining -= 1)
        await steps.step('waits')
      await performEvent()
    },
  }
}

/** Random events of a round, which run in parallel with its processes. */
export function createEventsDuringRound(world: World): ReturnType<typeof createEventAtRandomStep>[] {
  const { rng, machines, eventCounts } = world
  const events: ReturnType<typeof createEventAtRandomStep>[] = []
  if (rng() < 0.25)
    events.push(
      createEventAtRandomStep(world, async () => {
        machines.setClock(machines.pick())
        eventCounts['clocks set'] += 1
      }),
    )
  if (rng() < (world.hasServer ? 0.3 : 0.1))
    events.push(createEventAtRandomStep(world, () => restoreDuringRun(world)))
  if (world.storage instanceof StoreDatabase && rng() < 0.4) {
    const { storage } = world
    events.push(createEventAtRandomStep(world, () => storage.saveState('saved')))
  }
  return events
}

/** Saves the state of the database, and then may add a machine that orders with it. */
export async function copyAndAddMachine({ rng, storage, machines }: World): Promise<void> {
  if (!(storage instanceof StoreDatabase) || rng() > 0.3) return
  await storage.saveState('saved')
  if (rng() < 0.7) machines.add()
}

async function restoreDuringRun(world: World): Promise<void> {
  const { storage, rng, eventCounts } = world
  if (storage instanceof StoreDatabase) {
    if (await restore(world, rng() < 0.5)) eventCounts['restored during a run'] += 1
    return
  }
  if (!storage.restoreInUse('backup', rng() < 0.5 ? 'in place' : 'renamed')) return
  eventCounts['restored during a run'] += 1
  world.storeDamages.push('restore during a run')
}

/** Random events of a database and its machines between two rounds. */
export async function restoreBetweenRounds(world: World): Promise<void> {
  const { rng, storage, machines, eventCounts } = world
  if (!(storage instanceof StoreDatabase)) return
  if (rng() < 0.1) {
    machines.add(pickOne(machines.available, rng))
    eventCounts['settings copied'] += 1
  }
  const isRestored = rng() < 0.35 && (await restore(world, true))
  if (isRestored) eventCounts['restored between rounds'] += 1
  if (isRestored && machines.available.length > 1 && rng() < 0.15) {
    machines.pick().isLost = true
    eventCounts['machines lost'] += 1
  }
}

const rollbackKinds: readonly RollbackKind[] = ['snapshot', 'snapshot', 'failover', 'failover', 'restore']

/** Restores an older state of the database; false if none was saved. */
async function restore(world: World, shouldDisconnect: boolean): Promise<boolean> {
  const { rng, storage, machines, eventCounts } = world
  if (!(storage instanceof StoreDatabase)) return false
  const kind = world.eventCounts.failovers > 0 && rng() < 0.4 ? 'old primary' : pickOne(rollbackKinds, rng)
  const lostIds = await storage.restoreState(
    kind === 'old primary' ? 'old_primary' : 'saved',
    kind,
    shouldDisconnect,
  )
  if (lostIds === undefined) return false
  world.storeDamages.push(kind)
  const isReportedByUser = kind === 'snapshot' && rng() < 0.5
  world.losses.push({
    lostIds,
    isVisibleOnlyInLogs: (kind === 'snapshot' || kind === 'old primary') && !isReportedByUser,
  })
  const hasLostAllAttempts = (machine: Machine): boolean => {
    const ids = [...world.machineOfAttempt].filter(([, sender]) => sender === machine).map(([id]) => id)
    return ids.length > 0 && ids.every((id) => lostIds.has(id))
  }
  eventCounts['first sent in a lost window'] += machines.available.filter(hasLostAllAttempts).length
  if (kind === 'failover') eventCounts.failovers += 1
  else if (kind === 'old primary') eventCounts['old primaries back'] += 1
  else if (kind === 'restore') eventCounts.restored += 1
  if (!isReportedByUser) return true
  const store = await world.open()
  await store.rollbacks.closeAsRestored()
  await store.close()
  eventCounts.restored += 1
  return true
}
