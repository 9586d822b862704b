import type { Database } from './connection.ts'
import { firstFormIdentity, serviceOf } from '../../../domain/submission/identity.ts'
import {
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
import { fingerprinting } from './fingerprints.ts'
import { areOwnPrints, personPrints } from '../fingerprints.ts'
import {
  candidateOf,
  firstFormCandidate,
  joinedPackageOf,
  joinedServicesOf,
  matchColumns,
  storedRowOf,
  type StoredRow,
  type ToCompare,
} from '../match-rows.ts'
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
import { damagedStore } from '../damage.ts'

/** States of a row that is compared again. */
export type Waiting = 'held' | 'duplicate' | 'rejected'

interface Others {
  shared: 0 | 1
  first_form: 0 | 1
}

/** Looks for what stands in a row's way. Within its caller's transaction, or it binds nothing. */
export class Matching {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** A row of the store; undefined where it is none that can be sent. */
  rowToCompare(batchId: string, row: number): StoredRow | undefined {
    return storedRowOf(this.#database.get(selectToCompare, { batch_id: batchId, row_number: row }))
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
    if (!areOwnPrints(prints, own)) return { batchId, row }
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
    // What a file's own rows share is allowed as a whole, but past no unknown one: there may be thousands of them.
    const skipOwn = kind === 'file' && allowed.similar
    const found = this.#database.all(selectCandidates, {
      ...prints,
      ...key,
      account,
      skip_own: skipOwn ? 1 : 0,
    })
    return [...found.map((each) => candidateOf(each, prints)), ...forgotten]
  }

  kin({
    baseUrl,
    packageId,
    batchId,
    row,
  }: Pick<Compared, 'baseUrl' | 'packageId' | 'batchId' | 'row'>): KnownRelations {
    const database = this.#database
    let released: Set<string> | undefined
    return {
      ...relationsOf(
        { service: serviceOf(baseUrl), packageId },
        database.all(selectJoinedServices).map(joinedServicesOf),
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
    return this.#database.all(selectFirstForm, { forms: JSON.stringify(forms) }).map(firstFormCandidate)
  }
}

export function joinedPackages(database: Database): JoinedPackage[] {
  return database.all(selectJoinedPackages).map(joinedPackageOf)
}
