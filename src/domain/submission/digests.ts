import { createHash } from 'node:crypto'

import type { Recipient } from '../../contract/request-body.ts'
import { personKey } from './identity.ts'
import type { Shared } from './likeness.ts'

/** What tells in a results file whom a row was for, without a key, so that every store can compare it. */
export interface PersonDigests {
  name: string
  email: string
  phone: string
}

const parts = ['name', 'email', 'phone'] as const
const length = 32

/** Normalised as the fingerprints are: 32 hex characters each, after an x that keeps spreadsheets from reading a number. */
export function personDigests(recipient: Recipient): PersonDigests {
  const [first, last, email, phone] = personKey(recipient)
  return {
    name: digest(['name', first, last]),
    email: digest(['email', email]),
    phone: digest(['phone', phone]),
  }
}

/** Undefined where they have neither e-mail nor phone in common: two people. */
export function sharedDigests(
  one: PersonDigests,
  other: PersonDigests,
): { person: 'same' | 'similar'; shares: Shared[] } | undefined {
  const shares = parts.filter((part) => one[part] === other[part])
  if (shares.length === parts.length) return { person: 'same', shares: [] }
  return shares.includes('email') || shares.includes('phone') ? { person: 'similar', shares } : undefined
}

function digest(value: readonly string[]): string {
  return `x${createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, length)}`
}
