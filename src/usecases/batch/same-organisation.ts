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

/** Requests that are tried: one may have been removed at the service. */
const maxAttempts = 3

/** Throws a UsageError where the batch was made with another service. Comes before anything is changed or sent. */
export function requireSameService(batch: Pick<Batch, 'id' | 'baseUrl'>, api: Pick<Api, 'baseUrl'>): void {
  if (serviceOf(batch.baseUrl) === serviceOf(api.baseUrl)) return
  throw new UsageError(`batch ${batch.id} is for ${batch.baseUrl}, and this profile is for ${api.baseUrl}`, {
    hint: 'Nothing was sent. Run it again with the profile it was made with: --profile NAME',
  })
}

/** The same of an account; a batch of no account is anybody's. Without an account in use nothing is checked. */
export function requireSameAccount(
  { id, account }: Pick<Batch, 'id' | 'account'>,
  inUse: string | undefined,
): void {
  if (inUse === undefined || account === '' || account === inUse) return
  const used = inUse === '' ? 'none is used' : `"${inUse}" is used`
  throw new UsageError(`batch ${id} is of the account "${account}", and ${used}`, {
    hint: `Nothing was sent. Run it again with REFCHECK_ACCOUNT=${account}, or a profile of that account: --profile NAME`,
  })
}

/** Asks on a terminal whether the user who started a batch has left the organisation; undefined without one. */
export function confirmUserLeft(
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
 * Throws a UsageError where the key in use does not belong to the organisation that a batch was started with. Comes before
 * its rows are sent and before a person's decision about one of them changes it. Returns the error of a service that
 * cannot answer, which halts a run. `confirm`: asks a person about a starter who may have left; undefined without a
 * terminal.
 */
export async function requireSameOrganisation(
  ports: OrganisationServices,
  batch: Batch,
  confirm: ((batch: Batch) => Promise<boolean>) | undefined,
): Promise<RefcheckError | undefined> {
  const known = await readEvidence(ports, batch).catch((error: unknown) => {
    if (error instanceof RefcheckError && ports.signal?.aborted !== true) return error
    throw error
  })
  if (known instanceof RefcheckError) return known
  if (known === undefined || !requiresConfirmation(batch, known)) return undefined
  if ((await confirm?.(batch)) !== true) throw notConfirmedError(batch)
  return undefined
}

/** Undefined where nothing was accepted yet and the user who began it goes on: nothing can have changed hands. */
async function readEvidence(
  { api, batches, signal }: OrganisationServices,
  { id, counts, userEmail }: Batch,
): Promise<OrganisationEvidence | undefined> {
  if (counts.accepted === 0) {
    if (userEmail.toLowerCase() === api.userEmail.toLowerCase()) return undefined
    return { by: 'users', emails: (await api.listUsers(signal)).map(({ email }) => email) }
  }
  for await (const { requestId } of batches.rows(id, { states: ['accepted'], limit: maxAttempts })) {
    if (requestId === undefined) continue
    try {
      await api.getRequest(requestId, signal)
      return { by: 'request', readable: true }
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error
    }
  }
  return { by: 'request', readable: false }
}
