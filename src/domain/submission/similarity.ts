import { distance } from 'fastest-levenshtein'

import type { Recipient } from '../../contract/request.ts'
import { personKey } from './identity.ts'

/** A value that two people have in common. `name`: the full name. */
export type SharedDetail = 'email' | 'phone' | 'name'

/**
 * How similar two people are: the same person after normalisation, possibly the same, or only with the same phone.
 */
type Similarity =
  | { kind: 'same' }
  /** Only a user can tell whether they are the same person. */
  | { kind: 'similar'; shares: SharedDetail[] }
  /** Partners or colleagues may share a phone. The order is only mentioned. */
  | { kind: 'phone' }

const combiningMark = /\p{M}/gu
const notLetterOrDigit = /[^\p{L}\p{N}]/gu

/** Returns a name without the differences that spellings of one name have: case, accents, apostrophes, spaces. */
export function foldedName(name: string): string {
  return name.normalize('NFKD').replace(combiningMark, '').toLowerCase().replace(notLetterOrDigit, '')
}

/**
 * Maximum length of names that are compared letter by letter. Comparing many longer names would take hours,
 * so they count as agreeing.
 */
const maxComparedLetters = 1000

/**
 * Returns whether two folded first names may belong to one person: at most a third of the letters differ, where two
 * exchanged neighbours count as one letter. A name that is empty or only punctuation agrees with every other name.
 * `budget`: is charged if counting exactly costs more than the first comparison.
 */
export function doNamesAgree(one: string, other: string, budget?: ComparingBudget): boolean {
  if (one === '' || other === '') return true
  const maxLength = Math.max(one.length, other.length)
  // At least as many letters differ as one name is longer than the other.
  if (Math.abs(one.length - other.length) * 3 > maxLength) return false
  if (maxLength > maxComparedLetters) return true
  const maxDifferences = Math.floor(maxLength / 3)
  const edits = distance(one, other)
  // `distance` counts exchanged neighbours as two edits.
  if (edits <= maxDifferences || edits > 2 * maxDifferences) return edits <= maxDifferences
  if (budget !== undefined) budget.remainingCost -= one.length * other.length
  return countDifferences(one, other) <= maxDifferences
}

/** Counts the letters that were added, left out or replaced, and exchanged neighbours (optimal string alignment). */
function countDifferences(first: string, second: string): number {
  let rowBefore: number[] = []
  let rowAbove = Array.from({ length: second.length + 1 }, (_, column) => column)
  for (let row = 1; row <= first.length; row += 1) {
    const counts = [row]
    for (let column = 1; column <= second.length; column += 1) {
      const [letter, opposite] = [first[row - 1], second[column - 1]]
      const replaced = (rowAbove[column - 1] as number) + (letter === opposite ? 0 : 1)
      let count = Math.min(replaced, (rowAbove[column] as number) + 1, (counts[column - 1] as number) + 1)
      if (row > 1 && column > 1 && letter === second[column - 2] && first[row - 2] === opposite) {
        count = Math.min(count, (rowBefore[column - 2] as number) + 1)
      }
      counts.push(count)
    }
    rowBefore = rowAbove
    rowAbove = counts
  }
  return rowAbove[second.length] as number
}

/**
 * Compares two people (src/docs/ordering.md, section 4). They are similar if they have the same e-mail, or the same
 * phone and first names that agree or names that are swapped. Returns undefined if they have nothing in common that
 * counts.
 */
export function similarity(one: Recipient, other: Recipient): Similarity | undefined {
  const [normalisedOne, normalisedOther] = [normalise(one), normalise(other)]
  if (normalisedOne.key.every((part, index) => part === normalisedOther.key[index])) return { kind: 'same' }
  const hasSameEmail = normalisedOne.key[2] === normalisedOther.key[2] && normalisedOne.key[2] !== ''
  const hasSamePhone = normalisedOne.key[3] === normalisedOther.key[3] && normalisedOne.key[3] !== ''
  if (!hasSameEmail && !hasSamePhone) return undefined
  const { first, last } = normalisedOne
  const { first: otherFirst, last: otherLast } = normalisedOther
  const areSwapped = first === otherLast && last === otherFirst
  const hasSameName = areSwapped || (first === otherFirst && last === otherLast)
  if (!hasSameEmail && !areSwapped && !doNamesAgree(first, otherFirst)) return { kind: 'phone' }
  const shares: SharedDetail[] = []
  if (hasSameEmail) shares.push('email')
  if (hasSamePhone) shares.push('phone')
  if (hasSameName) shares.push('name')
  return { kind: 'similar', shares }
}

interface NormalisedPerson {
  key: readonly string[]
  first: string
  last: string
}

/** Normalised people, cached because a person with an office's phone is compared with all others who have it. */
const normalisedPeople = new WeakMap<Recipient, NormalisedPerson>()

function normalise(person: Recipient): NormalisedPerson {
  const cached = normalisedPeople.get(person)
  if (cached !== undefined) return cached
  const normalised = {
    key: personKey(person),
    first: foldedName(person.first_name),
    last: foldedName(person.last_name),
  }
  normalisedPeople.set(person, normalised)
  return normalised
}

/**
 * The maximum cost of comparing the names of one file, in steps of the comparison. It limits the time to a few seconds
 * (src/docs/ordering.md, section 4).
 */
export const maxComparingCost = 500_000_000

/** The remaining cost that may be spent on comparing names; shared by all phones of a file. */
export interface ComparingBudget {
  remainingCost: number
}

interface FoundByPhone {
  /** Positions, in ascending order. */
  positions: number[]
  /**
   * Positions of people whom the person may be similar to; set if the budget did not suffice to compare every name.
   */
  uncompared: number[]
}

/**
 * The people with one phone, found by their first names, since comparing each with all others would take quadratic
 * time. `find` returns all people whom `similarity` may find similar, and at least one of the others of each kind,
 * who is only mentioned. Once the budget is spent, no person counts as compared.
 */
export class PhoneSharers {
  readonly #budget: ComparingBudget
  /** Positions by folded first name. */
  readonly #byName = new Map<string, number[]>()
  /**
   * The distinct names with their lengths and letter sets, by which most pairs are excluded before their differences
   * are counted.
   */
  readonly #names: string[] = []
  readonly #lengths: number[] = []
  readonly #letters: number[] = []
  /**
   * Positions that `find` always returns: people whose names were erased, and the first two people of each kind with
   * different names.
   */
  readonly #alwaysFoundPositions: number[] = []
  /** For each kind (see `add`), its first name, and whether all of its people have that name. */
  readonly #kinds = new Map<string, { name: string; hasOneName: boolean }>()

  constructor(budget: ComparingBudget) {
    this.#budget = budget
  }

  /** `kind`: the other values that have to be equal for two people to be compared, such as the package. */
  add(position: number, person: Recipient | undefined, kind: string): void {
    if (person === undefined) {
      this.#alwaysFoundPositions.push(position)
      return
    }
    const name = foldedName(person.first_name)
    const knownKind = this.#kinds.get(kind)
    if (knownKind === undefined) this.#kinds.set(kind, { name, hasOneName: true })
    if (knownKind === undefined || (knownKind.hasOneName && knownKind.name !== name))
      this.#alwaysFoundPositions.push(position)
    if (knownKind !== undefined && knownKind.name !== name) knownKind.hasOneName = false
    const positions = this.#byName.get(name)
    if (positions !== undefined) {
      positions.push(position)
      return
    }
    this.#byName.set(name, [position])
    this.#names.push(name)
    this.#lengths.push(name.length)
    this.#letters.push(letterSetOf(name))
  }

  find(person: Recipient): FoundByPhone {
    const first = foldedName(person.first_name)
    const names = new Set([first, foldedName(person.last_name), ''])
    const isCompared = this.#addSimilar(first, names)
    const foundPositions = new Set(this.#alwaysFoundPositions)
    for (const name of names)
      for (const position of this.#byName.get(name) ?? []) foundPositions.add(position)
    return {
      positions: [...foundPositions].sort((a, b) => a - b),
      uncompared: isCompared ? [] : this.#alwaysFoundPositions,
    }
  }

  /** Adds the names that agree with a name. Returns false if the budget does not suffice. */
  #addSimilar(name: string, similar: Set<string>): boolean {
    const budget = this.#budget
    // A name without a letter agrees with every other one.
    budget.remainingCost -= this.#names.length * (name === '' ? 20 : 1)
    if (budget.remainingCost < 0) return false
    if (name === '') {
      for (const each of this.#names) similar.add(each)
      return true
    }
    const [length, letters] = [name.length, letterSetOf(name)]
    for (let index = 0; index < this.#names.length; index += 1) {
      const otherLength = this.#lengths[index] as number
      const maxDifferences = Math.floor(Math.max(length, otherLength) / 3)
      if (Math.abs(length - otherLength) > maxDifferences) continue
      const otherLetters = this.#letters[index] as number
      // Each letter that only one of the names has takes a separate edit.
      if (
        countBits(letters & ~otherLetters) > maxDifferences ||
        countBits(otherLetters & ~letters) > maxDifferences
      )
        continue
      // Letters are compared 32 at a time; for a name of more than 32, each step costs about ten times as much.
      budget.remainingCost -= 20 + Math.ceil(length / 32) * otherLength * (length > 32 ? 10 : 1)
      if (budget.remainingCost < 0) return false
      const other = this.#names[index] as string
      if (doNamesAgree(name, other, budget)) similar.add(other)
      if (budget.remainingCost < 0) return false
    }
    return true
  }
}

/** Returns the set of a name's letters as 32 bits; several letters may share a bit. */
function letterSetOf(name: string): number {
  let letters = 0
  for (let index = 0; index < name.length; index += 1) letters |= 1 << (name.charCodeAt(index) & 31)
  return letters
}

function countBits(bits: number): number {
  let sums = bits - ((bits >>> 1) & 0x55_55_55_55)
  sums = (sums & 0x33_33_33_33) + ((sums >>> 2) & 0x33_33_33_33)
  return Math.imul((sums + (sums >>> 4)) & 0x0f_0f_0f_0f, 0x01_01_01_01) >>> 24
}
