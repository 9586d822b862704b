import { dirname } from 'node:path'

import {
  type Action,
  runProcess,
  moveBatches,
  pickOne,
  createOneRequest,
  purgeOnePerson,
  receiveSomeEvents,
  receiveAllEvents,
  reconcileAll,
  replacePackage,
  resumeBatch,
  retryOneBatch,
  runFile,
  reconcileOneRow,
  pickSpellingIndex,
  runIgnoringRefusals,
} from './actions.ts'
import { restoreBetweenRounds, createEventsDuringRound, copyAndAddMachine } from './events.ts'
import type { EventCounts } from './event-counts.ts'
import { checkOutcome } from './check-outcome.ts'
import type { Machine } from './machines.ts'
import { type Mutant, noMutation } from './mutants.ts'
import { injectRandomFaults, changeOrganisation } from './random-faults.ts'
import { damageKinds, StoreFiles } from './store-files.ts'
import { type Process, World } from './world.ts'
import { createEmptyCounts, type BatchCounts, type BatchRow } from '../../src/domain/batch/batch.ts'
import { isSamePerson } from '../../src/domain/submission/identity.ts'
import { cancelBatch, releaseRows } from '../../src/usecases/batch/change-batch.ts'
import { reconcileByDecision } from '../../src/usecases/batch/reconcile-batch.ts'

export interface SimulationResult {
  seed: number
  /** Rules that were broken; empty if there are none. */
  broken: string[]
  /** Number of people with more than one order, less those that cannot be detected. */
  twice: number
  /** Number of requests of the service that no row of the store has. */
  lost: number
  people: number
  orders: number
  /** Rows of all batches, by state. */
  counts: BatchCounts
  /** Number of processes that were killed. */
  kills: number
  /** Damage that was done to the store. */
  storeDamages: string[]
  /** How often the store was found closed. */
  closed: number
  /** How often each event happened that a simulation has to contain. */
  eventCounts: EventCounts
  /** Every call in sequence; the same seed gives the same trace. */
  trace: readonly string[]
}

/** Actions with their weights. The sum of all weights is 150; `runFile` has the remainder. */
const weightedActions: readonly [weight: number, action: Action][] = [
  [22, createOneRequest],
  [12, receiveSomeEvents],
  [12, reconcileAll],
  [14, reconcileOneRow],
  [6, retryOneBatch],
  [4, purgeOnePerson],
  [5, replacePackage],
  [6, moveBatches],
]

/** Runs one seed: rounds with faults, kills and damage, then without faults until every row is finished. */
export async function simulate(
  seed: number,
  mutant: Mutant = noMutation,
  target: StoreFiles = new StoreFiles(),
): Promise<SimulationResult> {
  const world = new World(seed, mutant, target)
  try {
    for (let count = 2 + Math.floor(world.rng() * 2); count > 0; count -= 1) addPeopleFile(world)
    for (let round = 1 + Math.floor(world.rng() * 4); round > 0; round -= 1) {
      await runRoundWithFaults(world)
      await acceptClosedStore(world)
    }
    removeFaults(world)
    // This step was added later. It is limited to a quarter of the seeds, so that the results of the other seeds did
    // not change.
    if (seed % 4 === 0) await orderElsewhere(world)
    await runUntilFinished(world)
    const { twice, lost, orders } = await checkOutcome(world)
    const { broken, everybody, kills, storeDamages, closed, trace, eventCounts } = world
    const counts = await readCounts(world)
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
      storeDamages,
      closed,
      eventCounts,
      trace,
    }
  } finally {
    world.sandbox.close()
    world.storage.remove()
  }
}

function addPeopleFile({ peopleFiles, everybody, rng, offer }: World): void {
  const rows = everybody.flatMap((human) =>
    rng() < 0.6 ? [{ human, spellingIndex: pickSpellingIndex(rng) }] : [],
  )
  if (rows.length === 0) return
  // A file may contain the same person twice.
  if (rng() < 0.3) rows.push({ human: pickOne(everybody, rng), spellingIndex: pickSpellingIndex(rng) })
  // `--allow-similar` is used only if each row is a different person.
  const allowSimilar =
    peopleFiles.length % 2 === 1 && new Set(rows.map(({ human }) => human)).size === rows.length
  const name = `people-${peopleFiles.length}.csv`
  peopleFiles.push({ name, rows, offer, allowDuplicate: rng() < 0.1, allowSimilar })
}

/** Runs several processes in parallel, most of which are killed; then may damage the store. */
async function runRoundWithFaults(world: World): Promise<void> {
  const { rng, sandbox, storage } = world
  const undoChange = changeOrganisation(sandbox, rng)
  injectRandomFaults(sandbox, rng)
  if (world.offer.hasConsent && rng() < 0.5) addPeopleFile(world)
  await copyAndAddMachine(world)
  const copyAtRequestCount = Math.floor(rng() * world.everybody.length)
  const unsubscribe = sandbox.log.subscribe(() => {
    if (sandbox.requests().length === copyAtRequestCount) storage.copyTo('backup')
  })
  const actions = Array.from({ length: 1 + Math.floor(rng() * 4) }, () => pickAction(world))
  await runInParallel(
    world,
    actions,
    () => (rng() < 0.7 ? 3 + Math.floor(rng() ** 2 * 90) : Number.POSITIVE_INFINITY),
    createEventsDuringRound(world),
  )
  unsubscribe()
  undoChange()
  await world.clock.sleep(1000)
  await world.endRound()
  await restoreBetweenRounds(world)
  if (rng() > 0.35) return
  const damageKind = pickOne(damageKinds, rng)
  world.storeDamages.push(damageKind)
  storage.damage(damageKind, rng)
  if (damageKind === 'restore') world.eventCounts['restored between rounds'] += 1
  if (damageKind === 'copied settings') world.eventCounts['settings copied'] += 1
}

function pickAction({ rng, peopleFiles }: World): Action {
  let roll = rng() * 150
  for (const [weight, action] of weightedActions) {
    roll -= weight
    if (roll < 0) return action
  }
  return runFile(pickOne(peopleFiles, rng))
}

async function runInParallel(
  world: World,
  actions: readonly Action[],
  killAtStep: () => number,
  events: readonly { steps: Process['steps']; work: () => Promise<void> }[] = [],
): Promise<void> {
  const processes = [...events]
  for (const action of actions) {
    const process = await world.startProcess(killAtStep())
    processes.push({ steps: process.steps, work: () => runProcess(world, process, action) })
  }
  await world.scheduler.runAll(processes)
}

/**
 * Runs `store check`. If the store is closed, checks that it sends nothing, lets every machine report its
 * attempts, and accepts the older store.
 */
async function acceptClosedStore(world: World, machine = world.machines.pick()): Promise<void> {
  const { machines } = world
  if (!(await isClosed(world, machine))) return
  world.closed += 1
  const requestCountBefore = world.sandbox.requests().length
  await runInParallel(
    world,
    [runFile(pickOne(world.peopleFiles, world.rng)), createOneRequest],
    () => Number.POSITIVE_INFINITY,
  )
  if (world.sandbox.requests().length > requestCountBefore) world.broken.push('a closed store sent')
  for (const each of machines.available) if (each !== machine) await isClosed(world, each)
  const store = await world.open(machine)
  const { closing, reopenStep, unreported } = await store.rollbacks.examine()
  if (closing?.missing?.length) {
    world.eventCounts['read and in no log'] += 1
    if (reopenStep !== 'reports' && reopenStep !== 'acceptance')
      world.broken.push(`a store that lacks attempts which were read waits for ${reopenStep} alone`)
  }
  if (closing !== undefined && reopenStep === 'reports') {
    const availableFolders = new Set(machines.available.map((each) => machines.attemptLogFolder(each)))
    for (const { path, id } of unreported)
      if (availableFolders.has(dirname(path)))
        world.broken.push(`machine ${path} has reported, and log ${id} not`)
    await store.rollbacks.exclude(unreported.map(({ id }) => id))
  }
  await store.rollbacks.acceptOlder()
  await store.close()
  await world.endRound()
}

/** Runs `store check` on a machine. Returns whether the store is closed. */
async function isClosed(world: World, machine: Machine): Promise<boolean> {
  const store = await world.open(machine)
  const { closing } = await store.rollbacks.examine()
  await store.close()
  return closing !== undefined
}

function removeFaults({ sandbox }: World): void {
  sandbox.clearFaults()
  sandbox.setCredits(null)
  sandbox.setUserActive(sandbox.credentials.userEmail, true)
}

/**
 * A user orders a person with another program, and the store receives the event of that request: the store
 * must not order the person again.
 */
async function orderElsewhere(world: World): Promise<void> {
  const ordered = new Set(world.sandbox.requests().map((request) => world.findHumanOf(request)))
  const human = world.everybody.find((each) => !ordered.has(each))
  if (human === undefined) return
  for (const machine of world.machines.available) await acceptClosedStore(world, machine)
  // The number of reads of requests that no row ordered is limited per hour.
  await world.clock.sleep(2 * 60 * 60_000)
  if ((await world.orderElsewhere(human)) === undefined) return
  world.eventCounts['ordered elsewhere'] += 1
  await runInParallel(world, [receiveAllEvents, reconcileAll], () => Number.POSITIVE_INFINITY)
  await runInParallel(world, [reconcileAll], () => Number.POSITIVE_INFINITY)
  await world.endRound()
}

/**
 * Runs without faults until no row is pending, sending, held or unknown: batches are resumed, and a user who
 * knows what the service recorded decides about rows.
 */
async function runUntilFinished(world: World): Promise<void> {
  // Each machine compares only its own attempt log with the store.
  for (const machine of world.machines.available) await acceptClosedStore(world, machine)
  for (let round = 0; round < 12; round += 1) {
    await runInParallel(world, [finishAllRows], () => Number.POSITIVE_INFINITY)
    await world.endRound()
    const { pending, sending, held, unknown } = await readCounts(world)
    if (pending + sending + held + unknown === 0) return
  }
}

const finishAllRows: Action = async (world, process) => {
  const { ports } = process
  for (const file of world.peopleFiles) await runIgnoringRefusals(world, process, runFile(file))
  for (const { id } of await ports.batches.list()) {
    await runIgnoringRefusals(world, process, resumeBatch(id))
    await runIgnoringRefusals(world, process, decideHeldRows(id))
  }
  for (const action of [moveBatches, receiveSomeEvents, reconcileAll])
    await runIgnoringRefusals(world, process, action)
  const unknown = await ports.ledger.list({ states: ['unknown'] })
  for (let count = 0; count < unknown.length; count += 1)
    await runIgnoringRefusals(world, process, reconcileOneRow)
}

/**
 * Compares each held row with the order it conflicts with: releases it if these are two people. Otherwise the user
 * records the request that the provider has for the person and that no row has; if there is none, the row is cancelled,
 * unless it may have been sent.
 */
const decideHeldRows =
  (batchId: string): Action =>
  async (world, { ports }) => {
    const batch = await ports.batches.find(batchId)
    if (batch === undefined) return
    const heldRows: BatchRow[] = []
    for await (const row of ports.batches.rows(batchId, { states: ['held'] })) heldRows.push(row)
    for (const row of heldRows) {
      if (row.heldFor === 'similar_unknown') continue
      if (await areDifferentPeople(world, ports, row)) {
        const by = 'a user who compared them'
        await releaseRows(ports, batch, { kind: 'rows', rows: [row.row] }, by)
        continue
      }
      const requestId = await findRequestWithoutRow(world, ports, row)
      if (requestId === undefined) {
        if (row.heldFor !== 'store_forgot') await cancelBatch(ports, batch, [row.row])
      } else {
        const answer = { kind: 'has', requestId } as const
        await reconcileByDecision(ports, { batchId, row: row.row, answer, reason: 'the provider said so' })
        world.eventCounts['recorded for held rows'] += 1
      }
    }
  }

/** Finds a request of the service for the person of a row, spelt in the same way, that no row of the store has. */
async function findRequestWithoutRow(
  { sandbox }: World,
  { ledger }: Process['ports'],
  { recipient }: BatchRow,
): Promise<string | undefined> {
  if (recipient === undefined) return undefined
  for (const { request_id: requestId, ...request } of sandbox.requests()) {
    if (!isSamePerson(request.recipient, recipient)) continue
    if ((await ledger.list({ requestId })).length === 0) return requestId
  }
  return undefined
}

async function areDifferentPeople(
  world: World,
  ports: Process['ports'],
  { recipient, matches }: BatchRow,
): Promise<boolean> {
  if (recipient === undefined) return false
  const human = world.findHumanOf({ recipient })
  if (matches !== undefined) {
    const orders = await ports.ledger.list({ batchId: matches.batchId })
    const otherRecipient = orders.find(({ row }) => row === matches.row)?.recipient
    return otherRecipient !== undefined && world.findHumanOf({ recipient: otherRecipient }) !== human
  }
  // The store lost the rows of that order, so only the provider knows whether the person was ordered.
  return !world.sandbox.requests().some((request) => world.findHumanOf(request) === human)
}

async function readCounts(world: World): Promise<BatchCounts> {
  const store = await world.open()
  const counts = createEmptyCounts()
  for (const batch of await store.batches.list({ includesSingleOrders: true }))
    for (const state of Object.keys(counts) as (keyof BatchCounts)[]) counts[state] += batch.counts[state]
  await store.close()
  return counts
}
