import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { createRunArguments, createCsvLines, createPeople, type Person } from '../people.ts'
import type { CommandResult } from '../environment.ts'
import { maxInWindow, recordCalls } from './calls.ts'
import { Machine } from './machine.ts'
import { PostgresPair } from '../../harness/postgres-pair.ts'
import { injectFaults } from './inject-faults.ts'
import { openCampaignStore } from './open-store.ts'
import { program } from '../../harness/program.ts'
import { serviceEnv } from '../../harness/service-env.ts'
import { systemClock } from '../../../src/host/clock.ts'
import type { Recipient, RequestResource } from '../../../src/contract/request.ts'
import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import type { QuotaWindow } from '../../../src/sandbox/service/state.ts'
import { listen } from '../../../src/server/listen.ts'

/** The size of a campaign and the number of each fault. */
export interface Plan {
  /** Number of rows of all files together. */
  rows: number
  files: number
  /** Fraction of the people of a file who are in the next file too; 0.2 by default. */
  sharedFraction?: number
  /**
   * Each machine runs one file, and all files list their people in the same order, so that machines reach a
   * person at the same time. The files are not run again at the end.
   */
  isLockstep?: boolean
  /** Delay before each COMMIT reaches the database, in ms. */
  commitDelayMs?: number
  /** How often the process of a runner is killed. */
  kills: number
  /** How often a runner is stopped for longer than its lease. */
  pauses: number
  /**
   * How often the network is cut just before the database receives a COMMIT, or just before its answer
   * arrives.
   */
  cuts: number
  /** Whether the network is cut only at the COMMIT of a claim. */
  cutsClaims?: boolean
  /** How often the database is killed and started again, as by a power cut. */
  restarts: number
  /** How often the database fails over to a standby that has every commit. */
  failovers: number
  /** How often the database fails over to a standby that lacks the last commits. */
  lossyFailovers: number
  /**
   * How often the database is restored to a snapshot while machines order. A new machine sends its first
   * orders after the snapshot, so that they are lost.
   */
  restores?: number
  /**
   * How often the primary from before the last failover becomes primary again, without the orders that were
   * recorded after that failover.
   */
  oldPrimaries?: number
  /** How often the clock of a machine is changed, by 16 minutes or 8 days, ahead or behind. */
  clockChanges?: number
  /** How many machines are added with a copy of the settings of another machine. */
  settingsCopies?: number
  /**
   * The database fails over only while runners wait for the quota and one of them is stopped. A runner with an order in
   * flight would detect the new server when it records that order.
   */
  failsOverAtRest?: boolean
  quota: readonly QuotaWindow[]
  /** Whether the service enforces no quota, so that only the count of the machines limits their calls. */
  isQuotaClientOnly?: boolean
  /**
   * Delay of the service between accepting an order and answering, in ms, so that more orders are in flight when a fault is
   * injected.
   */
  answerDelayMs: number
}

export type FaultName =
  | 'kills'
  | 'pauses'
  | 'cuts'
  | 'restarts'
  | 'failovers'
  | 'lossyFailovers'
  | 'restores'
  | 'oldPrimaries'
  | 'clockChanges'
  | 'settingsCopies'

export interface FleetTally {
  orders: number
  /** How often each fault was injected. */
  faults: Record<FaultName, number>
  /** People with more than one order. */
  twice: number
  /**
   * Orders whose id is in no row, plus people of the files without an order. A person with a row in state
   * `unknown` or `sending` is not counted.
   */
  lost: number
  /** Rows that are in state `unknown` or `sending` at the end. */
  unknown: number
  /** For each quota window, the highest number of orders in any interval of its length. */
  peaks: (QuotaWindow & { orders: number })[]
  /** Answers of the service that report an exceeded quota. */
  throttled: number
  /** Output of the commands that ended with an unexpected exit code. */
  failures: string[]
}

/** Offset of each machine's clock at the start, in ms. */
const initialSkews = [0, 16 * 60_000, -8 * 24 * 3_600_000]
/**
 * Maximum number of runs of a command until its exit code is expected. More than one is needed, for example,
 * while another machine has not reported its attempts.
 */
const maxRuns = 20
/** Expected exit codes: done; all ordered before; some rows unknown; some rows pending or held. */
const expectedExitCodes = new Set([0, 2, 8, 10])

export interface FleetOptions {
  /** Path of the program that the machines run; that of this repository by default. */
  program?: string
  onProgress?: (line: string) => void
}

/** Runs three machines that share files, an API key and one PostgreSQL, and injects the faults of `plan`. */
export async function runFleet(
  plan: Plan,
  rng: () => number,
  { program: programPath = program, onProgress = () => undefined }: FleetOptions = {},
): Promise<FleetTally> {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-fleet-'))
  const sandbox = createSandbox({
    clock: systemClock,
    quota: plan.isQuotaClientOnly === true ? [{ calls: 10_000_000, seconds: 3600 }] : plan.quota,
  })
  const calls = recordCalls(sandbox)
  const listener = await listen(async (request, connection) => {
    const answer = await sandbox.fetch(request, connection)
    if (request.method === 'POST') await pause(plan.answerDelayMs)
    return answer
  })
  const pair = await PostgresPair.start()
  try {
    const env = {
      REFCHECK_STORE: pair.url,
      ...serviceEnv(listener.url, sandbox.credentials),
      REFCHECK_QUOTA: plan.quota.map((window) => `${window.calls}/${window.seconds}`).join(','),
    }
    const files = makeOverlappingFiles(plan, rng)
    const machines = initialSkews.map(
      (skewMs, index) =>
        new Machine({ folder: join(folder, `machine${index}`), skewMs, env, program: programPath }),
    )
    await machines[0]?.run(['store', 'migrate'])
    if (plan.failovers + plan.lossyFailovers > 0) await pair.prepare()
    pair.delayCommits(plan.commitDelayMs ?? 0)
    for (const machine of machines) {
      for (const [index, filePeople] of files.entries())
        machine.write(getFileName(index), createCsvLines(filePeople))
    }
    const failures: string[] = []
    const fileIndexes = files.map((_, index) => index)
    const runs = machines.map((machine, index) =>
      runAllFiles(machine, plan.isLockstep === true ? [index] : rotate(fileIndexes, index * 2), {
        failures,
        machines,
      }),
    )
    const countOrdersSoFar = (): number => calls.createTimes.length
    /** Adds a machine that works through all files. */
    const addMachine = (copyOf?: Machine): Machine => {
      const index = machines.length
      const machineFolder = join(folder, `machine${index}`)
      if (copyOf !== undefined)
        cpSync(join(copyOf.folder, 'config'), join(machineFolder, 'config'), { recursive: true })
      const machine = new Machine({ folder: machineFolder, skewMs: 0, env, program: programPath })
      for (const [file, filePeople] of files.entries())
        machine.write(getFileName(file), createCsvLines(filePeople))
      machines.push(machine)
      runs.push(runAllFiles(machine, rotate(fileIndexes, index), { failures, machines }))
      return machine
    }
    const faults = await injectFaults({
      plan,
      rng,
      machines,
      pair,
      countOrders: countOrdersSoFar,
      onProgress,
      addMachine,
    })
    // Machines can be added while others run, so the length is read again each time.
    for (let index = 0; index < runs.length; index += 1) await runs[index]
    for (const machine of machines) await reopenStore(machine, machines)
    for (const machine of machines) failures.push(...describeFailure(await machine.run(['store', 'check'])))
    if (machines[0] !== undefined)
      await releaseHeldRows(machines[0], sandbox.requests(), { folder, url: pair.url })
    // Rows that waited for the outcome of another machine are sent now: all files are run again, as an
    // operator would.
    const lastFailures: string[] = []
    await runAllFiles(
      new Machine({ folder: machines[0]?.folder ?? folder, skewMs: 0, env, program: programPath }),
      plan.isLockstep === true ? [] : fileIndexes,
      { failures: lastFailures, machines },
    )
    return {
      ...(await countOrders(sandbox.requests(), files.flat(), { folder, url: pair.url })),
      faults,
      peaks: plan.quota.map((window) => ({ ...window, orders: maxInWindow(calls.createTimes, window) })),
      throttled: calls.throttled,
      failures: [...failures, ...lastFailures],
    }
  } finally {
    await listener.close()
    await pair.stop()
    sandbox.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const getFileName = (fileIndex: number): string => `people-${fileIndex}.csv`

/** Makes files, each of which shares a fraction `sharedFraction` of its people with the next file. */
function makeOverlappingFiles(
  { rows, files, sharedFraction = 0.2, isLockstep = false }: Plan,
  rng: () => number,
): Person[][] {
  const rowsPerFile = Math.ceil(rows / files)
  const sharedCount = Math.floor(rowsPerFile * sharedFraction)
  const everybody = createPeople(files * (rowsPerFile - sharedCount) + sharedCount)
  return Array.from({ length: files }, (_, fileIndex) => {
    const start = fileIndex * (rowsPerFile - sharedCount)
    const filePeople = everybody.slice(start, start + rowsPerFile)
    // Two files with the same content would be one batch, so each file omits a different person.
    if (isLockstep) return filePeople.filter((person) => person !== filePeople[fileIndex])
    return filePeople
      .map((person) => ({ person, sortKey: rng() }))
      .sort((a, b) => a.sortKey - b.sortKey)
      .map(({ person }) => person)
  })
}

const rotate = <T>(all: readonly T[], first: number): T[] =>
  all.map((_, index) => all[(first + index) % all.length] as T)

/**
 * Runs the files one after the other, each until its exit code is expected or the maximum number of runs is
 * reached.
 */
async function runAllFiles(
  machine: Machine,
  files: readonly number[],
  { failures, machines }: { failures: string[]; machines: readonly Machine[] },
): Promise<void> {
  for (const fileIndex of files) {
    let result: CommandResult = { code: null, stdout: '', stderr: '' }
    for (
      let run = 0;
      run < maxRuns && !expectedExitCodes.has(result.code ?? -1);
      run += result.code === null ? 0 : 1
    ) {
      result = await machine.run(createRunArguments(getFileName(fileIndex)))
      if (result.code === 1) await reopenStore(machine, machines)
    }
    failures.push(...describeFailure(result))
  }
  machine.isDone = true
  // The database may have failed over after the machine's last command. Then the machine has to report its
  // attempts, because the other machines wait for its report.
  while ((await reopenStore(machine, machines)).code === null);
}

/**
 * Runs `store check`, which reports the attempts of the machine. If the store stays closed, continues as an
 * operator would: runs `store check` on every other machine, because a machine that the store does not know may
 * have sent orders too, and then accepts the older store.
 */
async function reopenStore(machine: Machine, machines: readonly Machine[]): Promise<CommandResult> {
  const result = await machine.run(['store', 'check'])
  if (result.code !== 1) return result
  for (const each of machines) if (each !== machine) await each.runAlongside(['store', 'check'])
  return machine.run(['store', 'check', '--accept-older', '--yes'])
}

/**
 * `--accept-older` on a store that lost attempts changes all pending rows to held. Releases those rows
 * whose people have no order at the service, as a user would after asking the provider.
 */
async function releaseHeldRows(
  machine: Machine,
  requests: readonly RequestResource[],
  { folder, url }: { folder: string; url: string },
): Promise<void> {
  const orderedEmails = new Set(requests.map(({ recipient }) => recipient.email))
  const store = await openCampaignStore(url, folder)
  const releases: string[][] = []
  try {
    for (const { id } of await store.batches.list()) {
      const rowFlags: string[] = []
      for await (const { row, heldFor, recipient } of store.batches.rows(id, { states: ['held'] }))
        if (heldFor === 'store_forgot' && !orderedEmails.has(recipient?.email ?? ''))
          rowFlags.push('--row', String(row))
      if (rowFlags.length > 0) releases.push(['batch', 'release', id, ...rowFlags])
    }
  } finally {
    await store.close()
  }
  for (const argv of releases) await machine.run(argv)
}

function describeFailure({ code, stdout, stderr }: CommandResult): string[] {
  if (expectedExitCodes.has(code ?? -1)) return []
  return [`exit ${code}: ${stderr.slice(-400)} ${stdout.slice(-200)}`]
}

/** Counts the service's orders by person and by id, and compares them with the rows of the store. */
async function countOrders(
  requests: readonly RequestResource[],
  everybody: readonly Person[],
  { folder, url }: { folder: string; url: string },
): Promise<Pick<FleetTally, 'orders' | 'twice' | 'lost' | 'unknown'>> {
  const store = await openCampaignStore(url, folder)
  try {
    const rows = await store.ledger.list({})
    const orderCounts = new Map<string, number>()
    for (const { recipient } of requests)
      orderCounts.set(recipient.email, (orderCounts.get(recipient.email) ?? 0) + 1)
    const knownRequestIds = new Set(rows.flatMap(({ requestId }) => requestId ?? []))
    // A runner that was killed leaves a row in flight until its lease is over.
    const unresolved = rows.filter(({ state }) => state === 'unknown' || state === 'sending')
    const unresolvedEmails = new Set(unresolved.flatMap(({ recipient }) => recipient?.email ?? []))
    const rowsWithoutRecipient = unresolved.filter(({ recipient }) => recipient === undefined)
    /** A row that was recovered from the attempt log of a machine has only fingerprints of its person. */
    const hasUnresolvedRow = async (person: Recipient): Promise<boolean> => {
      if (unresolvedEmails.has(person.email)) return true
      for (const row of rowsWithoutRecipient)
        if ((await store.ledger.personMatch(row, person)) === 'same') return true
      return false
    }
    let lost = 0
    for (const { request_id, recipient } of requests)
      if (!knownRequestIds.has(request_id) && !(await hasUnresolvedRow(recipient))) lost += 1
    for (const { first, last, email, phone } of new Map(
      everybody.map((each) => [each.email, each]),
    ).values()) {
      const person = { first_name: first, last_name: last, email, phone }
      if (!orderCounts.has(email) && !(await hasUnresolvedRow(person))) lost += 1
    }
    const twice = [...orderCounts.values()].filter((count) => count > 1).length
    return { orders: requests.length, twice, lost, unknown: unresolved.length }
  } finally {
    await store.close()
  }
}
