import { setTimeout as pause } from 'node:timers/promises'

import type { FaultName, FleetTally, Plan } from './fleet.ts'
import type { Machine } from './machine.ts'
import type { PostgresPair } from '../../harness/postgres-pair.ts'

export interface FaultInjection {
  plan: Plan
  rng: () => number
  machines: readonly Machine[]
  /** Adds a machine that starts to order, with a copy of the settings of `copyOf` if it is given. */
  addMachine: (copyOf?: Machine) => Machine
  pair: PostgresPair
  /** Number of orders that the service accepted. */
  orderCount: () => number
  /** Called now and then with the progress. */
  onProgress: (line: string) => void
}

const minute = 60_000
const day = 24 * 60 * minute
const skews = [0, 16 * minute, -16 * minute, 8 * day, -8 * day]
/** SQL that the transaction of a claim contains, and no other. */
const claimSql = 'INSERT INTO attempts'
/** Longer than the maximum time between the commit of an attempt and its first byte, in ms. */
const pausedMs = 7_000
/** Number of faults between two progress lines. */
const faultsPerProgressLine = 25
/** Maximum time to wait for further orders: there may be none while machines are paused. */
const maxOrderWaitMs = 8_000
/** Maximum time to wait until every machine has sent an order that the restore will lose. */
const maxLossWaitMs = 60_000
/**
 * Number of orders sent before the old primary is stopped: more than are in flight, so that the outcomes of
 * some are recorded there and no longer in the memory of a process.
 */
const minOrdersBeforeFailover = 8
/** If no order arrives for this long, all runners wait for the quota. */
const idleMs = 700
/**
 * Maximum random delay between an order and a fault, so that the steps after the order are interrupted too.
 */
const maxFaultDelayMs = 60

/**
 * Injects the faults of the plan in a random sequence, spread over the orders; stops when every machine is
 * done.
 */
export async function injectFaults(injection: FaultInjection): Promise<FleetTally['faults']> {
  const { plan, rng, machines, addMachine, pair, orderCount: orders, onProgress } = injection
  const injected: FleetTally['faults'] = {
    kills: 0,
    pauses: 0,
    cuts: 0,
    restarts: 0,
    failovers: 0,
    lossyFailovers: 0,
    restores: 0,
    oldPrimaries: 0,
    clockChanges: 0,
    settingsCopies: 0,
  }
  const resumed: Promise<void>[] = []
  /** Whether the last failover left a former primary that can be made primary again. */
  let canReturnFormer = false
  const isOver = (): boolean => machines.every(({ isDone }) => isDone)
  const waitForOrders = async (count: number): Promise<void> => {
    const deadline = Date.now() + maxOrderWaitMs
    while (orders() < count && Date.now() < deadline && !isOver()) await pause(5)
  }
  const pickRunningMachine = async (): Promise<Machine | undefined> => {
    for (const deadline = Date.now() + maxOrderWaitMs; Date.now() < deadline && !isOver(); await pause(5)) {
      const runningMachines = machines.filter((each) => each.isBusy && !each.isStopped)
      const one = runningMachines[Math.floor(rng() * runningMachines.length)]
      if (one !== undefined) return one
    }
    return undefined
  }
  const pauseOne = async (): Promise<unknown> => {
    const machine = await pickRunningMachine()
    if (machine === undefined) return false
    const pid = machine.pause()
    resumed.push(pause(pausedMs).then(() => machine.resume()))
    return endLease(pid)
  }
  const failOver = async (how: 'synchronous' | 'asynchronous'): Promise<void> => {
    const meanwhile = async (): Promise<void> => {
      await waitForOrders(orders() + minOrdersBeforeFailover)
      if (plan.failsOverAtRest !== true) return
      for (let before = -1; before < orders() && !isOver(); await pause(idleMs)) before = orders()
      await pauseOne()
    }
    canReturnFormer = how === 'asynchronous'
    await pair.failOver({ how, meanwhile, canReturnFormer: canReturnFormer })
    // A machine that is done has to report what it sent as well, because the others wait for its report.
    for (const machine of machines) if (machine.isDone) await machine.run(['store', 'check'])
  }
  /** A lease outlasts the longest POST; the campaign does not wait that long. */
  const endLease = (pid = 0): Promise<unknown> =>
    pair.ask(`UPDATE refcheck.runners SET leased_until = 0 WHERE pid = ${pid}`)
  /**
   * Waits until every machine that is not done has an attempt with a number above `above`: a machine without
   * one could not detect that attempts were lost. Returns false after `maxLossWaitMs`.
   */
  const waitUntilAllHaveSent = async (above: number): Promise<boolean> => {
    for (const deadline = Date.now() + maxLossWaitMs; Date.now() < deadline && !isOver(); await pause(50)) {
      const [found] = await pair.ask(
        `SELECT count(DISTINCT log_id)::int AS logs FROM refcheck.attempts WHERE number > ${above}`,
      )
      if (Number(found?.['logs']) >= machines.filter(({ isDone }) => !isDone).length) return true
    }
    return false
  }
  const readNewestAttempt = async (): Promise<number> => {
    const [found] = await pair.ask('SELECT coalesce(max(number), 0)::int AS newest FROM refcheck.attempts')
    return Number(found?.['newest'])
  }
  const restore = async (): Promise<boolean> => {
    const restoreSnapshot = await pair.snapshot()
    const before = await readNewestAttempt()
    addMachine()
    if (!(await waitUntilAllHaveSent(before))) return false
    await restoreSnapshot()
    return true
  }
  const returnFormerPrimary = async (): Promise<boolean> => {
    // Attempts that only the new primary has are lost when the former one replaces it.
    if (!canReturnFormer || !(await waitUntilAllHaveSent(await readNewestAttempt()))) return false
    await pair.returnFormer()
    canReturnFormer = false
    return true
  }
  const injectors: Record<FaultName, () => unknown> = {
    restores: restore,
    oldPrimaries: returnFormerPrimary,
    clockChanges: () =>
      machines[Math.floor(rng() * machines.length)]?.setClock(skews[Math.floor(rng() * skews.length)] ?? 0),
    settingsCopies: () => {
      addMachine(machines[0])
    },
    kills: async () => {
      const machine = await pickRunningMachine()
      if (machine === undefined) return false
      return endLease(machine.kill())
    },
    pauses: pauseOne,
    cuts: () =>
      pair.cutAtCommit({ ...(plan.cutsClaims === true && { statement: claimSql }), isReceived: rng() < 0.5 }),
    restarts: () => pair.restart(),
    failovers: () => failOver('synchronous'),
    lossyFailovers: () => failOver('asynchronous'),
  }
  const faults = (Object.keys(injected) as FaultName[])
    .flatMap((what) => Array.from({ length: plan[what] ?? 0 }, () => ({ what, at: rng() })))
    .sort((a, b) => a.at - b.at)
  const expectedOrderCount = plan.rows * 0.8
  for (const [at, { what }] of faults.entries()) {
    await waitForOrders(((at + 1) * expectedOrderCount) / (faults.length + 1))
    await pause(rng() * maxFaultDelayMs)
    if (isOver()) break
    if ((await injectors[what]()) !== false) injected[what] += 1
    if ((at + 1) % faultsPerProgressLine === 0)
      onProgress(`${at + 1} of ${faults.length} faults, ${orders()} orders, ${process.uptime().toFixed(0)} s`)
  }
  await Promise.all(resumed)
  return injected
}
