import type { Api } from '../../api/api.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import { type OrganisationProof, needsWord, notConfirmed } from '../../domain/batch/who-orders.ts'
import { RefcheckError } from '../../errors/base.ts'
import { NotFoundError } from '../../errors/kinds.ts'
import type { Batches } from '../../store/ledger/batches.ts'

export interface OrganisationPorts {
  api: Pick<Api, 'getRequest' | 'listUsers' | 'userEmail'>
  batches: Pick<Batches, 'rows'>
  signal?: AbortSignal | undefined
}

/** Requests that are tried: one may have been removed at the service. */
const mostTried = 3

/**
 * Throws a UsageError, before anything is sent, where a batch that was begun before would go on under another
 * organisation's key. A service that does not answer that well is answered, as what halts the batch. `confirm`: asks a
 * person about a starter who may have left; undefined where nobody can be asked.
 */
export async function requireSameOrganisation(
  ports: OrganisationPorts,
  batch: Batch,
  confirm: ((batch: Batch) => Promise<boolean>) | undefined,
): Promise<RefcheckError | undefined> {
  if (batch.counts.pending === 0) return undefined
  const known = await acquaintance(ports, batch).catch((error: unknown) => {
    if (error instanceof RefcheckError && ports.signal?.aborted !== true) return error
    throw error
  })
  if (known instanceof RefcheckError) return known
  if (known === undefined || !needsWord(batch, known)) return undefined
  if ((await confirm?.(batch)) !== true) throw notConfirmed(batch)
  return undefined
}

/** Undefined where nothing was accepted yet and the user who began it goes on: nothing can have changed hands. */
async function acquaintance(
  { api, batches, signal }: OrganisationPorts,
  { id, counts, userEmail }: Batch,
): Promise<OrganisationProof | undefined> {
  if (counts.accepted === 0) {
    if (userEmail.toLowerCase() === api.userEmail.toLowerCase()) return undefined
    return { by: 'users', emails: (await api.listUsers(signal)).map(({ email }) => email) }
  }
  for await (const { requestId } of batches.rows(id, { states: ['accepted'], limit: mostTried })) {
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
