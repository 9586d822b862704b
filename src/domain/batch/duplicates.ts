import type { Recipient } from '../../contract/request-body.ts'
import { personKey } from '../submission/identity.ts'

/** Words of a slot: three of a digest, so that no two people meet by chance, and the row. */
const slot = 4
const ofRow = 3

/**
 * Finds rows that order the same package for the same person (ordering protocol, "The same order twice").
 * Holds 64 bytes a row at most, whatever their length.
 */
export class Duplicates {
  #slots = new Uint32Array(slot * 16_384)
  #taken = 0
  readonly #key = new Uint32Array(ofRow)

  /** The row that was given before for the same; undefined for the first one, and for a row that names nobody. */
  firstOf(row: number, packageId: number | undefined, person: Recipient): number | undefined {
    const { first_name, last_name, email, phone } = person
    if (email === '' && phone === '' && first_name === '' && last_name === '') return undefined
    digest(packageId ?? 0, personKey(person), this.#key)
    if (this.#taken * slot * 2 > this.#slots.length) this.#grow()
    const at = place(this.#slots, this.#key, 0)
    const first = this.#slots[at + ofRow]
    if (first !== 0) return first
    copied(this.#key, 0, this.#slots, at)
    this.#slots[at + ofRow] = row
    this.#taken += 1
    return undefined
  }

  #grow(): void {
    const old = this.#slots
    const larger = new Uint32Array(old.length * 2)
    for (let at = 0; at < old.length; at += slot) {
      if (old[at + ofRow] === 0) continue
      const to = place(larger, old, at)
      copied(old, at, larger, to)
      larger[to + ofRow] = old[at + ofRow] ?? 0
    }
    this.#slots = larger
  }
}

/** A key, word by word: there are only three. */
function copied(from: Uint32Array, at: number, into: Uint32Array, to: number): void {
  for (let word = 0; word < ofRow; word += 1) into[to + word] = from[at + word] ?? 0
}

/** Where a key (at an offset of `keys`) is among the slots, or the free one where it belongs. */
function place(slots: Uint32Array, keys: Uint32Array, key: number): number {
  // There are as many slots as a power of two.
  const last = slots.length - 1
  for (let at = ((keys[key] ?? 0) * slot) & last; ; at = (at + slot) & last) {
    if (slots[at + ofRow] === 0) return at
    const same = slots[at] === keys[key] && slots[at + 1] === keys[key + 1] && slots[at + 2] === keys[key + 2]
    if (same) return at
  }
}

/** Ends each text; no text holds it, since it is no code unit. */
const end = 0x1_00_00

/**
 * 96 bits of an order by multiplication and mixing; no one gains by making two of them meet. The service is
 * no part of it: all rows of a file are ordered from one.
 */
function digest(packageId: number, texts: readonly string[], into: Uint32Array): void {
  let [a, b, c, d] = [packageId ^ 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f]
  for (const text of texts) {
    for (let at = 0; at <= text.length; at += 1) {
      const code = at === text.length ? end : text.charCodeAt(at)
      a = b ^ Math.imul(a ^ code, 0x239b961b)
      b = c ^ Math.imul(b ^ code, 0xab0e9789)
      c = d ^ Math.imul(c ^ code, 0x38b34ae5)
      d = a ^ Math.imul(d ^ code, 0xa1e38b93)
    }
  }
  for (let round = 0; round < 2; round += 1) {
    a = mixed(a ^ (b >>> 13))
    b = mixed(b ^ (c >>> 15))
    c = mixed(c ^ (d >>> 14))
    d = mixed(d ^ (a >>> 16))
  }
  into[0] = a
  into[1] = b
  into[2] = c ^ d
}

function mixed(word: number): number {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  return Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
}
