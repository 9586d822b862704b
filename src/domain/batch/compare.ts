import { type BatchPreview, type NewFileBatch, type NewRow, noCounts } from './batch.ts'
import { mostNamed } from '../submission/confirmation.ts'
import type { Recipient } from '../../contract/request-body.ts'
import { personIdentities, sharedKey } from '../submission/identity.ts'
import { foldedName } from '../submission/likeness.ts'
import {
  type Allowed,
  type Candidate,
  type Compared,
  type KnownRelations,
  type Stop,
  stopOf,
} from '../submission/match.ts'
import { phoneSharer } from '../submission/shared-phone.ts'
import type { Submission } from '../submission/submission.ts'

export type OrderRow = Extract<NewRow, { state: 'pending' }>

/** A row with what stands in its way: an order of the store, or an earlier row of the same file. */
export interface ComparedRow {
  row: NewRow
  /** Of a row that is a whole order. */
  identities: PersonIdentities | undefined
  stop: Stop | undefined
  /** Another person who has the same phone. */
  sharesPhone?: Submission | undefined
}

export type PersonIdentities = ReturnType<typeof personIdentities>

export function emptyPreview(): BatchPreview {
  return { counts: noCounts(), packages: new Map(), stops: [], phones: [], people: [] }
}

/** Counts a row with what would become of it. */
export function addToPreview(preview: BatchPreview, { row, stop, sharesPhone }: ComparedRow): void {
  const { counts, packages, people } = preview
  const state = stop?.becomes ?? row.state
  counts.total += 1
  counts[state] += 1
  if (stop !== undefined) preview.stops.push({ row, stop })
  if (sharesPhone !== undefined) preview.phones.push({ row, order: sharesPhone })
  if (state !== 'pending' || row.state !== 'pending') return
  packages.set(row.packageId, (packages.get(row.packageId) ?? 0) + 1)
  if (people.length <= mostNamed) people.push(row.recipient)
}

/** What the store knows of a row. */
export interface Known {
  candidates(row: OrderRow, identities: PersonIdentities): Candidate[]
  kin(row: OrderRow): KnownRelations
}

/** Compares the rows of a file with the store and with those before them that would be sent: "the first goes, later ones are held". */
export function* comparedRows(
  batch: NewFileBatch,
  rows: Iterable<NewRow>,
  allowed: Allowed,
  known: Known,
): Generator<ComparedRow> {
  const earlier = new Earlier(batch, allowed)
  for (const row of rows) {
    if (row.state !== 'pending') {
      yield { row, identities: undefined, stop: undefined }
      continue
    }
    const identities = personIdentities(row.recipient)
    const { recipient, packageId } = row
    const compared: Compared = {
      batchId: batch.id,
      row: row.row,
      baseUrl: batch.baseUrl,
      packageId,
      recipient,
      addedAt: batch.addedAt,
      kind: 'file',
      account: batch.account,
      witnesses: row.witnesses,
    }
    const candidates = [...known.candidates(row, identities), ...earlier.candidates(row, identities)]
    const kin = known.kin(row)
    const stop = stopOf(compared, candidates, allowed, kin)
    const sharesPhone = stop === undefined ? phoneSharer(compared, candidates, kin) : undefined
    if (stop === undefined) earlier.add(row, identities)
    yield { row, identities, stop, sharesPhone }
  }
}

/** Rows of the file that would be sent, by what people are found by. */
class Earlier {
  readonly #batch: NewFileBatch
  readonly #allowed: Allowed
  readonly #found = {
    person: new Map<string, Submission[]>(),
    email: new Map<string, Submission[]>(),
    phone: new Map<string, Submission[]>(),
  }

  constructor(batch: NewFileBatch, allowed: Allowed) {
    this.#batch = batch
    this.#allowed = allowed
  }

  add(row: OrderRow, identities: PersonIdentities): void {
    const order = rowOrder(this.#batch, row)
    for (const [kind, key] of this.#keys(row, identities)) {
      const there = this.#found[kind].get(key)
      if (there === undefined) this.#found[kind].set(key, [order])
      else there.push(order)
    }
  }

  candidates(row: OrderRow, identities: PersonIdentities): Candidate[] {
    const found = this.#keys(row, identities).flatMap(([kind, key]) => this.#found[kind].get(key) ?? [])
    // Both recipients are at hand, and likeness judges by those.
    return [...new Set(found)].map((order) => ({ order, samePerson: false }))
  }

  /** What many were said to share joins only those who have the full name in common too. */
  #keys(
    { recipient }: OrderRow,
    { person, email, phone }: PersonIdentities,
  ): ['person' | 'email' | 'phone', string][] {
    if (this.#allowed.similar) return [['person', person]]
    return [
      ['person', person],
      ['email', this.#isShared(recipient.email) ? `${email} ${fullName(recipient)}` : email],
      ['phone', this.#isShared(recipient.phone) ? `${phone} ${fullName(recipient)}` : phone],
    ]
  }

  #isShared(value: string): boolean {
    return this.#allowed.shared.length > 0 && this.#allowed.shared.includes(sharedKey(value))
  }
}

/** The same for names that are swapped. */
function fullName({ first_name, last_name }: Recipient): string {
  return [foldedName(first_name), foldedName(last_name)].sort().join(' ')
}

function rowOrder({ id, baseUrl, userEmail, addedAt }: NewFileBatch, row: OrderRow): Submission {
  return {
    batchId: id,
    row: row.row,
    state: 'pending',
    attemptId: undefined,
    baseUrl,
    userEmail,
    packageId: row.packageId,
    recipient: row.recipient,
    attempts: 0,
    addedAt,
    attemptedAt: undefined,
    changedAt: addedAt,
    requestId: undefined,
    requestStatus: undefined,
    requestStatusAt: undefined,
    checks: undefined,
    offeredId: undefined,
    reason: undefined,
    field: undefined,
  }
}
