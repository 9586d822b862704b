import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { batchRun, lines, people, type Person } from '../cast.ts'
import type { Ended } from '../stage.ts'
import { fullest, watched } from './calls.ts'
import { Machine } from './machine.ts'
import { PostgresPair } from '../../harness/postgres-pair.ts'
import { wreck } from './wreck.ts'
import { program } from '../../harness/program.ts'
import { serviceEnv } from '../../harness/service-env.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import type { Recipient } from '../../../src/contract/request-body.ts'
import type { RequestResource } from '../../../src/contract/request.ts'
import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import type { QuotaWindow } from '../../../src/sandbox/service/state.ts'
import { listen } from '../../../src/server/listen.ts'
import { openStore } from '../../../src/store/ledger/open.ts'

export interface Plan {
  rows: number
  files: number
  /** Of its people each file shares so many with the next; a fifth by default. */
  shared?: number
  /**
   * Each machine has a file, and the files their people in one order, so that machines come to a person at the same time;
   * what they leave is not gone on with.
   */
  inStep?: boolean
  /** How long each COMMIT is on its way, in ms. */
  commitDelayMs?: number
  kills: number
  /** Longer than a lease. */
  pauses: number
  /** Of the network, just before the server has a COMMIT, or has answered it. */
  cuts: number
  /** At no other COMMIT than one that takes a row to `sending`. */
  cutsClaims?: boolean
  /** Of the database, as after a power cut. */
  restarts: number
  /** To a standby that has every commit. */
  failovers: number
  /** To one that lacks the last ones. */
  losing: number
  /** The database restored to a snapshot while machines order; a machine sends its first orders in the lost window. */
  restores?: number
  /** The primary of before the last failover is back, without what was ordered since. */
  oldPrimaries?: number
  /** The clock of a machine set: by 16 minutes or 8 days, ahead or behind. */
  clocks?: number
  /** A machine set up with a copy of the settings of another. */
  copies?: number
  /**
   * While runners wait for the quota and one of them is stopped: a runner with an order in flight notices by that alone
   * that the server is another one.
   */
  failsOverAtRest?: boolean
  quota: readonly QuotaWindow[]
  /** The service refuses nothing, so that what is sent is what the machines think there is room for. */
  isQuotaOurs?: boolean
  /** From when the service has accepted an order until it says so, so that more is in flight when something happens. */
  answersAfterMs: number
}

export type DeedName =
  | 'kills'
  | 'pauses'
  | 'cuts'
  | 'restarts'
  | 'failovers'
  | 'losing'
  | 'restores'
  | 'oldPrimaries'
  | 'clocks'
  | 'copies'

export interface FleetTally {
  orders: number
  /** What was done to it. */
  deeds: Record<DeedName, number>
  /** People with more than one order. */
  twice: number
  /** Orders that no row knows, and people of the files who were never ordered; neither where a row of theirs is unknown. */
  lost: number
  unknown: number
  /** Windows with the most orders in any stretch of their length. */
  fullest: (QuotaWindow & { orders: number })[]
  /** Answers of the service that report an exceeded quota. */
  throttled: number
  /** The output of commands that ended as none should. */
  failures: string[]
}

/** Clocks of the machines at first, in ms. */
const skews = [0, 16 * 60_000, -8 * 24 * 3_600_000]
/** How often a command is run again that did not end as it should, as while a machine has not reported. */
const tries = 20
/** Done; all ordered before; some unknown; some wait or are held. */
const ends = new Set([0, 2, 8, 10])

export interface FleetOptions {
  /** What the machines run; by default as it is shipped. */
  program?: string
  onProgress?: (line: string) => void
}

/** Three machines share files, a key and one PostgreSQL, while everything goes wrong around them. */
export async function fleet(
  plan: Plan,
  rng: () => number,
  { program: runs = program, onProgress = () => undefined }: FleetOptions = {},
): Promise<FleetTally> {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-fleet-'))
  const sandbox = createSandbox({
    clock: systemClock,
    quota: plan.isQuotaOurs === true ? [{ calls: 10_000_000, seconds: 3600 }] : plan.quota,
  })
  const calls = watched(sandbox)
  const listener = await listen(async (request, connection) => {
    const answer = await sandbox.fetch(request, connection)
    if (request.method === 'POST') await pause(plan.answersAfterMs)
    return answer
  })
  const pair = await PostgresPair.start()
  try {
    const env = {
      REFCHECK_STORE: pair.url,
      ...serviceEnv(listener.url, sandbox.credentials),
      REFCHECK_QUOTA: plan.quota.map((window) => `${window.calls}/${window.seconds}`).join(','),
    }
    const files = overlapping(plan, rng)
    const machines = skews.map(
      (skewMs, at) => new Machine({ folder: join(folder, `machine${at}`), skewMs, env, program: runs }),
    )
    await machines[0]?.run(['store', 'migrate'])
    if (plan.failovers + plan.losing > 0) await pair.prepare()
    pair.delayCommits(plan.commitDelayMs ?? 0)
    for (const machine of machines) {
      for (const [at, persons] of files.entries()) machine.write(fileName(at), lines(persons))
    }
    const failures: string[] = []
    const all = files.map((_, at) => at)
    const working = machines.map((machine, at) =>
      workThrough(machine, plan.inStep === true ? [at] : from(all, at * 2), { failures, machines }),
    )
    const orders = (): number => calls.creates.length
    /** One more machine begins to work, in the end through all files. */
    const addMachine = (copyOf?: Machine): Machine => {
      const at = machines.length
      const there = join(folder, `machine${at}`)
      if (copyOf !== undefined)
        cpSync(join(copyOf.folder, 'config'), join(there, 'config'), { recursive: true })
      const machine = new Machine({ folder: there, skewMs: 0, env, program: runs })
      for (const [file, persons] of files.entries()) machine.write(fileName(file), lines(persons))
      machines.push(machine)
      working.push(workThrough(machine, from(all, at), { failures, machines }))
      return machine
    }
    const deeds = await wreck({ plan, rng, machines, pair, orders, onProgress, addMachine })
    for (let ended = 0; ended < working.length; ended += 1) await working[ended]
    for (const machine of machines) await reopen(machine, machines)
    for (const machine of machines) failures.push(...problem(await machine.run(['store', 'check'])))
    if (machines[0] !== undefined)
      await releaseHeld(machines[0], sandbox.requests(), { folder, url: pair.url })
    // What was left waiting for another machine's outcome goes on, as when an operator runs a file again.
    const last: string[] = []
    await workThrough(
      new Machine({ folder: machines[0]?.folder ?? folder, skewMs: 0, env, program: runs }),
      plan.inStep === true ? [] : all,
      { failures: last, machines },
    )
    return {
      ...(await count(sandbox.requests(), files.flat(), { folder, url: pair.url })),
      deeds,
      fullest: plan.quota.map((window) => ({ ...window, orders: fullest(calls.creates, window) })),
      throttled: calls.throttled,
      failures: [...failures, ...last],
    }
  } finally {
    await listener.close()
    await pair.stop()
    sandbox.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const fileName = (at: number): string => `people-${at}.csv`

/** Files of which each shares a fifth of its people with the next. */
function overlapping(
  { rows, files, shared: part = 0.2, inStep = false }: Plan,
  rng: () => number,
): Person[][] {
  const each = Math.ceil(rows / files)
  const shared = Math.floor(each * part)
  const everybody = people(files * (each - shared) + shared)
  return Array.from({ length: files }, (_, at) => {
    const from = at * (each - shared)
    const own = everybody.slice(from, from + each)
    // The same content under another name would be the same batch.
    if (inStep) return own.filter((who) => who !== own[at])
    return own
      .map((who) => ({ who, at: rng() }))
      .sort((a, b) => a.at - b.at)
      .map(({ who }) => who)
  })
}

const from = <T>(all: readonly T[], first: number): T[] =>
  all.map((_, at) => all[(first + at) % all.length] as T)

/** Files, one after the other, each until it ends as it should. */
async function workThrough(
  machine: Machine,
  files: readonly number[],
  { failures, machines }: { failures: string[]; machines: readonly Machine[] },
): Promise<void> {
  for (const at of files) {
    let ended: Ended = { code: null, stdout: '', stderr: '' }
    for (let run = 0; run < tries && !ends.has(ended.code ?? -1); run += ended.code === null ? 0 : 1) {
      ended = await machine.run(batchRun(fileName(at)))
      if (ended.code === 1) await reopen(machine, machines)
    }
    failures.push(...problem(ended))
  }
  machine.isDone = true
  // The database may have failed over after its last command: who is done says what it sent, or the others wait for it.
  while ((await reopen(machine, machines)).code === null);
}

/**
 * Reports what a machine sent. A store that stays closed is opened by a person, who has gone to every machine before: one
 * that the store does not know of may have sent too.
 */
async function reopen(machine: Machine, machines: readonly Machine[]): Promise<Ended> {
  const checked = await machine.run(['store', 'check'])
  if (checked.code !== 1) return checked
  for (const each of machines) if (each !== machine) await each.runAlongside(['store', 'check'])
  return machine.run(['store', 'check', '--accept-older', '--yes'])
}

/**
 * Accepting a store that lost attempts holds every row that waits. A person who asked the provider releases those whose people
 * have no order.
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

function problem({ code, stdout, stderr }: Ended): string[] {
  if (ends.has(code ?? -1)) return []
  return [`exit ${code}: ${stderr.slice(-400)} ${stdout.slice(-200)}`]
}

/** By person and by id, after what the store knows. */
async function count(
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
    const open = rows.filter(({ state }) => state === 'unknown' || state === 'sending')
    const emails = new Set(open.flatMap(({ recipient }) => recipient?.email ?? []))
    const nameless = open.filter(({ recipient }) => recipient === undefined)
    /** A person whose row was restored from a machine's list is known by fingerprints alone. */
    const isOpen = async (person: Recipient): Promise<boolean> => {
      if (emails.has(person.email)) return true
      for (const row of nameless) if ((await store.ledger.personMatch(row, person)) === 'same') return true
      return false
    }
    let lost = 0
    for (const { request_id, recipient } of requests)
      if (!known.has(request_id) && !(await isOpen(recipient))) lost += 1
    for (const { first, last, email, phone } of new Map(
      everybody.map((each) => [each.email, each]),
    ).values()) {
      const person = { first_name: first, last_name: last, email, phone }
      if (!orders.has(email) && !(await isOpen(person))) lost += 1
    }
    const twice = [...orders.values()].filter((many) => many > 1).length
    return { orders: requests.length, twice, lost, unknown: open.length }
  } finally {
    await store.close()
  }
}
