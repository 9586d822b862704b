import { createHash } from 'node:crypto'

import type { Recipient } from '../../contract/request-body.ts'
import { personKey } from '../submission/identity.ts'

/** Finds rows that order the same package for the same person (ordering protocol, section 4). */
export class Duplicates {
  readonly #firstRows = new Map<string, number>()

  /** The row that was given before for the same; undefined for the first one, and for a row that names nobody. */
  firstOf(row: number, packageId: number | undefined, person: Recipient): number | undefined {
    const { first_name, last_name, email, phone } = person
    if (email === '' && phone === '' && first_name === '' && last_name === '') return undefined
    // 43 characters, however long the names are.
    const named = JSON.stringify([packageId ?? 0, ...personKey(person)])
    const key = createHash('sha256').update(named).digest('base64url')
    const first = this.#firstRows.get(key)
    if (first === undefined) this.#firstRows.set(key, row)
    return first
  }
}
