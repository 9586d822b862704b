import type { Database } from './connection.ts'
import { firstFormIdentity, serviceOf } from '../../../domain/submission/identity.ts'
import type { Shared } from '../../../domain/submission/likeness.ts'
import {
  type Allowed,
  type Candidate,
  type Compared,
  firstToTell,
  type KnownRelations,
  type Stop,
  stopsOf,
} from '../../../domain/submission/match.ts'
import { type JoinedPackage, relationsOf } from '../../../domain/submission/joined-packages.ts'
import { refuseImpossible } from '../../../domain/submission/change.ts'
import type { SubmissionState } from '../../../domain/submission/states.ts'
import type { RowVersion } from '../../../domain/submission/submission.ts'
import { fingerprinting, type PersonPrints, personPrints, sha256 } from './fingerprints.ts'
import {
  deleteMatch,
  putMatch,
  selectCandidates,
  selectDamaged,
  selectFirstForm,
  selectJoinedPackages,
  selectJoinedServices,
  selectReleases,
  selectToCompare,
  selectWhetherShared,
  insertRelease,
} from './matching-statements.ts'
import type { Witness } from '../../../domain/submission/witness.ts'
import { damagedStore } from './damage.ts'
import { recipientOf, submissionOf, type SubmissionRow } from './submission-rows.ts'

/** States of a row that is compared again. */
export type Waiting = 'held' | 'duplicate' | 'rejected'

/** A row with all that comparing it needs. */
export interface ToCompare extends Compared {
  account: string
  prints: PersonPrints | undefined
  allowed: Allowed
}

/** A row of the store, with what an attempt takes from it. */
export interface StoredRow extends ToCompare {
  /** Undefined where it is damaged, or forgotten. */
  body: Uint8Array | undefined
  bodySha256: string | null
}

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

interface Others {
  shared: 0 | 1
  first_form: 0 | 1
}

type SelectedCandidate = SubmissionRow & {
  person_print: string | null
  email_print: string | null
  phone_print: string | null
}

/** Looks for what stands in a row's way. Within its caller's transaction, or it binds nothing. */
export class Matching {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** A row of the store; undefined where it is none that can be sent. */
  rowToCompare(batchId: string, row: number): StoredRow | undefined {
    const found = this.#database.get(selectToCompare, { batch_id: batchId, row_number: row }) as
      | SelectedToCompare
      | undefined
    if (found === undefined || (found.package_id as number | null) === null) return undefined
    const { person_print, email_print, phone_print, body, body_sha256 } = found
    return {
      batchId,
      row,
      body: body !== null && sha256(body) === body_sha256 ? body : undefined,
      bodySha256: body_sha256,
      baseUrl: found.base_url,
      account: found.account,
      packageId: found.package_id,
      recipient: recipientOf(found),
      addedAt: found.added_at,
      kind: found.kind,
      witnesses: witnessesOf(found.witnesses),
      prints:
        person_print === null || email_print === null || phone_print === null
          ? undefined
          : { person_print, email_print, phone_print },
      allowed: {
        duplicate: found.allow_duplicate === 1,
        similar: found.allow_similar === 1,
        shared: JSON.parse(found.shared) as string[],
      },
    }
  }

  stopOf(row: ToCompare): Stop | undefined {
    return firstToTell(this.stopsOf(row))
  }

  /** Everything that stands in its way, in no order. */
  stopsOf(row: ToCompare): Stop[] {
    const damaged = this.damage(row)
    if (damaged !== undefined) throw damagedStore(this.#database.location, damaged)
    const candidates = this.candidates(row)
    return candidates.length === 0 && (row.witnesses ?? []).length === 0
      ? []
      : stopsOf(row, candidates, row.allowed, this.kin(row))
  }

  /** A row whose fingerprint is not that of its person, which would make the person new: this one, or one of the same e-mail. */
  damage({ batchId, row, recipient, prints }: ToCompare): Pick<Compared, 'batchId' | 'row'> | undefined {
    if (recipient === undefined) return undefined
    const own = personPrints(fingerprinting(this.#database), recipient)
    const isOwn =
      prints === undefined ||
      Object.entries(own).every(([name, print]) => prints[name as keyof PersonPrints] === print)
    if (!isOwn) return { batchId, row }
    const { email } = recipient
    const found = this.#database.get(selectDamaged, { email, email_print: own.email_print }) as
      | { batch_id: string; row_number: number }
      | undefined
    return found && { batchId: found.batch_id, row: found.row_number }
  }

  /** Every order that shares the person, the e-mail or the phone, in any package and at any service. */
  candidates(row: ToCompare): Candidate[] {
    const prints =
      row.prints ?? (row.recipient && personPrints(fingerprinting(this.#database), row.recipient))
    if (prints === undefined) return []
    const { kind, allowed, batchId, account } = row
    const key = { batch_id: batchId, row_number: row.row }
    const others = this.#database.get(selectWhetherShared, { ...prints, ...key }) as Others
    const forgotten = others.first_form === 1 ? this.#forgottenByFirst(row) : []
    if (others.shared === 0) return forgotten
    // What a file's own rows share is allowed as a whole: there may be thousands of them.
    const skipOwn = kind === 'file' && allowed.similar
    const found = this.#database.all(selectCandidates, {
      ...prints,
      ...key,
      account,
      skip_own: skipOwn ? 1 : 0,
    }) as SelectedCandidate[]
    return [
      ...found.map((each) => ({
        order: submissionOf(each),
        samePerson: each.person_print === prints.person_print,
        sameEmail: each.email_print === prints.email_print,
        samePhone: each.phone_print === prints.phone_print,
      })),
      ...forgotten,
    ]
  }

  kin({
    baseUrl,
    packageId,
    batchId,
    row,
  }: Pick<Compared, 'baseUrl' | 'packageId' | 'batchId' | 'row'>): KnownRelations {
    const database = this.#database
    const services = database.all(selectJoinedServices) as { one: string; other: string; same: number }[]
    let released: Set<string> | undefined
    return {
      ...relationsOf(
        { service: serviceOf(baseUrl), packageId },
        services.map(({ one, other, same }) => ({ one, other, same: same === 1 })),
        joinedPackages(database),
      ),
      released(order) {
        released ??= new Set(
          (
            database.all(selectReleases, { batch_id: batchId, row_number: row }) as {
              batch: string
              number: number
            }[]
          ).map(({ batch, number }) => `${batch} ${number}`),
        )
        return released.has(`${order.batchId} ${order.row}`)
      },
    }
  }

  /** Compares a row that waits; what it is from then on. A row that nobody holds as `from` says is left alone. */
  settle(key: { batchId: string; row: number }, from: Waiting, at: number): SubmissionState {
    const compared = this.rowToCompare(key.batchId, key.row)
    const stop = compared && this.stopOf(compared)
    if (stop !== undefined) return this.stopRow(key, from, stop, at) ? stop.becomes : from
    refuseImpossible(from, 'pending', from === 'rejected' ? 'retry' : 'comparing')
    const values = { batch_id: key.batchId, row_number: key.row, from, at }
    return this.#database.run(deleteMatch, values) === 1 ? 'pending' : from
  }

  /** Writes down what stands in a row's way; whether the row changed. */
  stopRow(
    { batchId, row }: { batchId: string; row: number },
    from: Waiting | 'pending',
    stop: Stop,
    at: number,
  ): boolean {
    if (from !== stop.becomes) {
      refuseImpossible(from, stop.becomes, from === 'rejected' ? 'retry' : 'comparing')
    }
    const key = { batch_id: batchId, row_number: row }
    return (
      this.#database.run(putMatch, { ...key, from, state: stop.becomes, at, ...matchColumns(stop) }) === 1
    )
  }

  /** Somebody said of a row and of each of these that they are two people. */
  release(
    { batchId, row }: { batchId: string; row: number },
    others: readonly Pick<RowVersion, 'batchId' | 'row'>[],
    by: { at: number; by: string },
  ): void {
    for (const other of others) {
      const pair = { batch_id: batchId, row_number: row, other_batch: other.batchId, other_row: other.row }
      this.#database.run(insertRelease, { ...pair, ...by })
    }
  }

  /** People whom 0.1.0 forgot are known by its own form alone, package by package. */
  #forgottenByFirst(row: ToCompare): Candidate[] {
    const { recipient, baseUrl, packageId } = row
    if (recipient === undefined) return []
    const { joined, predecessors } = this.kin(row)
    const fingerprint = fingerprinting(this.#database)
    const forms = [...new Set([packageId, ...joined, ...predecessors])].map((id) =>
      fingerprint(firstFormIdentity(baseUrl, id, recipient)),
    )
    return (this.#database.all(selectFirstForm, { forms: JSON.stringify(forms) }) as SubmissionRow[]).map(
      (each) => ({ order: submissionOf(each), samePerson: true, sameEmail: true, samePhone: true }),
    )
  }
}

export function joinedPackages(database: Database): JoinedPackage[] {
  const pairs = database.all(selectJoinedPackages) as {
    service: string
    package_id: number
    successor_id: number
    how: JoinedPackage['how']
  }[]
  return pairs.map(({ service, package_id, successor_id, how }) => ({
    service,
    packageId: package_id,
    successorId: successor_id,
    how,
  }))
}

export function matchColumns({ order, becomes, reason, shares }: Stop): {
  matches_batch: string
  matches_row: number
  held_for: string | null
  shares: string | null
} {
  return {
    matches_batch: order.batchId,
    matches_row: order.row,
    held_for: becomes === 'held' ? reason : null,
    shares: shares.length === 0 ? null : shares.join(' '),
  }
}

/** As the column has them; undefined where there are none. */
export function witnessesOf(text: string | null): Witness[] | undefined {
  return text === null ? undefined : (JSON.parse(text) as Witness[])
}

export function sharesOf(text: string | null): Shared[] {
  return text === null ? [] : (text.split(' ') as Shared[])
}
