import { createHash } from 'node:crypto'

import type { Shared } from './similarity.ts'
import type { SubmissionState } from './states.ts'
import { orderWith, type Submission } from './submission.ts'
import type { Recipient } from '../../contract/request.ts'
import { personKey } from './identity.ts'

/**
 * What a results file says of a row's person (src/docs/ordering.md, section 4): orders that another store made, or one
 * that is lost.
 */
export interface ExternalResult {
  /** The results file, and the line in it. */
  file: string
  line: number
  state: SubmissionState
  requestId: string | undefined
  requestStatus: string | undefined
  account: string
  /** Undefined where it is not said: it is this one then. */
  baseUrl: string | undefined
  packageId: number | undefined
  /** When it was sent; wall time. */
  at: number | undefined
  /** `unclear`: its person is not known. */
  person: 'same' | 'similar' | 'unclear'
  /** What a similar person has in common with the row's. */
  shares: Shared[]
}

/** The batch that an order known by a results file alone is said to be of; its row counts the results of the row from 1. */
export const resultsBatch = 'results'

/** `rejected`, `invalid`, `cancelled` and `held` rows ordered nothing, so they say nothing. */
export function isEvidence({ state }: Pick<ExternalResult, 'state'>): boolean {
  return !['rejected', 'invalid', 'cancelled', 'held'].includes(state)
}

/** Whether it names an order that was made, by its request. */
export function namesOrder({ state, requestId }: Pick<ExternalResult, 'state' | 'requestId'>): boolean {
  return requestId !== undefined && (state === 'accepted' || state === 'duplicate')
}

/** "An account sees its own people and those without an account; without an account all people are seen." */
export function isSeen({ account }: Pick<ExternalResult, 'account'>, by: string): boolean {
  return by === '' || account === '' || account === by
}

/**
 * What is said of a row, where results files were read again: `now`, and of files that were not read what they said. An
 * order keeps its number as long as the same is said of it, so that a release covers what was shown and nothing newer.
 * Undefined where nothing changes.
 */
export function mergeExternalResults(
  before: readonly ExternalResult[],
  files: ReadonlySet<string>,
  now: readonly ExternalResult[],
): ExternalResult[] | undefined {
  const left = [...now]
  const stored = before.map((each): ExternalResult => {
    if (!files.has(each.file)) return each
    const at = left.findIndex((other) => isEqual(each, other))
    return left.splice(at, at < 0 ? 0 : 1)[0] ?? { ...each, state: 'cancelled' }
  })
  const all = [...stored, ...left]
  return JSON.stringify(all) === JSON.stringify(before) ? undefined : all
}

const compared = ['file', 'state', 'requestId', 'packageId', 'baseUrl', 'account', 'person'] as const

const isEqual = (one: ExternalResult, other: ExternalResult): boolean =>
  compared.every((name) => one[name] === other[name])

/** The order that a results file names, in the form of a stored one; `number` counts the results of the row from 1. */
export function orderOfResult(
  externalResult: ExternalResult,
  number: number,
  row: { baseUrl: string; packageId: number; addedAt: number },
): Submission {
  const { requestId, requestStatus, at = row.addedAt } = externalResult
  return orderWith({
    batchId: resultsBatch,
    row: number,
    // A duplicate without a request is one of an order that was not known to be made.
    state: namesOrder(externalResult)
      ? 'accepted'
      : externalResult.state === 'pending'
        ? 'pending'
        : 'unknown',
    baseUrl: externalResult.baseUrl ?? row.baseUrl,
    packageId: externalResult.packageId ?? row.packageId,
    attempts: 1,
    addedAt: at,
    attemptedAt: externalResult.at,
    requestId,
    requestStatus,
  })
}

/** `line 3 of people.results.csv`. */
export function externalResultPosition({ file, line }: Pick<ExternalResult, 'file' | 'line'>): string {
  return `line ${line} of ${file}`
}

/** What identifies the person of a row in a results file, without a key, so that every store can compare it. */
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
