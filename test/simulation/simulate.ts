import { dirname } from 'node:path'

import {
  type Deed,
  done,
  moveAll,
  one,
  orderOne,
  purgeOne,
  receive,
  receiveAll,
  reconcileAll,
  replace,
  resume,
  retryOne,
  runFile,
  reconcileOne,
  anySpelling,
  tried,
} from './deeds.ts'
import { atRest, meanwhile, oneMore } from './events.ts'
import type { Happened } from './happened.ts'
import { judge } from './judge.ts'
import type { Machine } from './machines.ts'
import { type Mutant, sound } from './mutants.ts'
import { stormOver, trouble } from './storm.ts'
import { harms, StoreFiles } from './store-files.ts'
import { type Process, World } from './world.ts'
import { noCounts, type BatchCounts, type BatchRow } from '../../src/domain/batch/batch.ts'
import { cancelBatch, releaseRows } from '../../src/usecases/batch/change-batch.ts'

export interface SimulationResult {
  seed: number
  /** What was broken; empty where all held. */
  broken: string[]
  /** People with more than one order that no user asked for, and orders that the store knows nothing of. */
  twice: number
  lost: number
  people: number
  orders: number
  /** Rows, in all batches together. */
  counts: BatchCounts
  kills: number
  /** What befell the files of the store. */
  harmed: string[]
  /** How often it was found closed. */
  closed: number
  happened: Happened
  /** What was done, call by call: the same for the same seed. */
  trace: readonly string[]
}

/** Deeds with how often of a hundred. */
const deeds: readonly [weight: number, deed: Deed][] = [
  [22, orderOne],
  [12, receive],
  [12, reconcileAll],
  [14, reconcileOne],
  [6, retryOne],
  [4, purgeOne],
  [5, replace],
  [6, moveAll],
]

/** Runs one seed to its end: storms, kills and harm first, then in peace until every row has come to an end. */
export async function simulate(
  seed: number,
  mutant: Mutant = sound,
  target: StoreFiles = new StoreFiles(),
): Promise<SimulationResult> {
  const world = new World(seed, mutant, target)
  try {
    for (let count = 2 + Math.floor(world.rng() * 2); count > 0; count -= 1) newFile(world)
    for (let round = 1 + Math.floor(world.rng() * 4); round > 0; round -= 1) {
      await stormyRound(world)
      await accepted(world)
    }
    calm(world)
    // In some seeds alone, so that the others stay as they were.
    if (seed % 4 === 0) await orderElsewhere(world)
    await peace(world)
    const { twice, lost, orders } = await judge(world)
    const { broken, everybody, kills, harmed, closed, trace, happened } = world
    const counts = await countsOf(world)
    await world.endRound()
    return {
      seed,
      broken,
      twice,
      lost,
      orders,
      people: everybody.length,
      counts,
      kills,
      harmed,
      closed,
      happened,
      trace,
    }
  } finally {
    world.sandbox.close()
    world.files.remove()
  }
}

function newFile({ peopleFiles, everybody, rng, offer }: World): void {
  const rows = everybody.flatMap((human) => (rng() < 0.6 ? [{ human, spelling: anySpelling(rng) }] : []))
  if (rows.length === 0) return
  // Why the same person stands twice in one file is unknown.
  if (rng() < 0.3) rows.push({ human: one(everybody, rng), spelling: anySpelling(rng) })
  // Said only of people who are as many as the rows.
  const allowSimilar =
    peopleFiles.length % 2 === 1 && new Set(rows.map(({ human }) => human)).size === rows.length
  const name = `people-${peopleFiles.length}.csv`
  peopleFiles.push({ name, rows, offer, allowDuplicate: rng() < 0.1, allowSimilar })
}

/** Several processes side by side, most of which are killed; then something befalls the files. */
async function stormyRound(world: World): Promise<void> {
  const { rng, sandbox, files } = world
  const mend = trouble(sandbox, rng)
  stormOver(sandbox, rng)
  if (world.offer.hasConsent && rng() < 0.5) newFile(world)
  await oneMore(world)
  const copyAt = Math.floor(rng() * world.everybody.length)
  const stop = sandbox.log.subscribe(() => {
    if (sandbox.requests().length === copyAt) files.copy('backup')
  })
  const chosen = Array.from({ length: 1 + Math.floor(rng() * 4) }, () => deedOf(world))
  await sideBySide(
    world,
    chosen,
    () => (rng() < 0.7 ? 3 + Math.floor(rng() ** 2 * 90) : Number.POSITIVE_INFINITY),
    meanwhile(world),
  )
  stop()
  mend()
  await world.clock.sleep(1000)
  await world.endRound()
  await atRest(world)
  if (rng() > 0.35) return
  const harm = one(harms, rng)
  world.harmed.push(harm)
  files.harm(harm, rng)
  if (harm === 'restore') world.happened['put back at rest'] += 1
  if (harm === 'copied settings') world.happened['settings copied'] += 1
}

function deedOf({ rng, peopleFiles }: World): Deed {
  let roll = rng() * 150
  for (const [weight, deed] of deeds) {
    roll -= weight
    if (roll < 0) return deed
  }
  return runFile(one(peopleFiles, rng))
}

async function sideBySide(
  world: World,
  chosen: readonly Deed[],
  dieAt: () => number,
  more: readonly { life: Process['life']; work: () => Promise<void> }[] = [],
): Promise<void> {
  const lives = [...more]
  for (const deed of chosen) {
    const process = await world.process(dieAt())
    lives.push({ life: process.life, work: () => done(world, process, deed) })
  }
  await world.turns.all(lives)
}

/** A user looks at the store. One that is closed sends nothing, until every machine has been asked what it sent. */
async function accepted(world: World, machine = world.machines.any()): Promise<void> {
  const { machines } = world
  if (!(await isClosed(world, machine))) return
  world.closed += 1
  const before = world.sandbox.requests().length
  await sideBySide(
    world,
    [runFile(one(world.peopleFiles, world.rng)), orderOne],
    () => Number.POSITIVE_INFINITY,
  )
  if (world.sandbox.requests().length > before) world.broken.push('a closed store sent')
  for (const each of machines.present) if (each !== machine) await isClosed(world, each)
  const store = await world.open(machine)
  const { closing, step, unreported } = await store.rollbacks.examine()
  if (closing?.missing?.length) {
    world.happened['read and brought back by no log'] += 1
    if (step !== 'reports' && step !== 'acceptance')
      world.broken.push(`a store that lacks attempts which were read waits for ${step} alone`)
  }
  if (closing !== undefined && step === 'reports') {
    const present = new Set(machines.present.map((each) => machines.logsOf(each)))
    for (const { path, id } of unreported)
      if (present.has(dirname(path))) world.broken.push(`machine ${path} has reported, and log ${id} not`)
    await store.rollbacks.exclude(unreported.map(({ id }) => id))
  }
  await store.rollbacks.acceptOlder()
  await store.close()
  await world.endRound()
}

/** `store check` on a machine. */
async function isClosed(world: World, machine: Machine): Promise<boolean> {
  const store = await world.open(machine)
  const { closing } = await store.rollbacks.examine()
  await store.close()
  return closing !== undefined
}

function calm({ sandbox }: World): void {
  sandbox.clearFaults()
  sandbox.setCredits(null)
  sandbox.setUserActive(sandbox.credentials.userEmail, true)
}

/** A user orders a person with another program, and the store learns of it by an event: it orders that person no more. */
async function orderElsewhere(world: World): Promise<void> {
  const ordered = new Set(world.sandbox.requests().map((request) => world.humanOf(request)))
  const human = world.everybody.find((each) => !ordered.has(each))
  if (human === undefined) return
  for (const machine of world.machines.present) await accepted(world, machine)
  // The reads of requests that no row ordered are counted by the hour.
  await world.clock.sleep(2 * 60 * 60_000)
  if ((await world.orderElsewhere(human)) === undefined) return
  world.happened['ordered elsewhere'] += 1
  await sideBySide(world, [receiveAll, reconcileAll], () => Number.POSITIVE_INFINITY)
  await sideBySide(world, [reconcileAll], () => Number.POSITIVE_INFINITY)
  await world.endRound()
}

/**
 * Without faults, until no row is pending, sending, held or unknown: batches are resumed, and the user who decides about a row knows
 * what the service recorded.
 */
async function peace(world: World): Promise<void> {
  // Each machine compares its own log: what one of them finds says nothing about the logs of the others.
  for (const machine of world.machines.present) await accepted(world, machine)
  for (let round = 0; round < 12; round += 1) {
    await sideBySide(world, [inPeace], () => Number.POSITIVE_INFINITY)
    await world.endRound()
    const { pending, sending, held, unknown } = await countsOf(world)
    if (pending + sending + held + unknown === 0) return
  }
}

const inPeace: Deed = async (world, process) => {
  const { ports } = process
  for (const file of world.peopleFiles) await tried(world, process, runFile(file))
  for (const { id } of await ports.batches.list()) {
    await tried(world, process, resume(id))
    await tried(world, process, decideHeld(id))
  }
  for (const deed of [moveAll, receive, reconcileAll]) await tried(world, process, deed)
  const unknown = await ports.ledger.list({ states: ['unknown'] })
  for (let each = 0; each < unknown.length; each += 1) await tried(world, process, reconcileOne)
}

/** Each held row is looked at with what it is said to match, and released where these are two people. */
const decideHeld =
  (batchId: string): Deed =>
  async (world, { ports }) => {
    const batch = await ports.batches.find(batchId)
    if (batch === undefined) return
    const held: BatchRow[] = []
    for await (const row of ports.batches.rows(batchId, { states: ['held'] })) held.push(row)
    for (const row of held) {
      if (row.heldFor === 'similar_unknown') continue
      if (await areTwo(world, ports, row)) {
        const by = 'somebody who looked'
        await releaseRows(ports, batch, { kind: 'rows', rows: [row.row] }, by)
      } else await cancelBatch(ports, batch, [row.row])
    }
  }

async function areTwo(
  world: World,
  ports: Process['ports'],
  { recipient, matches }: BatchRow,
): Promise<boolean> {
  if (recipient === undefined) return false
  const human = world.humanOf({ recipient })
  if (matches !== undefined) {
    const orders = await ports.ledger.list({ batchId: matches.batchId })
    const other = orders.find(({ row }) => row === matches.row)?.recipient
    return other !== undefined && world.humanOf({ recipient: other }) !== human
  }
  // A store that had lost them: only the provider knows.
  return !world.sandbox.requests().some((request) => world.humanOf(request) === human)
}

async function countsOf(world: World): Promise<BatchCounts> {
  const store = await world.open()
  const counts = noCounts()
  for (const batch of await store.batches.list({ singles: true }))
    for (const state of Object.keys(counts) as (keyof BatchCounts)[]) counts[state] += batch.counts[state]
  await store.close()
  return counts
}
