import { distance } from 'fastest-levenshtein'

import type { Recipient } from '../../contract/request.ts'
import { personKey } from './identity.ts'

/** What two people have in common. `name`: all of it. */
export type Shared = 'email' | 'phone' | 'name'

/** Whether two people may be one: the same to the letter, perhaps, or they only share a phone. */
type Similarity =
  | { kind: 'same' }
  /** Only a person can tell whether they are one or two. */
  | { kind: 'similar'; shares: Shared[] }
  /** As a couple or an office shares one; said, and nothing more. */
  | { kind: 'phone' }

const mark = /\p{M}/gu
const noLetter = /[^\p{L}\p{N}]/gu

/** A name with nothing left that is written now so, now otherwise: case, accents, apostrophes, spaces. */
export function foldedName(name: string): string {
  return name.normalize('NFKD').replace(mark, '').toLowerCase().replace(noLetter, '')
}

/** Longer than any name; comparing many of them letter by letter would take hours: they count as agreeing. */
const maxComparedLetters = 1000

/**
 * Whether two folded first names may be one person's: at most a third of the letters differ, where two neighbours that
 * changed places count as one. A name that is empty or only punctuation agrees with every other one.
 * `budget`: is charged where counting exactly costs more than a first comparison.
 */
export function agree(one: string, other: string, budget?: ComparingBudget): boolean {
  if (one === '' || other === '') return true
  const max = Math.max(one.length, other.length)
  // As many letters differ as one name is longer, at least.
  if (Math.abs(one.length - other.length) * 3 > max) return false
  if (max > maxComparedLetters) return true
  const maxDifferences = Math.floor(max / 3)
  const edits = distance(one, other)
  // A transposition is two edits.
  if (edits <= maxDifferences || edits > 2 * maxDifferences) return edits <= maxDifferences
  if (budget !== undefined) budget.left -= one.length * other.length
  return countDifferences(one, other) <= maxDifferences
}

/** Letters that were added, left out or replaced, and neighbours that changed places (optimal string alignment). */
function countDifferences(one: string, other: string): number {
  let before: number[] = []
  let above = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row += 1) {
    const counts = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const [letter, opposite] = [one[row - 1], other[column - 1]]
      const replaced = (above[column - 1] as number) + (letter === opposite ? 0 : 1)
      let count = Math.min(replaced, (above[column] as number) + 1, (counts[column - 1] as number) + 1)
      if (row > 1 && column > 1 && letter === other[column - 2] && one[row - 2] === opposite) {
        count = Math.min(count, (before[column - 2] as number) + 1)
      }
      counts.push(count)
    }
    before = above
    above = counts
  }
  return above[other.length] as number
}

/**
 * How alike two people are (src/docs/ordering.md, section 4): the same e-mail, or the same phone with first names that
 * agree or names swapped. Undefined where they have nothing in common that counts.
 */
export function similarity(one: Recipient, other: Recipient): Similarity | undefined {
  const [mine, theirs] = [partsOf(one), partsOf(other)]
  if (mine.key.every((part, at) => part === theirs.key[at])) return { kind: 'same' }
  const email = mine.key[2] === theirs.key[2] && mine.key[2] !== ''
  const phone = mine.key[3] === theirs.key[3] && mine.key[3] !== ''
  if (!email && !phone) return undefined
  const { first, last } = mine
  const { first: theirFirst, last: theirLast } = theirs
  const swapped = first === theirLast && last === theirFirst
  const name = swapped || (first === theirFirst && last === theirLast)
  if (!email && !swapped && !agree(first, theirFirst)) return { kind: 'phone' }
  const shares: Shared[] = []
  if (email) shares.push('email')
  if (phone) shares.push('phone')
  if (name) shares.push('name')
  return { kind: 'similar', shares }
}

interface Parts {
  key: readonly string[]
  first: string
  last: string
}

/** An office's phone is compared with everybody who has it. */
const parts = new WeakMap<Recipient, Parts>()

function partsOf(person: Recipient): Parts {
  const known = parts.get(person)
  if (known !== undefined) return known
  const made = {
    key: personKey(person),
    first: foldedName(person.first_name),
    last: foldedName(person.last_name),
  }
  parts.set(person, made)
  return made
}

/** What comparing the names of one file may cost, about a nanosecond each: a few seconds. */
export const maxComparing = 500_000_000

/** What is left to spend on comparing names; shared by all phones of a file. */
export interface ComparingBudget {
  left: number
}

interface FoundByPhone {
  /** Positions, in ascending order. */
  positions: number[]
  /** There was nothing left to compare every name with: people whom the person may be similar to. */
  uncompared: number[]
}

/**
 * The people who have one phone, by position, found by their first names: comparing each with all others would be
 * quadratic. Finds all people whom `likeness` may find similar, and of each kind at least one of the others, to be
 * mentioned; once the budget is spent, no person counts as compared.
 */
export class PhoneSharers {
  readonly #budget: ComparingBudget
  /** By folded first name. */
  readonly #byName = new Map<string, number[]>()
  /** The same names, with their lengths and letters: what two names differ in is seldom worth counting exactly. */
  readonly #names: string[] = []
  readonly #lengths: number[] = []
  readonly #letters: number[] = []
  /** People whose names were erased, and of each kind the first two of different names. */
  readonly #always: number[] = []
  readonly #kinds = new Map<string, { name: string; isOnly: boolean }>()

  constructor(budget: ComparingBudget) {
    this.#budget = budget
  }

  /** `kind`: what else has to be the same for two people to be compared, such as the package. */
  add(position: number, person: Recipient | undefined, kind: string): void {
    if (person === undefined) {
      this.#always.push(position)
      return
    }
    const name = foldedName(person.first_name)
    const known = this.#kinds.get(kind)
    if (known === undefined) this.#kinds.set(kind, { name, isOnly: true })
    if (known === undefined || (known.isOnly && known.name !== name)) this.#always.push(position)
    if (known !== undefined && known.name !== name) known.isOnly = false
    const others = this.#byName.get(name)
    if (others !== undefined) {
      others.push(position)
      return
    }
    this.#byName.set(name, [position])
    this.#names.push(name)
    this.#lengths.push(name.length)
    this.#letters.push(lettersOf(name))
  }

  find(person: Recipient): FoundByPhone {
    const first = foldedName(person.first_name)
    const names = new Set([first, foldedName(person.last_name), ''])
    const isCompared = this.#addSimilar(first, names)
    const found = new Set(this.#always)
    for (const name of names) for (const position of this.#byName.get(name) ?? []) found.add(position)
    return {
      positions: [...found].sort((a, b) => a - b),
      uncompared: isCompared ? [] : this.#always,
    }
  }

  /** Adds the names that agree with one; false where the budget does not last. */
  #addSimilar(name: string, similar: Set<string>): boolean {
    const budget = this.#budget
    // A name without a letter agrees with every other one.
    budget.left -= this.#names.length * (name === '' ? 20 : 1)
    if (budget.left < 0) return false
    if (name === '') {
      for (const each of this.#names) similar.add(each)
      return true
    }
    const [length, letters] = [name.length, lettersOf(name)]
    for (let at = 0; at < this.#names.length; at += 1) {
      const otherLength = this.#lengths[at] as number
      const max = Math.floor(Math.max(length, otherLength) / 3)
      if (Math.abs(length - otherLength) > max) continue
      const otherLetters = this.#letters[at] as number
      // Each letter that one has and the other lacks takes a change of its own.
      if (countBits(letters & ~otherLetters) > max || countBits(otherLetters & ~letters) > max) continue
      // Letters are compared 32 at a time; for a name of more than 32, each step costs about ten times as much.
      budget.left -= 20 + Math.ceil(length / 32) * otherLength * (length > 32 ? 10 : 1)
      if (budget.left < 0) return false
      const other = this.#names[at] as string
      if (agree(name, other, budget)) similar.add(other)
      if (budget.left < 0) return false
    }
    return true
  }
}

/** Which letters a name has, a bit for each or for several. */
function lettersOf(name: string): number {
  let letters = 0
  for (let at = 0; at < name.length; at += 1) letters |= 1 << (name.charCodeAt(at) & 31)
  return letters
}

function countBits(bits: number): number {
  let rest = bits - ((bits >>> 1) & 0x55_55_55_55)
  rest = (rest & 0x33_33_33_33) + ((rest >>> 2) & 0x33_33_33_33)
  return Math.imul((rest + (rest >>> 4)) & 0x0f_0f_0f_0f, 0x01_01_01_01) >>> 24
}
