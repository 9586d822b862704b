import { refuseImpossible } from '../../domain/submission/change.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import {
  type JoinedPackage,
  type JoinedServices,
  relationsOf,
} from '../../domain/submission/joined-packages.ts'
import {
  type Candidate,
  type Compared,
  firstToTell,
  type KnownRelations,
  type Stop,
  stopsOf,
} from '../../domain/submission/match.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { RowVersion } from '../../domain/submission/submission.ts'
import { damagedStore } from './damage.ts'
import { all, type Dialect, get, run, type Work } from './engine.ts'
import { areOwnPrints, type PersonPrints, personPrints, type StoreKey } from './fingerprints.ts'
import {
  candidateOf,
  joinedPackageOf,
  joinedServicesOf,
  matchColumns,
  storedRowOf,
  type StoredRow,
  type ToCompare,
} from './match-rows.ts'
import {
  clearConflict,
  insertRelease,
  matchingStatements,
  selectJoinedPackages,
  selectJoinedServices,
  selectReleases,
  updateConflict,
} from './matching-statements.ts'

/** States of a row that is compared again. */
type ComparedAgain = 'held' | 'duplicate' | 'rejected'

type Key = Pick<RowVersion, 'batchId' | 'row'>

export interface LockedRow extends StoredRow {
  /** Where the database has it, for as long as the transaction that locked it lasts. */
  place: unknown
}

interface Shared {
  shared: 0 | 1
  damaged: string | null
}

interface Relations {
  services: JoinedServices[]
  packages: JoinedPackage[]
}

/**
 * Conflict detection of one transaction. What it finds binds only in a transaction that locked the account
 * (ordering protocol, "Conflict detection").
 */
export class Matching {
  readonly #key: StoreKey
  readonly #dialect: Dialect
  readonly #statements: ReturnType<typeof matchingStatements>
  #relations: Relations | undefined

  constructor(key: StoreKey, dialect: Dialect) {
    this.#key = key
    this.#dialect = dialect
    this.#statements = matchingStatements(dialect)
  }

  /** A row of the store, which no other transaction changes meanwhile; undefined where it is none that can be sent. */
  *lockRow({ batchId, row }: Key): Work<LockedRow | undefined> {
    return lockedRowOf(yield* get(this.#statements.lockRow, { batch_id: batchId, row_number: row }))
  }

  /** The first pending row of a batch that no other runner is about to send. */
  *lockNextRow(batchId: string): Work<LockedRow | undefined> {
    return lockedRowOf(yield* get(this.#statements.lockNext, { batch_id: batchId }))
  }

  *findConflict(row: ToCompare): Work<Stop | undefined> {
    return firstToTell(yield* this.findConflicts(row))
  }

  /** All of its conflicts, in no order. Throws where a row is damaged. */
  *findConflicts(row: ToCompare): Work<Stop[]> {
    const { damaged, stops } = yield* this.findConflictsOrDamage(row)
    if (damaged !== undefined) throw damagedStore(this.#key.location, damaged)
    return stops
  }

  /** The same, or a row (this one, or one of the same e-mail) whose fingerprints are not its person's, who would be new. */
  *findConflictsOrDamage(row: ToCompare): Work<{ damaged?: Key | undefined; stops: Stop[] }> {
    const { damaged, candidates } = yield* this.#findCandidates(row)
    if (damaged !== undefined) return { damaged, stops: [] }
    if (candidates.length === 0 && (row.witnesses ?? []).length === 0) return { stops: [] }
    return { stops: stopsOf(row, candidates, row.allowed, yield* this.readRelationsOfRow(row)) }
  }

  /** Candidates of many rows that are not in the store yet, by their own fingerprints. */
  *findCandidatesOfMany(
    rows: readonly (Compared & { prints: PersonPrints })[],
    account: string,
  ): Work<(row: Compared & { prints: PersonPrints }) => Candidate[]> {
    const { list } = this.#dialect
    const found = yield* all<Record<keyof PersonPrints, string | null>>(
      this.#statements.selectCandidatesOfMany,
      {
        persons: list(rows.map(({ prints }) => prints.person_print)),
        emails: list(rows.map(({ prints }) => prints.email_print)),
        phones: list(rows.map(({ prints }) => prints.phone_print)),
        account,
      },
    )
    const byPrint = new Map<string, number[]>()
    for (const [at, each] of found.entries()) {
      for (const print of [each.person_print, each.email_print, each.phone_print]) {
        if (print === null) continue
        const others = byPrint.get(print)
        if (others === undefined) byPrint.set(print, [at])
        else others.push(at)
      }
    }
    return (row) => {
      const prints = Object.values(row.prints) as string[]
      const own = [...new Set(prints.flatMap((print) => byPrint.get(print) ?? []))].sort((a, b) => a - b)
      return own.map((at) => candidateOf(found[at], row.prints))
    }
  }

  *readRelationsOfRow({
    baseUrl,
    packageId,
    batchId,
    row,
  }: Pick<Compared, 'baseUrl' | 'packageId' | 'batchId' | 'row'>): Work<KnownRelations> {
    const { services, packages } = yield* this.readRelations()
    const key = { batch_id: batchId, row_number: row }
    const releases = yield* all<{ batch: string; number: number }>(selectReleases, key)
    const released = new Set(releases.map((each) => `${each.batch} ${each.number}`))
    return {
      ...relationsOf({ service: serviceOf(baseUrl), packageId }, services, packages),
      released: (order) => released.has(`${order.batchId} ${order.row}`),
    }
  }

  /** Known relations of services and packages. */
  *readRelations(): Work<Relations> {
    this.#relations ??= {
      services: (yield* all(selectJoinedServices)).map(joinedServicesOf),
      packages: (yield* all(selectJoinedPackages)).map(joinedPackageOf),
    }
    return this.#relations
  }

  /** Compares a row that waits; answers its state from then on. A row that is not as `from` says is left alone. */
  *compareAgain(key: Key, from: ComparedAgain, at: number): Work<SubmissionState> {
    const compared = yield* this.lockRow(key)
    const stop = compared && (yield* this.findConflict(compared))
    if (stop !== undefined) {
      return (yield* this.recordConflict(key, from, stop, at)) ? stop.becomes : from
    }
    refuseImpossible(from, 'pending', from === 'rejected' ? 'retry' : 'comparing')
    const values = { batch_id: key.batchId, row_number: key.row, from, at }
    return (yield* run(clearConflict, values)) === 1 ? 'pending' : from
  }

  /** Records a row's conflict; whether the row changed. */
  *recordConflict(
    { batchId, row }: Key,
    from: ComparedAgain | 'pending',
    stop: Stop,
    at: number,
  ): Work<boolean> {
    if (from !== stop.becomes) {
      refuseImpossible(from, stop.becomes, from === 'rejected' ? 'retry' : 'comparing')
    }
    const key = { batch_id: batchId, row_number: row }
    const values = { ...key, from, state: stop.becomes, at, ...matchColumns(stop) }
    return (yield* run(updateConflict, values)) === 1
  }

  /** A person said of a row and of each of these that they are two people. */
  *recordReleases({ batchId, row }: Key, others: readonly Key[], by: { at: number; by: string }): Work<void> {
    for (const other of others) {
      const pair = { batch_id: batchId, row_number: row, other_batch: other.batchId, other_row: other.row }
      yield* run(insertRelease, { ...pair, ...by })
    }
  }

  /** Every order that shares the person, the e-mail or the phone, in any package and at any service. */
  *#findCandidates(row: ToCompare): Work<{ damaged?: Key | undefined; candidates: Candidate[] }> {
    const { recipient, batchId, kind, allowed, account } = row
    const own = recipient && personPrints(this.#key.fingerprint, recipient)
    if (own !== undefined && !areOwnPrints(row.prints, own)) return { damaged: row, candidates: [] }
    const prints = row.prints ?? own
    if (prints === undefined) return { candidates: [] }
    const key = { batch_id: batchId, row_number: row.row }
    const values = { ...prints, ...key, email: recipient?.email ?? null }
    const { shared, damaged } = (yield* get(this.#statements.selectWhetherShared, values)) as Shared
    if (damaged !== null) {
      const [number, damagedBatch = ''] = damaged.split(' ')
      return { damaged: { batchId: damagedBatch, row: Number(number) }, candidates: [] }
    }
    if (shared === 0) return { candidates: [] }
    const found = yield* all(this.#statements.selectCandidates, {
      ...prints,
      ...key,
      account,
      // What a file's own rows share is allowed as a whole, but past no unknown one: there may be thousands of them.
      skip_own: kind === 'file' && allowed.similar ? 1 : 0,
    })
    return { candidates: found.map((each) => candidateOf(each, prints)) }
  }
}

function lockedRowOf(found: unknown): LockedRow | undefined {
  const row = storedRowOf(found)
  return row && { ...row, place: (found as LockedRow).place }
}
