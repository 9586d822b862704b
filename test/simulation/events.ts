import { Life } from './crash.ts'
import { one } from './deeds.ts'
import type { Machine } from './machines.ts'
import { type Return, StoreDatabase } from './store-database.ts'
import type { World } from './world.ts'

/** Something that takes place between two steps of processes, at a moment that luck chooses. */
function atSomeStep(world: World, work: () => Promise<void>): { life: Life; work: () => Promise<void> } {
  const life = new Life(world.turns, Number.POSITIVE_INFINITY, (what) =>
    world.trace.push(`meanwhile ${what}`),
  )
  const mortal = life.of({ happen: work })
  return {
    life,
    async work() {
      for (let steps = Math.floor(world.rng() ** 2 * 60); steps > 0; steps -= 1) await life.step('waits')
      await mortal.happen()
    },
  }
}

/** What takes place in a round while processes run. */
export function meanwhile(world: World): ReturnType<typeof atSomeStep>[] {
  const { rng, machines, happened } = world
  const found: ReturnType<typeof atSomeStep>[] = []
  if (rng() < 0.25)
    found.push(
      atSomeStep(world, async () => {
        machines.setClock(machines.any())
        happened['clocks set'] += 1
      }),
    )
  const hasServer = world.files instanceof StoreDatabase
  if (rng() < (hasServer ? 0.3 : 0.1)) found.push(atSomeStep(world, () => putBackDuringRun(world)))
  if (world.files instanceof StoreDatabase && rng() < 0.4) {
    const { files } = world
    found.push(atSomeStep(world, () => files.keep('kept')))
  }
  return found
}

/** A database is copied, and then one more machine begins to order with it. */
export async function oneMore({ rng, files, machines }: World): Promise<void> {
  if (!(files instanceof StoreDatabase) || rng() > 0.3) return
  await files.keep('kept')
  if (rng() < 0.7) machines.add()
}

async function putBackDuringRun(world: World): Promise<void> {
  const { files, rng, happened } = world
  if (files instanceof StoreDatabase) {
    if (await restore(world, rng() < 0.5)) happened['put back during a run'] += 1
    return
  }
  if (!files.putBackInUse('backup', rng() < 0.5 ? 'in place' : 'renamed')) return
  happened['put back during a run'] += 1
  world.harmed.push('restore during a run')
}

/** What befalls a database, and the machines that share it, between two rounds. */
export async function atRest(world: World): Promise<void> {
  const { rng, files, machines, happened } = world
  if (!(files instanceof StoreDatabase)) return
  if (rng() < 0.1) {
    machines.add(one(machines.present, rng))
    happened['settings copied'] += 1
  }
  const hasLost = rng() < 0.35 && (await restore(world, true))
  if (hasLost) happened['put back at rest'] += 1
  if (hasLost && machines.present.length > 1 && rng() < 0.15) {
    machines.any().isGone = true
    happened['machines lost'] += 1
  }
}

const returns: readonly Return[] = ['snapshot', 'snapshot', 'failover', 'failover', 'restore']

/** Whether the store is an older one than before. */
async function restore(world: World, isCut: boolean): Promise<boolean> {
  const { rng, files, machines, happened } = world
  if (!(files instanceof StoreDatabase)) return false
  const how = world.happened.failovers > 0 && rng() < 0.4 ? 'old primary' : one(returns, rng)
  const lost = await files.bringBack(how === 'old primary' ? 'old_primary' : 'kept', how, isCut)
  if (lost === undefined) return false
  world.harmed.push(how)
  const isReported = how === 'snapshot' && rng() < 0.5
  world.losses.push({ lost, isSilent: (how === 'snapshot' || how === 'old primary') && !isReported })
  const isAllLost = (machine: Machine): boolean => {
    const ids = [...world.madeBy].filter(([, by]) => by === machine).map(([id]) => id)
    return ids.length > 0 && ids.every((id) => lost.has(id))
  }
  happened['first sent in a lost window'] += machines.present.filter(isAllLost).length
  if (how === 'failover') happened.failovers += 1
  else if (how === 'old primary') happened['old primaries back'] += 1
  else if (how === 'restore') happened.restored += 1
  if (!isReported) return true
  const store = await world.open()
  await store.rollbacks.closeAsRestored()
  await store.close()
  happened.restored += 1
  return true
}
