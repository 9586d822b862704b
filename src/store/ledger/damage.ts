import { orderIdentity } from '../../domain/submission/identity.ts'
import { IoError } from '../../errors/kinds.ts'
import { areOwnPrints, type Fingerprint, type PersonPrints, personPrints, sha256 } from './fingerprints.ts'
import { recipientOf, type SubmissionRow } from './submission-rows.ts'

/** A row that is not what was written: nothing is ordered with it. */
export function damagedStore(location: string, { batchId, row }: { batchId: string; row: number }): IoError {
  return new IoError(`the store "${location}" is damaged: row ${row} of batch ${batchId}`, {
    hint: 'Nothing was sent. Restore a backup of the store, or choose another one with REFCHECK_STORE. See what is damaged with: refcheck store check',
  })
}

/** A row as it is kept, with its batch's service and account: what of it is not as it was written, in sentences. */
export function damageOf(selected: unknown, fingerprint: Fingerprint): string[] {
  const { batch_id, row_number, body, body_sha256 } = selected as SubmissionRow & {
    body: Uint8Array | null
    body_sha256: string | null
  }
  const isSameBody = body === null || sha256(body) === body_sha256
  return [
    ...(isSameBody ? [] : [`row ${row_number} of batch ${batch_id}: its body differs from the one recorded`]),
    ...(hasOwnPrints(selected, fingerprint)
      ? []
      : [
          `row ${row_number} of batch ${batch_id}: its fingerprint is not that of its person, who could be ordered twice`,
        ]),
  ]
}

/** Others would make the person new: the same order again would be no duplicate. */
function hasOwnPrints(selected: unknown, fingerprint: Fingerprint): boolean {
  const row = selected as SubmissionRow & PersonPrints & { fingerprint: string | null; account: string }
  const recipient = recipientOf(row)
  if (recipient === undefined || row.fingerprint === null) return true
  const { account, base_url: baseUrl, package_id: packageId } = row
  return (
    row.fingerprint === fingerprint(orderIdentity({ account, baseUrl, packageId, recipient })) &&
    areOwnPrints(row, personPrints(fingerprint, recipient))
  )
}
