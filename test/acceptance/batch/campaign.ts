import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import type { RequestResource } from '../../../src/contract/request.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import { listen } from '../../../src/server/listen.ts'
import { emails, peopleFile } from '../../harness/batch-file.ts'
import { makeStore } from '../../harness/create-store.ts'
import { Cluster } from '../../harness/postgres-cluster.ts'
import { program } from '../../harness/program.ts'
import { emptyEnv, roomyQuota, serviceEnv } from '../../harness/service-env.ts'

export interface Tally {
  kills: number
  rows: number
  /** People with more than one order. */
  twice: number
  /** Orders on the service whose id the store does not know, and whose row is not marked as unknown. */
  lost: number
  /** Ids of orders in the store that the service does not know. */
  invented: number
  /** How often a command found the store closed. */
  closed: number
  accepted: number
  unknown: number
}

interface BatchResult {
  batch_id: string
  counts: Record<string, number>
}

interface Row {
  state: string
  request_id: string | null
  email: string
}

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

const rowsPerFile = 120
/** After an order has reached the service: at most so many milliseconds later. */
const afterOrderMs = 60

/**
 * Ends `refcheck batch run` by SIGKILL at random moments, runs the same command again, and so on, until it was killed so
 * often. Half of the moments lie between the start of the process and its first order, the others after an order. Each
 * file of people has a store and settings of its own, so that kills also meet a store that is being made.
 */
export async function killBatches(
  folder: string,
  kills: number,
  rng: () => number,
  store: 'SQLite' | 'PostgreSQL' = 'SQLite',
): Promise<Tally> {
  const cluster = store === 'SQLite' ? undefined : await Cluster.start()
  const sandbox = createSandbox({ clock: systemClock, quota: roomyQuota.quota })
  let onAnswer = (): void => undefined
  const listener = await listen(async (request, connection) => {
    const answer = await sandbox.fetch(request, connection)
    onAnswer()
    return answer
  })
  const tally: Tally = {
    kills: 0,
    rows: 0,
    twice: 0,
    lost: 0,
    invented: 0,
    closed: 0,
    accepted: 0,
    unknown: 0,
  }
  const rows: Row[] = []
  try {
    /** What a process took to its first order the last time that one came so far. */
    let startMs = 500
    for (let batch = 1; tally.kills < kills; batch += 1) {
      const database = await cluster?.create()
      const url = database === undefined ? undefined : cluster?.url(database)
      if (url !== undefined) await makeStore(url)
      const env = {
        PATH: process.env['PATH'] ?? '',
        ...emptyEnv(join(folder, `home${batch}`)),
        ...serviceEnv(listener.url, sandbox.credentials),
        ...roomyQuota.env,
        ...(url === undefined ? {} : { REFCHECK_STORE: url }),
      }
      const run = async (argv: readonly string[], isKilled = false): Promise<Ended> => {
        const started = performance.now()
        const child = spawn(process.execPath, [program, ...argv, '--json'], { cwd: folder, env })
        const taken = { stdout: '', stderr: '' }
        child.stdout.on('data', (chunk: Buffer) => (taken.stdout += chunk.toString()))
        child.stderr.on('data', (chunk: Buffer) => (taken.stderr += chunk.toString()))
        const ended = once(child, 'close')
        if (isKilled) {
          const before = sandbox.requests().length
          const ordered = new Promise<void>((resolve) => {
            onAnswer = () => {
              if (sandbox.requests().length > before) resolve()
            }
          })
          const isBefore = rng() < 0.5
          const waitMs = rng() * (isBefore ? startMs : afterOrderMs)
          if (!isBefore) {
            await Promise.race([ordered, ended])
            startMs = performance.now() - started
          }
          await Promise.race([systemClock.sleep(waitMs), ended])
          child.kill('SIGKILL')
        }
        const [code] = (await ended) as [number | null]
        // This test does not wait as long as a lease outlasts a process.
        if (code === null && database !== undefined)
          await cluster?.ask(
            `UPDATE refcheck.runners SET leased_until = 0 WHERE pid = ${child.pid}`,
            database,
          )
        return { code, ...taken }
      }
      const people = emails(rowsPerFile).map((email) => `b${batch}.${email}`)
      const file = peopleFile(folder, people, `people-${batch}.csv`)
      let result: BatchResult | undefined
      while (result === undefined) {
        const order = ['batch', 'run', file, '--package', '102', '--yes']
        const { code, stdout, stderr } = await run(order, tally.kills < kills)
        if (code === null) tally.kills += 1
        else if (code === 0 || code === 8) result = JSON.parse(stdout) as BatchResult
        else if (`${stdout}${stderr}`.includes(' is closed: ')) break
        else
          throw new Error(
            `exit ${code} after ${tally.kills} kills: ${stdout.slice(-400)} ${stderr.slice(-400)}`,
          )
      }
      tally.closed += result === undefined ? 1 : 0
      if (result === undefined) continue
      tally.rows += rowsPerFile
      tally.accepted += result.counts['accepted'] ?? 0
      tally.unknown += result.counts['unknown'] ?? 0
      rows.push(...(JSON.parse((await run(['batch', 'rows', result.batch_id])).stdout) as Row[]))
      if ((await run(['store', 'check'])).code !== 0) tally.closed += 1
    }
    count(tally, rows, sandbox.requests())
    return tally
  } finally {
    await listener.close()
    sandbox.close()
    await cluster?.stop()
  }
}

/** By person and by id. */
function count(tally: Tally, rows: readonly Row[], requests: readonly RequestResource[]): void {
  const perPerson = new Map<string, number>()
  for (const { recipient } of requests)
    perPerson.set(recipient.email, (perPerson.get(recipient.email) ?? 0) + 1)
  tally.twice = [...perPerson.values()].filter((orders) => orders > 1).length
  const known = new Set(rows.flatMap(({ request_id }) => request_id ?? []))
  const open = new Set(rows.flatMap(({ state, email }) => (state === 'unknown' ? [email] : [])))
  tally.lost = requests.filter(
    ({ request_id, recipient }) => !known.has(request_id) && !open.has(recipient.email),
  ).length
  const there = new Set(requests.map(({ request_id }) => request_id))
  tally.invented = [...known].filter((id) => !there.has(id)).length
}
