import type { Sql } from './connection.ts'
import { refuseImpossible } from '../../../domain/submission/change.ts'
import { firstFormIdentity, serviceOf } from '../../../domain/submission/identity.ts'
import {
  type JoinedPackage,
  type JoinedServices,
  relationsOf,
} from '../../../domain/submission/joined-packages.ts'
import {
  type Candidate,
  type Compared,
  firstToTell,
  type KnownRelations,
  type Stop,
  stopsOf,
} from '../../../domain/submission/match.ts'
import type { SubmissionState } from '../../../domain/submission/states.ts'
import type { RowVersion } from '../../../domain/submission/submission.ts'
import { damagedStore } from '../damage.ts'
import { areOwnPrints, type Fingerprint, type PersonPrints, personPrints } from '../fingerprints.ts'
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
  insertRelease,
  lockNext,
  lockRow,
  putMatch,
  selectBeside,
  selectCandidates,
  selectCandidatesOfMany,
  selectFirstForm,
  selectJoinedPackages,
  selectJoinedServices,
  selectReleases,
  selectWhetherFirstForm,
} from './matching-statements.ts'
import type { Keyed } from './keyed.ts'

/** States of a row that is compared again. */
export type Waiting = 'held' | 'duplicate' | 'rejected'

export interface LockedRow extends StoredRow {
  /** Where the server has it, for as long as the transaction that locked it lasts. */
  place: string
}

interface Beside {
  shared: 0 | 1
  first_form: 0 | 1
  damaged_batch: string | null
  damaged_row: number | null
}

type Key = Pick<RowVersion, 'batchId' | 'row'>

/** Looks for what stands in a row's way. Of one transaction, whose account is locked, or it binds nothing. */
export class Matching {
  readonly #sql: Sql
  readonly #location: string
  readonly #fingerprint: Fingerprint
  #relations: Promise<{ services: JoinedServices[]; packages: JoinedPackage[] }> | undefined

  constructor(sql: Sql, { location, fingerprint }: Keyed) {
    this.#sql = sql
    this.#location = location
    this.#fingerprint = fingerprint
  }

  /** A row of the store, which nobody else changes meanwhile; undefined where it is none that can be sent. */
  async lock({ batchId, row }: Key): Promise<LockedRow | undefined> {
    return lockedRowOf(await this.#sql.get(lockRow, { batch_id: batchId, row_number: row }))
  }

  /** The first pending row of a batch that nobody else is about to send. */
  async lockNext(batchId: string): Promise<LockedRow | undefined> {
    return lockedRowOf(await this.#sql.get(lockNext, { batch_id: batchId }))
  }

  async stopOf(row: ToCompare): Promise<Stop | undefined> {
    return firstToTell(await this.stopsOf(row))
  }

  /** Everything that stands in its way, in no order. */
  async stopsOf(row: ToCompare): Promise<Stop[]> {
    const { damaged, stops } = await this.look(row)
    if (damaged !== undefined) throw damagedStore(this.#location, damaged)
    return stops
  }

  /** The same, or a row (this one, or one of the same e-mail) whose fingerprints are not its person's, who would be new. */
  async look(row: ToCompare): Promise<{ damaged?: Key | undefined; stops: Stop[] }> {
    const { damaged, candidates } = await this.#beside(row)
    if (damaged !== undefined) return { damaged, stops: [] }
    if (candidates.length === 0 && (row.witnesses ?? []).length === 0) return { stops: [] }
    return { stops: stopsOf(row, candidates, row.allowed, await this.kin(row)) }
  }

  /** For many rows that are not in the store yet, by their own fingerprints. */
  async candidatesOfMany(
    rows: readonly (Compared & { prints: PersonPrints })[],
    account: string,
  ): Promise<(row: Compared & { prints: PersonPrints }) => Candidate[]> {
    const found = await this.#sql.all(selectCandidatesOfMany, {
      persons: rows.map(({ prints }) => prints.person_print),
      emails: rows.map(({ prints }) => prints.email_print),
      phones: rows.map(({ prints }) => prints.phone_print),
      account,
    })
    const by = new Map<string, unknown[]>()
    for (const each of found) {
      const { person_print, email_print, phone_print } = each as Record<keyof PersonPrints, string | null>
      for (const print of [person_print, email_print, phone_print]) {
        if (print !== null) by.set(print, [...(by.get(print) ?? []), each])
      }
    }
    const forgotten = await this.#forgottenOfMany(rows)
    return (row) => {
      const { person_print, email_print, phone_print } = row.prints
      const own = new Set([person_print, email_print, phone_print].flatMap((print) => by.get(print) ?? []))
      return [...[...own].map((each) => candidateOf(each, row.prints)), ...(forgotten.get(row.row) ?? [])]
    }
  }

  async kin({
    baseUrl,
    packageId,
    batchId,
    row,
  }: Pick<Compared, 'baseUrl' | 'packageId' | 'batchId' | 'row'>): Promise<KnownRelations> {
    const { services, packages } = await this.relations()
    const released = new Set(
      (
        (await this.#sql.all(selectReleases, { batch_id: batchId, row_number: row })) as {
          batch: string
          number: number
        }[]
      ).map((each) => `${each.batch} ${each.number}`),
    )
    return {
      ...relationsOf({ service: serviceOf(baseUrl), packageId }, services, packages),
      released: (order) => released.has(`${order.batchId} ${order.row}`),
    }
  }

  /** What was said of services and packages. */
  relations(): Promise<{ services: JoinedServices[]; packages: JoinedPackage[] }> {
    this.#relations ??= readRelations(this.#sql)
    return this.#relations
  }

  /** Compares a row that waits; what it is from then on. A row that nobody holds as `from` says is left alone. */
  async settle(key: Key, from: Waiting, at: number): Promise<SubmissionState> {
    const compared = await this.lock(key)
    const stop = compared && (await this.stopOf(compared))
    if (stop !== undefined) return (await this.stopRow(key, from, stop, at)) ? stop.becomes : from
    refuseImpossible(from, 'pending', from === 'rejected' ? 'retry' : 'comparing')
    const values = { batch_id: key.batchId, row_number: key.row, from, at }
    return (await this.#sql.run(deleteMatch, values)) === 1 ? 'pending' : from
  }

  /** Writes down what stands in a row's way; whether the row changed. */
  async stopRow({ batchId, row }: Key, from: Waiting | 'pending', stop: Stop, at: number): Promise<boolean> {
    if (from !== stop.becomes) {
      refuseImpossible(from, stop.becomes, from === 'rejected' ? 'retry' : 'comparing')
    }
    const key = { batch_id: batchId, row_number: row }
    const values = { ...key, from, state: stop.becomes, at, ...matchColumns(stop) }
    return (await this.#sql.run(putMatch, values)) === 1
  }

  /** Somebody said of a row and of each of these that they are two people. */
  async release(
    { batchId, row }: Key,
    others: readonly Key[],
    by: { at: number; by: string },
  ): Promise<void> {
    for (const other of others) {
      const pair = { batch_id: batchId, row_number: row, other_batch: other.batchId, other_row: other.row }
      await this.#sql.run(insertRelease, { ...pair, ...by })
    }
  }

  /** Every order that shares the person, the e-mail or the phone, in any package and at any service. */
  async #beside(row: ToCompare): Promise<{ damaged: Key | undefined; candidates: Candidate[] }> {
    const { recipient, batchId, kind, allowed, account } = row
    const own = recipient && personPrints(this.#fingerprint, recipient)
    if (own !== undefined && !areOwnPrints(row.prints, own)) return { damaged: row, candidates: [] }
    const prints = row.prints ?? own
    if (prints === undefined) return { damaged: undefined, candidates: [] }
    const key = { batch_id: batchId, row_number: row.row }
    const beside = (await this.#sql.get(selectBeside, {
      ...prints,
      ...key,
      email: recipient?.email ?? null,
    })) as Beside
    const { damaged_batch, damaged_row } = beside
    if (damaged_batch !== null && damaged_row !== null) {
      return { damaged: { batchId: damaged_batch, row: damaged_row }, candidates: [] }
    }
    const forgotten = beside.first_form === 1 ? await this.#forgottenByFirst(row) : []
    if (beside.shared === 0) return { damaged: undefined, candidates: forgotten }
    const found = await this.#sql.all(selectCandidates, {
      ...prints,
      ...key,
      account,
      // What a file's own rows share is allowed as a whole, but past no unknown one: there may be thousands of them.
      skip_own: kind === 'file' && allowed.similar,
    })
    return {
      damaged: undefined,
      candidates: [...found.map((each) => candidateOf(each, prints)), ...forgotten],
    }
  }

  /** People whom 0.1.0 forgot are known by its own form alone, package by package. */
  async #forgottenByFirst(row: Compared): Promise<Candidate[]> {
    const found = await this.#sql.all(selectFirstForm, { forms: await this.#firstForms(row) })
    return found.map(firstFormCandidate)
  }

  async #forgottenOfMany(rows: readonly Compared[]): Promise<Map<number, Candidate[]>> {
    const { found } = (await this.#sql.get(selectWhetherFirstForm)) as { found: boolean }
    const byRow = new Map<number, Candidate[]>()
    if (!found) return byRow
    for (const row of rows) byRow.set(row.row, await this.#forgottenByFirst(row))
    return byRow
  }

  async #firstForms(row: Compared): Promise<string[]> {
    const { recipient, baseUrl, packageId } = row
    if (recipient === undefined) return []
    const { joined, predecessors } = await this.kin(row)
    return [...new Set([packageId, ...joined, ...predecessors])].map((id) =>
      this.#fingerprint(firstFormIdentity(baseUrl, id, recipient)),
    )
  }
}

async function readRelations(sql: Sql) {
  return {
    services: (await sql.all(selectJoinedServices)).map(joinedServicesOf),
    packages: (await sql.all(selectJoinedPackages)).map(joinedPackageOf),
  }
}

function lockedRowOf(found: unknown): LockedRow | undefined {
  const row = storedRowOf(found)
  return row && { ...row, place: (found as LockedRow).place }
}
