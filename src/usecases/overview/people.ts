import type { Batch, BatchRow } from '../../domain/batch/batch.ts'
import type { Attention } from '../../domain/overview/attention.ts'
import { countPeople, type PersonRow, personRow } from '../../domain/overview/people.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import { type SubmissionState, submissionStates } from '../../domain/submission/states.ts'
import { attentionIn, isInScope, type OverviewScope, type OverviewServices, unsentOfBatch } from './read.ts'

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
