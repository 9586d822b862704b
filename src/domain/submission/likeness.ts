import { distance } from 'fastest-levenshtein'

import type { Recipient } from '../../contract/request-body.ts'
import { personKey } from './identity.ts'

/** What two people have in common. `name`: all of it. */
export type Shared = 'email' | 'phone' | 'name'

/** Whether two people may be one: the same to the letter, perhaps, or they only share a phone. */
export type Likeness =
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

/** Longer names are nobody's, and comparing many of them letter by letter would take hours: they count as agreeing. */
const maxComparedLetters = 1000

/**
 * Whether two folded first names may be one person's: at most a third of the letters differ. A name that is empty or only
 * punctuation says nothing, so it agrees with every other one.
 */
export function agree(one: string, other: string): boolean {
  if (one === '' || other === '') return true
  const max = Math.max(one.length, other.length)
  // As many letters differ as one name is longer, at least.
  if (Math.abs(one.length - other.length) * 3 > max) return false
  return max > maxComparedLetters || distance(one, other) * 3 <= max
}

/**
 * How alike two people are (ordering protocol, "Similar"): the same e-mail, or the same phone with first names that
 * agree or names swapped. Undefined where they have nothing in common that counts.
 */
export function likeness(one: Recipient, other: Recipient): Likeness | undefined {
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
