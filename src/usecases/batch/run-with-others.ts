import type { RunEnd, RunLimits } from '../../domain/batch/run-policy.ts'
import type { RunPorts } from './ports.ts'
import { runBatch } from './run.ts'

const everyMs = 500
/** Past the longest POST and the lease of whoever died in the middle of one. */
const longestWaitMs = 90_000

/**
 * Runs a batch that other runners may send rows of as well, and is done once they are: a row that one of them gives back is
 * sent by this one, and one whose runner is gone is unknown.
 */
export async function runWithOthers(ports: RunPorts, batchId: string, limits: RunLimits): Promise<RunEnd> {
  for (let run = limits; ; run = { ...limits, afterUnknown: false }) {
    const end = await runBatch(ports, batchId, run)
    const isWhole = limits.only === undefined && limits.max === Number.POSITIVE_INFINITY
    if (end.kind !== 'done' || !isWhole || !ports.batches.isShared || !(await comesBack(ports, batchId))) {
      return end
    }
  }
}

/** Whether a row waits again, once nobody sends one any more. */
async function comesBack({ batches, ledger, clock, signal }: RunPorts, batchId: string): Promise<boolean> {
  const deadline = clock.monotonic() + longestWaitMs
  for (;;) {
    await ledger.recover(clock.now())
    const { sending, pending } = await batches.counts(batchId)
    if (pending > 0) return signal?.aborted !== true
    if (sending === 0 || signal?.aborted === true || clock.monotonic() >= deadline) return false
    await clock.sleep(everyMs, signal).catch(() => undefined)
  }
}
