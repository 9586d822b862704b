import type { NewFileBatch } from '../../domain/batch/batch.ts'
import type { ComparedRow } from '../../domain/batch/compare.ts'
import { orderIdentity } from '../../domain/submission/identity.ts'
import type { Allowed } from '../../domain/submission/match.ts'
import type { NewBatch } from '../../domain/submission/submission.ts'
import { InternalError } from '../../errors/kinds.ts'
import { type Fingerprint, personPrints, sha256 } from './fingerprints.ts'
import { matchColumns } from './matching.ts'

/** The columns of a batch that is no file. */
export function batchColumns(
  { id, kind, baseUrl, userEmail, addedAt, account = '' }: NewBatch,
  allowed: Allowed,
) {
  return {
    id,
    kind,
    base_url: baseUrl,
    user_email: userEmail,
    added_at: addedAt,
    account,
    allow_duplicate: allowed.duplicate ? 1 : 0,
    allow_similar: allowed.similar ? 1 : 0,
  }
}

/** The columns of its rows. Throws where it would order one person twice. */
export function orderColumns(batch: NewBatch, fingerprint: Fingerprint) {
  const { account = '', baseUrl, addedAt } = batch
  const persons = new Set<string>()
  return batch.submissions.map(({ recipient, packageId, body }, index) => {
    const key = fingerprint(orderIdentity({ account, baseUrl, packageId, recipient }))
    if (persons.has(key)) throw new InternalError('a batch was about to order one person twice')
    persons.add(key)
    const { first_name, last_name, email, phone } = recipient
    return {
      first_name,
      last_name,
      email,
      phone,
      batch_id: batch.id,
      row_number: index + 1,
      state: 'pending',
      changed_at: addedAt,
      package_id: packageId,
      body,
      body_sha256: sha256(body),
      fingerprint: key,
      ...personPrints(fingerprint, recipient),
    }
  })
}

/** The columns of a batch of a file. */
export function fileColumns(batch: NewFileBatch) {
  return {
    id: batch.id,
    kind: 'file',
    base_url: batch.baseUrl,
    user_email: batch.userEmail,
    added_at: batch.addedAt,
    name: batch.name,
    identity: batch.identity,
    sha256: batch.sha256,
    package_id: batch.packageId ?? null,
    path: batch.path ?? null,
    results_file: batch.resultsFile ?? null,
    reading: batch.reading,
    allow_duplicate: batch.allowDuplicate ? 1 : 0,
    account: batch.account ?? '',
    allow_similar: batch.allowSimilar === true ? 1 : 0,
    shared: JSON.stringify(batch.shared ?? []),
  }
}

const noPrints = { person_print: null, email_print: null, phone_print: null }
const noMatch = { matches_batch: null, matches_row: null, held_for: null, shares: null }

/** The columns of a file's row, with what stands in its way. */
export function fileRowColumns(
  { id, addedAt, baseUrl, account = '' }: NewFileBatch,
  { row, identities, stop }: ComparedRow,
  fingerprint: Fingerprint,
) {
  const order = row.state === 'pending' ? row : undefined
  const other = row.state === 'pending' ? undefined : row
  const { matches_batch, matches_row, held_for, shares } = stop === undefined ? noMatch : matchColumns(stop)
  return {
    batch_id: id,
    row_number: row.row,
    state: stop?.becomes ?? row.state,
    changed_at: addedAt,
    package_id: row.packageId ?? null,
    first_name: order?.recipient.first_name ?? null,
    last_name: order?.recipient.last_name ?? null,
    email: order?.recipient.email ?? other?.email ?? null,
    phone: order?.recipient.phone ?? null,
    body: order?.body ?? null,
    body_sha256: order === undefined ? null : sha256(order.body),
    fingerprint: order === undefined ? null : fingerprint(orderIdentity({ account, baseUrl, ...order })),
    ...(order === undefined ? noPrints : personPrints(fingerprint, order.recipient, identities)),
    reason: other?.reason ?? null,
    field: other?.field ?? null,
    matches_batch: other?.matchesRow === undefined ? matches_batch : id,
    matches_row: other?.matchesRow ?? matches_row,
    held_for,
    shares,
    witnesses: order?.witnesses === undefined ? null : JSON.stringify(order.witnesses),
  }
}
