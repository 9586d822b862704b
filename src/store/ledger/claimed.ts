import type { PersonPrints } from './fingerprints.ts'
import type { StoredRow } from './match-rows.ts'
import type { ListedAttempt } from '../../domain/store/attempt-list.ts'
import type { Attempt, NewAttempt } from '../../domain/submission/submission.ts'

/** An attempt that is committed, with what its list says of it. */
export interface Claimed extends Pick<
  ListedAttempt,
  'packageId' | 'person' | 'email' | 'phone' | 'baseUrl' | 'userEmail'
> {
  attempt: Attempt
}

/** The columns of an attempt that begins. */
export function attemptColumns({ batchId, row, bodySha256 }: StoredRow, attempt: NewAttempt) {
  return {
    batch_id: batchId,
    row_number: row,
    id: attempt.attemptId,
    user_email: attempt.userEmail,
    body_sha256: bodySha256,
    began_at: attempt.at,
    began_monotonic: attempt.monotonic,
  }
}

/** Of a row whose person was removed. */
const forgotten: PersonPrints = { person_print: '', email_print: '', phone_print: '' }

export function claimedOf(
  { batchId, row, body, packageId, prints, baseUrl }: StoredRow & { body: Uint8Array },
  attempt: NewAttempt,
): Claimed {
  const { person_print, email_print, phone_print } = prints ?? forgotten
  return {
    attempt: { batchId, row, ...attempt, state: 'sending', body },
    packageId,
    person: person_print,
    email: email_print,
    phone: phone_print,
    baseUrl,
    userEmail: attempt.userEmail,
  }
}

export function listedOf({ attempt: { attemptId, batchId, row, at }, ...of }: Claimed): ListedAttempt {
  const { packageId, person, email, phone, baseUrl, userEmail } = of
  return { attemptId, batchId, row, at, packageId, person, email, phone, baseUrl, userEmail }
}
