import type { Batch } from '../../domain/batch/batch.ts'
import type { Attention } from '../../domain/overview/attention.ts'
import { type PersonRow, personRow } from '../../domain/overview/people.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import { type SubmissionState, submissionStates } from '../../domain/submission/states.ts'
import { attentionIn, type OverviewServices, unsentOfBatch } from './read.ts'

/** What a page of people shows. */
export interface People {
  people: PersonRow[]
  /** How many there are where not all of them are listed. */
  total: number
  attention: Attention[]
  /** Whose packages they are of. */
  users: { baseUrl: string; userEmail: string }[]
}

/** People of one page: a browser sorts and filters so many at once. */
const mostPeople = 5000

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
  return { people, total: people.length, attention, users: [batch] }
}

/** Everybody whom this store knows, the newest first; `attention`: as it was read before. */
export async function peopleOfStore(
  { ledger }: Pick<OverviewServices, 'ledger'>,
  attention: Attention[],
): Promise<People> {
  const all = await ledger.list({ states: submissionStates.filter((state) => state !== 'invalid') })
  const newest = all.toSorted((one, other) => seenAt(other) - seenAt(one)).slice(0, mostPeople)
  const users = new Map(all.map((each) => [`${each.baseUrl} ${each.userEmail}`, each]))
  return {
    people: newest.map((each) => personRow(each, each)),
    total: all.length,
    attention,
    users: [...users.values()],
  }
}

const seenAt = ({ attemptedAt, addedAt }: Submission): number => attemptedAt ?? addedAt
