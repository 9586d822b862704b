import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { batchRunArguments, csvLines, people, type Person } from '../people.ts'
import type { CommandResult } from '../environment.ts'
import { maxInWindow, recordCalls } from './calls.ts'
import { Machine } from './machine.ts'
import { PostgresPair } from '../../harness/postgres-pair.ts'
import { injectFaults } from './wreck.ts'
import { program } from '../../harness/program.ts'
import { serviceEnv } from '../../harness/service-env.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import type { Recipient, RequestResource } from '../../../src/contract/request.ts'
import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import type { QuotaWindow } from '../../../src/sandbox/service/state.ts'
import { listen } from '../../../src/server/listen.ts'
import { openStore } from '../../../src/store/ledger/open.ts'

export interface Plan {
  rows: number
  files: number
  /** Fraction of its people that each file shares with the next; 0.2 by default. */
  shared?: number
  /**
   * Each machine runs one file, and all files list their people in the same order, so that machines reach a
   * person at the same time. The files are not run again at the end.
   */
  isLockstep?: boolean
  /** Delay before each COMMIT reaches the database, in ms. */
  commitDelayMs?: number
  kills: number
  /** How often a runner is stopped for longer than its lease. */
  pauses: number
  /**
   * How often the network is cut just before the database receives a COMMIT, or just before its answer
   * arrives.
   */
  cuts: number
  /** Cut the network only at the COMMIT of a claim. */
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
   * How often the primary from before the last failover becomes primary again, without the orders recorded
   * since.
   */
  oldPrimaries?: number
  /** How often the clock of a machine is changed, by 16 minutes or 8 days, ahead or behind. */
  clockChanges?: number
  /** How many machines are added with a copy of the settings of another. */
  settingsCopies?: number
  /**
   * Fails over only while runners wait for the quota and one of them is stopped. A runner with an order in
   * flight would detect the new server when it records that order.
   */
  failsOverAtRest?: boolean
  quota: readonly QuotaWindow[]
  /** The service enforces no quota, so that only the machines' own count of it limits what they send. */
  isQuotaClientOnly?: boolean
  /**
   * Delay between accepting an order and answering, in ms, so that more orders are in flight when a fault is
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
   * Orders whose id is in no row, plus people of the files without an order. Not counted where a row of the
   * person is `unknown` or `sending`.
   */
  lost: number
  unknown: number
  /** For each quota window, the highest number of orders in any interval of its length. */
  peaks: (QuotaWindow & { orders: number })[]
  /** Answers of the service that report an exceeded quota. */
  throttled: number
  /** Output of the commands that ended with an unexpected exit code. */
  failures: string[]
}

/** Offset of each machine's clock at the start, in ms. */
const skews = [0, 16 * 60_000, -8 * 24 * 3_600_000]
/**
 * How often a command is run until its exit code is expected, for example while another machine has not
 * reported what it sent.
 */
const maxRuns = 20
/** Expected exit codes: done; all ordered before; some rows unknown; some rows pending or held. */
const expectedExitCodes = new Set([0, 2, 8, 10])

export interface FleetOptions {
  /** Path of the program that the machines run; the shipped one by default. */
  program?: string
  onProgress?: (line: string) => void
}

/** Runs three machines that share files, an API key and one PostgreSQL, and injects the faults of `plan`. */
export async function runFleet(
  plan: Plan,
  rng: () => number,
  { program: runs = program, onProgress = () => undefined }: FleetOptions = {},
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
    const machines = skews.map(
      (skewMs, at) => new Machine({ folder: join(folder, `machine${at}`), skewMs, env, program: runs }),
    )
    await machines[0]?.run(['store', 'migrate'])
    if (plan.failovers + plan.lossyFailovers > 0) await pair.prepare()
    pair.delayCommits(plan.commitDelayMs ?? 0)
    for (const machine of machines) {
      for (const [at, persons] of files.entries()) machine.write(fileName(at), csvLines(persons))
    }
    const failures: string[] = []
    const all = files.map((_, at) => at)
    const finished = machines.map((machine, at) =>
      workThrough(machine, plan.isLockstep === true ? [at] : rotate(all, at * 2), { failures, machines }),
    )
    const orders = (): number => calls.createTimes.length
    /** Adds a machine that works through all files. */
    const addMachine = (copyOf?: Machine): Machine => {
      const at = machines.length
      const machineFolder = join(folder, `machine${at}`)
      if (copyOf !== undefined)
        cpSync(join(copyOf.folder, 'config'), join(machineFolder, 'config'), { recursive: true })
      const machine = new Machine({ folder: machineFolder, skewMs: 0, env, program: runs })
      for (const [file, persons] of files.entries()) machine.write(fileName(file), csvLines(persons))
      machines.push(machine)
      finished.push(workThrough(machine, rotate(all, at), { failures, machines }))
      return machine
    }
    const faults = await injectFaults({
      plan,
      rng,
      machines,
      pair,
      orderCount: orders,
      onProgress,
      addMachine,
    })
    for (let ended = 0; ended < finished.length; ended += 1) await finished[ended]
    for (const machine of machines) await reopen(machine, machines)
    for (const machine of machines) failures.push(...describeFailure(await machine.run(['store', 'check'])))
    if (machines[0] !== undefined)
      await releaseHeld(machines[0], sandbox.requests(), { folder, url: pair.url })
    // Rows that waited for the outcome of another machine are sent now: all files are run again, as an
    // operator would.
    const lastFailures: string[] = []
    await workThrough(
      new Machine({ folder: machines[0]?.folder ?? folder, skewMs: 0, env, program: runs }),
      plan.isLockstep === true ? [] : all,
      { failures: lastFailures, machines },
    )
    return {
      ...(await countOrders(sandbox.requests(), files.flat(), { folder, url: pair.url })),
      faults: faults,
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

const fileName = (at: number): string => `people-${at}.csv`

/** Makes files of which each shares a fraction `shared` of its people with the next. */
function makeOverlappingFiles(
  { rows, files, shared: part = 0.2, isLockstep = false }: Plan,
  rng: () => number,
): Person[][] {
  const each = Math.ceil(rows / files)
  const shared = Math.floor(each * part)
  const everybody = people(files * (each - shared) + shared)
  return Array.from({ length: files }, (_, at) => {
    const from = at * (each - shared)
    const own = everybody.slice(from, from + each)
    // The same content under another name would be the same batch.
    if (isLockstep) return own.filter((who) => who !== own[at])
    return own
      .map((who) => ({ who, at: rng() }))
      .sort((a, b) => a.at - b.at)
      .map(({ who }) => who)
  })
}

const rotate = <T>(all: readonly T[], first: number): T[] =>
  all.map((_, at) => all[(first + at) % all.length] as T)

/**
 * Runs the files one after the other, each until its exit code is expected or the maximum number of runs is
 * reached.
 */
async function workThrough(
  machine: Machine,
  files: readonly number[],
  { failures, machines }: { failures: string[]; machines: readonly Machine[] },
): Promise<void> {
  for (const at of files) {
    let ended: CommandResult = { code: null, stdout: '', stderr: '' }
    for (
      let run = 0;
      run < maxRuns && !expectedExitCodes.has(ended.code ?? -1);
      run += ended.code === null ? 0 : 1
    ) {
      ended = await machine.run(batchRunArguments(fileName(at)))
      if (ended.code === 1) await reopen(machine, machines)
    }
    failures.push(...describeFailure(ended))
  }
  machine.isDone = true
  // The database may have failed over after the machine's last command: it has to report what it sent,
  // because the others wait for its report.
  while ((await reopen(machine, machines)).code === null);
}

/**
 * Reports what a machine sent. If the store stays closed, does what an operator does: `store check` on every
 * other machine first, since a machine that is not recorded in the store may have sent as well, then
 * `--accept-older`.
 */
async function reopen(machine: Machine, machines: readonly Machine[]): Promise<CommandResult> {
  const checked = await machine.run(['store', 'check'])
  if (checked.code !== 1) return checked
  for (const each of machines) if (each !== machine) await each.runAlongside(['store', 'check'])
  return machine.run(['store', 'check', '--accept-older', '--yes'])
}

/**
 * `--accept-older` on a store that lost attempts changes all pending rows to held. Releases those whose
 * people have no order at the service, as a person would after asking the provider.
 */
async function releaseHeld(
  machine: Machine,
  requests: readonly RequestResource[],
  { folder, url }: { folder: string; url: string },
): Promise<void> {
  const ordered = new Set(requests.map(({ recipient }) => recipient.email))
  const paths = { config: join(folder, 'counting'), data: join(folder, 'counting') }
  const store = await openStore({ chosen: url, paths, cwd: folder, clock: systemClock, random: systemRandom })
  const releases: string[][] = []
  try {
    for (const { id } of await store.batches.list()) {
      const rows: string[] = []
      for await (const { row, heldFor, recipient } of store.batches.rows(id, { states: ['held'] }))
        if (heldFor === 'store_forgot' && !ordered.has(recipient?.email ?? ''))
          rows.push('--row', String(row))
      if (rows.length > 0) releases.push(['batch', 'release', id, ...rows])
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
  const paths = { config: join(folder, 'counting'), data: join(folder, 'counting') }
  const store = await openStore({ chosen: url, paths, cwd: folder, clock: systemClock, random: systemRandom })
  try {
    const rows = await store.ledger.list({})
    const orders = new Map<string, number>()
    for (const { recipient } of requests) orders.set(recipient.email, (orders.get(recipient.email) ?? 0) + 1)
    const known = new Set(rows.flatMap(({ requestId }) => requestId ?? []))
    // A runner that was killed leaves a row in flight until its lease is over.
    const unresolved = rows.filter(({ state }) => state === 'unknown' || state === 'sending')
    const emails = new Set(unresolved.flatMap(({ recipient }) => recipient?.email ?? []))
    const nameless = unresolved.filter(({ recipient }) => recipient === undefined)
    /** A row that was recovered from the attempt log of a machine has only fingerprints of its person. */
    const hasUnresolvedRow = async (person: Recipient): Promise<boolean> => {
      if (emails.has(person.email)) return true
      for (const row of nameless) if ((await store.ledger.personMatch(row, person)) === 'same') return true
      return false
    }
    let lost = 0
    for (const { request_id, recipient } of requests)
      if (!known.has(request_id) && !(await hasUnresolvedRow(recipient))) lost += 1
    for (const { first, last, email, phone } of new Map(
      everybody.map((each) => [each.email, each]),
    ).values()) {
      const person = { first_name: first, last_name: last, email, phone }
      if (!orders.has(email) && !(await hasUnresolvedRow(person))) lost += 1
    }
    const twice = [...orders.values()].filter((many) => many > 1).length
    return { orders: requests.length, twice, lost, unknown: unresolved.length }
  } finally {
    await store.close()
  }
}
