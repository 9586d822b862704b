import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import type { RequestResource } from '../../../src/contract/request.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import { listen } from '../../../src/server/listen.ts'
import { createEmails, writePeopleFile } from '../../harness/batch-file.ts'
import { createStore } from '../../harness/create-store.ts'
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

interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

const rowsPerFile = 120
/** Maximum delay of a kill after an order has reached the service, in ms. */
const maxDelayAfterOrderMs = 60

/**
 * Kills `refcheck batch run` by SIGKILL at random times and runs the same command again, until it was killed `kills`
 * times. Half of the kills are between the start of the process and its first order, the others after an order. Each
 * file of people has a separate store and separate settings, so that some kills are made while a store is created.
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
    /** Time from the start to the first order, of the last process that was killed after an order. */
    let firstOrderMs = 500
    for (let batch = 1; tally.kills < kills; batch += 1) {
      const database = await cluster?.create()
      const url = database === undefined ? undefined : cluster?.url(database)
      if (url !== undefined) await createStore(url)
      const env = {
        PATH: process.env['PATH'] ?? '',
        ...emptyEnv(join(folder, `home${batch}`)),
        ...serviceEnv(listener.url, sandbox.credentials),
        ...roomyQuota.env,
        ...(url === undefined ? {} : { REFCHECK_STORE: url }),
      }
      const run = async (argv: readonly string[], shouldKill = false): Promise<CommandResult> => {
        const startedAt = performance.now()
        const child = spawn(process.execPath, [program, ...argv, '--json'], { cwd: folder, env })
        const output = { stdout: '', stderr: '' }
        child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
        child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
        const ended = once(child, 'close')
        if (shouldKill) {
          const orderCountBefore = sandbox.requests().length
          const firstOrder = new Promise<void>((resolve) => {
            onAnswer = () => {
              if (sandbox.requests().length > orderCountBefore) resolve()
            }
          })
          const isBeforeOrder = rng() < 0.5
          const waitMs = rng() * (isBeforeOrder ? firstOrderMs : maxDelayAfterOrderMs)
          if (!isBeforeOrder) {
            await Promise.race([firstOrder, ended])
            firstOrderMs = performance.now() - startedAt
          }
          await Promise.race([systemClock.sleep(waitMs), ended])
          child.kill('SIGKILL')
        }
        const [code] = (await ended) as [number | null]
        // The lease of a killed process lasts longer than the test can wait, so it is ended here.
        if (code === null && database !== undefined)
          await cluster?.ask(
            `UPDATE refcheck.runners SET leased_until = 0 WHERE pid = ${child.pid}`,
            database,
          )
        return { code, ...output }
      }
      const people = createEmails(rowsPerFile).map((email) => `b${batch}.${email}`)
      const file = writePeopleFile(folder, people, `people-${batch}.csv`)
      let result: BatchResult | undefined
      while (result === undefined) {
        const argv = ['batch', 'run', file, '--package', '102', '--yes']
        const { code, stdout, stderr } = await run(argv, tally.kills < kills)
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
    addOrderCounts(tally, rows, sandbox.requests())
    return tally
  } finally {
    await listener.close()
    sandbox.close()
    await cluster?.stop()
  }
}

/** Counts orders by person and by id, and compares them with the rows of the store. */
function addOrderCounts(tally: Tally, rows: readonly Row[], requests: readonly RequestResource[]): void {
  const orderCounts = new Map<string, number>()
  for (const { recipient } of requests)
    orderCounts.set(recipient.email, (orderCounts.get(recipient.email) ?? 0) + 1)
  tally.twice = [...orderCounts.values()].filter((orders) => orders > 1).length
  const knownIds = new Set(rows.flatMap(({ request_id }) => request_id ?? []))
  const emailsWithUnknownRow = new Set(
    rows.flatMap(({ state, email }) => (state === 'unknown' ? [email] : [])),
  )
  tally.lost = requests.filter(
    ({ request_id, recipient }) => !knownIds.has(request_id) && !emailsWithUnknownRow.has(recipient.email),
  ).length
  const serviceIds = new Set(requests.map(({ request_id }) => request_id))
  tally.invented = [...knownIds].filter((id) => !serviceIds.has(id)).length
}
