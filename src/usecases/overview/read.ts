import { isLoopbackUrl } from '../../contract/url.ts'
import type { Batch, BatchRow } from '../../domain/batch/batch.ts'
import { toListedRow } from '../../domain/batch/batch-status.ts'
import {
  type Attention,
  sortAttention,
  attentionOf,
  batchAttention,
} from '../../domain/overview/attention.ts'
import {
  type BatchProgressNow,
  countStatuses,
  type Organisation,
  type Overview,
  overviewOf,
} from '../../domain/overview/overview.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { countChecks } from '../../domain/request/listed-request.ts'
import { type SubmissionState, submissionStates } from '../../domain/submission/states.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import type { Services } from '../services.ts'
import { errorReason } from '../request/read-requests.ts'
import { countPeople, type PersonRow, personRow } from '../../domain/overview/people.ts'

/** The inbox of what is shown. */
export type OverviewServices = Pick<Services, 'ledger' | 'batches' | 'inboxToShow' | 'clock'>

/** States of rows that a person may have to look at; an invalid one is reported when its file is read. */
const unsent: readonly SubmissionState[] = ['unknown', 'rejected', 'held']
export const unsentOfBatch: readonly SubmissionState[] = [...unsent, 'invalid']

/** Whose orders are read. */
export interface OverviewScope {
  /** Undefined without a session: then practice orders alone are left out. */
  organisation: Organisation | undefined
  account: string
}

export const isInScope =
  ({ organisation, account: wanted }: OverviewScope) =>
  ({ baseUrl, account = '' }: Batch): boolean =>
    organisation === undefined
      ? !isLoopbackUrl(baseUrl)
      : serviceOf(baseUrl) === serviceOf(organisation.base_url) && account === wanted

/**
 * What the store knows of one organisation. Orders whose process died on the way are found by it, and become `unknown`.
 * `files`: reports on disk by requestKey; undefined where no folder is set for them.
 */
export async function readOverview(
  services: OverviewServices,
  scope: OverviewScope,
  files: () => Promise<ReadonlyMap<string, number> | undefined>,
): Promise<Overview> {
  const { ledger, batches: stored, clock } = services
  const now = clock.now()
  await ledger.recover(now)
  const all = await stored.list({ singles: true })
  const batches = all.filter(isInScope(scope))
  const ids = new Set(batches.map(({ id }) => id))
  const accepted = (await ledger.list({ states: ['accepted'] })).filter(({ batchId }) => ids.has(batchId))
  const attention = await attentionIn(services, batches, accepted, now)
  const { organisation } = scope
  const others = all.filter(({ id }) => !ids.has(id))
  return overviewOf({ organisation, accepted, batches, attention, files: await files(), others }, now)
}

/** What needs a person in these batches; `accepted`: the orders of them that the service accepted. */
export async function attentionIn(
  { batches, inboxToShow: inbox }: Pick<Services, 'batches' | 'inboxToShow'>,
  all: readonly Batch[],
  accepted: readonly Submission[],
  now: number,
  states = unsent,
): Promise<Attention[]> {
  const found: Attention[] = []
  for (const batch of all) {
    const still = batchAttention(batch)
    if (still !== undefined) found.push(still)
    if (states.every((state) => batch.counts[state] === 0)) continue
    for await (const row of batches.rows(batch.id, { states })) {
      const each = attentionOf(row, batch, toListedRow(row).error, now)
      if (each !== undefined) found.push(each)
    }
  }
  const byId = new Map(all.map((batch) => [batch.id, batch]))
  for (const order of accepted) {
    const batch = byId.get(order.batchId)
    const each = batch && attentionOf(order, batch, null, now)
    if (each === undefined) continue
    const reason =
      each.kind === 'error' ? await errorReason(inbox, order.baseUrl, order.requestId ?? '') : undefined
    found.push({ ...each, reason: reason ?? null })
  }
  return found
}

/** The progress of a batch's checks, and which of its rows need a person. */
export async function readBatchProgress(services: OverviewServices, batch: Batch): Promise<BatchProgressNow> {
  const accepted = await services.ledger.list({ states: ['accepted'], batchId: batch.id })
  const attention = await attentionIn(services, [batch], accepted, services.clock.now(), unsentOfBatch)
  return {
    statuses: countStatuses(accepted),
    checks: countChecks(accepted),
    attention: sortAttention(attention),
  }
}

/** What a page of people shows. */
export interface People {
  people: PersonRow[]
  /** How many rows there are where not all of them are listed. */
  total: number
  /** How many people all the rows are of. */
  persons: number
  attention: Attention[]
  /** Whose packages they are of. */
  users: { baseUrl: string; userEmail: string }[]
}

/** People of one page: a browser sorts and filters so many at once. */
const maxPeople = 5000

/** Every row of a batch in the order of its file, or those in some states. */
export async function peopleOfBatch(
  services: OverviewServices,
  batch: Batch,
  states: readonly SubmissionState[] | undefined,
): Promise<People> {
  const people: PersonRow[] = []
  for await (const row of services.batches.rows(batch.id, { states })) people.push(personRow(row, batch))
  const accepted = await services.ledger.list({ states: ['accepted'], batchId: batch.id })
  const attention = await attentionIn(services, [batch], accepted, services.clock.now(), unsentOfBatch)
  return { people, total: people.length, persons: countPeople(people), attention, users: [batch] }
}

/** All people of an organisation, the newest first; `attention`: as it was read before. */
export async function peopleOfStore(
  { ledger, batches }: Pick<OverviewServices, 'ledger' | 'batches'>,
  scope: OverviewScope,
  attention: Attention[],
): Promise<People> {
  const inScope = (await batches.list({ singles: true })).filter(isInScope(scope))
  const ids = new Set(inScope.map(({ id }) => id))
  const listed = await ledger.list({ states: submissionStates.filter((state) => state !== 'invalid') })
  const all = listed.filter(({ batchId }) => ids.has(batchId))
  const matches = new Map<string, BatchRow['matches']>()
  for (const { id, counts } of inScope) {
    if (counts.duplicate === 0) continue
    for await (const row of batches.rows(id, { states: ['duplicate'] })) matches.set(rowKey(row), row.matches)
  }
  const newest = all.toSorted((one, other) => seenAt(other) - seenAt(one)).slice(0, maxPeople)
  const users = new Map(all.map((each) => [`${each.baseUrl} ${each.userEmail}`, each]))
  return {
    people: newest.map((each) => personRow({ ...each, matches: matches.get(rowKey(each)) }, each)),
    total: all.length,
    persons: countPeople(all.map((each) => personRow(each, each))),
    attention,
    users: [...users.values()],
  }
}

const rowKey = ({ batchId, row }: Pick<BatchRow, 'batchId' | 'row'>): string => `${batchId} ${row}`

const seenAt = ({ attemptedAt, addedAt }: Submission): number => attemptedAt ?? addedAt
