import {
  type BatchPreview,
  type NewFileBatch,
  type NewRow,
  createEmptyCounts,
  type RowList,
} from './batch.ts'
import { maxNamed } from '../submission/confirmation.ts'
import type { Recipient } from '../../contract/request.ts'
import { hashOf, personIdentities, sharedKey } from '../submission/identity.ts'
import { foldedName, type ComparingBudget, maxComparingCost, PhoneSharers } from '../submission/similarity.ts'
import {
  type Allowed,
  type Candidate,
  type ComparableRow,
  type KnownRelations,
  findPhoneSharer,
  type Conflict,
  addStoredResults,
  findConflict,
} from '../submission/conflicts.ts'
import { orderWith, type Submission } from '../submission/submission.ts'

export type OrderRow = Extract<NewRow, { state: 'pending' }>

/** A row and its conflict with an order of the store or an earlier row of the same file. */
export interface ComparedRow {
  row: NewRow
  /** Undefined unless the row is a complete order. */
  identities: PersonIdentities | undefined
  conflict: Conflict | undefined
  /** An order of another person who has the same phone. */
  phoneSharer?: Submission | undefined
  /** An earlier row of the file that would be sent and has the same full name. */
  namesake?: NewRow | undefined
}

type PersonIdentities = ReturnType<typeof personIdentities>

export function emptyPreview(): BatchPreview {
  return {
    counts: createEmptyCounts(),
    packages: new Map(),
    conflicts: [],
    phoneSharers: [],
    namesakes: [],
    namesakesInFile: [],
    people: [],
  }
}

/**
 * Counts a row by the state that it would get. `namesakeOrderedAt` is when another person of the same name was ordered.
 */
export function addToPreview(
  preview: BatchPreview,
  { row, conflict, phoneSharer, namesake }: ComparedRow,
  namesakeOrderedAt?: number,
): void {
  const { counts, packages, people } = preview
  const state = conflict?.becomes ?? row.state
  counts.total += 1
  counts[state] += 1
  if (conflict !== undefined) preview.conflicts.push({ row, conflict })
  if (phoneSharer !== undefined) preview.phoneSharers.push({ row, order: phoneSharer })
  if (namesakeOrderedAt !== undefined) preview.namesakes.push({ row, orderedAt: namesakeOrderedAt })
  if (namesake !== undefined) preview.namesakesInFile.push({ row, earlier: namesake })
  if (state !== 'pending' || row.state !== 'pending') return
  packages.set(row.packageId, (packages.get(row.packageId) ?? 0) + 1)
  if (people.length <= maxNamed) people.push(row.recipient)
}

/**
 * Compares each row of a file with the orders of the store, and with earlier rows that would be sent. The first of two
 * equal rows is sent, and later ones are duplicates or held.
 */
export class FileComparer {
  readonly #batch: NewFileBatch
  readonly #allowed: Allowed
  readonly #relationsOf: (packageId: number) => KnownRelations
  readonly #earlierRows: EarlierRows
  #position = -1

  /** `rows` returns earlier rows by position. Rows must be compared in the order of `rows`. */
  constructor(
    batch: NewFileBatch,
    rows: RowList,
    allowed: Allowed,
    relationsOf: (packageId: number) => KnownRelations,
  ) {
    this.#batch = batch
    this.#allowed = allowed
    this.#relationsOf = relationsOf
    this.#earlierRows = new EarlierRows(batch, rows, allowed)
  }

  /**
   * Compares the next row. `storedCandidates` are orders of the store that have anything in common with the
   * row.
   */
  compare(newRow: NewRow, storedCandidates: readonly Candidate[]): ComparedRow {
    this.#position += 1
    if (newRow.state !== 'pending') return { row: newRow, identities: undefined, conflict: undefined }
    const { id, baseUrl, addedAt, account } = this.#batch
    const row = { ...newRow }
    const { recipient, packageId, externalResults } = row
    const identities = personIdentities(recipient)
    const comparedOrder: ComparableRow = {
      batchId: id,
      row: row.row,
      baseUrl,
      packageId,
      recipient,
      addedAt,
      kind: 'file',
      account,
      externalResults,
    }
    comparedOrder.externalResults = addStoredResults(comparedOrder, storedCandidates)
    row.externalResults = comparedOrder.externalResults
    const candidates = [...storedCandidates, ...this.#earlierRows.findCandidates(row, identities)]
    const relations = this.#relationsOf(packageId)
    const conflict = findConflict(comparedOrder, candidates, this.#allowed, relations)
    const phoneSharer =
      conflict === undefined ? findPhoneSharer(comparedOrder, candidates, relations) : undefined
    const namesake = conflict === undefined ? this.#earlierRows.findNamesake(row) : undefined
    if (conflict === undefined) this.#earlierRows.add(this.#position, row, identities)
    return { row, identities, conflict, phoneSharer, namesake }
  }
}

/** If at least this number of rows have the same phone, they are searched by name. */
const minSharerCount = 16

/**
 * Finds earlier rows of the file, among those that would be sent, by the values that identify people. It
 * stores hashes and positions only, because a file may have 100,000 rows.
 */
class EarlierRows {
  readonly #batch: NewFileBatch
  readonly #rows: RowList
  readonly #allowed: Allowed
  /**
   * Hashes of all values of a person. They are used if similar rows are allowed: then nothing else is
   * compared.
   */
  readonly #byPerson = new PositionsByHash()
  readonly #byEmail = new PositionsByHash()
  readonly #byPhone = new PositionsByHash()
  /** The first row of each full name and package. */
  readonly #firstByName = new Map<number, number>()
  readonly #sharersByPhone = new Map<number, PhoneSharers>()
  readonly #budget: ComparingBudget = { remainingCost: maxComparingCost }
  /** Orders that were returned as candidates. They are few. */
  readonly #orderByPosition = new Map<number, Submission>()

  constructor(batch: NewFileBatch, rows: RowList, allowed: Allowed) {
    this.#batch = batch
    this.#rows = rows
    this.#allowed = allowed
  }

  /** Returns the first row of the same full name and package, if its e-mail and phone are different. */
  findNamesake(row: OrderRow): NewRow | undefined {
    const position = this.#firstByName.get(nameHash(row))
    const earlierRow = position === undefined ? undefined : (this.#rows.at(position) as OrderRow)
    if (earlierRow === undefined || fullName(earlierRow.recipient) !== fullName(row.recipient))
      return undefined
    const { email, phone } = earlierRow.recipient
    return email === row.recipient.email || phone === row.recipient.phone ? undefined : earlierRow
  }

  add(position: number, row: OrderRow, identities: PersonIdentities): void {
    const name = nameHash(row)
    if (!this.#firstByName.has(name)) this.#firstByName.set(name, position)
    if (this.#allowed.similar) {
      this.#byPerson.add(hashOf(identities.person), position)
      return
    }
    const { email, phone } = this.#hashesOf(row, identities)
    this.#byEmail.add(email, position)
    const sharers = this.#sharersByPhone.get(phone)
    if (sharers !== undefined) {
      sharers.add(position, row.recipient, String(row.packageId))
      return
    }
    const count = this.#byPhone.add(phone, position)
    if (count === minSharerCount) this.#groupSharers(phone)
  }

  findCandidates(row: OrderRow, identities: PersonIdentities): Candidate[] {
    if (this.#allowed.similar) {
      return this.#byPerson.get(hashOf(identities.person)).map((position) => this.#createCandidate(position))
    }
    const { email, phone } = this.#hashesOf(row, identities)
    const sharers = this.#sharersByPhone.get(phone)?.find(row.recipient)
    const positions = new Set([
      ...this.#byEmail.get(email),
      ...(sharers?.positions ?? this.#byPhone.get(phone)),
    ])
    return [
      ...[...positions].map((position) => this.#createCandidate(position)),
      ...(sharers?.uncompared ?? []).map((position) => this.#createCandidate(position, true)),
    ]
  }

  #groupSharers(phone: number): void {
    const sharers = new PhoneSharers(this.#budget)
    for (const position of this.#byPhone.removeHash(phone)) {
      const { packageId, recipient } = this.#rows.at(position) as OrderRow
      sharers.add(position, recipient, String(packageId))
    }
    this.#sharersByPhone.set(phone, sharers)
  }

  /**
   * Candidates have their recipients, and similarity is computed from these. So a collision of hashes causes no
   * conflict.
   */
  #createCandidate(position: number, areNamesUncompared = false): Candidate {
    const order =
      this.#orderByPosition.get(position) ?? toSubmission(this.#batch, this.#rows.at(position) as OrderRow)
    this.#orderByPosition.set(position, order)
    return { order, isSamePerson: false, areNamesUncompared }
  }

  /**
   * A value that many rows share is combined with the full name, so that it matches only rows that have both in common.
   */
  #hashesOf({ recipient }: OrderRow, { email, phone }: PersonIdentities): { email: number; phone: number } {
    return {
      email: hashOf(this.#isShared(recipient.email) ? `${email} ${fullName(recipient)}` : email),
      phone: hashOf(this.#isShared(recipient.phone) ? `${phone} ${fullName(recipient)}` : phone),
    }
  }

  #isShared(value: string): boolean {
    return this.#allowed.shared.length > 0 && this.#allowed.shared.includes(sharedKey(value))
  }
}

/** Positions of rows by hash. Most hashes have one position. */
class PositionsByHash {
  readonly #positions = new Map<number, number | number[]>()

  /** Adds a position and returns the number of positions of that hash. */
  add(hash: number, position: number): number {
    const stored = this.#positions.get(hash)
    if (typeof stored === 'object') return stored.push(position)
    this.#positions.set(hash, stored === undefined ? position : [stored, position])
    return stored === undefined ? 1 : 2
  }

  get(hash: number): readonly number[] {
    const stored = this.#positions.get(hash)
    return typeof stored === 'number' ? [stored] : (stored ?? [])
  }

  removeHash(hash: number): readonly number[] {
    const positions = this.get(hash)
    this.#positions.delete(hash)
    return positions
  }
}

/** Returns the same text if first and last name are swapped. */
function fullName({ first_name, last_name }: Recipient): string {
  return [foldedName(first_name), foldedName(last_name)].sort().join(' ')
}

const nameHash = ({ packageId, recipient }: OrderRow): number => hashOf(`${packageId} ${fullName(recipient)}`)

function toSubmission({ id, baseUrl, userEmail, addedAt }: NewFileBatch, row: OrderRow): Submission {
  const { packageId, recipient } = row
  return orderWith({
    batchId: id,
    row: row.row,
    state: 'pending',
    baseUrl,
    userEmail,
    packageId,
    recipient,
    addedAt,
  })
}
