import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { systemClock } from '../../../src/host/clock.ts'
import { createSandbox } from '../../../src/sandbox/control/create-sandbox.ts'
import { listen } from '../../../src/server/listen.ts'
import { emails, peopleFile } from '../../harness/batch-file.ts'
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
  accepted: number
  unknown: number
}

interface Standing {
  batch_id: string
  counts: Record<string, number>
}

interface Row {
  state: string
  request_id: string | null
  email: string
}

/**
 * Ends `refcheck batch run` by SIGKILL at random moments, runs the same command again, and so on, until it was
 * killed so often; a file that is through is followed by the next.
 */
export async function killBatches(folder: string, kills: number, rng: () => number): Promise<Tally> {
  const sandbox = createSandbox({ clock: systemClock, quota: roomyQuota.quota })
  let onAnswer = (): void => undefined
  const listener = await listen(async (request, connection) => {
    const answer = await sandbox.fetch(request, connection)
    onAnswer()
    return answer
  })
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...emptyEnv(folder),
    ...serviceEnv(listener.url, sandbox.credentials),
    ...roomyQuota.env,
  }
  /** A command once; killed `afterMs` after its first order reached the service, unless it ends before. */
  const run = async (
    argv: readonly string[],
    afterMs?: number,
  ): Promise<{ killed: boolean; stdout: string }> => {
    const child = spawn(process.execPath, [program, ...argv, '--json'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let stdout = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    const ended = once(child, 'close')
    if (afterMs !== undefined) {
      const before = sandbox.requests().length
      const ordered = new Promise<void>((resolve) => {
        onAnswer = () => {
          if (sandbox.requests().length > before) resolve()
        }
      })
      await Promise.race([ordered, ended])
      await systemClock.sleep(afterMs)
      child.kill('SIGKILL')
    }
    const [, signal] = (await ended) as [number | null, string | null]
    return { killed: signal === 'SIGKILL', stdout }
  }
  const tally: Tally = { kills: 0, rows: 0, twice: 0, lost: 0, invented: 0, accepted: 0, unknown: 0 }
  const rowsPerFile = 120
  const rows: Row[] = []
  for (let batch = 1; tally.kills < kills; batch += 1) {
    const people = emails(rowsPerFile).map((email) => `b${batch}.${email}`)
    const file = peopleFile(folder, people, `people-${batch}.csv`)
    let standing: Standing | undefined
    while (standing === undefined) {
      const killing = tally.kills < kills
      const order = ['batch', 'run', file, '--package', '102', '--yes']
      const { killed, stdout } = await run(order, killing ? rng() * 60 : undefined)
      if (killed) tally.kills += 1
      else standing = JSON.parse(stdout) as Standing
    }
    tally.rows += rowsPerFile
    tally.accepted += standing.counts['accepted'] ?? 0
    tally.unknown += standing.counts['unknown'] ?? 0
    rows.push(...(JSON.parse((await run(['batch', 'rows', standing.batch_id])).stdout) as Row[]))
  }
  const perPerson = new Map<string, number>()
  for (const { recipient } of sandbox.requests()) {
    perPerson.set(recipient.email, (perPerson.get(recipient.email) ?? 0) + 1)
  }
  tally.twice = [...perPerson.values()].filter((orders) => orders > 1).length
  const known = new Set(rows.flatMap(({ request_id }) => request_id ?? []))
  const open = new Set(rows.flatMap(({ state, email }) => (state === 'unknown' ? [email] : [])))
  tally.lost = sandbox
    .requests()
    .filter(({ request_id, recipient }) => !known.has(request_id) && !open.has(recipient.email)).length
  const there = new Set(sandbox.requests().map(({ request_id }) => request_id))
  tally.invented = [...known].filter((id) => !there.has(id)).length
  await listener.close()
  sandbox.close()
  return tally
}
