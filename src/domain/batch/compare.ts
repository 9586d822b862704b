import { type BatchPreview, type NewFileBatch, type NewRow, noCounts, type RowList } from './batch.ts'
import { maxNamed } from '../submission/confirmation.ts'
import type { Recipient } from '../../contract/request.ts'
import { hashOf, personIdentities, sharedKey } from '../submission/identity.ts'
import { foldedName, type ComparingBudget, maxComparing, PhoneSharers } from '../submission/similarity.ts'
import {
  type Allowed,
  type Candidate,
  type Compared,
  type KnownRelations,
  phoneSharer,
  type Conflict,
  findConflict,
} from '../submission/conflicts.ts'
import { orderWith, type Submission } from '../submission/submission.ts'

export type OrderRow = Extract<NewRow, { state: 'pending' }>

/** A row with what it conflicts with: an order of the store, or an earlier row of the same file. */
export interface ComparedRow {
  row: NewRow
  /** Of a row that is a whole order. */
  identities: PersonIdentities | undefined
  stop: Conflict | undefined
  /** Another person who has the same phone. */
  sharesPhone?: Submission | undefined
  /** An earlier row of the file that would be sent, of the same full name. */
  sharesName?: NewRow | undefined
}

type PersonIdentities = ReturnType<typeof personIdentities>

export function emptyPreview(): BatchPreview {
  return {
    counts: noCounts(),
    packages: new Map(),
    conflicts: [],
    phones: [],
    names: [],
    namesInFile: [],
    people: [],
  }
}

/** Counts a row with what would become of it. `namesakeAt`: when a person of that name alone was ordered. */
export function addToPreview(
  preview: BatchPreview,
  { row, stop, sharesPhone, sharesName }: ComparedRow,
  namesakeAt?: number,
): void {
  const { counts, packages, people } = preview
  const state = stop?.becomes ?? row.state
  counts.total += 1
  counts[state] += 1
  if (stop !== undefined) preview.conflicts.push({ row, stop })
  if (sharesPhone !== undefined) preview.phones.push({ row, order: sharesPhone })
  if (namesakeAt !== undefined) preview.names.push({ row, orderedAt: namesakeAt })
  if (sharesName !== undefined) preview.namesInFile.push({ row, earlier: sharesName })
  if (state !== 'pending' || row.state !== 'pending') return
  packages.set(row.packageId, (packages.get(row.packageId) ?? 0) + 1)
  if (people.length <= maxNamed) people.push(row.recipient)
}

/** Compares the rows of a file with the store and with those before them that would be sent: "the first goes, later ones are held". */
export class FileComparer {
  readonly #batch: NewFileBatch
  readonly #allowed: Allowed
  readonly #relationsOf: (packageId: number) => KnownRelations
  readonly #earlier: EarlierRows
  #position = -1

  /** `rows` finds an earlier row again; rows are compared in its order. */
  constructor(
    batch: NewFileBatch,
    rows: RowList,
    allowed: Allowed,
    relationsOf: (packageId: number) => KnownRelations,
  ) {
    this.#batch = batch
    this.#allowed = allowed
    this.#relationsOf = relationsOf
    this.#earlier = new EarlierRows(batch, rows, allowed)
  }

  /** Compares the next row, `known`: orders of the store that share anything with it. */
  compare(row: NewRow, known: readonly Candidate[]): ComparedRow {
    this.#position += 1
    if (row.state !== 'pending') return { row, identities: undefined, stop: undefined }
    const { id, baseUrl, addedAt, account } = this.#batch
    const { recipient, packageId, externalResults } = row
    const identities = personIdentities(recipient)
    const compared: Compared = {
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
    const candidates = [...known, ...this.#earlier.candidates(row, identities)]
    const relations = this.#relationsOf(packageId)
    const stop = findConflict(compared, candidates, this.#allowed, relations)
    const sharesPhone = stop === undefined ? phoneSharer(compared, candidates, relations) : undefined
    const sharesName = stop === undefined ? this.#earlier.findNamesake(row) : undefined
    if (stop === undefined) this.#earlier.add(this.#position, row, identities)
    return { row, identities, stop, sharesPhone, sharesName }
  }
}

/** From so many rows of one phone on, they are found by their names. */
const minCrowd = 16

/** Rows of the file that would be sent, by what people are found by: hashes and positions, since there may be 100,000. */
class EarlierRows {
  readonly #batch: NewFileBatch
  readonly #rows: RowList
  readonly #allowed: Allowed
  /** Of whole persons, where nothing else is compared. */
  readonly #persons = new PositionsByHash()
  readonly #emails = new PositionsByHash()
  readonly #phones = new PositionsByHash()
  /** Of the first row of each full name and package. */
  readonly #names = new Map<number, number>()
  readonly #crowds = new Map<number, PhoneSharers>()
  readonly #budget: ComparingBudget = { left: maxComparing }
  /** Those that were found, which are few. */
  readonly #orders = new Map<number, Submission>()

  constructor(batch: NewFileBatch, rows: RowList, allowed: Allowed) {
    this.#batch = batch
    this.#rows = rows
    this.#allowed = allowed
  }

  /** The first row of the same full name and package, where its e-mail and phone are others. */
  findNamesake(row: OrderRow): NewRow | undefined {
    const position = this.#names.get(nameHash(row))
    const earlier = position === undefined ? undefined : (this.#rows.at(position) as OrderRow)
    if (earlier === undefined || fullName(earlier.recipient) !== fullName(row.recipient)) return undefined
    const { email, phone } = earlier.recipient
    return email === row.recipient.email || phone === row.recipient.phone ? undefined : earlier
  }

  add(position: number, row: OrderRow, identities: PersonIdentities): void {
    const name = nameHash(row)
    if (!this.#names.has(name)) this.#names.set(name, position)
    if (this.#allowed.similar) {
      this.#persons.add(hashOf(identities.person), position)
      return
    }
    const { email, phone } = this.#keys(row, identities)
    this.#emails.add(email, position)
    const crowd = this.#crowds.get(phone)
    if (crowd !== undefined) {
      crowd.add(position, row.recipient, String(row.packageId))
      return
    }
    const count = this.#phones.add(phone, position)
    if (count === minCrowd) this.#gatherCrowd(phone)
  }

  candidates(row: OrderRow, identities: PersonIdentities): Candidate[] {
    if (this.#allowed.similar) {
      return this.#persons.get(hashOf(identities.person)).map((position) => this.#candidate(position))
    }
    const { email, phone } = this.#keys(row, identities)
    const crowd = this.#crowds.get(phone)?.find(row.recipient)
    const positions = new Set([...this.#emails.get(email), ...(crowd?.positions ?? this.#phones.get(phone))])
    return [
      ...[...positions].map((position) => this.#candidate(position)),
      ...(crowd?.uncompared ?? []).map((position) => this.#candidate(position, true)),
    ]
  }

  #gatherCrowd(phone: number): void {
    const crowd = new PhoneSharers(this.#budget)
    for (const position of this.#phones.addHash(phone)) {
      const { packageId, recipient } = this.#rows.at(position) as OrderRow
      crowd.add(position, recipient, String(packageId))
    }
    this.#crowds.set(phone, crowd)
  }

  /** Both recipients are available, and similarity is computed from them: equal hashes of two people join no rows. */
  #candidate(position: number, isUncompared = false): Candidate {
    const order = this.#orders.get(position) ?? rowOrder(this.#batch, this.#rows.at(position) as OrderRow)
    this.#orders.set(position, order)
    return { order, samePerson: false, isUncompared }
  }

  /** What many were said to share joins only those who have the full name in common too. */
  #keys({ recipient }: OrderRow, { email, phone }: PersonIdentities): { email: number; phone: number } {
    return {
      email: hashOf(this.#isShared(recipient.email) ? `${email} ${fullName(recipient)}` : email),
      phone: hashOf(this.#isShared(recipient.phone) ? `${phone} ${fullName(recipient)}` : phone),
    }
  }

  #isShared(value: string): boolean {
    return this.#allowed.shared.length > 0 && this.#allowed.shared.includes(sharedKey(value))
  }
}

/** Positions of rows by a hash; most hashes have one. */
class PositionsByHash {
  readonly #positions = new Map<number, number | number[]>()

  /** Returns how many there are. */
  add(hash: number, position: number): number {
    const known = this.#positions.get(hash)
    if (typeof known === 'object') return known.push(position)
    this.#positions.set(hash, known === undefined ? position : [known, position])
    return known === undefined ? 1 : 2
  }

  get(hash: number): readonly number[] {
    const known = this.#positions.get(hash)
    return typeof known === 'number' ? [known] : (known ?? [])
  }

  addHash(hash: number): readonly number[] {
    const positions = this.get(hash)
    this.#positions.delete(hash)
    return positions
  }
}

/** The same for names that are swapped. */
function fullName({ first_name, last_name }: Recipient): string {
  return [foldedName(first_name), foldedName(last_name)].sort().join(' ')
}

const nameHash = ({ packageId, recipient }: OrderRow): number => hashOf(`${packageId} ${fullName(recipient)}`)

function rowOrder({ id, baseUrl, userEmail, addedAt }: NewFileBatch, row: OrderRow): Submission {
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
