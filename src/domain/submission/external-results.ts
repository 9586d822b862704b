import { createHash } from 'node:crypto'

import type { SharedDetail } from './similarity.ts'
import type { SubmissionState } from './states.ts'
import type { Recipient } from '../../contract/request.ts'
import { personKey } from './identity.ts'

/**
 * A row of a results file that is about the person of another row (src/docs/ordering.md, section 4). The file was
 * written by another store, or by a store that was lost.
 */
export interface ExternalResult {
  /** The name of the results file, and the number of the line. */
  file: string
  line: number
  state: SubmissionState
  requestId: string | undefined
  requestStatus: string | undefined
  account: string
  /** Undefined if the file does not contain it; the base URL of the compared row then applies. */
  baseUrl: string | undefined
  packageId: number | undefined
  /** Wall time of the attempt in ms. */
  at: number | undefined
  /** How the person compares with the row's; `unclear` if the file does not tell. */
  person: 'same' | 'similar' | 'unclear'
  /** The values that a similar person has in common with the row's person. */
  shares: SharedDetail[]
  /** Whether a user decided that this result is ignored. */
  isIgnored?: boolean | undefined
}

/**
 * The batch id of an order that only a results file names. The order's row number is the position of the external
 * result, from 1.
 */
export const resultsBatch = 'results'

type ResultOfRow = Pick<ExternalResult, 'state' | 'isIgnored'> & { requestId?: string | undefined }

/**
 * Returns whether an external result is evidence of an order. `rejected`, `invalid`, `cancelled` and `held` rows
 * ordered nothing, but with a request such a row names the order of its person that was made, or may have been made,
 * otherwise.
 */
export function isEvidence({ state, requestId, isIgnored }: ResultOfRow): boolean {
  if (isIgnored === true) return false
  return requestId !== undefined || !['rejected', 'invalid', 'cancelled', 'held'].includes(state)
}

/** Returns whether an external result names the request of an order that was made. */
export function namesOrder({ state, requestId }: ResultOfRow): boolean {
  return (
    requestId !== undefined && ['accepted', 'duplicate', 'rejected', 'cancelled', 'invalid'].includes(state)
  )
}

/** Returns a result without the name of its file; one that names no order does not count any more. */
export function withoutFile(result: ExternalResult): ExternalResult {
  const unnamed = { ...result, file: 'a results file' }
  return namesOrder(result) ? unnamed : { ...unnamed, state: 'cancelled', requestId: undefined }
}

/**
 * Returns whether an account is compared with an external result: "An account sees its own people and those without
 * an account; without an account all people are seen."
 */
export function isVisibleTo({ account }: Pick<ExternalResult, 'account'>, reader: string): boolean {
  return reader === '' || account === '' || account === reader
}

/**
 * Merges the external results of a row after results files were read again: `newResults` replaces the results of the files
 * that were read. An order keeps its number while its external result is unchanged, so that a release covers only
 * what the user saw. Returns undefined if nothing changes.
 */
export function mergeExternalResults(
  oldResults: readonly ExternalResult[],
  files: ReadonlySet<string>,
  newResults: readonly ExternalResult[],
): ExternalResult[] | undefined {
  const remaining = [...newResults]
  const stored = oldResults.map((each): ExternalResult => {
    if (!files.has(each.file)) return each
    const index = remaining.findIndex((other) => isEqual(each, other))
    // An order that was made does not become unmade when its file no longer has it: the file may have been overwritten
    // or cut off. Another result becomes `cancelled` without a request, which is no evidence of an order.
    const [found] = remaining.splice(index, index < 0 ? 0 : 1)
    if (found !== undefined) return each.isIgnored === true ? { ...found, isIgnored: true } : found
    return namesOrder(each) ? each : { ...each, state: 'cancelled', requestId: undefined }
  })
  const merged = [...stored, ...remaining]
  return JSON.stringify(merged) === JSON.stringify(oldResults) ? undefined : merged
}

const comparedFields = ['file', 'state', 'requestId', 'packageId', 'baseUrl', 'account', 'person'] as const

const isEqual = (one: ExternalResult, other: ExternalResult): boolean =>
  comparedFields.every((name) => one[name] === other[name])

/** Returns the position of an external result, such as `line 3 of people.results.csv`. */
export function externalResultPosition({ file, line }: Pick<ExternalResult, 'file' | 'line'>): string {
  return `line ${line} of ${file}`
}

/**
 * Digests that identify the person of a row in a results file. They are made without a key, so that every store can
 * compare them.
 */
export interface PersonDigests {
  name: string
  email: string
  phone: string
}

const digestNames = ['name', 'email', 'phone'] as const
const digestLength = 32

/**
 * Returns the digests of a person, normalised as for fingerprints: an x, which prevents spreadsheets from reading a
 * number, and 32 hex characters.
 */
export function personDigests(recipient: Recipient): PersonDigests {
  const [first, last, email, phone] = personKey(recipient)
  return {
    name: digest(['name', first, last]),
    email: digest(['email', email]),
    phone: digest(['phone', phone]),
  }
}

/**
 * Compares the digests of two people. Returns undefined if they have neither the e-mail nor the phone in common, and
 * so are two people.
 */
export function comparePersonDigests(
  one: PersonDigests,
  other: PersonDigests,
): { person: 'same' | 'similar'; shares: SharedDetail[] } | undefined {
  const shares = digestNames.filter((part) => one[part] === other[part])
  if (shares.length === digestNames.length) return { person: 'same', shares: [] }
  return shares.includes('email') || shares.includes('phone') ? { person: 'similar', shares } : undefined
}

function digest(value: readonly string[]): string {
  return `x${createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, digestLength)}`
}
