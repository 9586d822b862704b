import { changedElsewhereError } from '../../domain/submission/states.ts'
import {
  confirmationQuestion,
  differencesText,
  type ProvidersAnswer,
  requireSendable,
  requireUnsettled,
  differencesToConfirm,
  otherOrderError,
} from '../../domain/batch/reconciliation.ts'
import { formatRow, type Batch, type BatchRow } from '../../domain/batch/batch.ts'
import { heldElsewhereError } from '../../domain/batch/batch-status.ts'
import { acceptedByEvidence } from '../../domain/submission/outcome.ts'
import { type RequestResource, uuid } from '../../contract/request.ts'
import type { Change } from '../../domain/submission/states.ts'
import { InternalError, InvalidInputError, UsageError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { findRowsOfRequest } from '../request/read-requests.ts'
import type { Services } from '../services.ts'
import { sendSingle } from '../request/create.ts'
import { type OrderServices, newAttempt, readAttemptTime, readClockDifferenceMs } from '../request/send.ts'
import { readAndLinkPackages } from './packages.ts'
import type { ReconcileServices } from './reconcile.ts'
import {
  createUserLeftQuestion,
  type OrganisationServices,
  requireSameAccount,
  requireSameOrganisation,
  requireSameService,
} from './same-organisation.ts'

/** The services that decisions about a row use; `prompter` is undefined without a terminal. */
export interface DecisionServices
  extends ReconcileServices, Pick<OrganisationServices, 'batches'>, Pick<Services, 'heldRows' | 'random'> {
  prompter: Prompter | undefined
}

/**
 * Throws a UsageError for a row that needs no decision, or that belongs to another service or account. `answer`: the
 * provider's answer, if the user gave it already.
 */
export function requireDecidable(
  { api, account }: Pick<OrderServices, 'api' | 'account'>,
  batch: Batch,
  row: BatchRow,
  answer?: ProvidersAnswer,
): void {
  requireUnsettled(row, answer)
  requireSameService(batch, api)
  requireSameAccount(batch, account)
}

/**
 * Records that the provider has the order, or that the row is never sent, after the checks of src/docs/ordering.md,
 * section 5.
 */
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
  await applyChange(ports, row, {
    to: 'dropped',
    at: ports.clock.now(),
    reason: 'dropped by a person’s decision',
    decision: { by: ports.api.userEmail, why: why ?? 'a person decided to drop it' },
  })
}

/** Throws unless the API key belongs to the batch's organisation. Called before a decision changes a row. */
export async function requireOrganisation(ports: DecisionServices, batch: Batch): Promise<void> {
  const confirm = createUserLeftQuestion(ports.prompter, ports.api)
  const failure = await requireSameOrganisation(ports, batch, confirm)
  if (failure !== undefined) throw failure
}

/**
 * Sends again a single order that the provider does not have. If the store no longer has the recipient, the
 * row is only closed. Throws as `createRequest` does.
 */
export async function orderSingleAgain(
  ports: DecisionServices & OrderServices,
  batch: Batch,
  row: BatchRow,
  { confirmedEmail, waitBudgetMs }: { confirmedEmail: string; waitBudgetMs: number },
): Promise<void> {
  const { packageId, recipient, attemptId } = row
  requireSendable(row, await readAttemptTime(ports))
  await requireOrganisation(ports, batch)
  const lease = await ports.ledger.acquire(batch)
  if (lease === undefined) throw heldElsewhereError(batch)
  try {
    await queueAgain(ports, row, confirmedEmail, 'the provider does not have it: order again')
    if (recipient === undefined || packageId === undefined) return
    await sendSingle(ports, batch.id, { package_id: packageId, recipient }, { waitBudgetMs, attemptId })
  } finally {
    await lease.release()
  }
}

/**
 * Sets a row that a user has decided to send again to `pending`. A row without its recipient cannot be sent:
 * it becomes `cancelled`, so that the person can be ordered. The caller has the lease of the batch. Throws an
 * InvalidInputError if `confirmedEmail` is not the recipient's.
 */
export async function queueAgain(
  ports: ReconcileServices,
  row: BatchRow,
  confirmedEmail: string,
  why: string,
): Promise<void> {
  const { ledger, clock, api } = ports
  const isEmailOfPerson =
    row.recipient === undefined
      ? await ledger.isEmailOf(row, confirmedEmail)
      : confirmedEmail.trim().toLowerCase() === row.recipient.email.toLowerCase()
  if (!isEmailOfPerson) {
    throw new InvalidInputError(`this is not the e-mail of ${formatRow(row)}`, {
      hint: `Nothing was done. See the e-mail with: refcheck batch rows ${row.batchId} --state ${row.state}`,
    })
  }
  const [to, reason] =
    row.recipient === undefined
      ? (['cancelled', 'the provider has no such request'] as const)
      : (['pending', 'sent again by a person’s decision'] as const)
  await applyChange(ports, row, { to, at: clock.now(), reason, decision: { by: api.userEmail, why } })
}

/**
 * Records the request that the provider named for an unknown or held row ("they have it"), after a read that compares
 * the request with the row. The user has to confirm differences; without a terminal they cause a UsageError.
 */
async function recordRequest(
  ports: DecisionServices,
  row: BatchRow & { packageId: number },
  { requestId, why }: { requestId: string; why: string | undefined },
): Promise<void> {
  const { api, ledger, clock, governor, heldRows, random, signal, onQuotaWait, prompter } = ports
  await governor.claim('create', { signal, onWait: (ms) => onQuotaWait?.(ms / 1000) })
  const request = await api.getRequest(requestId, signal)
  if (row.state === 'held') await requireRelatedPackage(ports, row, request)
  const rowsWithRequest = await findRowsOfRequest(ports, request.request_id)
  const fingerprintMatch =
    row.recipient === undefined ? await ledger.personMatch(row, request.recipient) : undefined
  const differences = differencesToConfirm(
    row,
    request,
    rowsWithRequest,
    await readClockDifferenceMs(ports),
    fingerprintMatch,
  )
  if (differences.length > 0) {
    const command = `refcheck batch reconcile ${row.batchId} --row ${row.row} --request-id ${request.request_id}`
    if (prompter === undefined) {
      const text = differencesText(differences)
      throw new UsageError(
        `request ${request.request_id} differs from the order of ${formatRow(row)}: ${text}`,
        {
          hint: `Nothing was recorded. A person has to confirm it on a terminal: ${command}`,
        },
      )
    }
    if (
      !(await prompter.confirm({
        message: confirmationQuestion(row, request, differences),
        isDestructive: true,
      }))
    ) {
      throw new UsageError(`request ${request.request_id} was not confirmed`, {
        hint: 'Nothing was recorded; the row is as it was.',
      })
    }
  }
  const reason = `the provider has it as request ${request.request_id}`
  const evidence =
    differences.length === 0 ? 'a read showed this row’s order' : `confirmed: ${differencesText(differences)}`
  const decision = { by: api.userEmail, why: `${why ?? reason}; ${evidence}` }
  if (row.state === 'held') {
    const attempt = newAttempt({ api, clock, random })
    const createdAt = Date.parse(request.created_at)
    await heldRows.accept(row, attempt, {
      requestId: request.request_id.toLowerCase(),
      requestStatus: request.status,
      packageId: request.package_id,
      createdAt: Number.isNaN(createdAt) ? attempt.at : createdAt,
      why: decision.why,
    })
  } else await applyChange(ports, row, acceptedByEvidence(request, clock.now(), decision))
  await ledger.addLostPerson(row.baseUrl, request.request_id, request.recipient)
}

/** Returns why a text is not the id of a request; undefined if it is one. */
export function requestIdProblem(text: string): string | undefined {
  return uuid.safeParse(text).success
    ? undefined
    : 'is not a whole id, such as 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'
}

/**
 * Throws InvalidInputError unless a request is for the package of a held row, for one that it replaced, or for one that
 * replaced it: after a move, or because the replaced package can no longer be ordered.
 */
async function requireRelatedPackage(
  ports: Pick<DecisionServices, 'api' | 'heldRows' | 'clock' | 'signal'>,
  row: BatchRow,
  request: RequestResource,
): Promise<void> {
  const { baseUrl, packageId = 0 } = row
  const { package_id: requestPackage } = request
  if (requestPackage === packageId) return
  const packages = await readAndLinkPackages(ports)
  const own = await ports.heldRows.readPackageRelations(baseUrl, packageId)
  const ofRequest = await ports.heldRows.readPackageRelations(baseUrl, requestPackage)
  const isOrderable = (id: number): boolean =>
    packages.some((each) => each.id === id && each.status === 'ACTIVE')
  const isRelated =
    own.relatedIds.has(requestPackage) ||
    (own.predecessors.has(requestPackage) && !isOrderable(requestPackage)) ||
    (ofRequest.predecessors.has(packageId) && !isOrderable(packageId))
  if (!isRelated) throw otherOrderError(request, row, `of package ${requestPackage}`)
}

async function applyChange(
  { ledger }: Pick<ReconcileServices, 'ledger'>,
  row: BatchRow,
  change: Change,
): Promise<void> {
  if (!(await ledger.move(row, change))) throw changedElsewhereError()
}
