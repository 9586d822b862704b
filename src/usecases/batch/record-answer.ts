import {
  confirmationQuestion,
  differencesText,
  type ProvidersAnswer,
  requireSendable,
  requireUnsettled,
  differencesToConfirm,
} from '../../domain/batch/reconciliation.ts'
import type { Batch, BatchRow } from '../../domain/batch/batch.ts'
import { heldElsewhere } from '../../domain/batch/batch-status.ts'
import { acceptedByEvidence, changedElsewhereError } from '../../domain/submission/outcome.ts'
import type { Change } from '../../domain/submission/states.ts'
import { InternalError, InvalidInputError, UsageError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { rowsOfRequest } from '../request/read-requests.ts'
import { sendSingle } from '../request/create.ts'
import { type OrderServices, serviceAheadMs } from '../request/send.ts'
import type { ReconcileServices } from './reconcile.ts'
import {
  confirmUserLeft,
  type OrganisationServices,
  requireSameAccount,
  requireSameOrganisation,
  requireSameService,
} from './same-organisation.ts'

/** What the decisions about a row work with; `prompter`: undefined where no person can be asked. */
export interface DecisionServices extends ReconcileServices, Pick<OrganisationServices, 'batches'> {
  prompter: Prompter | undefined
}

/** Throws a UsageError for a row that nothing is to be decided about, or that is of another service or account. */
export function requireDecidable(
  { api, account }: Pick<OrderServices, 'api' | 'account'>,
  batch: Batch,
  row: BatchRow,
): void {
  requireUnsettled(row)
  requireSameService(batch, api)
  requireSameAccount(batch, account)
}

/** Records that the provider has the order, or that it is never sent, after the checks that src/docs/ordering.md, section 5 names. */
export async function recordAnswer(
  ports: DecisionServices,
  batch: Batch,
  row: BatchRow,
  answer: Exclude<ProvidersAnswer, { kind: 'order' }>,
  why: string | undefined,
): Promise<void> {
  await requireOrganisation(ports, batch)
  if (answer.kind === 'has') {
    const { packageId } = row
    if (packageId === undefined) throw new InternalError(`row ${row.row} was sent without a package`)
    return recordRequest(ports, { ...row, packageId }, { requestId: answer.requestId, why })
  }
  await record(ports, row, {
    to: 'dropped',
    at: ports.clock.now(),
    reason: 'dropped by a person’s decision',
    decision: { by: ports.api.userEmail, why: why ?? 'a person decided to drop it' },
  })
}

/** A decision about a row changes nothing before it is clear that the key belongs to the batch's organisation. */
export async function requireOrganisation(ports: DecisionServices, batch: Batch): Promise<void> {
  const confirm = confirmUserLeft(ports.prompter, ports.api)
  const failure = await requireSameOrganisation(ports, batch, confirm)
  if (failure !== undefined) throw failure
}

/**
 * Sends a single order again that the provider does not have; without its recipient it is closed. Throws as `createRequest` does.
 */
export async function orderSingleAgain(
  ports: DecisionServices & OrderServices,
  batch: Batch,
  row: BatchRow,
  { confirmedEmail, waitBudgetMs }: { confirmedEmail: string; waitBudgetMs: number },
): Promise<void> {
  const { ledger, clock } = ports
  const { packageId, recipient, attemptId } = row
  const now = clock.now()
  requireSendable(row, now - Math.max(0, await ledger.clockAheadMs(now)))
  await requireOrganisation(ports, batch)
  const lock = await ledger.acquire(batch)
  if (lock === undefined) throw heldElsewhere(batch)
  try {
    await queueAgain(ports, row, confirmedEmail, 'the provider does not have it: order again')
    if (recipient === undefined || packageId === undefined) return
    await sendSingle(ports, batch.id, { package_id: packageId, recipient }, { waitBudgetMs, attemptId })
  } finally {
    await lock.release()
  }
}

/**
 * Queues a row that can be sent again, because a person says so. A row without its recipient cannot be sent: it is `cancelled`, so
 * that the person can be ordered. The batch is held by the caller.
 */
export async function queueAgain(
  ports: ReconcileServices,
  row: BatchRow,
  confirmedEmail: string,
  why: string,
): Promise<void> {
  const { ledger, clock, api } = ports
  const isTheirs =
    row.recipient === undefined
      ? await ledger.isEmailOf(row, confirmedEmail)
      : confirmedEmail.trim().toLowerCase() === row.recipient.email.toLowerCase()
  if (!isTheirs) {
    throw new InvalidInputError(`row ${row.row}: this is not the recipient’s e-mail`, {
      hint: `Nothing was done. See whom the row is for with: refcheck batch rows ${row.batchId} --state ${row.state}`,
    })
  }
  const [to, reason] =
    row.recipient === undefined
      ? (['cancelled', 'the provider has no such request'] as const)
      : (['pending', 'sent again by a person’s decision'] as const)
  await record(ports, row, { to, at: clock.now(), reason, decision: { by: api.userEmail, why } })
}

/**
 * Records the request that the provider named for a row whose outcome is unknown ("they have it"), after one read that
 * shows it to be this row's. What differs is shown, and a person confirms it; without a terminal it is a UsageError.
 */
async function recordRequest(
  parts: DecisionServices,
  row: BatchRow & { packageId: number },
  { requestId, why }: { requestId: string; why: string | undefined },
): Promise<void> {
  const { api, ledger, clock, governor, signal, onPaced, prompter } = parts
  await governor.claim('create', { signal, onWait: (ms) => onPaced?.(ms / 1000) })
  const request = await api.getRequest(requestId, signal)
  const holders = await rowsOfRequest(parts, request.request_id)
  const byFingerprints =
    row.recipient === undefined ? await ledger.personMatch(row, request.recipient) : undefined
  const differs = differencesToConfirm(row, request, holders, await serviceAheadMs(parts), byFingerprints)
  if (differs.length > 0) {
    const command = `refcheck batch reconcile ${row.batchId} --row ${row.row} --request-id ${request.request_id}`
    if (prompter === undefined) {
      const text = differencesText(differs)
      throw new UsageError(`request ${request.request_id} differs from row ${row.row}: ${text}`, {
        hint: `Nothing was recorded. A person has to confirm it on a terminal: ${command}`,
      })
    }
    if (
      !(await prompter.confirm({ message: confirmationQuestion(row, request, differs), isDestructive: true }))
    ) {
      throw new UsageError(`request ${request.request_id} was not confirmed`, {
        hint: 'Nothing was recorded; the row is as it was.',
      })
    }
  }
  const reason = `the provider has it as request ${request.request_id}`
  const shown =
    differs.length === 0 ? 'a read showed this row’s order' : `confirmed: ${differencesText(differs)}`
  const decision = { by: api.userEmail, why: `${why ?? reason}; ${shown}` }
  await record(parts, row, acceptedByEvidence(request, clock.now(), decision))
}

async function record(
  { ledger }: Pick<ReconcileServices, 'ledger'>,
  row: BatchRow,
  change: Change,
): Promise<void> {
  if (!(await ledger.move(row, change))) throw changedElsewhereError()
}
