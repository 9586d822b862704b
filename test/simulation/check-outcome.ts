import { type Human, createNewRow } from './people.ts'
import { baseUrl, type World } from './world.ts'
import type { Submission } from '../../src/domain/submission/submission.ts'
import type { Store } from '../../src/store/ledger/store.ts'

export interface OrderCounts {
  /** Number of people with more than one order, less those that the program cannot detect. */
  twice: number
  /** Number of requests of the service that no row of the store has. */
  lost: number
  orders: number
}

/**
 * Checks that no person has two orders, that the store knows every order of the service, and that no person
 * who has an order can be ordered again. Adds each broken rule to `world.broken`.
 */
export async function checkOutcome(world: World): Promise<OrderCounts> {
  const { broken, sandbox, quotaRefusalCount, storeDamages } = world
  const requestIdsByHuman = new Map<Human, string[]>()
  for (const request of sandbox.requests()) {
    const human = world.findHumanOf(request)
    requestIdsByHuman.set(human, [...(requestIdsByHuman.get(human) ?? []), request.request_id])
  }
  const orderedTwice = [...requestIdsByHuman].filter(
    ([human, ids]) => ids.length > 1 && !world.undetectable.has(human),
  )
  for (const [{ number }, ids] of orderedTwice)
    broken.push(`human ${number} was ordered ${ids.length} times: ${ids.join(', ')}`)
  const store = await world.open()
  const submissions = await store.ledger.list({})
  const lostRequests = sandbox
    .requests()
    .filter(
      ({ request_id }) =>
        !world.foreignRequests.has(request_id) &&
        !isKnown(world, submissions, request_id) &&
        !world.isUnknowable(world.attemptOfRequest.get(request_id)),
    )
  for (const { request_id } of lostRequests) broken.push(`no row has request ${request_id}`)
  checkRequestIds(world, submissions)
  const unfinished = submissions.filter(({ state }) => state === 'pending' || state === 'sending')
  if (unfinished.length > 0) broken.push(`${unfinished.length} rows never came to an end`)
  const maxUnknown = world.kills + world.lostAnswerCount
  if (storeDamages.length === 0 && world.unknownOutcomeCount > maxUnknown)
    broken.push(
      `${world.unknownOutcomeCount} outcomes unknown after ${world.kills} kills and ${world.lostAnswerCount} lost answers`,
    )
  // An SQLite store measures the quota with the clock of its machine, so a clock that was set may exceed the quota.
  const isClockReliable = world.hasServer || world.eventCounts['clocks set'] === 0
  if (storeDamages.length === 0 && isClockReliable && quotaRefusalCount > 0)
    broken.push(`the quota was passed ${quotaRefusalCount} times`)
  await checkNoSecondOrder(world, store, requestIdsByHuman)
  await store.close()
  return { twice: orderedTwice.length, lost: lostRequests.length, orders: sandbox.requests().length }
}

/** Whether a row has the request's id, or is an unfinished row of the attempt that made the request. */
function isKnown(
  { attemptOfRequest }: World,
  submissions: readonly Submission[],
  requestId: string,
): boolean {
  const attemptId = attemptOfRequest.get(requestId)
  return submissions.some(
    (each) =>
      each.requestId === requestId ||
      (each.attemptId === attemptId && ['unknown', 'dropped', 'sending'].includes(each.state)),
  )
}

function checkRequestIds(world: World, submissions: readonly Submission[]): void {
  const requestsById = new Map(world.sandbox.requests().map((request) => [request.request_id, request]))
  for (const { state, requestId, recipient, batchId, row } of submissions) {
    if (state !== 'accepted') continue
    const request = requestsById.get(requestId ?? '')
    if (request === undefined)
      world.broken.push(`row ${row} of ${batchId}: an id that the service does not have`)
    else if (recipient !== undefined && world.findHumanOf(request) !== world.findHumanOf({ recipient }))
      world.broken.push(`row ${row} of ${batchId}: the id of another person’s order`)
  }
}

/** Adds a file of all people as a new batch: no row of a person who has an order may be pending. */
async function checkNoSecondOrder(
  world: World,
  store: Store,
  requestIdsByHuman: ReadonlyMap<Human, string[]>,
): Promise<void> {
  const rows = world.everybody.map(({ spellings }, index) =>
    createNewRow(index + 1, spellings[0]!, world.offer),
  )
  const id = world.random.uuid()
  await store.batches.add(
    {
      id,
      addedAt: world.clock.now(),
      baseUrl,
      userEmail: world.sandbox.credentials.userEmail,
      identity: id,
      name: 'everybody.csv',
      sha256: '',
      packageId: world.offer.id,
      path: undefined,
      resultsFile: undefined,
      reading: '{}',
      allowDuplicate: false,
    },
    rows,
  )
  for await (const { row, state } of store.batches.rows(id)) {
    const human = world.everybody[row - 1]
    if (human !== undefined && state === 'pending' && isKnowable(world, requestIdsByHuman.get(human)))
      world.broken.push(`human ${human.number} is ordered, and free to be ordered again`)
  }
}

/** Whether the store can know at least one of these requests. */
function isKnowable(world: World, ids: readonly string[] = []): boolean {
  return ids.some((id) => !world.isUnknowable(world.attemptOfRequest.get(id)))
}
