import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, onTestFinished, test } from 'vitest'

import {
  faultyReceivers,
  type ReceiverAddress,
  addressOfReceiver,
  receiverSecret,
} from '../harness/receivers/planted.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const program = join(import.meta.dirname, '..', '..', 'bin', 'run.js')
const undecidedReason =
  'answered 2xx; whether it was stored once cannot be seen: add --stored-url URL or --stored-file FILE'

interface Report {
  cases: { id: string; verdict: string; reason: string | null }[]
}

const listIds = ({ cases }: Report, verdict: string): string[] =>
  cases.filter((each) => each.verdict === verdict).map(({ id }) => id)

/** Runs check-receiver of the built program with --strict. */
async function runCheck({ url }: ReceiverAddress, fault: string, more: readonly string[]): Promise<Report> {
  // A slow receiver gets only two cases, because hundreds of events would take too long.
  const slowFlags = fault === 'slow' ? ['--within', '1s', '--only', 'good-event', '--only', 'in-time'] : []
  const argv = [program, 'webhook', 'check-receiver', url, '--strict', '--json', ...slowFlags, ...more]
  const { stdout } = await promisify(execFile)(process.execPath, argv, {
    env: {
      ...emptyEnv(temporaryFolder()),
      PATH: process.env['PATH'],
      REFCHECK_WEBHOOK_SECRET: receiverSecret,
      WEBHOOK_SECRET: receiverSecret,
    },
  }).catch((error: unknown) => error as { stdout: string })
  return JSON.parse(stdout) as Report
}

/** Starts the receiver and waits until it answers. */
async function startReceiver({ commandLine: [command, ...argv], url }: ReceiverAddress): Promise<void> {
  const child = spawn(command, argv, {
    env: { PATH: process.env['PATH'], WEBHOOK_SECRET: receiverSecret },
    stdio: 'ignore',
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await expect.poll(() => fetch(url).then(({ status }) => status > 0), { timeout: 30_000 }).toBe(true)
}

const runs = (['TypeScript', 'Python'] as const).flatMap((language) =>
  faultyReceivers.map((receiver) => [language, receiver.fault, receiver] as const),
)

test.each(runs)(
  '%s, fault %s: the expected cases fail with answers only, and with the stored events too',
  async (language, fault, { byAnswers, byStored, byChance = [] }) => {
    const [addressForAnswers, address] = await Promise.all([
      addressOfReceiver(language, fault),
      addressOfReceiver(language, fault),
    ])
    const restart = address.commandLine.map((word) => `'${word}'`).join(' ')
    // Most of a check is waiting, so both run at once.
    const [reportByAnswers, reportByStored] = await Promise.all([
      startReceiver(addressForAnswers).then(() => runCheck(addressForAnswers, fault, [])),
      runCheck(address, fault, ['--stored-url', address.storedUrl, '--restart', restart]),
    ])
    expect(listIds(reportByAnswers, 'failed')).toEqual(byAnswers)
    const storedReasons = reportByAnswers.cases
      .filter(({ id }) => id.startsWith('stored-'))
      .map(({ reason }) => reason)
    // If a receiver accepts no valid event, no other case is judged.
    const isChecked = reportByAnswers.cases.some(
      ({ id, verdict }) => id === 'still-good' && verdict === 'passed',
    )
    expect(new Set(storedReasons.filter(() => isChecked))).toEqual(
      new Set(isChecked ? [undecidedReason] : []),
    )

    const failed = listIds(reportByStored, 'failed').filter((id) => !byChance.includes(id))
    expect(new Set(failed)).toEqual(new Set([...byAnswers, ...byStored]))
  },
)
