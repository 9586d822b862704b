import type { Recipient } from '../../contract/request.ts'
import { sharedKey, serviceOf } from './identity.ts'
import { similarity, type SharedDetail } from './similarity.ts'
import type { SubmissionState } from './states.ts'
import { type Submission, isUnmatched, orderOfResult } from './submission.ts'
import { isVisibleTo, namesOrder, isEvidence, type ExternalResult } from './external-results.ts'
import { isLoopbackUrl } from '../../contract/url.ts'

/**
 * States in which an order conflicts with another for the same person, in order of precedence. Rejected and
 * cancelled orders created nothing; a held row or a duplicate conflicts with none, since it may never be sent. A row
 * that is held because the store had lost attempts is the exception: the store also compares the same person with it.
 */
export const conflictingStates = [
  'unknown',
  'dropped',
  'sending',
  'accepted',
  'pending',
] as const satisfies SubmissionState[]

/**
 * In a file, `--allow-duplicate` is for renewals: a row is `held` if the person was ordered less than this time ago.
 */
const renewalMs = 7 * 24 * 60 * 60_000

/** A row that is compared with orders. */
export interface ComparableRow {
  batchId: string
  /** The number of the row in its batch, from 1. */
  row: number
  baseUrl: string
  packageId: number
  /** Undefined for a person who was erased. */
  recipient: Recipient | undefined
  /** When the row was added. */
  addedAt: number
  kind: 'single' | 'file'
  /** The account of the order; '' for an order without an account. */
  account?: string | undefined
  /** The results files' rows about the person. */
  externalResults?: readonly ExternalResult[] | undefined
}

/** The conflicts that a user allowed for a file or a single order. */
export interface Allowed {
  /** Whether a person who was ordered before may be ordered again. */
  duplicate: boolean
  /**
   * Whether a person who is similar to another may be ordered. In a file, only conflicts between rows of the file are
   * allowed, never those with earlier orders.
   */
  similar: boolean
  /**
   * E-mails and phones that many people share, as `sharedKey` returns them; only for conflicts between rows of one
   * file.
   */
  shared: readonly string[]
}

export const nothingAllowed: Allowed = { duplicate: false, similar: false, shared: [] }

/** An order with the same person, e-mail or phone, found by fingerprints. */
export interface Candidate {
  order: Submission
  isSamePerson: boolean
  /** Whether the e-mail is the same; used for an erased person, whose e-mail exists only as a fingerprint. */
  hasSameEmail?: boolean
  /**
   * Whether the names were not compared, because too many people share the phone. The order then counts as
   * similar.
   */
  areNamesUncompared?: boolean
  /** The row of a results file that names the order, if no store has it. */
  externalResult?: ExternalResult | undefined
  /** The external results that are stored with the order. */
  storedResults?: readonly ExternalResult[] | undefined
  /** Whether only the stored results conflict with the row, and not the order itself. */
  hasResultsOnly?: boolean | undefined
}

/** Known relations of packages and services, and the user's releases, as they concern one row. */
export interface KnownRelations {
  /** The package itself and all packages that count as the same one after moves. */
  relatedIds: ReadonlySet<number>
  /**
   * Returns when a move made another package count as this one, in milliseconds; undefined if several moves together
   * did.
   */
  relatedSince?(packageId: number): number | undefined
  /** Packages that the service no longer has and whose likely successor this package is. */
  predecessors: ReadonlySet<number>
  /** Returns whether the user decided that another service is the same one; undefined without a decision. */
  isSameService(service: string): boolean | undefined
  /** Returns whether the user decided that the row and the order are for two people. */
  isReleased(order: Submission): boolean
}

/** Why a row is `duplicate` or `held`, in order of precedence, the highest first. */
export const conflictReasons = [
  // The store lost attempts: whether the row was sent is unknown, and no comparison can find out, so only a user can
  // release the row.
  'store_forgot',
  // The same person has an order.
  'same',
  // A similar person has an order whose outcome is unknown, or which is being sent.
  'similar_unknown',
  // A request that was not ordered with this store is for the person.
  'unmatched_request',
  // A results file has an order of the person, but no request for it.
  'results_open',
  // A results file has an order that may be for the person.
  'results_unclear',
  // The person has an order at another base URL, and only a user can tell whether it is the same service.
  'other_service',
  // With --allow-duplicate: the person was ordered less than `renewalMs` ago.
  'recent',
  // The request of the person ended with the status ERROR.
  'ended_in_error',
  // The person was ordered under a package that the row's package probably replaced.
  'replaced_package',
  // A similar person has an order.
  'similar',
] as const
export type ConflictReason = (typeof conflictReasons)[number]

/** The order that a row conflicts with, and the consequence. */
export interface Conflict {
  becomes: 'duplicate' | 'held'
  reason: ConflictReason
  /** What a similar person has in common with the person of the row; empty for the same person. */
  shares: SharedDetail[]
  order: Submission
  /** The row of a results file that names the order, if no store has it. */
  externalResult?: ExternalResult | undefined
  /** All external results of the row, in which `order.row` is the position of `externalResult`. */
  externalResults?: readonly ExternalResult[] | undefined
  /**
   * The package of the row, if the order has another one that counts as the same after a move, and since when; undefined
   * otherwise.
   */
  countsAs?: { packageId: number; since: number | undefined } | undefined
  /** The number of further orders that conflict with the row for the same reason. */
  moreCount: number
}

/** The reasons that a user may release; for any other reason something has to be recorded first. */
export const releasableReasons: readonly ConflictReason[] = [
  'store_forgot',
  'unmatched_request',
  'similar',
  'replaced_package',
  'ended_in_error',
  'recent',
  'results_open',
  'results_unclear',
]

/** Compares a row with the orders that its fingerprints found, and returns all conflicts. */
export function findConflicts(
  row: ComparableRow,
  candidates: readonly Candidate[],
  allowed: Allowed,
  relations: KnownRelations,
): Conflict[] {
  const orders = candidates.filter(({ hasResultsOnly }) => hasResultsOnly !== true)
  return [...orders, ...candidatesFromResults(row)].flatMap(
    (candidate) => conflictWith(row, candidate, allowed, relations) ?? [],
  )
}

/**
 * Returns the external results of a row, and those that are stored with rows of the same or a similar person and name
 * an order that was made: a results file is found next to one file only. A similar person gets only those whose person
 * has the same e-mail or phone or is `unclear`.
 */
export function addStoredResults(
  row: ComparableRow,
  candidates: readonly Candidate[],
): ComparableRow['externalResults'] {
  const { externalResults, account = '' } = row
  const results = [...(externalResults ?? [])]
  for (const candidate of candidates) {
    const { order, isSamePerson, storedResults = [] } = candidate
    const found = storedResults.filter(
      (each) => namesOrder(each) && each.isIgnored !== true && isVisibleTo(each, account),
    )
    const similar = isSamePerson || found.length === 0 ? undefined : similarityTo(row, candidate)
    if (!isSamePerson && (similar === undefined || similar.kind === 'phone')) continue
    const shared = similar?.kind === 'similar' ? similar.shares : undefined
    for (const { packageId = order.packageId, baseUrl = order.baseUrl, ...each } of found) {
      // Two people who are similar to a third may have nothing in common. An `unclear` result is about the candidate as far
      // as the candidate is known, for example about an invalid row that is corrected now.
      const shares =
        shared === undefined
          ? each.shares
          : each.person === 'similar'
            ? each.shares.filter((detail) => shared.includes(detail))
            : [...shared]
      if (shared !== undefined && !shares.includes('email') && !shares.includes('phone')) continue
      const result: ExternalResult = {
        ...each,
        packageId,
        baseUrl,
        shares,
        ...(shared !== undefined && { person: 'similar' }),
      }
      const isKnown = results.some(
        ({ requestId, person }) =>
          requestId === result.requestId && (person === 'same' || person === result.person),
      )
      if (!isKnown) results.push(result)
    }
  }
  return results.length === 0 ? externalResults : results
}

/** Returns the orders that only results files name. */
function candidatesFromResults({
  externalResults = [],
  account = '',
  baseUrl,
  packageId,
  addedAt,
}: ComparableRow): Candidate[] {
  return externalResults.flatMap((result, index) => {
    if (!isEvidence(result) || !isVisibleTo(result, account)) return []
    const order = orderOfResult(result, index + 1, { baseUrl, packageId, addedAt })
    return { order, isSamePerson: result.person !== 'similar', externalResult: result }
  })
}

function conflictWith(
  row: ComparableRow,
  candidate: Candidate,
  allowed: Allowed,
  relations: KnownRelations,
): Conflict | undefined {
  const found = compareWith(row, candidate, allowed, relations)
  const conflict = found && addRelatedPackage(row, found, relations)
  const { externalResult } = candidate
  if (conflict !== undefined && isUnmatched(conflict.order) && isAboutPerson(conflict))
    return { ...conflict, becomes: 'held', reason: 'unmatched_request' }
  if (conflict === undefined || externalResult === undefined) return conflict
  return relations.isReleased(candidate.order)
    ? undefined
    : {
        ...conflict,
        ...applyExternalResult(externalResult, conflict),
        externalResult,
        externalResults: row.externalResults,
      }
}

/** Adds the package of the row to its conflict with an order of another package that counts as the same. */
function addRelatedPackage(
  { packageId }: ComparableRow,
  conflict: Conflict,
  relations: KnownRelations,
): Conflict {
  const orderPackage = conflict.order.packageId
  return orderPackage === packageId || !relations.relatedIds.has(orderPackage)
    ? conflict
    : { ...conflict, countsAs: { packageId, since: relations.relatedSince?.(orderPackage) } }
}

const isAboutPerson = ({ reason }: Conflict): boolean =>
  ['same', 'recent', 'ended_in_error', 'similar'].includes(reason)

/**
 * Returns the changes of a conflict with an order that only a results file names. This store cannot reconcile such an
 * order, so if it is uncertain, the row is held until a user decides.
 */
function applyExternalResult(
  externalResult: ExternalResult,
  { becomes, reason }: Conflict,
): Partial<Conflict> {
  if (externalResult.person === 'similar')
    return { becomes: 'held', reason: 'similar', shares: externalResult.shares }
  if (reason === 'other_service') return {}
  if (externalResult.person === 'unclear') return { becomes: 'held', reason: 'results_unclear' }
  return becomes === 'duplicate' && !namesOrder(externalResult)
    ? { becomes: 'held', reason: 'results_open' }
    : {}
}

/** Returns the conflict with the highest precedence, which is shown; undefined without conflicts. */
export function highestPrecedence(conflicts: readonly Conflict[]): Conflict | undefined {
  let highest: Conflict | undefined
  for (const conflict of conflicts)
    if (highest === undefined || precedes(conflict, highest)) highest = conflict
  const moreCount = conflicts.filter(({ reason }) => reason === highest?.reason).length - 1
  return highest && { ...highest, moreCount }
}

export function findConflict(
  row: ComparableRow,
  candidates: readonly Candidate[],
  allowed: Allowed,
  relations: KnownRelations,
): Conflict | undefined {
  return highestPrecedence(findConflicts(row, candidates, allowed, relations))
}

/** Returns whether all values that two people share are among `values`. False if they share the name too. */
function sharesOnly(
  recipient: Recipient | undefined,
  shares: readonly SharedDetail[],
  values: readonly string[],
): boolean {
  return (
    recipient !== undefined &&
    shares.every((each) => each !== 'name' && values.includes(sharedKey(recipient[each])))
  )
}

function precedes(one: Conflict, other: Conflict): boolean {
  const rank = ({ reason }: Conflict): number => conflictReasons.indexOf(reason)
  const statePosition = ({ order }: Conflict): number =>
    (conflictingStates as readonly string[]).indexOf(order.state)
  return (
    (rank(one) - rank(other) ||
      // The most similar person, who is most likely the same, takes precedence.
      other.shares.length - one.shares.length ||
      statePosition(one) - statePosition(other) ||
      other.order.changedAt - one.order.changedAt) < 0
  )
}

function compareWith(
  row: ComparableRow,
  candidate: Candidate,
  allowed: Allowed,
  relations: KnownRelations,
): Conflict | undefined {
  const { order } = candidate
  if (order.batchId === row.batchId && order.row === row.row) return undefined
  const service = compareServices(row.baseUrl, order.baseUrl, (other) => relations.isSameService(other))
  if (service === 'other') return undefined
  const isSamePackage = relations.relatedIds.has(order.packageId)
  // A pending order cannot be sent any more under a package that the service no longer has.
  const wasReplaced =
    service === 'one' && order.state !== 'pending' && relations.predecessors.has(order.packageId)
  if (candidate.isSamePerson) {
    // A row that is held because the store had lost attempts may have been ordered: that is decided first.
    if (isSamePackage || (wasReplaced && order.state === 'held'))
      return compareSame(row, order, service, allowed, relations)
    const isAllowed = (row.kind === 'single' && allowed.similar) || relations.isReleased(order)
    return wasReplaced && !isAllowed ? heldConflict('replaced_package', order) : undefined
  }
  // A similar person who was ordered under a replaced package may be the same too.
  if (service !== 'one' || (!isSamePackage && !wasReplaced)) return undefined
  return compareSimilar(row, candidate, allowed, relations)
}

function compareSame(
  row: ComparableRow,
  order: Submission,
  service: 'one' | 'undecided',
  allowed: Allowed,
  relations: KnownRelations,
): Conflict | undefined {
  if (service === 'undecided') return heldConflict('other_service', order)
  const isOfSameBatch = order.batchId === row.batchId
  // "`--allow-duplicate` passes orders that were accepted, never pending, sending, unknown or dropped ones".
  if (order.state === 'accepted' && !isOfSameBatch) {
    if (relations.isReleased(order)) return undefined
    if (allowed.duplicate) {
      const isRenewal = row.kind === 'single' || order.changedAt < row.addedAt - renewalMs
      return isRenewal ? undefined : heldConflict('recent', order)
    }
    if (order.requestStatus === 'ERROR' && row.kind === 'file') return heldConflict('ended_in_error', order)
  }
  return { becomes: 'duplicate', reason: 'same', shares: [], order, moreCount: 0 }
}

function similarityTo(
  { recipient }: ComparableRow,
  { order, hasSameEmail, areNamesUncompared }: Candidate,
): ReturnType<typeof similarity> {
  return areNamesUncompared === true || recipient === undefined || order.recipient === undefined
    ? // The name of an erased person is not stored, so only a user can decide.
      { kind: 'similar', shares: [hasSameEmail === true ? 'email' : 'phone'] }
    : similarity(recipient, order.recipient)
}

function compareSimilar(
  row: ComparableRow,
  candidate: Candidate,
  allowed: Allowed,
  relations: KnownRelations,
): Conflict | undefined {
  const { order } = candidate
  const similarityFound = similarityTo(row, candidate)
  // The people are the same although their fingerprints differ: a damaged fingerprint must not make a person new.
  if (similarityFound?.kind === 'same') return compareSame(row, order, 'one', allowed, relations)
  if (similarityFound?.kind !== 'similar') return undefined
  const shares = [...similarityFound.shares]
  if (relations.isReleased(order)) return undefined
  const isOfSameBatch = order.batchId === row.batchId
  // "Similar to one whose outcome is `unknown`: held until that is settled or dropped", whatever was allowed. Rows of
  // the same file may be in flight too, because several runners send them at the same time. A row that is held because
  // the store had lost attempts may have been ordered too.
  const isPerhapsOrdered = order.state === 'unknown' || order.state === 'held'
  if (isPerhapsOrdered || (order.state === 'sending' && !isOfSameBatch)) {
    return heldConflict('similar_unknown', order, shares)
  }
  const isAllowed =
    row.kind === 'single'
      ? allowed.similar
      : isOfSameBatch && (allowed.similar || sharesOnly(row.recipient, shares, allowed.shared))
  return isAllowed ? undefined : heldConflict('similar', order, shares)
}

function heldConflict(reason: ConflictReason, order: Submission, shares: SharedDetail[] = []): Conflict {
  return { becomes: 'held', reason, shares, order, moreCount: 0 }
}

/** Whether a user who places a single order can confirm it in spite of this conflict. */
export const canBeConfirmed = ({ reason }: Conflict): boolean =>
  reason === 'similar' || reason === 'replaced_package'

/**
 * Returns an order for another person with the same phone, such as a partner or colleague. It is no conflict, and is
 * only shown to the user.
 */
export function findPhoneSharer(
  { recipient, baseUrl }: ComparableRow,
  candidates: readonly Candidate[],
  relations: Pick<KnownRelations, 'relatedIds'>,
): Submission | undefined {
  if (recipient === undefined) return undefined
  return candidates.find(
    ({ order, hasResultsOnly }) =>
      hasResultsOnly !== true &&
      order.recipient !== undefined &&
      relations.relatedIds.has(order.packageId) &&
      serviceOf(order.baseUrl) === serviceOf(baseUrl) &&
      similarity(recipient, order.recipient)?.kind === 'phone',
  )?.order
}

/** The held rows that a user releases. `rows`: their numbers. */
export type Release =
  | { kind: 'rows'; rows: readonly number[] }
  /** Rows that share this e-mail or phone (as `sharedKey` returns it) with a similar person. */
  | { kind: 'shared'; value: string }
  /**
   * All rows that are held because a similar person was ordered; not if the order was dropped, because it may exist.
   * `includesLostAttempts`: also those that may have been sent, because the store had lost attempts; a person on a
   * terminal confirms that.
   */
  | { kind: 'all'; includesLostAttempts?: boolean }

/** Why a row is held, and the order (its batch and row) that is listed as the conflict of the row. */
export interface ListedConflict {
  heldFor: ConflictReason | undefined
  batchId: string | undefined
  row: number | undefined
}

/**
 * Returns the conflicts of a held row that a release covers; undefined if the release does not concern the row. "A
 * release covers the matches that were shown": a release of a row by its number covers only the conflict with the
 * order that is listed with the row.
 */
export function releasedConflicts(
  release: Release,
  row: ComparableRow,
  conflicts: readonly Conflict[],
  listed: ListedConflict,
): readonly Conflict[] | undefined {
  const isListed = ({ order }: Conflict): boolean =>
    release.kind !== 'rows' || (order.batchId === listed.batchId && order.row === listed.row)
  const covered = conflicts.filter((conflict) => coversConflict(release, row, conflict) && isListed(conflict))
  if (release.kind === 'rows' && release.rows.includes(row.row)) return covered
  // Whether the row was sent is unknown, so only its number or a confirmed release of all rows covers it.
  const concernsRow =
    listed.heldFor === 'store_forgot'
      ? release.kind === 'all' && release.includesLostAttempts === true
      : covered.length > 0 || conflicts.length === 0
  return concernsRow ? covered : undefined
}

/** Returns whether a release covers a conflict of a row; other conflicts remain until something is recorded. */
function coversConflict(release: Release, { row, recipient }: ComparableRow, conflict: Conflict): boolean {
  if (!releasableReasons.includes(conflict.reason)) return false
  if (release.kind === 'rows') return release.rows.includes(row)
  if (conflict.reason !== 'similar') return false
  if (release.kind === 'shared') return sharesOnly(recipient, conflict.shares, [release.value])
  // The similar person of a dropped order may have been ordered, and may be the same one.
  return conflict.order.state !== 'dropped'
}

/** A package and its successor: `moved` if a user decided it, `likely` otherwise. */
export interface PackageRelation {
  service: string
  packageId: number
  successorId: number
  how: 'moved' | 'likely'
  /** When the relation was recorded. */
  since?: number | undefined
}

/** A user's decision whether two services are the same one. */
export interface ServiceRelation {
  service: string
  otherService: string
  isSame: boolean
}

/** Returns the relations that concern an order of one package at one service. */
export function relationsOf(
  { service, packageId }: { service: string; packageId: number },
  serviceRelations: readonly ServiceRelation[],
  packageRelations: readonly PackageRelation[],
): Omit<KnownRelations, 'isReleased'> {
  const isSameService = (other: string): boolean | undefined =>
    other === service ||
    serviceRelations.find(
      (each) =>
        (each.service === service && each.otherService === other) ||
        (each.service === other && each.otherService === service),
    )?.isSame
  const relatedPairs = packageRelations.filter((each) => isSameService(each.service) === true)
  const moves = relatedPairs.filter(({ how }) => how === 'moved')
  const relatedIds = relatedPackages(
    packageId,
    moves.map((each) => [each.packageId, each.successorId] as const),
  )
  const relatedSince = (other: number): number | undefined =>
    moves.find(({ packageId: old, successorId }) =>
      old === packageId ? successorId === other : old === other && successorId === packageId,
    )?.since
  const likelyRelations = relatedPairs.filter(
    ({ how, successorId }) => how === 'likely' && relatedIds.has(successorId),
  )
  const predecessors = new Set(likelyRelations.map((each) => each.packageId))
  return { relatedIds, relatedSince, predecessors, isSameService }
}

/** Returns every package that is related to `packageId` by any chain of pairs, and the package itself. */
export function relatedPackages(
  packageId: number,
  pairs: readonly (readonly [number, number])[],
): Set<number> {
  const relatedIds = new Set([packageId])
  for (let size = 0; size !== relatedIds.size;) {
    size = relatedIds.size
    for (const [one, other] of pairs) {
      if (relatedIds.has(one)) relatedIds.add(other)
      if (relatedIds.has(other)) relatedIds.add(one)
    }
  }
  return relatedIds
}

/**
 * Returns whether an order has the checks of a row of the same person: at one service, and for one package, for one that
 * counts as the same after moves, or for one that replaced it, also if that is only likely. Only for what is shown: it
 * prevents no order.
 */
export function areForSameChecks(
  one: Pick<Submission, 'baseUrl' | 'packageId'>,
  other: Pick<Submission, 'baseUrl' | 'packageId'>,
  serviceRelations: readonly ServiceRelation[],
  packageRelations: readonly PackageRelation[],
): boolean {
  if (one.packageId === other.packageId && one.baseUrl === other.baseUrl) return true
  const service = serviceOf(one.baseUrl)
  const { relatedIds, isSameService } = relationsOf({ ...one, service }, serviceRelations, packageRelations)
  if (compareServices(one.baseUrl, other.baseUrl, isSameService) !== 'one') return false
  const replacements = packageRelations.filter((each) => isSameService(each.service) === true)
  const ids = new Set(relatedIds)
  // A set that grows during the iteration is iterated to its new end.
  for (const id of ids)
    for (const { packageId, successorId } of replacements) if (packageId === id) ids.add(successorId)
  return ids.has(other.packageId)
}

/**
 * Returns `one` if two base URLs belong to one service, `other` if they belong to two, and `undecided` if only a user
 * can tell. A service on this machine is a rehearsal: it is never the same service as one at another base URL.
 */
export function compareServices(
  one: string,
  other: string,
  isSameService: (service: string) => boolean | undefined,
): 'one' | 'other' | 'undecided' {
  const service = serviceOf(other)
  if (serviceOf(one) === service) return 'one'
  if (isLoopbackUrl(one) || isLoopbackUrl(other)) return 'other'
  const isSame = isSameService(service)
  return isSame === undefined ? 'undecided' : isSame ? 'one' : 'other'
}
