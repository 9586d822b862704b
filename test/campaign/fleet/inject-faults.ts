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
  countOrders: () => number
  /** Called with a line about the progress after every `faultsPerProgressLine` faults. */
  onProgress: (line: string) => void
}

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const clockSkews = [0, 16 * minuteMs, -16 * minuteMs, 8 * dayMs, -8 * dayMs]
/** SQL that only the transaction of a claim contains. */
const claimSql = 'INSERT INTO attempts'
/** Longer than the maximum time between the commit of an attempt and the first byte of its request, in ms. */
const pauseMs = 7_000
/** Number of faults between two progress lines. */
const faultsPerProgressLine = 25
/** Maximum time to wait for further orders: there may be none while machines are paused. */
const maxOrderWaitMs = 8_000
/** Maximum time to wait until every machine has sent an order that the restore will lose. */
const maxLossWaitMs = 60_000
/**
 * Number of orders sent before the old primary is stopped. There are more than can be in flight, so that some
 * outcomes are recorded only on the old primary, and no longer in the memory of a process.
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
  const { plan, rng, machines, addMachine, pair, countOrders, onProgress } = injection
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
  const resumptions: Promise<void>[] = []
  /** Whether the primary from before the last failover still exists, so that it can become primary again. */
  let canReturnFormer = false
  const isOver = (): boolean => machines.every(({ isDone }) => isDone)
  const waitForOrders = async (count: number): Promise<void> => {
    const deadline = Date.now() + maxOrderWaitMs
    while (countOrders() < count && Date.now() < deadline && !isOver()) await pause(5)
  }
  const pickRunningMachine = async (): Promise<Machine | undefined> => {
    for (const deadline = Date.now() + maxOrderWaitMs; Date.now() < deadline && !isOver(); await pause(5)) {
      const runningMachines = machines.filter((each) => each.isBusy && !each.isStopped)
      const machine = runningMachines[Math.floor(rng() * runningMachines.length)]
      if (machine !== undefined) return machine
    }
    return undefined
  }
  const pauseRunner = async (): Promise<unknown> => {
    const machine = await pickRunningMachine()
    if (machine === undefined) return false
    const pid = machine.pause()
    resumptions.push(pause(pauseMs).then(() => machine.resume()))
    return endLease(pid)
  }
  const failOver = async (how: 'synchronous' | 'asynchronous'): Promise<void> => {
    const meanwhile = async (): Promise<void> => {
      await waitForOrders(countOrders() + minOrdersBeforeFailover)
      if (plan.failsOverAtRest !== true) return
      for (let previousCount = -1; previousCount < countOrders() && !isOver(); await pause(idleMs))
        previousCount = countOrders()
      await pauseRunner()
    }
    canReturnFormer = how === 'asynchronous'
    await pair.failOver({ how, meanwhile, canReturnFormer })
    // A machine that is done has to report its attempts too, because the other machines wait for its report.
    for (const machine of machines) if (machine.isDone) await machine.run(['store', 'check'])
  }
  /** Ends the lease of a process, because the campaign cannot wait until it expires: it outlasts the longest POST. */
  const endLease = (pid = 0): Promise<unknown> =>
    pair.ask(`UPDATE refcheck.runners SET leased_until = 0 WHERE pid = ${pid}`)
  /**
   * Waits until every machine that is not done has an attempt with a number above `minNumber`: a machine without
   * such an attempt could not detect that attempts were lost. Returns false after `maxLossWaitMs`.
   */
  const waitUntilAllHaveSent = async (minNumber: number): Promise<boolean> => {
    for (const deadline = Date.now() + maxLossWaitMs; Date.now() < deadline && !isOver(); await pause(50)) {
      const [row] = await pair.ask(
        `SELECT count(DISTINCT log_id)::int AS logs FROM refcheck.attempts WHERE number > ${minNumber}`,
      )
      if (Number(row?.['logs']) >= machines.filter(({ isDone }) => !isDone).length) return true
    }
    return false
  }
  const readNewestAttempt = async (): Promise<number> => {
    const [row] = await pair.ask('SELECT coalesce(max(number), 0)::int AS newest FROM refcheck.attempts')
    return Number(row?.['newest'])
  }
  const restore = async (): Promise<boolean> => {
    const restoreSnapshot = await pair.snapshot()
    const newestAttempt = await readNewestAttempt()
    addMachine()
    if (!(await waitUntilAllHaveSent(newestAttempt))) return false
    await restoreSnapshot()
    return true
  }
  const returnFormerPrimary = async (): Promise<boolean> => {
    // Attempts that only the new primary has are lost when the former primary replaces it.
    if (!canReturnFormer || !(await waitUntilAllHaveSent(await readNewestAttempt()))) return false
    await pair.returnFormer()
    canReturnFormer = false
    return true
  }
  const injectors: Record<FaultName, () => unknown> = {
    restores: restore,
    oldPrimaries: returnFormerPrimary,
    clockChanges: () =>
      machines[Math.floor(rng() * machines.length)]?.setClock(
        clockSkews[Math.floor(rng() * clockSkews.length)] ?? 0,
      ),
    settingsCopies: () => {
      addMachine(machines[0])
    },
    kills: async () => {
      const machine = await pickRunningMachine()
      if (machine === undefined) return false
      return endLease(machine.kill())
    },
    pauses: pauseRunner,
    cuts: () =>
      pair.cutAtCommit({ ...(plan.cutsClaims === true && { statement: claimSql }), isReceived: rng() < 0.5 }),
    restarts: () => pair.restart(),
    failovers: () => failOver('synchronous'),
    lossyFailovers: () => failOver('asynchronous'),
  }
  const faults = (Object.keys(injected) as FaultName[])
    .flatMap((name) => Array.from({ length: plan[name] ?? 0 }, () => ({ name, position: rng() })))
    .sort((a, b) => a.position - b.position)
  const expectedOrderCount = plan.rows * 0.8
  for (const [index, { name }] of faults.entries()) {
    await waitForOrders(((index + 1) * expectedOrderCount) / (faults.length + 1))
    await pause(rng() * maxFaultDelayMs)
    if (isOver()) break
    if ((await injectors[name]()) !== false) injected[name] += 1
    if ((index + 1) % faultsPerProgressLine === 0)
      onProgress(
        `${index + 1} of ${faults.length} faults, ${countOrders()} orders, ${process.uptime().toFixed(0)} s`,
      )
  }
  await Promise.all(resumptions)
  return injected
}
