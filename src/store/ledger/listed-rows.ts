import type { ListedAttempt } from '../../domain/store/attempt-list.ts'
import { sha256 } from './fingerprints.ts'

/** For the lines of a list. */
export function digest(text: string): string {
  return sha256(Buffer.from(text))
}

/** An attempt of the store, as its list has it. */
export function listedAttemptOf(selected: unknown): ListedAttempt {
  const row = selected as {
    id: string
    batch_id: string
    row_number: number
    user_email: string
    began_at: number
    base_url: string
    package_id: number
    person: string
    email: string | null
    phone: string | null
  }
  return {
    attemptId: row.id,
    batchId: row.batch_id,
    row: row.row_number,
    packageId: row.package_id,
    person: row.person,
    email: row.email ?? '',
    phone: row.phone ?? '',
    at: row.began_at,
    baseUrl: row.base_url,
    userEmail: row.user_email,
  }
}
