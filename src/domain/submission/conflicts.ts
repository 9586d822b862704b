import type { Recipient } from '../../contract/request.ts'
import { sharedKey, serviceOf } from './identity.ts'
import { similarity, type Shared } from './similarity.ts'
import type { SubmissionState } from './states.ts'
import type { Submission } from './submission.ts'
import { isUnmatched } from './unmatched.ts'
import { isSeen, namesOrder, isEvidence, type ExternalResult, orderOfResult } from './external-results.ts'
import { isLoopbackUrl } from '../../contract/url.ts'

/**
 * States in which an order conflicts with another for the same person, in order of precedence. Rejected and
 * cancelled orders created nothing; a held row or a duplicate conflicts with none, since it may never be sent.
 */
export const conflictingStates = [
  'unknown',
  'dropped',
  'sending',
  'accepted',
  'pending',
] as const satisfies SubmissionState[]

/** In a file `--allow-duplicate` is for renewals: what was ordered less long ago is `held` all the same. */
const renewalMs = 7 * 24 * 60 * 60_000

/** A row that is compared. */
export interface Compared {
  batchId: string
  row: number
  baseUrl: string
  packageId: number
  recipient: Recipient | undefined
  /** When it came in. */
  addedAt: number
  kind: 'single' | 'file'
  /** The account of these people; '' where none was named. */
  account?: string | undefined
  /** What results files say of the person. */
  externalResults?: readonly ExternalResult[] | undefined
}

/** What a person allowed along with the file, or with the single order. */
export interface Allowed {
  duplicate: boolean
  /** In a file its own rows alone, never orders made before. */
  similar: boolean
  /** E-mails and phones that many people share, as `sharedKey` has them; the file's own rows alone. */
  shared: readonly string[]
}

export const nothingAllowed: Allowed = { duplicate: false, similar: false, shared: [] }

/** An order that the fingerprints found: it shares the person, the e-mail or the phone. */
export interface Candidate {
  order: Submission
  samePerson: boolean
  /** Of an erased person, whose e-mail is recorded nowhere else. */
  sameEmail?: boolean
  /** It shares a phone with so many that their names were not compared: it counts as similar. */
  isUncompared?: boolean
  /** The results file that names it, where no store has it. */
  externalResult?: ExternalResult | undefined
}

/** The packages and services that a store treats as one, and what a person released. */
export interface KnownRelations {
  /** The package itself and all that moves have joined to it. */
  relatedIds: ReadonlySet<number>
  /** Packages that are gone and whose likely successor this one is. */
  predecessors: ReadonlySet<number>
  /** The decision about another service: that it is this one, or that it is not. Undefined without a decision. */
  isSameService(service: string): boolean | undefined
  /** Whether these two were decided to be two people. */
  released(order: Submission): boolean
}

/** Why a row is `duplicate` or `held`; the highest precedence first. */
export const conflictReasons = [
  // It is not known whether it was sent: only a person can release it, and comparing cannot.
  'store_forgot',
  'same',
  'similar_unknown',
  'unmatched_request',
  'results_open',
  'results_unclear',
  'other_service',
  'recent',
  'ended_in_error',
  'replaced_package',
  'similar',
] as const
export type ConflictReason = (typeof conflictReasons)[number]

/** What a row conflicts with. */
export interface Conflict {
  becomes: 'duplicate' | 'held'
  reason: ConflictReason
  shares: Shared[]
  order: Submission
  /** The results file that names that order, where no store has it. */
  externalResult?: ExternalResult | undefined
  /** How many more orders conflict with it for the same reason. */
  more: number
}

/** What a person may release row by row; for any other reason something has to be recorded first. */
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
  row: Compared,
  candidates: readonly Candidate[],
  allowed: Allowed,
  relations: KnownRelations,
): Conflict[] {
  return [...candidates, ...candidatesFromResults(row)].flatMap(
    (candidate) => conflictWith(row, candidate, allowed, relations) ?? [],
  )
}

/** Orders that results files alone tell of. */
function candidatesFromResults({
  externalResults = [],
  account = '',
  baseUrl,
  packageId,
  addedAt,
}: Compared): Candidate[] {
  return externalResults.flatMap((externalResult, at) => {
    if (!isEvidence(externalResult) || !isSeen(externalResult, account)) return []
    const order = orderOfResult(externalResult, at + 1, { baseUrl, packageId, addedAt })
    return { order, samePerson: externalResult.person !== 'similar', externalResult }
  })
}

function conflictWith(
  row: Compared,
  candidate: Candidate,
  allowed: Allowed,
  relations: KnownRelations,
): Conflict | undefined {
  const stop = compareWith(row, candidate, allowed, relations)
  const { externalResult } = candidate
  if (stop !== undefined && isUnmatched(stop.order) && isOfPerson(stop))
    return { ...stop, becomes: 'held', reason: 'unmatched_request' }
  if (stop === undefined || externalResult === undefined) return stop
  return relations.released(candidate.order)
    ? undefined
    : { ...stop, ...applyExternalResult(externalResult, stop), externalResult }
}

const isOfPerson = ({ reason }: Conflict): boolean =>
  ['same', 'recent', 'ended_in_error', 'similar'].includes(reason)

/** This store cannot reconcile what a results file leaves open, so a person decides whether it is ordered. */
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

/** The conflict that is shown, if there is one. */
export function highestPrecedence(conflicts: readonly Conflict[]): Conflict | undefined {
  let first: Conflict | undefined
  for (const stop of conflicts) if (first === undefined || precedes(stop, first)) first = stop
  const more = conflicts.filter(({ reason }) => reason === first?.reason).length - 1
  return first && { ...first, more }
}

export function findConflict(
  row: Compared,
  candidates: readonly Candidate[],
  allowed: Allowed,
  relations: KnownRelations,
): Conflict | undefined {
  return highestPrecedence(findConflicts(row, candidates, allowed, relations))
}

/** "Except whom the full name joins too". */
function sharesOnly(
  recipient: Recipient | undefined,
  shares: readonly Shared[],
  values: readonly string[],
): boolean {
  return (
    recipient !== undefined &&
    shares.every((each) => each !== 'name' && values.includes(sharedKey(recipient[each])))
  )
}

function precedes(one: Conflict, other: Conflict): boolean {
  const rank = ({ reason }: Conflict): number => conflictReasons.indexOf(reason)
  const state = ({ order }: Conflict): number => (conflictingStates as readonly string[]).indexOf(order.state)
  return (
    (rank(one) - rank(other) ||
      // The most similar person is shown: the one that may be the same.
      other.shares.length - one.shares.length ||
      state(one) - state(other) ||
      other.order.changedAt - one.order.changedAt) < 0
  )
}

function compareWith(
  row: Compared,
  candidate: Candidate,
  allowed: Allowed,
  relations: KnownRelations,
): Conflict | undefined {
  const { order } = candidate
  if (order.batchId === row.batchId && order.row === row.row) return undefined
  const service = serviceRelation(row.baseUrl, order.baseUrl, (other) => relations.isSameService(other))
  if (service === 'other') return undefined
  const isSamePackage = relations.relatedIds.has(order.packageId)
  // Under a package that is gone what is still pending cannot be ordered any more.
  const wasReplaced =
    service === 'one' && order.state !== 'pending' && relations.predecessors.has(order.packageId)
  if (candidate.samePerson) {
    if (isSamePackage) return same(row, order, service, allowed, relations)
    const isAllowed = (row.kind === 'single' && allowed.similar) || relations.released(order)
    return wasReplaced && !isAllowed ? held('replaced_package', order) : undefined
  }
  // Under a package that this one replaces a similar person may be the same as well.
  if (service !== 'one' || (!isSamePackage && !wasReplaced)) return undefined
  return similar(row, candidate, allowed, relations)
}

function same(
  row: Compared,
  order: Submission,
  service: 'one' | 'unsaid',
  allowed: Allowed,
  relations: KnownRelations,
): Conflict | undefined {
  if (service === 'unsaid') return held('other_service', order)
  const isOwn = order.batchId === row.batchId
  // "`--allow-duplicate` passes orders that were accepted, never pending, sending, unknown or dropped ones".
  if (order.state === 'accepted' && !isOwn) {
    if (relations.released(order)) return undefined
    if (allowed.duplicate) {
      const isRenewal = row.kind === 'single' || order.changedAt < row.addedAt - renewalMs
      return isRenewal ? undefined : held('recent', order)
    }
    if (order.requestStatus === 'ERROR' && row.kind === 'file') return held('ended_in_error', order)
  }
  return { becomes: 'duplicate', reason: 'same', shares: [], order, more: 0 }
}

function similar(
  row: Compared,
  { order, sameEmail, isUncompared }: Candidate,
  allowed: Allowed,
  relations: KnownRelations,
): Conflict | undefined {
  const found =
    isUncompared === true || row.recipient === undefined || order.recipient === undefined
      ? // An erased person: the name is gone, so that only a person can decide.
        ({ kind: 'similar', shares: [sameEmail === true ? 'email' : 'phone'] } as const)
      : similarity(row.recipient, order.recipient)
  // A damaged fingerprint does not make a person new.
  if (found?.kind === 'same') return same(row, order, 'one', allowed, relations)
  if (found?.kind !== 'similar') return undefined
  const shares = [...found.shares]
  if (relations.released(order)) return undefined
  const isOwn = order.batchId === row.batchId
  // "Similar to one whose outcome is `unknown`: held until that is settled or dropped", whatever was allowed. In flight of
  // its own file are rows that other runners send side by side.
  if (order.state === 'unknown' || (order.state === 'sending' && !isOwn)) {
    return held('similar_unknown', order, shares)
  }
  const allows =
    row.kind === 'single'
      ? allowed.similar
      : isOwn && (allowed.similar || sharesOnly(row.recipient, shares, allowed.shared))
  return allows ? undefined : held('similar', order, shares)
}

function held(reason: ConflictReason, order: Submission, shares: Shared[] = []): Conflict {
  return { becomes: 'held', reason, shares, order, more: 0 }
}

/** Whether a person who places a single order is asked, and the order goes where they say so. */
export const canBeConfirmed = ({ reason }: Conflict): boolean =>
  reason === 'similar' || reason === 'replaced_package'

/** Another person with the same phone, as a couple or an office has: mentioned, and nothing more. */
export function phoneSharer(
  { recipient, baseUrl }: Compared,
  candidates: readonly Candidate[],
  relations: Pick<KnownRelations, 'relatedIds'>,
): Submission | undefined {
  if (recipient === undefined) return undefined
  return candidates.find(
    ({ order }) =>
      order.recipient !== undefined &&
      relations.relatedIds.has(order.packageId) &&
      serviceOf(order.baseUrl) === serviceOf(baseUrl) &&
      similarity(recipient, order.recipient)?.kind === 'phone',
  )?.order
}

/** What a person says may be sent after all. */
export type Release =
  | { kind: 'rows'; rows: readonly number[] }
  /** An e-mail or phone, as `sharedKey` has it. */
  | { kind: 'shared'; value: string }
  /** All that are merely similar. */
  | { kind: 'all' }

/** Why a row is held, and the order it is listed with. */
export interface Shown {
  heldFor: ConflictReason | undefined
  batchId: string | undefined
  row: number | undefined
}

/**
 * The conflicts of a held row that a release covers; undefined where it is not about the row. "A release
 * covers the matches that were shown": of a row by its number that is the one it is listed with.
 */
export function releasedConflicts(
  release: Release,
  row: Compared,
  conflicts: readonly Conflict[],
  shown: Shown,
): readonly Conflict[] | undefined {
  const isShown = ({ order }: Conflict): boolean =>
    release.kind !== 'rows' || (order.batchId === shown.batchId && order.row === shown.row)
  const covered = conflicts.filter((stop) => isReleased(release, row, stop) && isShown(stop))
  if (release.kind === 'rows' && release.rows.includes(row.row)) return covered
  // It is not known whether it was sent, so only its number or a release of all covers it.
  const isAbout =
    shown.heldFor === 'store_forgot' ? release.kind === 'all' : covered.length > 0 || conflicts.length === 0
  return isAbout ? covered : undefined
}

/** Whether a release covers the conflicts of a row; the others wait until something is recorded first. */
function isReleased(release: Release, { row, recipient }: Compared, stop: Conflict): boolean {
  if (!releasableReasons.includes(stop.reason)) return false
  if (release.kind === 'rows') return release.rows.includes(row)
  if (stop.reason !== 'similar') return false
  return release.kind === 'all' || sharesOnly(recipient, stop.shares, [release.value])
}

/** A package and its successor: `moved`, as a person decided, or only `likely`. */
export interface JoinedPackage {
  service: string
  packageId: number
  successorId: number
  how: 'moved' | 'likely'
}

/** Two services with the decision whether they are one. */
export interface JoinedServices {
  one: string
  other: string
  same: boolean
}

/** What was said of services and packages, as it bears on an order of one package at one service. */
export function relationsOf(
  { service, packageId }: { service: string; packageId: number },
  relations: readonly JoinedServices[],
  packages: readonly JoinedPackage[],
): Pick<KnownRelations, 'relatedIds' | 'predecessors' | 'isSameService'> {
  const isSameService = (other: string): boolean | undefined =>
    other === service ||
    relations.find(
      (each) =>
        (each.one === service && each.other === other) || (each.one === other && each.other === service),
    )?.same
  const pairs = packages.filter((each) => isSameService(each.service) === true)
  const relatedIds = relatedPackages(
    packageId,
    pairs.flatMap((each) => (each.how === 'moved' ? [[each.packageId, each.successorId] as const] : [])),
  )
  const likely = pairs.filter(({ how, successorId }) => how === 'likely' && relatedIds.has(successorId))
  return { relatedIds, predecessors: new Set(likely.map((each) => each.packageId)), isSameService }
}

/** Every package that pairs join to one, however long the chain; itself included. */
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
 * Whether two base URLs are one service; `unsaid` where only a person can tell. A rehearsal on this machine says nothing
 * of any other service, and is no other rehearsal.
 */
export function serviceRelation(
  one: string,
  other: string,
  isSameService: (service: string) => boolean | undefined,
): 'one' | 'other' | 'unsaid' {
  const service = serviceOf(other)
  if (serviceOf(one) === service) return 'one'
  if (isLoopbackUrl(one) || isLoopbackUrl(other)) return 'other'
  const relations = isSameService(service)
  return relations === undefined ? 'unsaid' : relations ? 'one' : 'other'
}
