import type { NewFileBatch } from '../../domain/batch/batch.ts'
import type { ComparedRow } from '../../domain/batch/compare.ts'
import { orderIdentity } from '../../domain/submission/identity.ts'
import type { Allowed } from '../../domain/submission/conflicts.ts'
import type { NewBatch } from '../../domain/submission/submission.ts'
import { InternalError } from '../../errors/kinds.ts'
import { type Fingerprint, namePrint, personPrints, sha256 } from './fingerprints.ts'
import { matchFields } from './matching.ts'

/** A batch that is no file, as its table has it. */
export function batchFields(
  { id, kind, baseUrl, userEmail, addedAt, account = '' }: NewBatch,
  allowed: Allowed,
) {
  const batch = { id, kind, baseUrl, userEmail, addedAt, account }
  return { ...batch, allowDuplicate: allowed.duplicate ? 1 : 0, allowSimilar: allowed.similar ? 1 : 0 }
}

/** Its rows. Throws where it would order one person twice. */
export function orderFields(batch: NewBatch, fingerprint: Fingerprint) {
  const { id: batchId, account = '', baseUrl, addedAt: changedAt } = batch
  const persons = new Set<string>()
  return batch.submissions.map(({ recipient, packageId, body }, index) => {
    const key = fingerprint(orderIdentity({ account, baseUrl, packageId, recipient }))
    if (persons.has(key)) throw new InternalError('a batch was about to order one person twice')
    persons.add(key)
    const { first_name: firstName, last_name: lastName, email, phone } = recipient
    const prints = { ...personPrints(fingerprint, recipient), namePrint: namePrint(fingerprint, recipient) }
    const person = { firstName, lastName, email, phone, ...prints }
    const order = { packageId, body, bodySha256: sha256(body), fingerprint: key }
    return { batchId, row: index + 1, state: 'pending', changedAt, ...order, ...person }
  })
}

/** A batch of a file, as its table has it. */
export function fileFields(batch: NewFileBatch) {
  const { account = '', allowDuplicate, allowSimilar, shared = [], replaces: _, ...fields } = batch
  return {
    ...fields,
    kind: 'file',
    account,
    allowDuplicate: allowDuplicate ? 1 : 0,
    allowSimilar: allowSimilar ? 1 : 0,
    shared: JSON.stringify(shared),
  }
}

/** A file's row, with what it conflicts with; each has the same fields. */
export function fileRowFields(
  { id, addedAt, baseUrl, account = '' }: NewFileBatch,
  { row, identities, stop }: ComparedRow,
  fingerprint: Fingerprint,
) {
  const order = row.state === 'pending' ? row : undefined
  const other = row.state === 'pending' ? undefined : row
  const match = stop && matchFields(stop)
  const prints = order && personPrints(fingerprint, order.recipient, identities)
  return {
    batchId: id,
    row: row.row,
    state: stop?.becomes ?? row.state,
    changedAt: addedAt,
    packageId: row.packageId,
    firstName: order?.recipient.first_name,
    lastName: order?.recipient.last_name,
    email: order?.recipient.email ?? other?.email,
    phone: order?.recipient.phone,
    body: order?.body,
    bodySha256: order && sha256(order.body),
    fingerprint: order && fingerprint(orderIdentity({ account, baseUrl, ...order })),
    personPrint: prints?.personPrint,
    emailPrint: prints?.emailPrint,
    phonePrint: prints?.phonePrint,
    namePrint: order && namePrint(fingerprint, order.recipient),
    reason: other?.reason,
    field: other?.field,
    matchesBatch: other?.matchesRow === undefined ? match?.matchesBatch : id,
    matchesRow: other?.matchesRow ?? match?.matchesRow,
    heldFor: match?.heldFor,
    shares: match?.shares,
    externalResults: order?.externalResults && JSON.stringify(order.externalResults),
  }
}
