import type { Recipient } from '../../contract/request-body.ts'
import { personKey } from '../submission/identity.ts'

/** Finds rows that order the same package for the same person (ordering protocol, "The same order twice"). */
export class Duplicates {
  readonly #kept = new KeptKeys()
  /** By a number made of the key, or one after it where another key has that already: where the key is kept. */
  readonly #places = new Map<number, number>()

  /** The row that was given before for the same; undefined for the first one, and for a row that names nobody. */
  firstOf(row: number, packageId: number | undefined, person: Recipient): number | undefined {
    const { first_name, last_name, email, phone } = person
    if (email === '' && phone === '' && first_name === '' && last_name === '') return undefined
    // No part of a person's key holds white space, so a line end tells parts apart.
    const key = [String(packageId ?? 0), ...personKey(person)]
    for (let number = numberOf(key); ; number = (number + 1) | 0) {
      const place = this.#places.get(number)
      if (place === undefined) {
        this.#places.set(number, this.#kept.add(key, row))
        return undefined
      }
      const found = this.#kept.rowOf(place, key)
      if (found !== undefined) return found
    }
  }
}

const lineEnd = 10

/** FNV-1a of the units: the same for the same key, seldom for another. */
function numberOf(key: readonly string[]): number {
  let number = 0x81_1c_9d_c5 | 0
  for (const part of key) {
    for (let at = 0; at < part.length; at += 1) {
      number = Math.imul(number ^ part.charCodeAt(at), 0x01_00_01_93)
    }
    number = Math.imul(number ^ lineEnd, 0x01_00_01_93)
  }
  return number
}

const pageUnits = 128 * 1024

/** Keys with their rows, end to end and outside the heap: as strings they would take several times the memory. */
class KeptKeys {
  /** Of each key: its row, as two units, and the units of its parts, a line end after each. */
  readonly #pages: Uint16Array[] = []
  #taken = pageUnits

  /** The place it got. */
  add(key: readonly string[], row: number): number {
    const units = key.reduce((sum, part) => sum + part.length + 1, 2)
    if (this.#taken + units > pageUnits) {
      this.#pages.push(new Uint16Array(Math.max(pageUnits, units)))
      this.#taken = 0
    }
    const start = this.#taken
    const page = this.#pages.at(-1) ?? new Uint16Array()
    page[start] = row >>> 16
    page[start + 1] = row & 0xff_ff
    let unit = start + 2
    for (const part of key) {
      for (let at = 0; at < part.length; at += 1) page[unit + at] = part.charCodeAt(at)
      page[unit + part.length] = lineEnd
      unit += part.length + 1
    }
    this.#taken = unit
    return (this.#pages.length - 1) * pageUnits + start
  }

  /** The row of what is kept there; undefined where it is another key. */
  rowOf(place: number, key: readonly string[]): number | undefined {
    const page = this.#pages[Math.floor(place / pageUnits)] ?? new Uint16Array()
    const start = place % pageUnits
    let unit = start + 2
    for (const part of key) {
      for (let at = 0; at < part.length; at += 1)
        if (page[unit + at] !== part.charCodeAt(at)) return undefined
      if (page[unit + part.length] !== lineEnd) return undefined
      unit += part.length + 1
    }
    return (page[start] ?? 0) * 0x1_00_00 + (page[start + 1] ?? 0)
  }
}
