import type { Recipient } from '../../contract/request-body.ts'
import { sha256, type PersonPrints, storedPrints } from './fingerprints.ts'
import type { Shared } from '../../domain/submission/likeness.ts'
import {
  type Allowed,
  type Candidate,
  type Compared,
  type Stop,
  type StopReason,
} from '../../domain/submission/match.ts'
import type { JoinedPackage, JoinedServices } from '../../domain/submission/joined-packages.ts'
import type { StopGroup } from '../../domain/batch/stops.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Witness } from '../../domain/submission/witness.ts'
import { recipientOf, submissionOf, type SubmissionRow } from './submission-rows.ts'

/** A row with all that comparing it needs. */
export interface ToCompare extends Compared {
  account: string
  prints: PersonPrints | undefined
  allowed: Allowed
}

/** A row of the store, with what an attempt takes from it. */
export interface StoredRow extends ToCompare {
  state: SubmissionState
  attemptId: string | undefined
  /** Undefined where it is damaged, or forgotten. */
  body: Uint8Array | undefined
  bodySha256: string | null
}

/** As `selectToCompare` gives it. */
interface SelectedToCompare extends SubmissionRow {
  body: Uint8Array | null
  body_sha256: string | null
  kind: 'single' | 'file'
  account: string
  allow_duplicate: number
  allow_similar: number
  shared: string
  witnesses: string | null
  person_print: string | null
  email_print: string | null
  phone_print: string | null
}

/** Undefined where it is none that can be sent. */
export function storedRowOf(selected: unknown): StoredRow | undefined {
  const found = selected as SelectedToCompare | undefined
  if (found === undefined || (found.package_id as number | null) === null) return undefined
  const { body, body_sha256 } = found
  return {
    batchId: found.batch_id,
    row: found.row_number,
    state: found.state,
    attemptId: found.attempt_id ?? undefined,
    body: body !== null && sha256(body) === body_sha256 ? body : undefined,
    bodySha256: body_sha256,
    baseUrl: found.base_url,
    account: found.account,
    packageId: found.package_id,
    recipient: recipientOf(found),
    addedAt: found.added_at,
    kind: found.kind,
    witnesses: witnessesOf(found.witnesses),
    prints: storedPrints(found),
    allowed: {
      duplicate: found.allow_duplicate === 1,
      similar: found.allow_similar === 1,
      shared: JSON.parse(found.shared) as string[],
    },
  }
}

/** A row of the store that shares a fingerprint with another. */
export function candidateOf(selected: unknown, prints: PersonPrints): Candidate {
  const found = selected as SubmissionRow & { [name in keyof PersonPrints]: string | null }
  return {
    order: submissionOf(found),
    samePerson: found.person_print === prints.person_print,
    sameEmail: found.email_print === prints.email_print,
  }
}

export function joinedPackageOf(selected: unknown): JoinedPackage {
  const { service, package_id, successor_id, how } = selected as {
    service: string
    package_id: number
    successor_id: number
    how: JoinedPackage['how']
  }
  return { service, packageId: package_id, successorId: successor_id, how }
}

export function joinedServicesOf(selected: unknown): JoinedServices {
  const { one, other, same } = selected as { one: string; other: string; same: number }
  return { one, other, same: same === 1 }
}

/** A row that waits, as `selectWaitingRows` gives it. */
export interface WaitingRow {
  row_number: number
  state: 'held' | 'duplicate'
  held_for: StopReason | null
  matches_batch: string | null
  matches_row: number | null
}

export interface MatchColumns {
  matches_batch: string | null
  matches_row: number | null
  held_for: string | null
  shares: string | null
}

/** What stands in a row's way, as its columns have it. */
export function matchColumns({ order, becomes, reason, shares }: Stop): MatchColumns {
  return {
    matches_batch: order.batchId,
    matches_row: order.row,
    held_for: becomes === 'held' ? reason : null,
    shares: shares.length === 0 ? null : shares.join(' '),
  }
}

/** What stands in the way of a batch's rows, as `selectStops` groups it. */
export function stopGroupOf(selected: unknown): StopGroup[] {
  const each = selected as {
    state: SubmissionState
    held_for: StopReason | null
    other_state: SubmissionState | null
    other_batch: string | null
    count: number
    first_at: number | null
    last_at: number | null
  }
  if (each.state === 'held' && each.held_for === null) return []
  return [
    {
      heldFor: (each.state === 'held' && each.held_for) || undefined,
      state: each.other_state ?? undefined,
      batchId: each.other_batch ?? undefined,
      count: each.count,
      first: each.first_at ?? undefined,
      last: each.last_at ?? undefined,
    },
  ]
}

/** A row that a move may take along. */
export interface Movable {
  row: number
  state: SubmissionState
  packageId: number
  recipient: Recipient | undefined
  body: Uint8Array
}

/** What is left of a batch, as `selectMovable` gives it. */
export function movableOf(selected: unknown): Movable {
  const row = selected as SubmissionRow & { body: Uint8Array }
  return {
    row: row.row_number,
    state: row.state,
    packageId: row.package_id,
    recipient: recipientOf(row),
    body: row.body,
  }
}

/** As the column has them; undefined where there are none. */
export function witnessesOf(text: string | null): Witness[] | undefined {
  return text === null ? undefined : (JSON.parse(text) as Witness[])
}

export function sharesOf(text: string | null): Shared[] {
  return text === null ? [] : (text.split(' ') as Shared[])
}
