import type { NewFileBatch, NewRow } from '../../domain/batch/batch.ts'
import type { Candidate } from '../../domain/submission/conflicts.ts'
import { type ComparingBudget, maxComparing, PhoneSharers } from '../../domain/submission/similarity.ts'
import { all, type Dialect, type Work } from './engine.ts'
import { type PersonPrints, personPrints, type StoreKey } from './fingerprints.ts'
import { matchingStatements, type SelectedOrder, storedOrderOf } from './matching.ts'
import {
  candidateOf,
  type SelectedUnmatched,
  type StoredOrder,
  unmatchedOrders,
  unmatchedStatements,
} from './unmatched-requests.ts'

/** From so many orders of one phone on, they are selected once for the file, and found by their names. */
const minCrowd = 50

/** Orders of one phone. */
interface Crowd {
  orders: StoredOrder[]
  sharers: PhoneSharers
}

/** Orders of the store that share the person, the e-mail or the phone with rows of a file that is not in it yet. */
export class StoredCandidates {
  readonly #key: StoreKey
  readonly #dialect: Dialect
  readonly #batch: Pick<NewFileBatch, 'id' | 'account'>
  readonly #crowds = new Map<string, Crowd>()
  readonly #budget: ComparingBudget = { left: maxComparing }

  constructor(key: StoreKey, dialect: Dialect, batch: Pick<NewFileBatch, 'id' | 'account'>) {
    this.#key = key
    this.#dialect = dialect
    this.#batch = batch
  }

  /** Those of some rows, by their own fingerprints. */
  *ofPage(rows: readonly NewRow[]): Work<(row: NewRow) => Candidate[]> {
    const prints = new Map<NewRow, PersonPrints>()
    for (const row of rows) {
      if (row.state === 'pending') prints.set(row, personPrints(this.#key.fingerprint, row.recipient))
    }
    const found = yield* this.#select([...prints.values()])
    const byPrint = positionsByPrint(found)
    for (const { phonePrint: phone } of prints.values()) {
      const positions = byPrint.get(phone)
      if (positions === undefined || positions.length < minCrowd || this.#crowds.has(phone)) continue
      this.#gatherCrowd(
        phone,
        positions.map((position) => found[position] as StoredOrder),
      )
    }
    return (row) => {
      const own = prints.get(row)
      if (own === undefined || row.state !== 'pending') return []
      const crowd = this.#crowds.get(own.phonePrint)
      const names = crowd?.sharers.find(row.recipient)
      const positions = [own.personPrint, own.emailPrint, ...(crowd === undefined ? [own.phonePrint] : [])]
        .flatMap((print) => byPrint.get(print) ?? [])
        .sort((a, b) => a - b)
      const inCrowd = (position: number): StoredOrder => crowd?.orders[position] as StoredOrder
      const orders = [
        ...positions.map((position) => found[position] as StoredOrder),
        ...(names?.positions ?? []).map(inCrowd),
      ]
      const distinct = new Map(orders.map((each) => [`${each.order.batchId} ${each.order.row}`, each]))
      return [
        ...[...distinct.values()].map((each) => candidateOf(each, own)),
        ...(names?.uncompared ?? []).map((position) => candidateOf(inCrowd(position), own, true)),
      ]
    }
  }

  #gatherCrowd(phone: string, orders: StoredOrder[]): void {
    const sharers = new PhoneSharers(this.#budget)
    for (const [position, { order }] of orders.entries()) {
      sharers.add(position, order.recipient, `${String(order.packageId)} ${order.baseUrl}`)
    }
    this.#crowds.set(phone, { orders, sharers })
  }

  *#select(prints: readonly PersonPrints[]): Work<StoredOrder[]> {
    const { list } = this.#dialect
    const phones = prints.map(({ phonePrint }) => phonePrint).filter((phone) => !this.#crowds.has(phone))
    const values = {
      persons: list(prints.map(({ personPrint }) => personPrint)),
      emails: list(prints.map(({ emailPrint }) => emailPrint)),
      phones: list([...new Set(phones)]),
      account: this.#batch.account ?? '',
      batchId: this.#batch.id,
    }
    const { selectCandidatesOfMany } = matchingStatements(this.#dialect)
    const { selectUnmatchedOfMany } = unmatchedStatements(this.#dialect)
    const found = yield* all<SelectedOrder>(selectCandidatesOfMany, values)
    const requests = yield* all<SelectedUnmatched>(selectUnmatchedOfMany, values)
    return [...found.map(storedOrderOf), ...unmatchedOrders(requests)]
  }
}

function positionsByPrint(orders: readonly StoredOrder[]): ReadonlyMap<string, number[]> {
  const positions = new Map<string, number[]>()
  for (const [position, { prints }] of orders.entries()) {
    for (const print of Object.values(prints)) {
      if (print === undefined) continue
      const others = positions.get(print)
      if (others === undefined) positions.set(print, [position])
      else others.push(position)
    }
  }
  return positions
}
