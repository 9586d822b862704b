import type { Api } from '../../api/api.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import {
  type OrganisationEvidence,
  requiresConfirmation,
  notConfirmedError,
  starterQuestion,
} from '../../domain/batch/run-policy.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { RefcheckError, NotFoundError, UsageError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Batches } from '../../store/ledger/batches.ts'

export interface OrganisationServices {
  api: Pick<Api, 'getRequest' | 'listUsers' | 'userEmail'>
  batches: Pick<Batches, 'rows'>
  signal?: AbortSignal | undefined
}

/** Maximum number of requests that are read to find one that the service has not removed. */
const maxRequestsRead = 3

/** Throws a UsageError if the batch was made with another service. Called before anything is changed or sent. */
export function requireSameService(batch: Pick<Batch, 'id' | 'baseUrl'>, api: Pick<Api, 'baseUrl'>): void {
  if (serviceOf(batch.baseUrl) === serviceOf(api.baseUrl)) return
  throw new UsageError(`batch ${batch.id} is for ${batch.baseUrl}, and this profile is for ${api.baseUrl}`, {
    hint: 'Nothing was sent. Run it again with the profile it was made with: --profile NAME',
  })
}

/**
 * Throws a UsageError if the batch belongs to another account. A batch without an account belongs to all accounts.
 */
export function requireSameAccount(
  { id, account }: Pick<Batch, 'id' | 'account'>,
  accountInUse: string | undefined,
): void {
  if (accountInUse === undefined || account === '' || account === accountInUse) return
  const usedText = accountInUse === '' ? 'none is used' : `"${accountInUse}" is used`
  throw new UsageError(`batch ${id} is of the account "${account}", and ${usedText}`, {
    hint: `Nothing was sent. Run it again with REFCHECK_ACCOUNT=${account}, or a profile of that account: --profile NAME`,
  })
}

/**
 * Returns a function that asks whether the user who started a batch has left the organisation; undefined
 * without a terminal.
 */
export function createUserLeftQuestion(
  prompter: Prompter | undefined,
  api: Pick<Api, 'userEmail'>,
): ((batch: Batch) => Promise<boolean>) | undefined {
  return (
    prompter &&
    (({ id, userEmail }) =>
      prompter.confirm({ message: starterQuestion(id, userEmail, api.userEmail), isDestructive: true }))
  )
}

/**
 * Throws a UsageError if the current API key does not belong to the organisation of the batch. Called before rows are
 * sent and before a user's decision changes a row. Returns the error if the service cannot be read, which halts a
 * run. `confirm`: asks the user whether the user who started the batch has left; undefined without a terminal.
 */
export async function requireSameOrganisation(
  ports: OrganisationServices,
  batch: Batch,
  confirm: ((batch: Batch) => Promise<boolean>) | undefined,
): Promise<RefcheckError | undefined> {
  const evidence = await readEvidence(ports, batch).catch((error: unknown) => {
    if (error instanceof RefcheckError && ports.signal?.aborted !== true) return error
    throw error
  })
  if (evidence instanceof RefcheckError) return evidence
  if (evidence === undefined || !requiresConfirmation(batch, evidence)) return undefined
  if ((await confirm?.(batch)) !== true) throw notConfirmedError(batch)
  return undefined
}

/**
 * Reads from the service whether the key belongs to the organisation of the batch. Returns undefined if no row was
 * accepted and the same user continues the batch: the organisation cannot differ then.
 */
async function readEvidence(
  { api, batches, signal }: OrganisationServices,
  { id, counts, userEmail }: Batch,
): Promise<OrganisationEvidence | undefined> {
  if (counts.accepted === 0) {
    if (userEmail.toLowerCase() === api.userEmail.toLowerCase()) return undefined
    return { by: 'users', emails: (await api.listUsers(signal)).map(({ email }) => email) }
  }
  for await (const { requestId } of batches.rows(id, { states: ['accepted'], limit: maxRequestsRead })) {
    if (requestId === undefined) continue
    try {
      await api.getRequest(requestId, signal)
      return { by: 'request', isReadable: true }
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error
    }
  }
  return { by: 'request', isReadable: false }
}
