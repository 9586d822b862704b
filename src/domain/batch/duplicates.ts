import type { Recipient } from '../../contract/request-body.ts'
import { orderIdentity } from '../request/identity.ts'

/** Any service will do: all rows of a file are ordered from one. */
const anywhere = 'https://service'

/** Words of a slot: four of a digest, so that no two people meet by chance, and the row. */
const slot = 5

/**
 * Finds rows that order the same package for the same person (ordering protocol, "The same order twice").
 * Holds 40 bytes a row at most, whatever their length.
 */
export class Duplicates {
  #slots = new Uint32Array(slot * 4096)
  #taken = 0
  readonly #key = new Uint32Array(4)

  /** The row that was given before for the same; undefined for the first one, and for a row that names nobody. */
  firstOf(row: number, packageId: number | undefined, person: Recipient): number | undefined {
    const { first_name, last_name, email, phone } = person
    if (email === '' && phone === '' && first_name === '' && last_name === '') return undefined
    digest(orderIdentity(anywhere, packageId ?? 0, person), this.#key)
    if (this.#taken * slot * 2 > this.#slots.length) this.#grow()
    const at = place(this.#slots, this.#key, 0)
    const first = this.#slots[at + 4]
    if (first !== 0) return first
    this.#slots.set(this.#key, at)
    this.#slots[at + 4] = row
    this.#taken += 1
    return undefined
  }

  #grow(): void {
    const old = this.#slots
    const larger = new Uint32Array(old.length * 2)
    for (let at = 0; at < old.length; at += slot) {
      if (old[at + 4] === 0) continue
      larger.set(old.subarray(at, at + slot), place(larger, old, at))
    }
    this.#slots = larger
  }
}

/** Where a key (at an offset of `keys`) is among the slots, or the free one where it belongs. */
function place(slots: Uint32Array, keys: Uint32Array, key: number): number {
  const count = slots.length / slot
  for (let number = (keys[key] ?? 0) % count; ; number = (number + 1) % count) {
    const at = number * slot
    if (slots[at + 4] === 0) return at
    if (
      slots[at] === keys[key] &&
      slots[at + 1] === keys[key + 1] &&
      slots[at + 2] === keys[key + 2] &&
      slots[at + 3] === keys[key + 3]
    ) {
      return at
    }
  }
}

/** 128 bits of a text by multiplication and mixing; no one gains by making two of them meet. */
function digest(text: string, into: Uint32Array): void {
  let [a, b, c, d] = [0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f]
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    a = b ^ Math.imul(a ^ code, 0x239b961b)
    b = c ^ Math.imul(b ^ code, 0xab0e9789)
    c = d ^ Math.imul(c ^ code, 0x38b34ae5)
    d = a ^ Math.imul(d ^ code, 0xa1e38b93)
  }
  for (let round = 0; round < 2; round += 1) {
    a = mixed(a ^ (b >>> 13))
    b = mixed(b ^ (c >>> 15))
    c = mixed(c ^ (d >>> 14))
    d = mixed(d ^ (a >>> 16))
  }
  into[0] = a
  into[1] = b
  into[2] = c
  into[3] = d
}

function mixed(word: number): number {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  return Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
}
