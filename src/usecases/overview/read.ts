import { isLoopbackUrl } from '../../contract/url.ts'
import {
  formatRow,
  type Batch,
  type BatchRow,
  type LaterOrder,
  type Match,
} from '../../domain/batch/batch.ts'
import { errorInResults, isPerhapsOrderedOtherwise, openOrderKey } from '../../domain/batch/batch-status.ts'
import {
  type Attention,
  sortAttention,
  findAttention,
  batchAttention,
  isEndedWithoutResult,
  freedAttention,
  isRecent,
  secondOrderAttention,
} from '../../domain/overview/attention.ts'
import {
  type BatchOverview,
  countStatuses,
  type Organisation,
  type Overview,
  createOverview,
} from '../../domain/overview/overview.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { joinFirst } from '../../domain/wording/text.ts'
import { countChecks } from '../../domain/request/listed-request.ts'
import { type SubmissionState, submissionStates } from '../../domain/submission/states.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import type { Services } from '../services.ts'
import {
  findFreedDuplicates,
  findRow,
  isOrderedAgainIn,
  readInvalidRows,
  readOrdersOfWaiting,
} from '../batch/read-batch.ts'
import { findErrorReason } from '../request/read-requests.ts'
import {
  countPeople,
  type PersonRow,
  personRow,
  removeDuplicates,
  repeatedOrderKey,
  rowKey,
} from '../../domain/overview/people.ts'

/** The services for overviews; the inbox is the one that redacts secrets. */
export type OverviewServices = Pick<
  Services,
  'ledger' | 'batches' | 'heldRows' | 'redactedInbox' | 'clock' | 'files'
>

/** States of rows that may need a decision by the user. */
const attentionStates: readonly SubmissionState[] = ['unknown', 'rejected', 'held']
/** The person of such a row may have been ordered by a row of another batch, which then needs a decision. */
const batchAttentionStates: readonly SubmissionState[] = [...attentionStates, 'cancelled', 'duplicate']

/** The organisation and account whose orders are read. */
export interface OverviewScope {
  /** Undefined without a session: then all orders are in scope except those of the sandbox. */
  organisation: Organisation | undefined
  account: string
}

export const isInScope =
  ({ organisation, account: chosenAccount }: OverviewScope) =>
  ({ baseUrl, account = '' }: Batch): boolean =>
    organisation === undefined
      ? !isLoopbackUrl(baseUrl)
      : serviceOf(baseUrl) === serviceOf(organisation.base_url) && account === chosenAccount

/**
 * Reads the overview of one organisation. Before that, orders whose process has ended become `unknown`.
 * `readReportCounts`: returns the number of reports on disk by requestKey; undefined if no folder of
 * reports is known.
 */
export async function readOverview(
  services: OverviewServices & Pick<Services, 'unmatched'>,
  scope: OverviewScope,
  readReportCounts: () => Promise<ReadonlyMap<string, number> | undefined>,
): Promise<Overview> {
  const { ledger, clock } = services
  const now = clock.now()
  await ledger.recover(now)
  const allBatches = await services.batches.list({ includesSingleOrders: true })
  const batches = allBatches.filter(isInScope(scope))
  const { organisation } = scope
  const ids = new Set(batches.map(({ id }) => id))
  const accepted = (await ledger.list({ states: ['accepted'] })).filter(({ batchId }) => ids.has(batchId))
  const attention = [
    ...(await readAttention(services, batches, accepted, now)),
    ...(await readInvalidPeople(services, batches, now)),
    ...(await readSecondOrders(services, organisation, batches, accepted)),
  ]
  const otherBatches = allBatches.filter(({ id }) => !ids.has(id))
  return createOverview(
    { organisation, accepted, batches, attention, files: await readReportCounts(), otherBatches },
    now,
  )
}

/** Returns the orders of people who also have a request that this store did not order, until a user acknowledges it. */
async function readSecondOrders(
  { unmatched }: Pick<Services, 'unmatched'>,
  organisation: Organisation | undefined,
  batches: readonly Batch[],
  accepted: readonly Submission[],
): Promise<Attention[]> {
  if (organisation === undefined) return []
  const secondOrders = await unmatched.listSecondOrders(serviceOf(organisation.base_url))
  return secondOrders.flatMap((second) => {
    const { batchId, row } = second.order
    const order = accepted.find((each) => each.batchId === batchId && each.row === row)
    const batch = batches.find(({ id }) => id === batchId)
    return order === undefined || batch === undefined ? [] : [secondOrderAttention(order, batch, second)]
  })
}

/**
 * Returns the people of recent batches whose rows are invalid, until the corrected file is run or an order of another
 * batch has their name or e-mail.
 */
async function readInvalidPeople(
  services: OverviewServices,
  batches: readonly Batch[],
  now: number,
): Promise<Attention[]> {
  const items: Attention[] = []
  for (const batch of batches) {
    const isListed = batch.counts.invalid > 0 && isRecent(batch.addedAt, now)
    if (!isListed || isCorrectedIn(batch, batches)) continue
    items.push(...(await readInvalidOfBatch(services, batch, now)))
  }
  return items
}

/** Whether one of these batches is of the same file, and was added after it was corrected. */
const isCorrectedIn = ({ addedAt, path, name, counts }: Batch, batches: readonly Batch[]): boolean =>
  batches.some(
    (other) =>
      other.addedAt > addedAt &&
      (path === undefined ? other.name === name : other.path === path) &&
      // A later file at the same path that has no person of this batch is not a correction.
      (other.counts.duplicate > 0 || counts.accepted === 0),
  )

/** Returns the people of a batch whose rows are invalid, without those whom another batch has ordered since. */
async function readInvalidOfBatch(
  services: OverviewServices,
  batch: Batch,
  now: number,
): Promise<Attention[]> {
  const items: Attention[] = []
  for (const row of await readInvalidRows(services, batch)) {
    const item = findAttention(row, batch, errorInResults(row), now)
    if (item !== undefined) items.push(item)
  }
  return items
}

/** The greatest number of people of a halted batch who are named. */
const maxNamedWaiting = 3

/**
 * Returns the items of these batches that need a decision by the user. `accepted`: the accepted orders of the
 * batches.
 */
export async function readAttention(
  services: Pick<Services, 'batches' | 'heldRows' | 'ledger' | 'redactedInbox'>,
  scopeBatches: readonly Batch[],
  accepted: readonly Submission[],
  now: number,
  states = attentionStates,
): Promise<Attention[]> {
  const { batches, heldRows, ledger, redactedInbox: inbox } = services
  const items: Attention[] = []
  const freed = await findFreedDuplicates(heldRows, scopeBatches)
  for (const batch of scopeBatches) {
    const batchItem = batchAttention(batch)
    if (batchItem !== undefined) items.push(await addWaitingPeople(services, batch, batchItem))
    else items.push(...(await nameFreedDuplicates(batches, batch, freed.get(batch.id))))
    if (states.every((state) => batch.counts[state] === 0)) continue
    const ordersOfWaiting = await readOrdersOfWaiting(services, batch)
    for await (const row of batches.rows(batch.id, { states })) {
      if (ordersOfWaiting.has(row.row)) continue
      // The kind of the entry says that the row is held.
      const reason = errorInResults(row)?.replace(/^held: /, '') ?? null
      const isPerhapsOrdered = isPerhapsOrderedOtherwise(row)
      // A dropped order has no item, because a user has decided about it.
      const hasOtherItem =
        (isPerhapsOrdered || openOrderKey(row) !== undefined) && row.matches?.state !== 'dropped'
      const rowItem = hasOtherItem
        ? await attentionOfOtherOrder(batches, row, scopeBatches, now)
        : row.state === 'rejected' && row.matches !== undefined && !isPerhapsOrdered
          ? undefined
          : findAttention(row, batch, reason, now)
      if (rowItem !== undefined) items.push(rowItem)
    }
  }
  const byId = new Map(scopeBatches.map((batch) => [batch.id, batch]))
  for (const order of accepted) {
    const batch = byId.get(order.batchId)
    const attention = batch && findAttention(order, batch, null, now)
    if (batch === undefined || attention === undefined) continue
    const isEnded = attention.kind === 'error' || attention.kind === 'cancelled'
    if (isEnded && (await isOrderedAgainIn(ledger, batch, order))) continue
    const reason =
      attention.kind === 'error'
        ? await findErrorReason(inbox, order.baseUrl, order.requestId ?? '')
        : undefined
    items.push({ ...attention, reason: reason ?? null })
  }
  return items
}

/** Returns an item for the duplicates of a batch that can be ordered, because the order that they match was cancelled. */
async function nameFreedDuplicates(
  batches: Pick<Services['batches'], 'rows'>,
  batch: Batch,
  freed: readonly number[] = [],
): Promise<Attention[]> {
  if (freed.length === 0) return []
  const names: string[] = []
  for (const number of freed.slice(0, maxNamedWaiting)) {
    const row = await findRow(batches, batch.id, number)
    if (row !== undefined) names.push(formatRow(row))
  }
  return [freedAttention(batch, joinFirst(names, maxNamedWaiting, freed.length))]
}

/**
 * Returns the item about the order of another batch by which the person of a rejected or cancelled row may be ordered;
 * undefined if that batch is in scope too, so that the order has an item of its own.
 */
async function attentionOfOtherOrder(
  batches: Pick<Services['batches'], 'find'>,
  row: BatchRow,
  scopeBatches: readonly Batch[],
  now: number,
): Promise<Attention | undefined> {
  const { matches } = row
  if (matches?.state === undefined || scopeBatches.some(({ id }) => id === matches.batchId)) return undefined
  const { batchId: id, state, orderedAt: changedAt = row.changedAt } = matches
  const name = matches.laterBatch ?? (await batches.find(id))?.name ?? ''
  const order = { ...row, row: matches.row, state, changedAt }
  return findAttention(order, { id, kind: 'file', name }, errorInResults(row), now)
}

/**
 * Adds the names of the people who wait in a halted batch to its reason, if they are few. If each of them was ordered
 * otherwise meanwhile, the next command cancels their rows.
 */
async function addWaitingPeople(
  { batches, heldRows }: Pick<Services, 'batches' | 'heldRows'>,
  { id, counts }: Batch,
  item: Attention,
): Promise<Attention> {
  if (item.reason === null) return item
  const laterOrders = await heldRows.findOrdersMadeLater(id, 'pending')
  const orderedCount = [...laterOrders.values()].filter(({ match }) => match.state === 'accepted').length
  if (counts.pending - orderedCount > maxNamedWaiting) return item
  const names: string[] = []
  for await (const row of batches.rows(id, { states: ['pending'] })) {
    const order = laterOrders.get(row.row)?.match
    if (order?.state === 'accepted') continue
    names.push(
      `${formatRow(row)}${order === undefined ? '' : ` (may have been ordered by ${order.laterBatch})`}`,
    )
  }
  return names.length === 0
    ? {
        ...item,
        reason: `${item.reason}; the people of the other rows are ordered otherwise`,
        // The command would also cancel held rows.
        ...(counts.held === 0 && { command: `refcheck batch cancel ${id}` }),
      }
    : { ...item, reason: `${item.reason}; left to send: ${names.join(', ')}` }
}

/** Returns the items of one batch that need a decision by the user. `accepted`: the batch's accepted rows. */
async function readAttentionOfBatch(
  services: OverviewServices,
  batch: Batch,
  accepted: readonly Submission[],
): Promise<Attention[]> {
  const now = services.clock.now()
  const hasOpenInvalid = batch.counts.invalid > 0 && !isCorrectedIn(batch, await services.batches.list())
  return [
    ...(await readAttention(services, [batch], accepted, now, batchAttentionStates)),
    ...(hasOpenInvalid ? await readInvalidOfBatch(services, batch, now) : []),
  ]
}

/** Returns the progress of a batch's checks, and the rows that need a decision by the user. */
export async function readBatchProgress(services: OverviewServices, batch: Batch): Promise<BatchOverview> {
  const accepted = await services.ledger.list({ states: ['accepted'], batchId: batch.id })
  const attention = await readAttentionOfBatch(services, batch, accepted)
  const otherOrders = await readOtherOrders(services, batch, await readOrdersOfWaiting(services, batch))
  const orders = [...accepted, ...otherOrders.values()]
  return {
    statuses: countStatuses(orders),
    checks: countChecks(orders),
    otherOrders: otherOrders.size,
    attention: sortAttention(attention),
  }
}

/**
 * Returns the accepted orders of other batches by which the people of a batch's rows are ordered, by `rowKey`.
 * `ordersOfWaiting`: the result of `readOrdersOfWaiting`.
 */
async function readOtherOrders(
  { batches, ledger }: Pick<OverviewServices, 'batches' | 'ledger'>,
  batch: Batch,
  ordersOfWaiting: ReadonlyMap<number, LaterOrder>,
): Promise<ReadonlyMap<string, Submission>> {
  const { accepted, total } = batch.counts
  if (accepted === total) return new Map()
  const otherIds = new Set<string>()
  const keys = new Set<string>()
  const add = (order: Pick<Match, 'batchId' | 'row'> | undefined): void => {
    if (order === undefined || order.batchId === batch.id) return
    otherIds.add(order.batchId)
    keys.add(rowKey(order))
  }
  for (const { match } of ordersOfWaiting.values()) add(match)
  const states = ['duplicate', 'cancelled', 'rejected', 'invalid'] as const
  for await (const row of batches.rows(batch.id, { states }))
    if (repeatedOrderKey(row) !== undefined) add(row.matches)
  const orders: Submission[] = []
  for (const batchId of otherIds) orders.push(...(await ledger.list({ states: ['accepted'], batchId })))
  return ordersByKey(orders.filter((order) => keys.has(rowKey(order))))
}

/** The data of a page of people. */
export interface People {
  people: PersonRow[]
  /** Number of all rows, of which the page may list only a part. */
  total: number
  /** Number of different people in all rows. */
  persons: number
  attention: Attention[]
  /** The services and users whose packages the rows are for. */
  users: { baseUrl: string; userEmail: string }[]
}

/** Maximum number of people on one page, which a browser can sort and filter. */
const maxPeople = 5000

/** Returns the rows of a batch in the order of its file, all or those in the given states. */
export async function readPeopleOfBatch(
  services: OverviewServices,
  batch: Batch,
  states: readonly SubmissionState[] | undefined,
): Promise<People> {
  const rows: BatchRow[] = []
  for await (const row of services.batches.rows(batch.id, { states })) rows.push(row)
  const ordersOfWaiting = await readOrdersOfWaiting(services, batch)
  const orderKey = (row: BatchRow): string | undefined => {
    const order = ordersOfWaiting.get(row.row)?.match
    return order === undefined ? repeatedOrderKey(row) : rowKey(order)
  }
  const accepted = await services.ledger.list({ states: ['accepted'], batchId: batch.id })
  const orders = new Map([
    ...ordersByKey(accepted),
    ...(await readOtherOrders(services, batch, ordersOfWaiting)),
  ])
  const people: PersonRow[] = []
  for (const row of rows) {
    const person = personRow(row, batch, orders.get(orderKey(row) ?? ''))
    people.push(await markOrderedAgain(services.ledger, batch, row, person))
  }
  const attention = await readAttentionOfBatch(services, batch, accepted)
  return {
    people,
    total: people.length,
    persons: countPeople(removeDuplicates(people)),
    attention,
    users: [batch],
  }
}

async function markOrderedAgain(
  ledger: Services['ledger'],
  batch: Batch,
  row: Pick<BatchRow, 'recipient' | 'packageId'>,
  person: PersonRow,
): Promise<PersonRow> {
  const { status, request_id: requestId } = person
  if (!isEndedWithoutResult(status) || requestId === null) return person
  return { ...person, is_ordered_again: await isOrderedAgainIn(ledger, batch, { ...row, requestId }) }
}

/** Returns all people of an organisation, newest first. `attention`: the result of `readAttention`. */
export async function readPeopleOfStore(
  { ledger, batches }: Pick<OverviewServices, 'ledger' | 'batches'>,
  scope: OverviewScope,
  attention: Attention[],
): Promise<People> {
  const batchesInScope = (await batches.list({ includesSingleOrders: true })).filter(isInScope(scope))
  const batchesById = new Map(batchesInScope.map((batch) => [batch.id, batch]))
  const listedOrders = await ledger.list({ states: submissionStates.filter((state) => state !== 'invalid') })
  const ordersInScope = listedOrders.filter(({ batchId }) => batchesById.has(batchId))
  const repeats = new Map<string, BatchRow>()
  for (const { id, counts } of batchesInScope) {
    if (counts.duplicate + counts.cancelled + counts.rejected === 0) continue
    for await (const row of batches.rows(id, { states: ['duplicate', 'cancelled', 'rejected'] }))
      repeats.set(rowKey(row), row)
  }
  const orders = ordersByKey(listedOrders)
  const newestOrders = ordersInScope
    .toSorted((one, other) => lastActionAt(other) - lastActionAt(one))
    .slice(0, maxPeople)
  const people: PersonRow[] = []
  for (const order of newestOrders) {
    const repeat = repeats.get(rowKey(order))
    const earlierOrder = repeat && orders.get(repeatedOrderKey(repeat) ?? '')
    const person = personRow({ ...order, matches: repeat?.matches }, order, earlierOrder)
    const batch = batchesById.get(order.batchId)
    people.push(batch === undefined ? person : await markOrderedAgain(ledger, batch, order, person))
  }
  const users = new Map(ordersInScope.map((each) => [`${each.baseUrl} ${each.userEmail}`, each]))
  return {
    people,
    total: ordersInScope.length,
    persons: countPeople(
      removeDuplicates(
        ordersInScope.map((each) =>
          personRow({ ...each, matches: repeats.get(rowKey(each))?.matches }, each),
        ),
      ),
    ),
    attention,
    users: [...users.values()],
  }
}

const ordersByKey = (orders: readonly Submission[]): Map<string, Submission> =>
  new Map(orders.map((order) => [rowKey(order), order]))

const lastActionAt = ({ attemptedAt, addedAt }: Submission): number => attemptedAt ?? addedAt
