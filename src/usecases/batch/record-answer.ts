import type { BatchRow } from '../../domain/batch/batch.ts'
import { differencesText, confirmation, toConfirm } from '../../domain/batch/reconciliation.ts'
import { changedElsewhere } from '../../domain/submission/attempt.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { rowsOfRequest } from '../request/find-id.ts'
import { serviceAheadMs } from '../request/prove.ts'
import type { ReconcilePorts } from './reconcile.ts'

/**
 * Records the request that the provider named for a row whose outcome is unknown ("they have it"), after one read that
 * shows it to be this row's. What differs is shown, and a person confirms it; without a terminal it is a UsageError.
 */
export async function recordAnswer(
  parts: ReconcilePorts,
  prompter: Prompter | undefined,
  row: BatchRow & { packageId: number },
  { requestId, why }: { requestId: string; why: string | undefined },
): Promise<void> {
  const { api, ledger, clock, governor, signal, onPaced } = parts
  await governor.take('create', { signal, onWait: (ms) => onPaced?.(ms / 1000) })
  const request = await api.getRequest(requestId, signal)
  const holders = await rowsOfRequest(parts, request.request_id)
  const byFingerprints = row.recipient === undefined ? await ledger.whom(row, request.recipient) : undefined
  const differs = toConfirm(row, request, holders, await serviceAheadMs(parts), byFingerprints)
  if (differs.length > 0) {
    const command = `refcheck batch reconcile ${row.batchId} --row ${row.row} --request-id ${request.request_id}`
    if (prompter === undefined) {
      throw new UsageError(
        `request ${request.request_id} differs from row ${row.row}: ${differencesText(differs)}`,
        {
          hint: `Nothing was recorded. A person has to confirm it on a terminal: ${command}`,
        },
      )
    }
    if (!(await prompter.confirm({ message: confirmation(row, request, differs), isGrave: true }))) {
      throw new UsageError(`request ${request.request_id} was not confirmed`, {
        hint: 'Nothing was recorded; the row is as it was.',
      })
    }
  }
  const said = `the provider has it as request ${request.request_id}`
  const shown =
    differs.length === 0 ? 'a read showed this row’s order' : `confirmed: ${differencesText(differs)}`
  const took = await ledger.move(row, {
    to: 'accepted',
    at: clock.now(),
    requestId: request.request_id,
    requestStatus: request.status,
    decision: { by: api.userEmail, why: `${why ?? said}; ${shown}` },
  })
  if (!took) throw changedElsewhere()
}
